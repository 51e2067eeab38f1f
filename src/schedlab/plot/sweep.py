"""A metric over a parameter: a line for each policy, with intervals of confidence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.model.errors import InputError
from schedlab.plot.bars import logarithmic_from
from schedlab.plot.distributions import tint
from schedlab.plot.heatmap import short
from schedlab.plot.style import (
    CHARACTER,
    GREY,
    INCHES,
    LIGHT,
    Width,
    figure_headline,
    headline,
    legend,
    panels,
    plain,
    save,
    series,
    wrapped,
)
from schedlab.plot.times import SECONDS, Floats, unit_of

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PANELS = 12
_COLUMNS = ("x", "line", "value", "low", "high")
_MARKERS = "osD^vph"
_HEIGHT = {"column": 1.9, "page": 2.4}  # inches of a panel
_NEAR_ZERO = 0.6  # of the largest value: if the smallest is below, the axis begins at 0
_WIDE = 8  # the ratio of the largest to the smallest x from which a logarithmic axis may be better
_FILLED = 0.6  # of the room between two words that their points take


def plot_sweep(
    table: pl.DataFrame,
    path: str | Path | None = None,
    *,
    x: str = "x",
    label: str = "value",
    unit: str = "",
    x_unit: str = "",
    without: str = "",
    width: Width = "page",
    labels: Sequence[str] | None = None,
    title: str = "",
    spread: str = "",
) -> Figure:
    """A line for each text in the column `line` through the `value`s at `x`, with a band from `low` to `high`.

    `x` are numbers, or words, which have points with whiskers instead of lines. Rows without an x are dotted levels:
    what `without` says is the case there. Rows that differ in the column `panel`, if there is one, are in panels of
    their own. `x`, `label` and the units name the axes; values in "s" are shown in the unit that suits them, shares
    ("%") in per cent. `spread` says what `low` and `high` are, if not intervals of confidence. An axis is logarithmic,
    and says so, where numbers differ by large factors.
    """
    import polars as pl

    if missing := [name for name in _COLUMNS if name not in table.columns]:
        raise InputError(f"the table has no column '{missing[0]}'", hint=f"expected {', '.join(_COLUMNS)}")
    table = table.filter(pl.col("value").is_not_null())
    if not len(table):
        raise InputError("there is no value to draw")
    if table["x"].is_null().all():
        raise InputError(f"no value has a place on the axis {x}", hint="finish the study, or choose another x")
    if "panel" not in table.columns:
        table = table.with_columns(pl.lit("").alias("panel"))
    logarithmic = logarithmic_from(table["value"].to_numpy()) is not None
    table, notes = _in_units(table, unit, x_unit, logarithmic)
    lines = table["line"].unique(maintain_order=True).to_list()
    names = _named(lines, labels)
    parts = table.partition_by("panel", maintain_order=True)
    if len(parts) > MOST_PANELS:
        hint = "choose another parameter as x, or a smaller study"
        raise InputError(f"there would be {len(parts)} panels", hint=hint)
    across = 1 if width == "column" else 2 if len(parts) in (2, 4) else 3
    figure, every = panels([part["panel"][0] for part in parts], width, _HEIGHT[width], across)
    inches = (INCHES[width] - 0.8) / min(across, len(parts))
    words = None if table["x"].dtype.is_numeric() else table["x"].drop_nulls().unique(maintain_order=True).to_list()
    for axes, part in zip(every, parts, strict=True):
        axes.set_yscale("log" if logarithmic else "linear")
        for number, line in enumerate(lines):
            _draw(axes, part.filter(pl.col("line") == line), number, len(lines), words)
        _scale_y(axes, table, logarithmic)
        plain(axes, "y" if words else "both")
        if words is None:
            _scale_x(axes, table["x"].drop_nulls().to_numpy(), inches)
        else:
            _name_words(axes, words, inches)
    for number, axes in enumerate(every):
        axes.tick_params(labelleft=number % across == 0)
    for axes in every[::across]:
        axes.set_ylabel(wrapped(f"{label}{_told(notes[0], logarithmic)}", int(_HEIGHT[width] / CHARACTER / 1.25)))
    for axes in every[-across:]:
        axes.set_xlabel(f"{x}{_told(notes[1], every[0].get_xscale() == 'log')}")
    _finish(figure, every, table, names, without, width, title, spread)
    save(figure, path)
    return figure


def _in_units(table: pl.DataFrame, unit: str, x_unit: str, logarithmic: bool) -> tuple[pl.DataFrame, tuple[str, str]]:
    """Values in the unit that suits them, and what both units are called."""
    import polars as pl

    size = {"%": 0.01}.get(unit, 1.0)
    if unit == "s":
        values = np.abs(table["value"].to_numpy())
        unit = unit_of(float(np.exp(np.log(values[values > 0]).mean()) if logarithmic else values.max()))
        size = SECONDS[unit]
    table = table.with_columns(pl.col("value", "low", "high") / size)
    if x_unit == "s":
        x_unit = unit_of(float(np.max(np.abs(table["x"].drop_nulls().to_numpy()), initial=0.0)))
        table = table.with_columns(pl.col("x") / SECONDS[x_unit])
    return table, (unit, x_unit)


def _named(lines: Sequence[str], labels: Sequence[str] | None) -> list[str]:
    if labels is None:
        return list(lines)
    if len(labels) != len(lines):
        hint = f"give one label for each line: {'; '.join(lines)}"
        raise InputError(f"labels: {len(labels)}, lines: {len(lines)}", hint=hint)
    return list(labels)


def _draw(axes: Axes, rows: pl.DataFrame, number: int, of: int, words: Sequence[str] | None) -> None:
    look, marker = series(number), _MARKERS[number % len(_MARKERS)]
    points: dict[str, Any] = {"marker": marker, "markersize": 3.4, "markeredgecolor": "white", "markeredgewidth": 0.4}
    for level in rows.filter(rows["x"].is_null() & ((rows["value"] > 0) | (axes.get_yscale() == "linear")))["value"]:
        axes.axhline(level, color=look["color"], linestyle=(0, (1, 1.6)), linewidth=1.1, zorder=1.5)
    rows = rows.drop_nulls("x")
    if words is None:
        rows = rows.sort("x")
        at, value, low, high = _columns(rows)
        axes.fill_between(at, low, high, color=look["color"], alpha=0.16, linewidth=0)
        axes.plot(at, value, zorder=3, **look, **points)
        return
    rows = rows.with_columns(x=rows["x"].replace_strict(dict(zip(words, range(len(words)), strict=True))))
    at, value, low, high = _columns(rows)
    at = at + _FILLED * ((number + 0.5) / of - 0.5)
    reach = [value - low, high - value]
    axes.errorbar(at, value, reach, fmt="none", ecolor=look["color"], elinewidth=1.0, capsize=2.2, zorder=2)
    axes.plot(at, value, linestyle="none", color=look["color"], zorder=3, **points | {"markersize": 4.4})


def _columns(rows: pl.DataFrame) -> tuple[Floats, Floats, Floats, Floats]:
    at, value, low, high = (
        rows[name].cast(float).fill_null(np.nan).to_numpy() for name in ("x", "value", "low", "high")
    )
    return at, value, low, high


def _scale_y(axes: Axes, table: pl.DataFrame, logarithmic: bool) -> None:
    """From 0, unless values are far above it; what an interval says below 0, where no value is, is cut."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

    ends = np.concatenate([table[name].drop_nulls().to_numpy() for name in ("value", "low", "high")])
    values = table["value"].to_numpy()
    low, high = max(float(ends.min()), min(float(values.min()), 0.0)), float(ends.max())
    if logarithmic:
        begin = max(float(ends[ends > 0].min()), float(values[values > 0].min()) / 3)
        margin = (high / begin) ** 0.05
        axes.set_ylim(begin / margin, high * margin)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 200 * begin else (1,), numticks=9))
        axes.yaxis.set_minor_locator(NullLocator())
    else:
        if 0 <= low < _NEAR_ZERO * high or low == high >= 0:
            axes.set_ylim(0, 1.06 * high or 1.0)
        else:
            margin = 0.06 * (high - low or 1.0)
            axes.set_ylim(low - margin, high + margin)
        axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.yaxis.set_major_formatter(lambda value, _place: f"{value:,g}")


