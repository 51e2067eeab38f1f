"""How fast jobs of each application were beside others: a box for each application and run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab.analysis.distribution import distribution
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.plot.distributions import draw_box, tint
from schedlab.plot.measures import labels_of, measured_jobs, owner_name
from schedlab.plot.style import COLOURS, GREY, LIGHT, Width, explain, headline, new_figure, plain, save_axes
from schedlab.plot.times import Floats, Span

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW, _GAP = 0.13, 0.06  # inches for a box, and between applications
_FILLED, _BOX = 0.84, 0.72  # of the room of an application, and of a row
_AT = ("p5", "p25", "median", "p75", "p95", "mean")


def plot_applications(
    runs: Sequence[Run],
    path: str | Path | None = None,
    *,
    axes: Axes | None = None,
    width: Width = "page",
    span: Span | None = None,
    labels: Sequence[str] | None = None,
    title: str = "",
) -> Axes:
    """Quartiles and median of the jobs' speed-ups, whiskers from 5 % to 95 % of the jobs, a diamond at the mean; the
    application that gains most on top."""
    names = labels_of(runs, labels)
    found = [_by_application(run, span) for run in runs]
    every = list(dict.fromkeys(name for of_run in found for name in of_run))
    if not every:
        raise InputError("no job has completed", hint="draw a longer time, or a run with jobs")
    gains = {name: np.mean([of_run[name].mean() for of_run in found if name in of_run]) for name in every}
    ranked = sorted(every, key=lambda name: -gains[name])
    own = axes is None
    axes = axes or new_figure(width, 0.62 + max(_GAP + _ROW * len(runs), 0.15) * len(every)).subplots()
    height, low, high = _FILLED / len(runs), 1.0, 1.0
    for row, name in enumerate(ranked):
        for number, of_run in enumerate(found):
            if name in of_run:
                at = distribution(of_run[name].copy())
                p5, p25, median, p75, p95, mean = (float(at[key] or 0.0) for key in _AT)
                place = row + height * (number - (len(runs) - 1) / 2)
                low, high = min(low, p5, mean), max(high, p95, mean)
                draw_box(axes, place, _BOX * height, (p5, p25, median, p75, p95, mean), COLOURS[number % 7])
    axes.set_yticks(range(len(ranked)), ranked)
    axes.set_ylim(len(ranked) - 0.5, -0.5)
    axes.set_xlabel("speed-up against whole nodes")
    margin = 0.03 * (high - low or 1.0)
    axes.set_xlim(low - margin, high + margin)
    plain(axes, "x")
    axes.axvline(1.0, color=GREY, linewidth=0.9, zorder=0)
    axes.hlines(np.arange(1, len(ranked)) - 0.5, *axes.get_xlim(), color=LIGHT, linewidth=0.4, zorder=0)
    headline(axes, title or (names[0] if len(names) == 1 else ""))
    if len(names) > 1:
        from matplotlib.patches import Patch

        shades = [COLOURS[number % 7] for number in range(len(names))]
        patches = [Patch(facecolor=tint(shade), edgecolor=shade, linewidth=0.8) for shade in shades]
        explain(axes, patches, names, width, own=own)
    save_axes(axes, path)
    return axes


def _by_application(run: Run, span: Span | None) -> dict[str, Floats]:
    if "application" not in run.jobs.columns:
        hint = "simulate it with one: --heatmap FILE"
        raise InputError("its jobs have no applications: there was no heatmap", where=str(run.path or run), hint=hint)
    chosen, values = measured_jobs(run, "speedup", span)
    numbers = run.tables.column("application")[chosen]
    return {owner_name(run, "application", number): values[numbers == number] for number in np.unique(numbers).tolist()}
