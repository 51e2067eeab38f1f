"""Gantt charts: which nodes (or cores of a pool) each job had, over time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.core_rows import Bars, Machine, closed_bars, job_bars
from schedlab.model.jobs import jobs_at, jobs_of_rows
from schedlab.model.run import Run
from schedlab.plot.gantt_colours import Colouring, colouring
from schedlab.plot.measures import labels_of
from schedlab.plot.style import (
    GREY,
    SMALL,
    Width,
    colour_bar,
    explain,
    figure_of,
    headline,
    new_figure,
    plain,
    save_axes,
)
from schedlab.plot.times import Clock, Span, span_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_SHAPES = 3000  # more rectangles become an image
_MOST_NUMBERS = 400  # jobs that are numbered, where their number fits
_PIXELS = {"column": (960, 1200), "page": (1920, 1600)}  # of an image at most: across and down
_CLOSED = "#3c4043"


def plot_gantt(
    run: Run,
    path: str | Path | None = None,
    *,
    colour: str = "job",
    axes: Axes | None = None,
    width: Width = "page",
    span: Span | None = None,
    title: str = "",
) -> Axes:
    """Each job as rectangles of cores and time, by node; on a pool, cores are dealt out as jobs start.

    `colour` is by job, user, group, queue, partition, slowdown, bounded_slowdown or size. Beyond a few thousand
    rectangles the chart is an image, in which each point shows who had the core in the middle of that point's time.
    """
    machine, shown = Machine(run.cluster), span or span_of([run])
    bars, closed = job_bars(run, machine, shown), closed_bars(run, machine, shown)
    jobs, place = np.unique(bars.job_of, return_inverse=True)
    colours, place = colouring(run, colour, jobs), place[bars.stay]  # of each bar the place among the colours
    names = colours.names | ({"node not up": _CLOSED} if len(closed) else {})
    own = axes is None
    axes = axes or new_figure(width, _height(machine, width)).subplots()
    clock = Clock.of([run], shown)
    if len(bars) + len(closed) <= MOST_SHAPES:
        _draw_shapes(axes, bars, closed, colours.colours[place], clock)
        if colour == "job" and len(jobs) <= _MOST_NUMBERS:
            _number(axes, run, machine, bars, clock, shown)
    else:
        _draw_image(axes, bars, closed, place, colours, machine, clock, shown, width)
    clock.finish(axes, shown)
    _finish_rows(axes, machine)
    if colours.scale is not None:
        colour_bar(colours.scale, axes, colours.scale_label)
    if names:
        from matplotlib.patches import Patch

        explain(axes, [Patch(facecolor=shade) for shade in names.values()], list(names), width, own=own)
    headline(axes, title or labels_of([run])[0])
    save_axes(axes, path)
    return axes


def _height(machine: Machine, width: Width) -> float:
    """A row that can be seen for each core of a small machine; two thirds of the width at most."""
    return 0.7 + min(0.06 * machine.rows + 0.5, 1.9 if width == "column" else 3.4)


def _draw_shapes(axes: Axes, bars: Bars, closed: Bars, fills: NDArray[np.float64], clock: Clock) -> None:
    from matplotlib.collections import PolyCollection

    for some, fill in ((closed, _CLOSED), (bars, fills)):
        left, right = clock.places(some.begin), clock.places(some.end)
        across, down = np.stack([left, left, right, right]), np.stack([some.low, some.high, some.high, some.low])
        corners: Any = np.stack([across, down]).T
        edge = 0.25 if len(bars) < 1000 else 0.1
        axes.add_collection(PolyCollection(corners, facecolors=fill, edgecolors="white", linewidths=edge))


def _number(axes: Axes, run: Run, machine: Machine, bars: Bars, clock: Clock, span: Span) -> None:
    """The job's number on the largest of its rectangles, if there is room for it."""
    inches = axes.get_window_extent().transformed(figure_of(axes).dpi_scale_trans.inverted())
    across, down = 0.9 * inches.width / (span[1] - span[0]), 0.85 * inches.height / machine.rows
    begin, end = np.maximum(bars.begin, span[0]), np.minimum(bars.end, span[1])
    wide, high = (end - begin) * across, (bars.high - bars.low) * down
    order = np.argsort(wide * high)
    largest = {int(bars.job[at]): int(at) for at in order}  # the last one stays
    rows = np.fromiter(largest, np.int64)
    ids = jobs_at(run.tables, ("job",), jobs_of_rows(run.tables, rows))["job"]
    for text, at in zip(map(str, ids.tolist()), largest.values(), strict=True):
        if wide[at] > 0.062 * len(text) + 0.03 and high[at] > 0.085:
            place = clock.places((begin[at] + end[at]) / 2), (bars.low[at] + bars.high[at]) / 2
            axes.text(*place, text, ha="center", va="center_baseline", fontsize=SMALL - 1, clip_on=True)


def _draw_image(
    axes: Axes,
    bars: Bars,
    closed: Bars,
    place: NDArray[np.int64],
    colours: Colouring,
    machine: Machine,
    clock: Clock,
    span: Span,
    width: Width,
) -> None:
    from matplotlib.colors import to_rgba

    across, most = _PIXELS[width]
    down = min(machine.rows, most)
    free, shut = len(colours.colours), len(colours.colours) + 1
    image = np.full((down, across), free, np.int32)
    for some, job in ((closed, np.full(len(closed), shut)), (bars, place)):
        left, right = (_points(side, span[0], span[1], across) for side in (some.begin, some.end))
        upper, lower = (_points(side, 0, machine.rows, down) for side in (some.low, some.high))
        seen = (left < right) & (upper < lower)
        columns = (column[seen].tolist() for column in (upper, lower, left, right, job))
        for high, low, begin, end, number in zip(*columns, strict=True):
            image[high:low, begin:end] = number
    palette = np.vstack([colours.colours, to_rgba("white"), to_rgba(_CLOSED)])
    extent = (clock.places(span[0]), clock.places(span[1]), machine.rows, 0)
    shades = (255 * palette).round().astype(np.uint8)
    axes.imshow(shades[image], extent=extent, aspect="auto", interpolation="antialiased", interpolation_stage="rgba")


def _points(places: Any, low: float, high: float, number: int) -> Any:
    """The first of `number` points from `low` to `high` whose middle is not before the place."""
    return np.clip(np.ceil((places - low) / (high - low) * number - 0.5), 0, number).astype(np.int64)


def _finish_rows(axes: Axes, machine: Machine) -> None:
    axes.set_ylim(machine.rows, 0)
    plain(axes, "")
    if machine.pool:
        from matplotlib.ticker import MaxNLocator

        axes.set_ylabel("cores")
        axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        return
    nodes = len(machine.names)
    every = next(step for power in range(9) for step in (10**power, 2 * 10**power, 5 * 10**power) if nodes <= 12 * step)
    chosen = np.arange(0, nodes, every)
    axes.set_yticks((machine.first[chosen] + machine.first[chosen + 1]) / 2, [machine.names[at] for at in chosen])
    if nodes <= 40:
        axes.hlines(machine.first, 0, 1, transform=axes.get_yaxis_transform(), color=GREY, linewidth=0.3)
    axes.set_ylabel("nodes")
