"""How much something changed, in words and figures: halved, 3.1 times as long, cut 240-fold, 3.2 points more."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from schedlab.analysis.compare import Unit
from schedlab.workload.describe_table import duration

HALF, DOUBLE = (0.475, 0.525), (1.9, 2.1)
TENTH = 0.1  # percentages tell less and less below it: −99 % and −99.6 % are far apart

# What is surely nearer to no change than this is not worth the name: 1 %, or 0.1 points.
_HARDLY = {"ratio": 0.01, "points": 0.001, "amount": 0.0}
_SECONDS = {"h": 3600.0, "min": 60.0, "s": 1.0}


@dataclass(frozen=True, slots=True)
class Change:
    """A ratio; for shares, and where there is no ratio, a difference. The limits are None for one repetition."""

    kind: Literal["ratio", "points", "amount"]
    unit: Unit
    estimate: float
    low: float | None
    high: float | None
    means: tuple[float, float]  # before and after

    @classmethod
    def of(cls, row: Mapping[str, Any], unit: Unit) -> Change:
        """Of a row of `compare_groups`."""
        name = row["scale"]
        kind: Any = "ratio" if name == "ratio" else "points" if unit == "share" else "amount"
        means = row["baseline_mean"], row["mean"]
        low, high = row[f"{name}_low"], row[f"{name}_high"]
        if kind == "points" and low is not None:  # shares cannot differ by more than all
            low, high = max(low, -1.0), min(high, 1.0)
        return cls(kind, unit, row[name], low, high, means)

    @property
    def neutral(self) -> float:
        return 1.0 if self.kind == "ratio" else 0.0

    @property
    def up(self) -> bool:
        return self.estimate > self.neutral

    @property
    def nothing(self) -> bool:
        """The same in every repetition, but for rounding."""
        return all(
            limit is not None and math.isclose(limit, self.neutral, rel_tol=1e-9, abs_tol=1e-9)
            for limit in (self.low, self.estimate, self.high)
        )

    @property
    def constant(self) -> bool:
        """The same change in every repetition: seen, but nothing is known about the spread."""
        return self.low is not None and self.high is not None and math.isclose(self.low, self.high, rel_tol=1e-9)

    @property
    def excluded(self) -> bool:
        """Whether the interval leaves no change out."""
        return self.low is not None and self.high is not None and not self.low <= self.neutral <= self.high

    @property
    def hardly(self) -> bool:
        most = _HARDLY[self.kind]
        return (
            self.low is not None
            and self.high is not None
            and self.neutral - most < self.low
            and self.high < self.neutral + most
        )

    def claim(self, what: str) -> str:
        """`halves the mean wait`."""
        if self.estimate == self.neutral:
            return f"does not change {what}"
        if _within(self.estimate, HALF) and self.kind == "ratio":
            return f"halves {what}"
        if _within(self.estimate, DOUBLE) and self.kind == "ratio":
            return f"doubles {what}"
        if self._many_times:
            return f"makes {what} {_figure(self.estimate)} times as {'long' if self.unit == 'time' else 'high'}"
        if self._fold:
            return f"cuts {what} {_figure(1 / self.estimate)}-fold"
        if self.kind == "ratio" and self.estimate < HALF[0]:
            return f"cuts {what} to {_figure(100 * self.estimate)} %"
        shorter, longer = ("shortens", "lengthens") if self.unit == "time" else ("lowers", "raises")
        return f"{longer if self.up else shorter} {what} by {self._text(self.estimate, sign=False)}{self._tail}"

    def shown(self, *, claimed: bool = False) -> str:
        """The estimate; nothing where the claim has said it already, the means where it was a factor."""
        if claimed and self._fold:
            return f"from {_both(*self.means, self.unit)}"
        rough = self.kind == "ratio" and (self.estimate <= HALF[1] or _within(self.estimate, DOUBLE))
        return "" if claimed and not rough else f"{self._text(self.estimate)}{self._tail}"

    def limits(self) -> str:
        if self._fold and self.low is not None and self.high is not None:
            return f"{_figure(1 / self.high)}- to {_figure(1 / self.low)}-fold"
        return " to ".join(self._text(limit) for limit in (self.low, self.high) if limit is not None) + self._tail

    @property
    def _many_times(self) -> bool:
        return self.kind == "ratio" and self.estimate > DOUBLE[1]

    @property
    def _fold(self) -> bool:
        """Less than a tenth, and surely less than half."""
        return self.kind == "ratio" and self.estimate < TENTH and (self.high is None or self.high < HALF[0])

    @property
    def _tail(self) -> str:
        if self.kind == "ratio":
            return " times" if self._many_times else " %"
        return " points" if self.kind == "points" else ""

    def _text(self, value: float, *, sign: bool = True) -> str:
        if self._many_times:
            return _figure(value)
        change = {"ratio": 100 * (value - 1), "points": 100 * value, "amount": value}[self.kind]
        size = abs(change)
        text = duration(size) if self.kind == "amount" and self.unit == "time" else _figure(size)
        return f"{'−' if change < 0 else '+'}{text}" if sign and size else text


def _within(value: float, limits: tuple[float, float]) -> bool:
    return limits[0] <= value <= limits[1]


def _both(before: float, after: float, unit: Unit) -> str:
    """`554 h to 2.3 h`: times in one unit, unless they are too far apart for it."""
    if unit != "time":
        return f"{_figure(before)} to {_figure(after)}"
    name, size = next(((name, size) for name, size in _SECONDS.items() if after >= 0.1 * size), ("s", 1.0))
    if before >= 10_000 * size:
        return f"{duration(before)} to {duration(after)}"
    return " to ".join(
        f"{value:.3g} {name}" if value < 1000 else f"{value:,.0f} {name}" for value in (before / size, after / size)
    )


def _figure(size: float) -> str:
    """Two digits, as many as a reader takes in; more only before the point."""
    if size >= 1e6:
        return "over a million"
    return f"{size:,.0f}" if size >= 9.95 else f"{size:.1f}" if size >= 0.995 else f"{size:.2g}"
