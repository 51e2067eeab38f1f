"""Who brings the work of a log: bars of jobs and of core-hours, class by class, and the shares up to each class."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab.plot.style import COLOURS, SMALL, Width, explain, headline, new_figure, plain, save_axes, wrapped

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

MOST_CLASSES = 15  # the others share a row
_LETTERS = {"column": 18, "page": 34}  # of a name, in a line
_BAR = 0.36  # of a row
_SHOWN = {"jobs": COLOURS[5], "core_hours": COLOURS[0]}


def plot_shares(
    table: pl.DataFrame,
    path: str | Path | None = None,
    *,
    by: str = "class",
    axes: Axes | None = None,
    width: Width = "page",
    title: str = "",
) -> Axes:
    """Two bars for each row of `shares_by_class`, in per cent of all jobs and core-hours; lines add them up."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    own = axes is None
    names, shares = _rows(table)
    names = [wrapped(name, _LETTERS[width]) for name in names]
    lines = max((name.count("\n") + 1 for name in names), default=1)
    axes = axes or new_figure(width, 0.62 + max(0.27, 1.3 * lines * SMALL / 72) * max(len(names), 1)).subplots()
    rows = np.arange(len(names))
    for (name, colour), side in zip(_SHOWN.items(), (-1, 1), strict=True):
        places = rows + side * _BAR / 2
        axes.barh(places, shares[name], height=_BAR, color=colour, linewidth=0)
        look = {"color": colour, "linewidth": 0.8, "linestyle": ":", "markersize": 2.6}
        axes.plot(np.cumsum(shares[name]), places, marker="o", **look)  # type: ignore[arg-type]
    axes.set_yticks(rows, names)
    axes.set_ylim(max(len(names), 1) - 0.45, -0.55)  # the first on top
    axes.set_xlim(0, 102)
    axes.xaxis.set_major_formatter("{x:.0f} %")
    axes.set_ylabel({"size": "cores", "runtime": "run time"}.get(by, by))
    axes.set_xlabel("share of all jobs, and of all core-hours")
    plain(axes, "x")
    headline(axes, title)
    handles = [Patch(color=colour) for colour in _SHOWN.values()]
    added = Line2D([], [], color="black", linewidth=0.8, linestyle=":", marker="o", markersize=2.6)
    explain(axes, [*handles, added], ["jobs", "core-hours", "added up from the top"], width, own=own)
    save_axes(axes, path)
    return axes


def _rows(table: pl.DataFrame) -> tuple[list[str], dict[str, list[float]]]:
    """Names and per cent; what is beyond the most in one row."""
    most = len(table) if len(table) <= MOST_CLASSES + 1 else MOST_CLASSES
    names = ["unknown" if name is None else name for name in table["class"][:most].to_list()]
    shares = {name: (100 * table[f"{name}_share"][:most]).to_list() for name in _SHOWN}
    if most < len(table):
        names.append(f"{len(table) - most:,} others")
        for name, column in shares.items():
            column.append(100 * float(table[f"{name}_share"][most:].sum()))
    return names, shares
