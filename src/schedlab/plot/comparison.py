"""Policies in one picture: how long jobs waited, and how queue and machine went over time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which the colour-blind can tell apart; the dashes help where there is no colour at all.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "-", "-", "--", "--", "--", ":")
GREY = "#5f6368"
HOUR = 3600.0


def plot_comparison(runs: Sequence[Run], path: str | Path | None = None, *, title: str = "") -> Figure:
    """Waiting times, waiting jobs and busy cores of `runs` (of one workload); written to `path` if one is given."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08)
    figure = Figure(figsize=(10, 4.2), layout=layout, facecolor="white")
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.25))
    waits, queue = figure.add_subplot(grid[:, 0]), figure.add_subplot(grid[0, 1])
    busy = figure.add_subplot(grid[1, 1], sharex=queue)
    for number, run in enumerate(runs):
        style = {"color": COLOURS[number % 7], "linestyle": DASHES[number % 7], "linewidth": 1.8}
        _plot_waits(waits, run, style)
        _plot_timeline(queue, busy, run, style)
    _finish_waits(waits)
    _finish_timeline(queue, busy, runs[0])
    if title:
        figure.suptitle(title, x=0.015, ha="left", fontsize=12, fontweight="bold")
    if path is not None:
        figure.savefig(path, dpi=160)
    return figure


def _plot_waits(axes: Axes, run: Run, style: dict[str, Any]) -> None:
    """The share of jobs that waited at most so long."""
    wait = run.tables.column("start") - run.tables.column("eligible")
    wait = np.sort(wait[~np.isnan(wait)]) / HOUR
    share = np.arange(1, len(wait) + 1) / len(wait)
    label = f"{run.policy} ({wait.mean():.1f} h on average)"
    axes.step(np.append(0, wait), np.append(0, share) * 100, where="post", label=label, **style)


def _finish_waits(axes: Axes) -> None:
    axes.set_title("Share of jobs that waited at most …", **_TITLE)
    axes.set_xlabel("… hours")
    axes.set_ylim(0, 100)
    axes.set_xlim(0, _longest_shown(axes))
    axes.yaxis.set_major_formatter("{x:.0f} %")
    axes.legend(loc="lower right", handlelength=1.6, facecolor="white", edgecolor="none", framealpha=1)
    _plain(axes)


def _longest_shown(axes: Axes) -> float:
    """Up to where all but the longest waits of the slowest policy lie."""
    return float(max(np.quantile(np.asarray(line.get_xdata()), 0.995) for line in axes.get_lines())) or 1.0


def _plot_timeline(queue: Axes, busy: Axes, run: Run, style: dict[str, Any]) -> None:
    pieces = list(run.tables.timeline_batches(("time", "queued", "used_cores")))
    time, queued, used = (
        np.concatenate([piece[name] for piece in pieces]) for name in ("time", "queued", "used_cores")
    )
    hours, waiting = _means(time, queued, 2 * HOUR)
    queue.plot(_dates(run, hours), waiting, **style)
    hours, cores = _means(time, used, 6 * HOUR)
    busy.plot(_dates(run, hours), 100 * cores / run.cluster.cores, **style)


def _finish_timeline(queue: Axes, busy: Axes, run: Run) -> None:
    queue.set_title("Jobs waiting", **_TITLE)
    busy.set_title("Cores in use", **_TITLE)
    queue.set_ylim(0)
    busy.set_ylim(0, 105)
    busy.yaxis.set_major_formatter("{x:.0f} %")
    queue.tick_params(labelbottom=False)
    if _origin(run) is not None:
        from matplotlib.dates import AutoDateLocator, DateFormatter

        days = np.ptp(busy.get_xlim())
        locator: Any = AutoDateLocator  # matplotlib's dates have no types
        formatter: Any = DateFormatter
        busy.xaxis.set_major_locator(locator(minticks=4, maxticks=8))
        busy.xaxis.set_major_formatter(formatter("%H:%M" if days < 2 else "%-d %b" if days < 180 else "%b %Y"))
    else:
        busy.set_xlabel("days")
    queue.margins(x=0.01)
    _plain(queue)
    _plain(busy)


def _means(time: NDArray[Any], values: NDArray[Any], step: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Means over steps of time, from values that hold until the next change."""
    area = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(time))])
    edges = np.arange(time[0], time[-1] + step, step)
    whole = np.interp(edges, time, area)
    return edges[:-1] + step / 2, np.diff(whole) / step


def _dates(run: Run, seconds: NDArray[Any]) -> Any:
    origin = _origin(run)
    return seconds / 86_400 if origin is None else [origin + timedelta(seconds=float(second)) for second in seconds]


def _origin(run: Run) -> datetime | None:
    text = run.workload.get("origin")
    return datetime.fromisoformat(text) if text else None


_TITLE: dict[str, Any] = {"loc": "left", "fontsize": 10.5, "fontweight": "bold"}


def _plain(axes: Axes) -> None:
    """Nothing but the data and a few grey lines to read it by."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GREY)
    axes.grid(axis="y", color="#e3e5e8", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=GREY, length=0, labelsize=9)
    axes.xaxis.label.set_color(GREY)
