"""Jobs that had been submitted, started and ended by each moment; between the curves lie those that wait and run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab.model.run import Run
from schedlab.plot.measures import labels_of
from schedlab.plot.style import COLOURS, Width, explain, headline, new_figure, plain, save_axes
from schedlab.plot.times import Clock, Floats, Span, span_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_POINTS = 4000
_LINES = {"submitted": ("#000000", ":"), "started": (COLOURS[1], "-"), "ended": (COLOURS[2], "--")}
_AREAS = {"waiting": "#f3c6a8", "running": "#8cc8ee"}
_THIN = 0.6  # points: where few of many jobs run, lines as broad as usual would cover the area between them


def plot_curves(
    run: Run,
    path: str | Path | None = None,
    *,
    axes: Axes | None = None,
    width: Width = "page",
    span: Span | None = None,
    title: str = "",
) -> Axes:
    """Three curves of one run. Jobs that never start are submitted only."""
    own = axes is None
    axes = axes or new_figure(width, 2.3).subplots()
    shown = span or span_of([run])
    clock = Clock.of([run], shown)
    start = run.tables.column("start")
    started = ~np.isnan(start)
    moments = {
        "submitted": np.sort(run.tables.column("submit")),
        "started": np.sort(start[started]),
        "ended": np.sort(run.tables.column("end")[started]),
    }
    grid = _moments(list(moments.values()), shown)
    counts = {name: np.searchsorted(times, grid, side="right") for name, times in moments.items()}
    places = clock.places(grid)
    above = ("submitted", "started", "ended")
    for (name, colour), upper, lower in zip(_AREAS.items(), above[:2], above[1:], strict=True):
        axes.fill_between(places, counts[lower], counts[upper], step="post", color=colour, linewidth=0, label=name)
    for name, (colour, dashes) in _LINES.items():
        axes.step(places, counts[name], where="post", color=colour, linestyle=dashes, linewidth=_THIN, label=name)
    clock.finish(axes, shown)
    axes.set_ylim(counts["ended"].min(initial=0), 1.03 * counts["submitted"].max(initial=1))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set_ylabel("jobs (cumulative)")
    plain(axes)
    headline(axes, title or labels_of([run])[0])
    handles, names = axes.get_legend_handles_labels()
    explain(axes, handles, names, width, own=own)
    save_axes(axes, path)
    return axes


def _moments(columns: list[Floats], span: Span) -> Floats:
    """Every moment at which a curve rises, and both ends; evenly spread ones if there are too many."""
    every = np.unique(np.concatenate([*columns, span]))
    inside = every[(every >= span[0]) & (every <= span[1])]
    return inside if len(inside) <= _MOST_POINTS else np.linspace(*span, _MOST_POINTS)
