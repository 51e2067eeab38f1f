"""A baseline in one picture: how busy the machine was and how long jobs waited, over the phases of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from schedlab.model.run import Run
from schedlab.model.workload import Phase
from schedlab.plot.style import (
    CHARACTER,
    COLOURS,
    GREY,
    INCHES,
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
_FULL = 80  # %: above, the axis of a machine that is never less busy may begin there
_LEVEL = 9.5  # points between the names of phases that stand above each other
_BESIDE = 0.5  # inches that the axes leave at the sides
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
    names = _names(phases, width)
    higher = _LEVEL * max(name.level for name in names)
    figure = new_figure(width, (3.4 if width == "page" else 3.6) + higher / 72)
    busy, waits = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1.5))
    edges = np.arange(phases[0].begin, phases[-1].end + HOUR, HOUR)
    _plot_utilisation(busy, run, edges, 14 + higher)
    _plot_waits(waits, run, edges, asked)
    for axes in (busy, waits):
        _shade(axes, phases)
        plain(axes)
    _write_names(busy, names)
    headline(waits, "Wait of the jobs submitted in each hour")
    busy.set_xlim(phases[0].begin / DAY, phases[-1].end / DAY)
    waits.set_xlabel("days")
    figure_headline(figure, title)
    handles, labels = waits.get_legend_handles_labels()
    legend(figure, handles, labels, width)
    save(figure, path)
    return figure


def _plot_utilisation(axes: Axes, run: Run, edges: Floats, title_above: float) -> None:
    share = 100 * means(*timeline(run, "used_cores"), edges) / run.cluster.cores
    axes.stairs(share, edges / DAY, color=ORANGE, linewidth=LINE, baseline=None)
    full = bool(share.min() >= _FULL)
    axes.set_ylim(_FULL if full else 0, 101)
    axes.yaxis.set_major_formatter("{x:.0f} %")
    heading = f"Cores in use (the axis begins at {_FULL} %)" if full else "Cores in use"
    axes.set_title(heading, loc="left", fontsize=TEXT, fontweight="bold", pad=title_above)


def _plot_waits(axes: Axes, run: Run, edges: Floats, asked: float | None) -> None:
    """Nothing is drawn in hours in which no job was submitted."""
    wait = (run.tables.column("start") - run.tables.column("eligible")) / HOUR
    started = ~np.isnan(wait)
    hours, found = spread(run.tables.column("submit")[started], wait[started], edges, (0.1, 0.5, 0.9))
    low, median, high = every = np.full((3, len(edges) - 1), np.nan)
    every[:, np.searchsorted(edges, hours) - 1] = found
    days = edges / DAY
    axes.stairs(high, days, baseline=low, fill=True, color=BLUE, alpha=0.18, lw=0, label="10 % to 90 % of the jobs")
    axes.stairs(median, days, baseline=None, color=BLUE, linewidth=LINE, label="median")
    if asked is not None:
        label = f"asked: {asked / HOUR:g} h"
        axes.axhline(asked / HOUR, color="black", linewidth=0.9, linestyle=(0, (5, 3)), label=label)
    longest = float(np.nanmax(high, initial=1.0))
    axes.set_ylim(-0.02 * longest, 1.05 * longest)  # so that a median of 0 can be seen
    axes.yaxis.set_major_formatter("{x:g} h")


def _shade(axes: Axes, phases: Sequence[Phase]) -> None:
    for number, phase in enumerate(phases):
        axes.axvspan(phase.begin / DAY, phase.end / DAY, color=SHADES[number % 4], linewidth=0, zorder=0)
        axes.axvline(phase.end / DAY, color="#c4c8cd", linewidth=0.8, zorder=0.5)


@dataclass(frozen=True, slots=True)
class _Name:
    """The name of a phase above the upper part: its left and right end in days, and how high it stands."""

    text: str
    left: float
    right: float
    side: Literal["left", "center", "right"]  # that is where it should be; letters may be narrower than was thought
    level: int
    middle: float  # of the phase

    @property
    def place(self) -> float:
        return {"left": self.left, "center": (self.left + self.right) / 2, "right": self.right}[self.side]


def _names(phases: Sequence[Phase], width: Width) -> list[_Name]:
    """Each in the middle of its phase; where a phase is too short it begins with it, and stands above later ones."""
    last = phases[-1].end / DAY
    letter = CHARACTER * (last - phases[0].begin / DAY) / (INCHES[width] - _BESIDE)
    found: list[_Name] = []
    for phase in reversed(phases):
        begin, end = phase.begin / DAY, phase.end / DAY
        long = letter * (len(phase.name) + 1)
        side: Literal["left", "center", "right"] = "left"
        left = begin
        if long <= end - begin:
            side, left = "center", (begin + end - long) / 2
        elif begin + long > last:
            side, left = "right", last - long
        levels = {name.level for name in found if name.left < left + long and left < name.right}
        level = min(set(range(len(phases))) - levels)
        found.append(_Name(phase.name, left, left + long, side, level, (begin + end) / 2))
    return found[::-1]


def _write_names(axes: Axes, names: Sequence[_Name]) -> None:
    """With a thin line from those on higher levels down to their phases."""
    style: Any = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "annotation_clip": False}
    for name in names:
        above = 4 + _LEVEL * name.level
        axes.annotate(name.text, (name.place, 1), (0, above), ha=name.side, color=GREY, fontsize=SMALL, **style)
        if name.level:
            line = {"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", (name.middle, 1), (0, above - 1), arrowprops=line, **style)
