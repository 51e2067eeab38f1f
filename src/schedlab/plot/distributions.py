"""How a metric is spread over the jobs of each run: boxes, violins, or the share of jobs below each value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.model.run import Run
from schedlab.plot.heatmap import short
from schedlab.plot.measures import Measure, Sample, labels_of, measure_of, sample_of
from schedlab.plot.style import (
    COLOURS,
    GREY,
    SMALL,
    Width,
    finish_series,
    headline,
    new_figure,
    plain,
    save_axes,
    series,
    wrapped,
)
from schedlab.plot.times import LINEAR_UP_TO, Floats, Span, scale_durations

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_POINTS = 4000  # of a line; a printer shows no more
_SHORT_QUEUE = 20.0  # up to there an axis of amounts is linear
_BOX = ("p5", "p25", "median", "p75", "p95", "mean")
_LETTERS = {"column": 18, "page": 34}  # of a label, in a line


def plot_box(
    runs: Sequence[Run],
    path: str | Path | None = None,
    *,
    metric: str = "wait",
    axes: Axes | None = None,
    width: Width = "page",
    span: Span | None = None,
    labels: Sequence[str] | None = None,
    title: str = "",
    resource: str | None = None,
) -> Axes:
    """A box for each run: quartiles and median, whiskers from 5 % to 95 % of the jobs, a diamond at the mean.

    Of the `queue_length` they are shares of the time; with a `resource` it is what waiting jobs ask for.
    """
    measure = measure_of(metric, resource)
    axes = axes or _rows(labels_of(runs, labels), width)
    longest = 0.0
    for row, run in enumerate(runs):
        found = sample_of(run, metric, span, resource).distribution()
        if found["max"] is None:  # nothing started
            continue
        p5, p25, median, p75, p95, mean = (float(found[key] or 0) for key in _BOX)
        draw_box(axes, row, 0.56, (p5, p25, median, p75, p95, mean), COLOURS[row % 7])
        longest = max(longest, p95, mean)
    return _finish_rows(axes, measure, labels_of(runs, labels), width, longest, title, path)


def draw_box(
    axes: Axes, row: float, height: float, at: tuple[float, float, float, float, float, float], colour: str
) -> None:
    """`at` has the ends of the whiskers, the quartiles and the median, in increasing order, and the mean."""
    low, p25, median, p75, high, mean = at
    axes.hlines(row, low, p25, color=colour, linewidth=1.0)
    axes.hlines(row, p75, high, color=colour, linewidth=1.0)
    axes.vlines([low, high], row - height * 2 / 7, row + height * 2 / 7, color=colour, linewidth=1.0)
    axes.barh(row, p75 - p25, left=p25, height=height, facecolor=tint(colour), edgecolor=colour, linewidth=0.8)
    axes.vlines(median, row - height / 2, row + height / 2, color=colour, linewidth=1.8)
    look: Any = {"color": "white", "markeredgecolor": "black", "markeredgewidth": 0.7, "zorder": 4}
    axes.plot(mean, row, marker="D", markersize=3.2, **look)


def plot_violin(
    runs: Sequence[Run],
    path: str | Path | None = None,
    *,
    metric: str = "wait",
    axes: Axes | None = None,
    width: Width = "page",
    span: Span | None = None,
    labels: Sequence[str] | None = None,
    title: str = "",
    resource: str | None = None,
) -> Axes:
    """A violin for each run: how many jobs have about that value, with the quartiles and the median."""
    measure = measure_of(metric, resource)
    axes = axes or _rows(labels_of(runs, labels), width)
    longest = 0.0
    for row, run in enumerate(runs):
        sample = sample_of(run, metric, span, resource)
        if not len(sample.values):
            continue
        colour = COLOURS[row % 7]
        places, density = _density(sample, measure)
        high = 0.42 * density / density.max()
        axes.fill_between(places, row - high, row + high, facecolor=tint(colour), edgecolor=colour, linewidth=0.7)
        p25, median, p75 = sample.quantiles("p25", "median", "p75")
        axes.hlines(row, p25, p75, color=colour, linewidth=2.4)
        axes.plot(median, row, marker="o", markersize=3.4, color="white", markeredgecolor=colour, markeredgewidth=0.9)
        longest = max(longest, float(sample.values.max()))
    return _finish_rows(axes, measure, labels_of(runs, labels), width, longest, title, path)


def plot_ecdf(
    runs: Sequence[Run],
    path: str | Path | None = None,
    *,
    metric: str = "wait",
    axes: Axes | None = None,
    width: Width = "page",
    span: Span | None = None,
    labels: Sequence[str] | None = None,
    title: str = "",
    resource: str | None = None,
) -> Axes:
    """The share of jobs (of the time, for the queue) whose value is at most so large, a line for each run."""
    measure, names = measure_of(metric, resource), labels_of(runs, labels)
    own = axes is None
    axes = axes or new_figure(width, 2.4).subplots()
    longest = 0.0
    for number, (run, name) in enumerate(zip(runs, names, strict=True)):
        sample = sample_of(run, metric, span, resource)
        values, shares = cumulative(sample.values, sample.weights)
        begin = 0.0 if measure.duration or measure.over_time else 1.0
        values = np.append(min(begin, *values[:1]) if measure.around_one else begin, values)
        axes.step(values, np.append(0.0, 100 * shares), where="post", label=name, **series(number))
        longest = max(longest, float(values[-1]))
    _scale(axes, measure, longest)
    axes.set_ylim(0, 101)
    axes.yaxis.set_major_formatter("{x:.0f} %")
    axes.set_ylabel("time" if measure.over_time else "jobs")
    axes.set_xlabel(f"{measure.label} (at most)")
    plain(axes, "both")
    finish_series(axes, names, width, title, own=own)
    save_axes(axes, path)
    return axes


def cumulative(values: Floats, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Values in increasing order, and the share of all that are not larger; evenly thinned where there are many."""
    if weights is not None:
        different, place = np.unique(values, return_inverse=True)
        upto = np.cumsum(np.bincount(place, weights, len(different)))
        kept = np.unique(np.linspace(0, len(different) - 1, min(len(different), _MOST_POINTS)).astype(np.int64))
        return different[kept], upto[kept] / (upto[-1] if len(upto) else 1.0)
    ordered = np.sort(values)
    ranks = np.arange(1, len(ordered) + 1)
    if len(ordered) > _MOST_POINTS:
        ranks = np.unique(np.linspace(1, len(ordered), _MOST_POINTS).astype(np.int64))
    return ordered[ranks - 1], ranks / max(len(ordered), 1)


