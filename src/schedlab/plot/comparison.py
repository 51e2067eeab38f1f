"""Policies in one picture: how long jobs waited, and how queue and machine went over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.model.run import Run
from schedlab.plot.distributions import cumulative
from schedlab.plot.measures import labels_of, measured
from schedlab.plot.over_time import plot_queue, plot_utilisation
from schedlab.plot.style import Width, figure_headline, headline, legend, new_figure, plain, save, series
from schedlab.plot.times import HOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_comparison(
    runs: Sequence[Run],
    path: str | Path | None = None,
    *,
    width: Width = "page",
    labels: Sequence[str] | None = None,
    title: str = "",
) -> Figure:
    """Waiting times, waiting jobs and busy cores of `runs` (of one workload); written to `path` if one is given."""
    names = labels_of(runs, labels)
    figure, waits, queue, busy = _layout(width)
    means = [_plot_waits(waits, run, series(number)) for number, run in enumerate(runs)]
    _finish_waits(waits)
    for axes, plot, heading in ((queue, plot_queue, "Jobs waiting"), (busy, plot_utilisation, "Cores in use")):
        plot(runs, axes=axes, width="column", labels=names, title=heading)
        if axes.legend_ is not None:
            axes.legend_.remove()
        axes.set_ylabel("")
    queue.set_xlabel("")
    queue.tick_params(labelbottom=False)
    figure_headline(figure, title)
    told = [f"{name} (mean wait {mean:.1f} h)" for name, mean in zip(names, means, strict=True)]
    legend(figure, waits.get_lines(), told, width)
    save(figure, path)
    return figure


def _layout(width: Width) -> tuple[Figure, Axes, Axes, Axes]:
    """The waits on the left; in a column, above the others."""
    figure = new_figure(width, 3.0 if width == "page" else 5.0)
    if width == "page":
        grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.25))
        places = grid[:, 0], grid[0, 1], grid[1, 1]
    else:
        grid = figure.add_gridspec(3, 1, height_ratios=(1.5, 1, 1))
        places = grid[0], grid[1], grid[2]
    waits, queue = figure.add_subplot(places[0]), figure.add_subplot(places[1])
    return figure, waits, queue, figure.add_subplot(places[2], sharex=queue)


def _plot_waits(axes: Axes, run: Run, style: dict[str, Any]) -> float:
    """The share of jobs that waited at most so long; gives the mean, in hours."""
    wait = measured(run, "wait") / HOUR
    values, shares = cumulative(wait)
    axes.step(np.append(0, values), np.append(0, shares) * 100, where="post", **style)
    return float(wait.mean()) if len(wait) else 0.0


def _finish_waits(axes: Axes) -> None:
    headline(axes, "Share of jobs that waited at most …")
    axes.set_xlabel("… hours")
    axes.set_ylim(0, 100)
    axes.set_xlim(0, _longest_shown(axes))
    axes.yaxis.set_major_formatter("{x:.0f} %")
    plain(axes)


def _longest_shown(axes: Axes) -> float:
    """Up to where all but the longest waits of the slowest policy lie."""
    return float(max(np.quantile(np.asarray(line.get_xdata()), 0.995) for line in axes.get_lines())) or 1.0