def _scale_x(axes: Axes, values: Floats, inches: float) -> None:
    """Ticks at the values themselves, as many as there is room for; by factors, if they grow by factors."""
    from matplotlib.ticker import FixedLocator, NullLocator

    different = np.unique(values)
    scaled = different
    if different[0] > 0 and different[-1] / different[0] >= _WIDE and _evener(np.log(different), different):
        axes.set_xscale("log")
        scaled = np.log(different)
    axes.margins(x=0.03)
    room = CHARACTER * (1 + max(len(_number(value)) for value in different.tolist()))
    least = room / inches * (scaled[-1] - scaled[0])
    kept = [0]
    for place in range(1, len(different)):
        if scaled[place] - scaled[kept[-1]] >= least:
            kept.append(place)
    axes.xaxis.set_major_locator(FixedLocator(different[kept].tolist()))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _place: _number(value))


def _evener(one: Floats, other: Floats) -> bool:
    """Whether the steps of the first differ less than those of the second."""
    spread = [float(np.diff(values).std() / np.diff(values).mean()) for values in (one, other)]
    return spread[0] < spread[1]


def _number(value: float) -> str:
    return short(value) if abs(value) >= 10_000 else f"{value:,.6g}"


def _name_words(axes: Axes, words: Sequence[str], inches: float) -> None:
    letters = max(4, int(inches / len(words) / CHARACTER))
    axes.set_xticks(range(len(words)), [wrapped(word, letters) for word in words])
    axes.set_xlim(-0.5, len(words) - 0.5)
    for place in range(1, len(words)):
        axes.axvline(place - 0.5, color=LIGHT, linewidth=0.6, zorder=0)


