"""A baseline in one picture: how busy the machine was and how long jobs waited, over the phases of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab.model.run import Run
from schedlab.model.workload import Phase
from schedlab.plot.style import (
    COLOURS,
    GREY,
    LINE,
    SMALL,
    TEXT,
    Width,
    figure_headline,
    headline,
    legend,
    new_figure,
    plain,
    save,
)
from schedlab.plot.times import DAY, HOUR, Floats, means, spread, timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ORANGE, BLUE = COLOURS[0], COLOURS[1]
SHADES = ("#e6e8eb", "#f4f5f7", "#ffffff", "#f4f5f7")


def plot_baseline(
    run: Run,
    phases: Sequence[Phase],
    path: str | Path | None = None,
    *,
    asked: float | None = None,
    width: Width = "page",
    title: str = "",
) -> Figure:
    """Utilisation and waits of a run in each hour (waits by hour of submission); `asked` is the wanted wait in seconds.

    Written to `path` if one is given.
    """
    figure = new_figure(width, 3.4 if width == "page" else 4.0)
    busy, waits = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1.5))
    edges = np.arange(phases[0].begin, phases[-1].end + HOUR, HOUR)
    _plot_utilisation(busy, run, edges)
    _plot_waits(waits, run, edges, asked)
    for axes in (busy, waits):
        _shade(axes, phases)
        plain(axes)
    _name(busy, phases, upright=width == "column")
    busy.set_title("Cores in use", loc="left", fontsize=TEXT, fontweight="bold", pad=_room(phases, width))
    headline(waits, "Wait of the jobs submitted in each hour")
    busy.set_xlim(phases[0].begin / DAY, phases[-1].end / DAY)
    waits.set_xlabel("days")
    figure_headline(figure, title)
    handles, names = waits.get_legend_handles_labels()
    legend(figure, handles, names, width)
    save(figure, path)
    return figure


def _plot_utilisation(axes: Axes, run: Run, edges: Floats) -> None:
    share = means(*timeline(run, "used_cores"), edges) / run.cluster.cores
    axes.stairs(100 * share, edges / DAY, color=ORANGE, linewidth=LINE, baseline=None)
    axes.set_ylim(min(80.0, 100 * float(share.min()) - 2), 101)
    axes.yaxis.set_major_formatter("{x:.0f} %")


def _plot_waits(axes: Axes, run: Run, edges: Floats, asked: float | None) -> None:
    wait = (run.tables.column("start") - run.tables.column("eligible")) / HOUR
    started = ~np.isnan(wait)
    hours, (low, median, high) = spread(run.tables.column("submit")[started], wait[started], edges, (0.1, 0.5, 0.9))
    axes.fill_between(hours / DAY, low, high, color=BLUE, alpha=0.18, linewidth=0, label="10 % to 90 % of the jobs")
    axes.plot(hours / DAY, median, color=BLUE, linewidth=LINE, label="median")
    if asked is not None:
        label = f"asked: {asked / HOUR:g} h"
        axes.axhline(asked / HOUR, color="black", linewidth=0.9, linestyle=(0, (5, 3)), label=label)
    axes.set_ylim(0, 1.05 * float(high.max(initial=1.0)))
    axes.yaxis.set_major_formatter("{x:g} h")


def _shade(axes: Axes, phases: Sequence[Phase]) -> None:
    for number, phase in enumerate(phases):
        axes.axvspan(phase.begin / DAY, phase.end / DAY, color=SHADES[number % 4], linewidth=0, zorder=0)
        axes.axvline(phase.end / DAY, color="#c4c8cd", linewidth=0.8, zorder=0.5)


def _room(phases: Sequence[Phase], width: Width) -> float:
    """Points above the upper part, where the names stand."""
    return 14 if width == "page" else 0.62 * SMALL * max(len(phase.name) for phase in phases) + 6


def _name(axes: Axes, phases: Sequence[Phase], *, upright: bool) -> None:
    """The names above the upper part; that of a short first phase goes to the left of its end."""
    whole = phases[-1].end - phases[0].begin
    for phase in phases:
        short = phase.end - phase.begin < 0.02 * whole and not upright
        place, side = (phase.end, "right") if short else ((phase.begin + phase.end) / 2, "center")
        axes.annotate(
            phase.name,
            (place / DAY, 1),
            (0, 4),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha=side,
            color=GREY,
            fontsize=SMALL,
            rotation=90 if upright else 0,
        )
