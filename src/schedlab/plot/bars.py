"""Bars with intervals of confidence, from a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab.model.errors import InputError
from schedlab.plot.heatmap import short
from schedlab.plot.style import COLOURS, GREY, SMALL, Width, headline, new_figure, plain, save_axes, wrapped
from schedlab.plot.times import SECONDS, Floats, unit_of

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes

_LETTERS = {"column": 18, "page": 34}  # of a label, in a line
_LARGEST_FACTOR = 30  # of two bars on a linear axis


def plot_bars(
    table: pl.DataFrame,
    path: str | Path | None = None,
    *,
    label: str = "value",
    unit: str = "",
    axes: Axes | None = None,
    width: Width = "page",
    title: str = "",
) -> Axes:
    """A bar for each row (columns label, value, low, high); no whisker where low or high is null.

    `label` and `unit` name the axis; values in "s" are shown in the unit that suits them. The axis is logarithmic where
    the smallest bar would hardly be seen beside the largest.
    """
    if missing := [name for name in ("label", "value", "low", "high") if name not in table.columns]:
        raise InputError(f"the table has no column '{missing[0]}'", hint="expected label, value, low and high")
    value, low, high = (table[name].cast(float).fill_null(np.nan).to_numpy() for name in ("value", "low", "high"))
    if unit == "s":
        unit = unit_of(float(np.nanmax(np.abs(value), initial=0.0)))
        value, low, high = (column / SECONDS[unit] for column in (value, low, high))
    names = [wrapped(str(name), _LETTERS[width]) for name in table["label"]]
    lines = max((name.count("\n") + 1 for name in names), default=1)
    axes = axes or new_figure(width, 0.62 + max(0.24, 1.3 * lines * SMALL / 72) * len(names)).subplots()
    rows = np.arange(len(names))
    begin = logarithmic_from(value)
    if begin is not None:
        axes.set_xscale("log")
        low, high = np.maximum(low, begin), np.maximum(high, begin)  # what reaches below is cut
    shown = value if begin is None else np.maximum(value, begin)
    axes.barh(rows, value, height=0.6, color=COLOURS[5], linewidth=0)
    axes.errorbar(shown, rows, xerr=[shown - low, high - shown], fmt="none", ecolor="black", elinewidth=0.8, capsize=2)
    ends = np.fmax(shown, high)
    for row, (number, end) in enumerate(zip(value, ends, strict=True)):
        if np.isfinite(number):
            axes.annotate(short(number), (end, row), (4, 0), textcoords="offset points", va="center", fontsize=SMALL)
    axes.set_yticks(rows, names)
    axes.set_ylim(len(names) - 0.4, -0.6)  # the first on top
    last = float(np.nanmax(ends, initial=0.0))
    if begin is None:
        axes.set_xlim(min(0.0, float(np.nanmin(low, initial=0.0))), 1.12 * last or 1.0)
    else:
        _scale_by_factors(axes, begin, last)
    notes = ", ".join(filter(None, [unit, "" if begin is None else "logarithmic"]))
    axes.set_xlabel(f"{label} ({notes})" if notes else label)
    axes.xaxis.set_major_formatter("{x:,g}")
    plain(axes, "x")
    if axes.get_xlim()[0] < 0:
        axes.axvline(0, color=GREY, linewidth=0.7)
    headline(axes, title)
    save_axes(axes, path)
    return axes


def logarithmic_from(value: Floats) -> float | None:
    """Where a logarithmic axis begins, if the values differ so much that they need one."""
    above = value[value > 0]
    if np.nanmin(value, initial=0.0) < 0 or not len(above) or above.max() <= _LARGEST_FACTOR * above.min():
        return None
    return float(10 ** np.floor(np.log10(above.min() / 2)))


def _scale_by_factors(axes: Axes, begin: float, last: float) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_xlim(begin, begin * (last / begin) ** 1.12)
    axes.xaxis.set_major_locator(LogLocator(numticks=6))
    axes.xaxis.set_minor_locator(NullLocator())
