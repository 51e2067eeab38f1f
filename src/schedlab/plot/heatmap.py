"""A number over two parameters: coloured cells with the number in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.model.errors import InputError
from schedlab.plot.style import (
    FAINT,
    GREY,
    INCHES,
    SMALL,
    Width,
    colour_bar,
    headline,
    new_figure,
    save_axes,
    shades,
    wrapped,
)
from schedlab.plot.times import Floats, brief, duration_ticks

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

_LETTER = 0.66 / 72  # inches of width, for each point of size
_SMALLEST = 4.8  # points; smaller numbers are left out
_LETTERS = {"column": 16, "page": 32}  # of a label, in a line


def plot_heatmap(
    table: pl.DataFrame,
    path: str | Path | None = None,
    *,
    x: str = "x",
    y: str = "y",
    value: str = "value",
    unit: str = "",
    axes: Axes | None = None,
    width: Width = "page",
    title: str = "",
) -> Axes:
    """A cell for each pair of values in the columns `x` and `y`; a number is written where it fits.

    Numbers on the axes are in increasing order, texts as they first appear. A `unit` of "s" makes durations.
    """
    for name in (x, y, value):
        if name not in table.columns:
            raise InputError(f"the table has no column '{name}'", hint=f"its columns: {', '.join(table.columns)}")
    if table.select(x, y).is_duplicated().any():
        raise InputError(f"several rows have the same {x} and {y}", hint="give one value for each cell")
    across, down = _values(table[x]), _values(table[y])
    cells = np.full((len(down), len(across)), np.nan)
    for where_x, where_y, number in table.select(x, y, value).iter_rows():
        cells[down.index(where_y), across.index(where_x)] = np.nan if number is None else number
    names_y = [wrapped(_text(one), _LETTERS[width]) for one in down]
    wide = (INCHES[width] - _longest(names_y) * _LETTER * SMALL - 1.1) / len(across)
    names_x = [wrapped(_text(one), int(wide / _LETTER / SMALL)) for one in across]
    cell = wide, max(0.27, 1.3 * SMALL / 72 * _most_lines(names_y))
    below = _LETTER * SMALL * _longest(names_x) if _upright(names_x, wide) else 1.3 * SMALL / 72 * _most_lines(names_x)
    axes = axes or new_figure(width, 0.6 + below + cell[1] * len(down)).subplots()
    scale = _scale(cells)
    draw_cells(axes, cells, scale, cell, brief if unit == "s" else short)
    name_cells(axes, names_x, names_y, cell[0])
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    bar = colour_bar(scale, axes, f"{value} ({unit})" if unit and unit != "s" else value)
    if unit == "s":
        ticks = duration_ticks(scale.norm.vmax, scale.norm.vmin)
        bar.set_ticks(list(ticks), labels=list(ticks.values()))
    headline(axes, title)
    save_axes(axes, path)
    return axes


def draw_cells(axes: Axes, cells: Floats, scale: Any, cell: tuple[float, float], write: Any) -> None:
    """Coloured cells, grey where there is no number; `cell` is the size of one in inches."""
    axes.set_facecolor(FAINT)
    axes.pcolormesh(np.ma.masked_invalid(cells), cmap=scale.cmap, norm=scale.norm, edgecolors="white", linewidth=0.6)
    axes.invert_yaxis()
    texts = {(row, column): write(cells[row, column]) for row, column in np.argwhere(np.isfinite(cells)).tolist()}
    longest = max(map(len, texts.values()), default=1)
    size = min(SMALL, (cell[0] - 0.05) / longest / _LETTER, 62 * cell[1])
    if size < _SMALLEST:
        return
    for (row, column), text in texts.items():
        colour = "white" if _dark(scale.to_rgba(cells[row, column])) else "black"
        place = column + 0.5, row + 0.5
        axes.text(*place, text, ha="center", va="center_baseline", fontsize=size, color=colour)


def name_cells(axes: Axes, across: Sequence[str], down: Sequence[str], wide: float) -> None:
    """The names of columns and rows; names wider than a column stand upright."""
    axes.set_xticks(np.arange(len(across)) + 0.5, across, rotation=90 if _upright(across, wide) else 0)
    axes.set_yticks(np.arange(len(down)) + 0.5, down)
    axes.spines[:].set_visible(False)
    axes.tick_params(colors=GREY, length=0, labelsize=SMALL)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set(color=GREY, size=SMALL + 1)


def _upright(names: Sequence[str], wide: float) -> bool:
    return _longest(names) * _LETTER * SMALL > wide


def _longest(names: Sequence[str]) -> int:
    return max(len(line) for name in names for line in name.split("\n"))


def _most_lines(names: Sequence[str]) -> int:
    return max(name.count("\n") + 1 for name in names)


def short(number: float) -> str:
    """Three digits: `0.123`, `12.3`, `1,230`, `12k`, `1.2M`."""
    size = abs(number)
    for suffix, factor in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if size >= 10 * factor or (suffix != "k" and size >= factor):
            return f"{number / factor:.3g}{suffix}"
    return f"{number:,.0f}" if size >= 100 else f"{number:.3g}"


def _scale(cells: Floats) -> Any:
    """From the smallest number to the largest; by factors, if they are far apart."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm, Normalize

    known = cells[np.isfinite(cells)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    far = low > 0 and high / low > 50
    return ScalarMappable((LogNorm if far else Normalize)(low, high if high > low else low + 1), shades())


def _values(column: pl.Series) -> list[Any]:
    found = column.unique(maintain_order=True)
    return (found.sort() if found.dtype.is_numeric() else found).to_list()


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _dark(colour: tuple[float, ...]) -> bool:
    """Whether white can be read better on it than black."""
    red, green, blue = colour[:3]
    return 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
