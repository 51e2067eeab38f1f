"""A baseline in one picture: how busy the machine was and how long jobs waited, over the phases of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.run import Run
from schedlab.model.workload import Phase
from schedlab.plot.comparison import COLOURS, GREY, HOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ORANGE, BLUE = COLOURS[0], COLOURS[1]
SHADES = ("#e6e8eb", "#f4f5f7", "#ffffff", "#f4f5f7")
DAY = 24 * HOUR
_TITLE: dict[str, Any] = {"loc": "left", "fontsize": 10.5, "fontweight": "bold"}


def plot_baseline(
    run: Run,
    phases: Sequence[Phase],
    path: str | Path | None = None,
    *,
    asked: float | None = None,
    title: str = "",
) -> Figure:
    """Utilisation and waits of a run in each hour (waits by hour of submission); `asked` is the wanted wait in seconds.

    Written to `path` if one is given.
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.08)
    figure = Figure(figsize=(10, 5.2), layout=layout, facecolor="white")
    busy, waits = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1.5))
    edges = np.arange(phases[0].begin, phases[-1].end + HOUR, HOUR)
    _plot_utilisation(busy, run, edges)
    _plot_waits(waits, run, edges, asked)
    for axes in (busy, waits):
        _shade(axes, phases)
        _plain(axes)
    _name(busy, phases)
    busy.set_title("Cores in use", pad=20, **_TITLE)
    waits.set_title("Wait of the jobs submitted in each hour", **_TITLE)
    busy.set_xlim(phases[0].begin / DAY, phases[-1].end / DAY)
    waits.set_xlabel("days", color=GREY)
    if title:
        figure.suptitle(title, x=0.015, ha="left", fontsize=12, fontweight="bold")
    if path is not None:
        figure.savefig(path, dpi=160)
    return figure


def _plot_utilisation(axes: Axes, run: Run, edges: NDArray[Any]) -> None:
    time, used = _timeline(run)
    area = np.concatenate([[0.0], np.cumsum(used[:-1] * np.diff(time))])
    share = np.diff(np.interp(edges, time, area)) / (HOUR * run.cluster.cores)
    axes.stairs(100 * share, edges / DAY, color=ORANGE, linewidth=1.8, baseline=None)
    axes.set_ylim(min(80.0, 100 * float(share.min()) - 2), 101)
    axes.yaxis.set_major_formatter("{x:.0f} %")


def _plot_waits(axes: Axes, run: Run, edges: NDArray[Any], asked: float | None) -> None:
    submit = run.tables.column("submit")
    wait = (run.tables.column("start") - run.tables.column("eligible")) / HOUR
    hours, low, median, high = _spread(submit, wait, edges)
    axes.fill_between(hours / DAY, low, high, color=BLUE, alpha=0.18, linewidth=0, label="10 % to 90 % of the jobs")
    axes.plot(hours / DAY, median, color=BLUE, linewidth=1.8, label="median")
    if asked is not None:
        label = f"asked: {asked / HOUR:g} h"
        axes.axhline(asked / HOUR, color="black", linewidth=1.2, linestyle=(0, (5, 3)), label=label)
    axes.set_ylim(0, 1.05 * float(high.max(initial=1.0)))
    axes.yaxis.set_major_formatter("{x:g} h")
    axes.legend(loc="lower right", ncols=3, fontsize=9, handlelength=1.8, frameon=False)


def _spread(submit: NDArray[Any], wait: NDArray[Any], edges: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """The middle of each hour in which jobs were submitted that started, and three quantiles of their waits."""
    started = np.flatnonzero(~np.isnan(wait))
    order = started[np.argsort(submit[started], kind="stable")]
    cuts = np.searchsorted(submit[order], edges)
    hours = [hour for hour in range(len(edges) - 1) if cuts[hour] < cuts[hour + 1]]
    quantiles = [np.quantile(wait[order[cuts[hour] : cuts[hour + 1]]], (0.1, 0.5, 0.9)) for hour in hours]
    return edges[hours] + HOUR / 2, *np.array(quantiles).reshape(-1, 3).T


def _shade(axes: Axes, phases: Sequence[Phase]) -> None:
    for number, phase in enumerate(phases):
        axes.axvspan(phase.begin / DAY, phase.end / DAY, color=SHADES[number % 4], linewidth=0, zorder=0)
        axes.axvline(phase.end / DAY, color="#c4c8cd", linewidth=0.8, zorder=0.5)


def _name(axes: Axes, phases: Sequence[Phase]) -> None:
    """The names above the upper part; that of a short first phase goes to the left of its end."""
    whole = phases[-1].end - phases[0].begin
    for phase in phases:
        short = phase.end - phase.begin < 0.02 * whole
        place, side = (phase.end, "right") if short else ((phase.begin + phase.end) / 2, "center")
        axes.annotate(
            phase.name,
            (place / DAY, 1),
            (0, 4),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha=side,
            color=GREY,
            fontsize=9.5,
        )


def _plain(axes: Axes) -> None:
    """Nothing but the data and a few grey lines to read it by."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GREY)
    axes.grid(axis="y", color="#d9dce0", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=GREY, length=0, labelsize=9)


def _timeline(run: Run) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The times at which something changed, and the cores in use from then on."""
    pieces = list(run.tables.timeline_batches(("time", "used_cores")))
    times, used = (np.concatenate([piece[name] for piece in pieces]) for name in ("time", "used_cores"))
    return times, used.astype(np.float64)