def _told(unit: str, logarithmic: bool) -> str:
    notes = ", ".join(filter(None, [unit, "logarithmic" if logarithmic else ""]))
    return f" ({notes})" if notes else ""


def _finish(
    figure: Figure,
    every: Sequence[Axes],
    table: pl.DataFrame,
    names: Sequence[str],
    without: str,
    width: Width,
    title: str,
    spread: str,
) -> None:
    """The title, and the legend: lines, what the dotted levels are, what the bands are."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if len(every) == 1:
        headline(every[0], title or (names[0] if len(names) == 1 else ""))
    else:
        figure_headline(figure, title)
    words = not table["x"].dtype.is_numeric()
    everywhere = table["line"].unique(maintain_order=True).to_list()
    placed = set(table.drop_nulls("x")["line"])
    handles: list[Any] = []
    for number, line in enumerate(everywhere):
        look, marker = series(number), _MARKERS[number % len(_MARKERS)]
        if line not in placed:
            look |= {"linestyle": (0, (1, 1.6))}
        elif words:
            look |= {"linestyle": "none"}
        shown: dict[str, Any] = {"marker": marker, "markersize": 3.4} if line in placed else {}
        handles.append(Line2D([], [], **look, **shown))
    said = list(names) if len(names) > 1 else []
    handles = handles if said else []
    if without and table["x"].null_count():
        handles.append(Line2D([], [], color=GREY, linestyle=(0, (1, 1.6)), linewidth=1.1))
        said.append(without)
    if table["low"].null_count() < len(table):
        most = int(table["n"].max()) if "n" in table.columns else 0  # type: ignore[arg-type]
        said.append(spread or "95 % CI" + (f", {most} repetitions" if most else ""))
        bar = Line2D([], [], color=GREY, linestyle="none", marker="|", markersize=6)
        handles.append(bar if words else Patch(color=tint(GREY)))
    if said:
        legend(figure, handles, said, width)
