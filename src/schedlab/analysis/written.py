"""Numbers for people: one unit for a whole column, so that rows can be compared at a glance."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.analysis.compare import Unit

_TIMES = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0))


def column(values: Sequence[float | None], unit: Unit) -> tuple[str, list[str]]:
    """The unit to write in the heading, and the values as text."""
    name, size = scale(values, unit)
    largest, middle = max((abs(value) for value in values if value), default=0.0), _middle(values)
    # An outlier does not take the digits of the others: 1.30, 1.50 and 2,215.00.
    decimals = 0 if unit == "count" else _decimals((largest if largest <= 100 * middle else middle) / size)
    if unit == "share":
        decimals = 2 if 0 < largest < 0.01 else 1  # a large machine may be used by a few tenths of a per cent
    return name, ["–" if value is None else f"{value / size:,.{decimals}f}" for value in values]


def scale(values: Sequence[float | None], unit: Unit) -> tuple[str, float]:
    """The unit for all of them, and how much one of it is."""
    if unit != "time":
        return {"share": ("%", 0.01), "number": ("", 1.0), "count": ("", 1.0)}[unit]
    # The largest unit of which the middle value is at least one: the largest value may be an outlier.
    middle = _middle(values)
    return next(((name, size) for name, size in _TIMES if middle >= size), ("s", 1.0))


def _middle(values: Sequence[float | None]) -> float:
    """Of those that are not 0."""
    sizes = sorted(abs(value) for value in values if value) or [0.0]
    return sizes[(len(sizes) - 1) // 2]


def duration(seconds: float) -> str:
    name, (text,) = column([seconds], "time")
    return f"{text} {name}"


def _decimals(largest: float) -> int:
    return 0 if largest >= 1000 or largest == 0 else 1 if largest >= 100 else 2
