"""How the numbers of a metric are written on a page: all in one unit, with as many digits as they need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from schedlab.analysis.verdict import metric_unit

_TIMES = {"h": 3600.0, "min": 60.0, "s": 1.0, "ms": 0.001}
_MOST_DECIMALS = 2


@dataclass(frozen=True, slots=True)
class Scale:
    unit: str  # "h", "%"; empty for plain numbers
    size: float  # of the unit
    decimals: int

    @classmethod
    def of(cls, metric: str, values: Iterable[float | None]) -> Scale:
        """Of the values of one metric: three digits of the smallest, at most two decimals."""
        known = [abs(value) for value in values if value]
        kind, largest = metric_unit(metric), max(known, default=0.0)
        unit, size = ("%", 0.01) if kind == "share" else ("", 1.0)
        if kind == "time":
            unit, size = next(((unit, size) for unit, size in _TIMES.items() if largest >= size), ("s", 1.0))
        whole = all(value == int(value) for value in known) and size == 1
        digits = 0 if whole else 2 - math.floor(math.log10(min(known) / size)) if known else 0
        return cls(unit, size, min(max(digits, 0), _MOST_DECIMALS))

    def text(self, row: Mapping[str, Any]) -> str:
        """The mean of a row of `merge_repetitions`, and half the width of its interval if it has one."""
        if row["mean"] is None:
            return "–"
        half = "" if row["low"] is None else f" ± {self._number((row['high'] - row['low']) / 2)}"
        return f"{self._number(row['mean'])}{half}"

    def told(self, row: Mapping[str, Any]) -> str:
        """With the unit."""
        return f"{self.text(row)} {self.unit}".rstrip()

    def _number(self, value: float) -> str:
        return f"{value / self.size:,.{self.decimals}f}"
