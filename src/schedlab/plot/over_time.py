"""The machine and the queue over time, a line for each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab.analysis.resources import resource_of, timeline_columns
from schedlab.model.run import Run
from schedlab.model.units import format_bytes
from schedlab.plot.measures import labels_of
from schedlab.plot.style import Width, finish_series, new_figure, plain, save_axes, series
from schedlab.plot.times import Clock, Span, edges_of, means, span_of, spoken, step_for, timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEPS = {"column": 80, "page": 168}  # points of a line: more would only be noise
LITTLE = 5.0  # per cent: up to there an axis to 100 % would show a line at its foot


def plot_utilisation(
    runs: Sequence[Run],
    path: str | Path | None = None,
    *,
    axes: Axes | None = None,
    width: Width = "page",
    span: Span | None = None,
    labels: Sequence[str] | None = None,
    title: str = "",
    resource: str = "cores",
) -> Axes:
    """The share of the cores (or of another resource) in use, as means over steps of time that the axis names.

    The axis goes to 100 %, unless no more than a twentieth is ever in use.
    """
    measured = [resource_of(run, resource) for run in runs]
    scale = [100 / (found.total(run.cluster) or 1) for run, found in zip(runs, measured, strict=True)]
    columns = [timeline_columns("used", found) for found in measured]
    axes, own, step = _draw(runs, columns, scale, axes, width, span, labels)
    highest = max((float(np.max(line.get_ydata(), initial=0.0)) for line in axes.get_lines()), default=0.0)
    little = 0 < highest <= LITTLE
    axes.set_ylim(0, 1.03 * highest if little else 103)
    axes.yaxis.set_major_formatter("{x:.2g} %" if little else "{x:.0f} %")
    axes.set_ylabel(f"{resource} in use\n(mean over {spoken(step)})")
    return _finish(axes, runs, labels, width, title, own, path)


def plot_queue(
    runs: Sequence[Run],
    path: str | Path | None = None,
    *,
    axes: Axes | None = None,
    width: Width = "page",
    span: Span | None = None,
    labels: Sequence[str] | None = None,
    title: str = "",
    resource: str | None = None,
) -> Axes:
    """The number of waiting jobs, or how much of a resource they ask for, as means over steps that the axis names."""
    columns = [
        {"queued": 1.0} if resource is None else timeline_columns("queued", resource_of(run, resource)) for run in runs
    ]
    axes, own, step = _draw(runs, columns, [1.0] * len(runs), axes, width, span, labels)
    axes.set_ylim(0)
    axes.yaxis.set_major_formatter("{x:,g}")
    if resource == "memory":
        axes.yaxis.set_major_formatter(lambda value, _place: format_bytes(round(value)))
        _binary_ticks(axes)
    what = "jobs waiting" if resource is None else f"{resource} waited for"
    axes.set_ylabel(f"{what}\n(mean over {spoken(step)})")
    return _finish(axes, runs, labels, width, title, own, path)


def _binary_ticks(axes: Axes) -> None:
    """At round numbers of the unit that bytes are written in."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    top = axes.get_ylim()[1]
    unit = 1024.0 ** max(int(np.log2(max(top, 1.0)) // 10), 0)
    axes.yaxis.set_major_locator(FixedLocator([unit * tick for tick in MaxNLocator(5).tick_values(0.0, top / unit)]))
    axes.set_ylim(0, top)


def _draw(
    runs: Sequence[Run],
    columns: Sequence[Mapping[str, float]],
    scale: Sequence[float],
    axes: Axes | None,
    width: Width,
    span: Span | None,
    labels: Sequence[str] | None,
) -> tuple[Axes, bool, float]:
    """A line for each run (of columns of the timeline, each times a factor); whether the figure is ours; and the
    length of a step."""
    names = labels_of(runs, labels)
    own = axes is None
    if axes is None:
        axes = new_figure(width, 2.1).subplots()
    shown = span or span_of(runs)
    step = step_for(shown, _STEPS[width])
    edges = edges_of(shown, step)
    clock = Clock.of(runs, shown)
    middle = clock.places((edges[:-1] + edges[1:]) / 2)
    for number, (run, name, factor, parts) in enumerate(zip(runs, names, scale, columns, strict=True)):
        line = sum(
            (size * means(*timeline(run, column), edges) for column, size in parts.items()), np.zeros(len(middle))
        )
        axes.plot(middle, factor * line, label=name, **series(number))
    clock.finish(axes, shown)
    plain(axes)
    return axes, own, step


def _finish(
    axes: Axes,
    runs: Sequence[Run],
    labels: Sequence[str] | None,
    width: Width,
    title: str,
    own: bool,
    path: str | Path | None,
) -> Axes:
    finish_series(axes, labels_of(runs, labels), width, title, own=own)
    save_axes(axes, path)
    return axes
