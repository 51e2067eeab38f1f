"""Two workloads in one picture: distributions, what a job has to do with the one before, and the week."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.analysis.fidelity import CURVE, Fidelity, Variable
from schedlab.analysis.fidelity_words import NAMES
from schedlab.analysis.outcome import SLOWDOWN, UTILISATION, WAIT, OutcomeComparison
from schedlab.plot.style import COLOURS, GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# The reference is a broad line and the workload a narrow one on top: both can be seen where they agree.
BROAD: dict[str, Any] = {"color": COLOURS[5], "linewidth": 4.5, "solid_capstyle": "butt"}
NARROW: dict[str, Any] = {"color": COLOURS[0], "linewidth": 1.4}
STYLES = (NARROW, BROAD)
_TITLE: dict[str, Any] = {"loc": "left", "fontsize": 10, "fontweight": "bold"}
# Ticks that people can read: value and text.
TIMES = ((1, "1 s"), (60, "1 min"), (3600, "1 h"), (86_400, "1 d"), (2_592_000, "30 d"))
WORKS = ((3.6, "0.001"), (360, "0.1"), (36_000, "10"), (3.6e6, "1 k"), (3.6e8, "100 k"), (3.6e10, "10 M"))
HISTOGRAMS = ("runtime", "count", "accuracy")
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def plot_fidelity(found: Fidelity, path: str | Path | None = None) -> Figure:
    """Cumulative distributions, histograms, autocorrelations, the week; written to `path` if one is given."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1)
    first = 1 if found.outcomes else 0  # whether schedules behave alike is on top
    tall = 0.3 + 0.2 * len(found.outcomes)
    figure = Figure(figsize=(10, 13 + 2.5 * first * tall), layout=layout, facecolor="white")
    grid = figure.add_gridspec(5 + first, 3, height_ratios=[tall] * first + [1.0] * 5)
    if found.outcomes:
        _plot_outcomes([figure.add_subplot(grid[0, place]) for place in range(3)], found.outcomes)
    for place, variable in enumerate(found.variables.values()):
        _plot_cumulative(figure.add_subplot(grid[first + place // 3, place % 3]), variable)
    for place, name in enumerate(HISTOGRAMS):
        _plot_histogram(figure.add_subplot(grid[first + 2, place]), found.variables[name])
    for place, name in enumerate(found.autocorrelations):
        _plot_memory(figure.add_subplot(grid[first + 3, place]), found, name)
    _plot_week(figure.add_subplot(grid[first + 4, :]), found)
    _legend(figure, found)
    if path is not None:
        figure.savefig(path, dpi=130)
    return figure


def _plot_outcomes(panels: Sequence[Axes], outcomes: Sequence[OutcomeComparison]) -> None:
    """A row for each policy, a dot for each seed; the reference is the line, what counts as alike the band."""
    shares = [np.array([run.utilisation - one.reference.utilisation for run in one.runs]) for one in outcomes]
    shown: tuple[tuple[str, Sequence[Any], float, float], ...] = (
        ("Mean wait / reference", [one.wait_ratios for one in outcomes], 1.0, WAIT),
        ("Bounded slowdown / reference", [one.slowdown_ratios for one in outcomes], 1.0, SLOWDOWN),
        ("Utilisation − reference (points)", [100 * share for share in shares], 0.0, 100 * UTILISATION),
    )
    names = [f"{one.policy} (?)" if one.answer == "unknown" else one.policy for one in outcomes]
    for axes, (title, rows, line, most) in zip(panels, shown, strict=True):
        axes.axvspan(line - most, line + most, color=BROAD["color"], alpha=0.35, linewidth=0)
        axes.axvline(line, color=BROAD["color"], linewidth=2.5)
        for row, values in enumerate(rows):
            known = values[np.isfinite(values)]
            axes.plot(known, np.full(len(known), row), "o", color=NARROW["color"], ms=5, alpha=0.6, mew=0)
        ends = np.concatenate([values[np.isfinite(values)] for values in rows] or [np.array([line])])
        low, high = min(line - 2 * most, ends.min(initial=line)), max(line + 2 * most, ends.max(initial=line))
        axes.set_xlim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        axes.set_yticks(range(len(names)), names if axes is panels[0] else [""] * len(names))
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_title(title, **_TITLE)
        _plain(axes)
        axes.grid(visible=False)
    panels[0].set_xlabel("band: counts as alike" + ("; (?): cannot be told" if "(?)" in "".join(names) else ""))


def _plot_cumulative(axes: Axes, variable: Variable) -> None:
    """The share of jobs up to each value; values below a second stand at the left edge."""
    low = _scale(axes, variable)
    for curve, style in zip(variable.curves[::-1], STYLES[::-1], strict=True):
        axes.plot(np.maximum(curve, low), 100 * CURVE, **style)
    axes.set_ylim(0, 100)
    axes.yaxis.set_major_formatter("{x:.0f} %")
    axes.set_ylabel("jobs up to …")
    axes.set_title(_name(variable.name), **_TITLE)
    axes.text(0.97, 0.06, f"KS {variable.ks:.3f}", transform=axes.transAxes, ha="right", color=GREY, fontsize=9)
    _plain(axes)


def _plot_histogram(axes: Axes, variable: Variable) -> None:
    low = _scale(axes, variable)
    if variable.unit:
        edges = np.geomspace(low, max(float(variable.curves[1][-1]), 10 * low), 31)
    elif variable.name == "accuracy":
        edges = np.linspace(0, 1.2, 31)
    else:  # sizes: around the powers of two
        edges = np.exp2(np.arange(0, np.ceil(np.log2(max(curve[-1] for curve in variable.curves))) + 2) - 0.5)
    for curve, style in zip(variable.curves[::-1], STYLES[::-1], strict=True):
        upto = np.searchsorted(np.maximum(curve, low), edges, side="right") / len(curve)
        upto[0], upto[-1] = 0.0, 1.0  # what lies beyond belongs to the bars at the ends
        if style is BROAD:
            axes.stairs(100 * np.diff(upto), edges, fill=True, color=style["color"])
        else:
            axes.stairs(100 * np.diff(upto), edges, **style)
    axes.set_ylim(0)
    axes.yaxis.set_major_formatter("{x:.0f} %")
    axes.set_ylabel("jobs")
    axes.set_title(_name(variable.name), **_TITLE)
    _plain(axes)


def _plot_memory(axes: Axes, found: Fidelity, name: str) -> None:
    """How like the job some places before it a job is."""
    lags = found.autocorrelations[name]
    values = np.array([[np.nan if one is None else one for one in pair] for pair in lags.values()])
    for side, style in ((1, BROAD), (0, NARROW)):
        axes.plot(list(lags), values[:, side], marker="o", ms=4, **style)
    axes.set_xscale("log")
    axes.set_xticks(list(lags), [str(lag) for lag in lags])
    axes.set_xticks([], minor=True)
    axes.set_ylim(np.floor(10 * np.nanmin(values, initial=0.0) + 0.5) / 10, 1)
    axes.set_xlabel("jobs apart")
    axes.set_ylabel("autocorrelation")
    axes.set_title(_name(name), **_TITLE)
    _plain(axes)


def _plot_week(axes: Axes, found: Fidelity) -> None:
    hours = np.arange(169)
    axes.stairs(100 * found.weeks[1], hours, fill=True, color=BROAD["color"])
    axes.stairs(100 * found.weeks[0], hours, **NARROW)
    axes.set_xlim(0, 168)
    axes.set_xticks(range(12, 168, 24), DAYS)
    for midnight in range(24, 168, 24):
        axes.axvline(midnight, color="white", linewidth=1.2)
    axes.yaxis.set_major_formatter("{x:.1f} %")
    axes.set_title("Share of jobs submitted in each hour of the week", **_TITLE)
    _plain(axes)


def _scale(axes: Axes, variable: Variable) -> float:
    """A suitable axis; returns the smallest value that can be drawn on it."""
    if variable.name == "accuracy":
        axes.set_xlim(0, 1.2)
        return 0.0
    largest = max(float(curve[-1]) for curve in variable.curves)
    axes.set_xscale("log", base=10 if variable.unit else 2)
    low = 1.0 if variable.unit else 0.8
    ticks = TIMES if variable.unit == "s" else WORKS
    if variable.unit:
        shown = [tick for tick in ticks if low <= tick[0] <= largest]
        axes.set_xticks([value for value, _ in shown], [text for _, text in shown])
    else:
        axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set_xticks([], minor=True)
    axes.set_xlim(low, max(largest * 1.2, 2 * low))
    axes.set_xlabel({"s": "", "core-s": "core-hours"}.get(variable.unit, "chunks (processors)"))
    return low


def _name(name: str) -> str:
    return NAMES[name].partition(" (")[0].capitalize()


def _legend(figure: Figure | SubFigure, found: Fidelity) -> None:
    from matplotlib.lines import Line2D

    lines = [Line2D([], [], **style) for style in STYLES]
    names = [f"{side.name} ({side.jobs:,} jobs)" for side in (found.workload, found.reference)]
    figure.legend(lines, names, loc="outside upper left", ncols=2, frameon=False, fontsize=11, handlelength=2.2)


def _plain(axes: Axes) -> None:
    """Nothing but the data and a few grey lines to read it by."""
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GREY)
    axes.grid(axis="y", color="#e3e5e8", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=GREY, length=0, labelsize=8.5)
    axes.tick_params(axis="x", which="major", length=3)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_color(GREY)
        label.set_fontsize(9)
