"""How often each value occurs: quantiles of a stream in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

QUANTILES = {"p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99}
MOST_VALUES = 1 << 18
DIGITS = 4


@dataclass(frozen=True, slots=True)
class Spread:
    """Where the values of a quantity lie."""

    count: int
    mean: float
    min: float
    max: float
    quantiles: dict[str, float]

    def to_dict(self) -> dict[str, float]:
        ends = {"count": self.count, "mean": self.mean, "min": self.min}
        return {**ends, **self.quantiles, "max": self.max}


class Tally:
    """Values and their counts. Exact up to 2^18 different values, then quantiles are good to four digits."""

    def __init__(self) -> None:
        self.values: NDArray[np.float64] = np.empty(0)
        self.counts: NDArray[np.int64] = np.empty(0, np.int64)
        self.sum = 0.0
        self.exact = True

    def add(self, values: NDArray[Any]) -> None:
        """Count more values; those that are not finite are left out."""
        values = np.asarray(values, np.float64)
        values = values[np.isfinite(values)]
        self.sum += float(values.sum())
        self._merge(*np.unique(self._rounded(values), return_counts=True))
        if self.exact and len(self.values) > MOST_VALUES:
            self.exact = False
            coarse, counts = self._rounded(self.values), self.counts
            self.values, self.counts = np.empty(0), np.empty(0, np.int64)
            self._merge(coarse, counts)

    def __len__(self) -> int:
        return int(self.counts.sum())

    def share(self, chosen: NDArray[np.bool_]) -> float:
        """The share of occurrences whose value is chosen (a mask over `values`)."""
        return float(self.counts[chosen].sum() / self.counts.sum()) if len(self.counts) else 0.0

    def spread(self) -> Spread | None:
        """None if there are no values. Quantiles are interpolated as NumPy does by default."""
        count = len(self)
        if not count:
            return None
        upto = np.cumsum(self.counts)
        place = (count - 1) * np.array(list(QUANTILES.values()))
        low = self.values[np.searchsorted(upto, np.floor(place), side="right")]
        high = self.values[np.searchsorted(upto, np.ceil(place), side="right")]
        found = low + (high - low) * (place - np.floor(place))
        quantiles = dict(zip(QUANTILES, found.tolist(), strict=True))
        mean = (float(self.values @ self.counts) if self.exact else self.sum) / count
        return Spread(count, mean, float(self.values[0]), float(self.values[-1]), quantiles)

    def _merge(self, values: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
        merged, place = np.unique(np.concatenate([self.values, values]), return_inverse=True)
        both = np.concatenate([self.counts, counts])
        self.values = merged
        self.counts = np.zeros(len(merged), np.int64)
        np.add.at(self.counts, place, both)

    def _rounded(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.exact:
            return values
        with np.errstate(divide="ignore"):
            place = np.where(values != 0, np.floor(np.log10(np.abs(values))), 0)
        unit = 10.0 ** (place - (DIGITS - 1))
        rounded: NDArray[np.float64] = np.round(values / unit) * unit
        return rounded