def _rows(labels: Sequence[str], width: Width) -> Axes:
    """Axes with a row for each label, as high as the label needs."""
    lines = max(wrapped(label, _LETTERS[width]).count("\n") + 1 for label in labels)
    row = max(0.24, 1.3 * lines * SMALL / 72)
    return new_figure(width, 0.62 + row * len(labels)).subplots()


def _finish_rows(
    axes: Axes,
    measure: Measure,
    labels: Sequence[str],
    width: Width,
    longest: float,
    title: str,
    path: str | Path | None,
) -> Axes:
    _scale(axes, measure, longest)
    axes.set_yticks(range(len(labels)), [wrapped(label, _LETTERS[width]) for label in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)  # the first on top
    axes.set_xlabel(measure.label)
    plain(axes, "x")
    headline(axes, title)
    save_axes(axes, path)
    return axes


def _scale(axes: Axes, measure: Measure, longest: float) -> None:
    if measure.duration:
        scale_durations(axes, 1.08 * longest or 1.0)
        return
    if measure.over_time:
        _scale_amounts(axes, longest)
        return
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    if measure.around_one:
        axes.axvline(1.0, color=GREY, linewidth=0.9, zorder=0)
        return
    axes.set_xscale("log")
    axes.set_xlim(0.97, max(1.15 * longest, 10.0))
    axes.xaxis.set_major_locator(LogLocator(numticks=7))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _scale_amounts(axes: Axes, longest: float) -> None:
    """From 0; where a queue is long, linear up to 1 and by factors above."""
    from matplotlib.ticker import MaxNLocator, NullLocator

    axes.xaxis.set_minor_locator(NullLocator())
    if longest <= _SHORT_QUEUE:
        axes.set_xlim(-0.012 * longest, 1.08 * longest or 1.0)
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        return
    axes.set_xscale("asinh", linear_width=1.0)
    ticks = [0.0, *(10.0**power for power in range(int(np.log10(longest)) + 1))]
    if 10 ** (np.log10(longest) % 1) >= 5:
        ticks.append(5 * ticks[-1])
    axes.set_xticks(ticks, [f"{tick:,.0f}" if tick < 1e5 else short(tick) for tick in ticks])
    axes.set_xlim(-float(np.sinh(0.012 * np.arcsinh(longest))), 1.15 * longest)


def _density(sample: Sample, measure: Measure) -> tuple[Floats, Floats]:
    """A Gaussian kernel density on the scale of the axis (Scott's bandwidth), between the extreme values."""
    linear = 1.0 if measure.over_time else LINEAR_UP_TO
    back: Callable[[Floats], Any]
    if measure.over_time and sample.values.max() <= _SHORT_QUEUE:
        scaled, back = sample.values, lambda places: places
    elif measure.duration or measure.over_time:
        scaled, back = np.arcsinh(sample.values / linear), lambda places: linear * np.sinh(places)
    else:
        scaled, back = np.log10(sample.values), lambda places: 10.0**places
    low, high = float(scaled.min()), float(scaled.max())
    if low == high:
        low, high = low - 0.05, high + 0.05
    counts, edges = np.histogram(scaled, bins=256, range=(low, high), weights=sample.weights)
    step = (high - low) / 256
    mean = np.average(scaled, weights=sample.weights)
    deviation = float(np.sqrt(np.average((scaled - mean) ** 2, weights=sample.weights)))
    bandwidth = max(deviation * len(scaled) ** -0.2, 2 * step)
    reach = np.arange(-256, 257) * step / bandwidth
    density = np.convolve(counts, np.exp(-0.5 * reach**2))[256:-256]
    return np.asarray(back((edges[:-1] + edges[1:]) / 2)), density


def tint(colour: str) -> Any:
    """The colour on paper that shines through."""
    from matplotlib.colors import to_rgb

    return tuple(1 - 0.3 * (1 - part) for part in to_rgb(colour))
