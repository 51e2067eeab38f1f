"""The picture of learn_policy.py: how the policy learnt, and what that was worth on windows it had never seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from schedlab.plot.style import COLOURS, GREY

LINES = "#e3e5e8"


def draw(
    curve: Sequence[float], levels: Mapping[str, Sequence[float]], held_out: Mapping[str, Sequence[float]], path: Path
) -> None:
    """`curve`: after each generation; `levels`: the rivals on the same windows; `held_out`: all of them on others."""
    figure = Figure(figsize=(10, 3.8), layout="constrained", facecolor="white")
    learning, comparison = figure.subplots(1, 2, width_ratios=(1.25, 1))
    colours = dict(zip(held_out, COLOURS, strict=False))
    for name, costs in levels.items():
        level = float(np.mean(costs))
        learning.axhline(level, color=colours[name], linewidth=1.2, linestyle="--")
        place = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "bottom"}
        learning.annotate(name, (1, level), color=colours[name], **place)
    learning.plot(curve, color=colours["learnt"], linewidth=1.8, marker="o", markersize=4)
    learning.set_xlabel("generation")
    learning.set_ylim(0)
    _finish(learning, "While learning (training windows)", "y")

    means = [float(np.mean(costs)) for costs in held_out.values()]
    bars = comparison.barh(list(held_out), means, color=list(colours.values()), height=0.6)
    comparison.bar_label(bars, fmt="%.2f", padding=4, color=GREY)
    comparison.invert_yaxis()
    comparison.set_xlim(0, 1.15 * max(means))
    _finish(comparison, f"Afterwards ({len(held_out['learnt'])} windows never seen)", "x")
    figure.suptitle("Mean bounded slowdown, all with EASY backfilling", x=0.015, ha="left", fontweight="bold")
    figure.savefig(path, dpi=160)


def _finish(axes: Axes, title: str, grid: str) -> None:
    axes.set_title(title, loc="left", fontsize=10.5, fontweight="bold")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GREY)
    axes.grid(axis=grid, color=LINES, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=GREY, length=0, labelsize=9)
    axes.xaxis.label.set_color(GREY)
