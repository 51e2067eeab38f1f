"""The machine and the queue over time, a line for each run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.model.run import Run
from schedlab.plot.measures import labels_of
from schedlab.plot.style import Width, finish_series, new_figure, plain, save_axes, series
from schedlab.plot.times import Clock, Span, edges_of, means, span_of, spoken, step_for, timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEPS = {"column": 80, "page": 168}  # points of a line: more would only be noise


def plot_utilisation(
    runs: Sequence[Run],
    path: str | Path | None = None,
    *,
    axes: Axes | None = None,
    width: Width = "page",
    span: Span | None = None,
    labels: Sequence[str] | None = None,
    title: str = "",
) -> Axes:
    """The share of the cores in use, as means over steps of time that the axis names."""
    scale = [100 / (run.cluster.cores or 1) for run in runs]
    axes, own, step = _draw(runs, "used_cores", scale, axes, width, span, labels)
    axes.set_ylim(0, 103)
    axes.yaxis.set_major_formatter("{x:.0f} %")
    axes.set_ylabel(f"cores in use\n(mean over {spoken(step)})")
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
) -> Axes:
    """The number of waiting jobs, as means over steps of time that the axis names."""
    axes, own, step = _draw(runs, "queued", [1.0] * len(runs), axes, width, span, labels)
    axes.set_ylim(0)
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.set_ylabel(f"jobs waiting\n(mean over {spoken(step)})")
    return _finish(axes, runs, labels, width, title, own, path)


def _draw(
    runs: Sequence[Run],
    column: str,
    scale: Sequence[float],
    axes: Axes | None,
    width: Width,
    span: Span | None,
    labels: Sequence[str] | None,
) -> tuple[Axes, bool, float]:
    """A line for each run; whether the figure is ours; and the length of a step."""
    names = labels_of(runs, labels)
    own = axes is None
    if axes is None:
        axes = new_figure(width, 2.1).subplots()
    shown = span or span_of(runs)
    step = step_for(shown, _STEPS[width])
    edges = edges_of(shown, step)
    clock = Clock.of(runs, shown)
    middle = clock.places((edges[:-1] + edges[1:]) / 2)
    for number, (run, name, factor) in enumerate(zip(runs, names, scale, strict=True)):
        axes.plot(middle, factor * means(*timeline(run, column), edges), label=name, **series(number))
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
