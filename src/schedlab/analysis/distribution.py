"""A list of numbers in a few: mean, median, percentiles, largest; also of numbers that come in pieces."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
from numpy.typing import NDArray

QUANTILES = {"median": 0.5, "p5": 0.05, "p25": 0.25, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}

Distribution = dict[str, float | None]
Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]

FEW = 1 << 18  # values that are kept as they are
_LEAF = 1 << 16  # values that are added up at once
_FIRST_BITS, _NEXT_BITS = 16, 14  # of values that one pass tells apart
_SORTED = 1 << 15  # values of a range that are kept: there may be a range for each percentile of each distribution


def distribution(values: Floats) -> Distribution:
    """Percentiles between two values are interpolated linearly (NumPy's default). Reorders `values`."""
    if not len(values):
        return dict.fromkeys(["mean", *QUANTILES, "max"])
    total, places = float(values.sum()), _places(len(values))
    values.partition(places)  # only these have to be in place: half the time of sorting
    return _of_places(total, len(values), {place: float(values[place]) for place in places})


def weighted_distribution(values: Floats, weights: Floats) -> Distribution:
    """Of values that each count so much, such as what held for so many seconds: a percentile is the smallest value
    that so much of the weight does not exceed."""
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weights[order])
    if not len(values) or upto[-1] <= 0:
        return dict.fromkeys(["mean", *QUANTILES, "max"])
    ordered, total = values[order], float(upto[-1])
    places = {
        name: min(int(np.searchsorted(upto, share * total)), len(ordered) - 1) for name, share in QUANTILES.items()
    }
    mean = float(values @ weights) / total
    return {"mean": mean, **{name: float(ordered[at]) for name, at in places.items()}, "max": float(ordered[-1])}


def _places(count: int) -> list[int]:
    """Those of so many values, in order, that a distribution tells of."""
    last = count - 1
    return sorted({min(int(share * last) + step, last) for share in QUANTILES.values() for step in (0, 1)} | {last})


def _of_places(total: float, count: int, at: dict[int, float]) -> Distribution:
    last = count - 1

    def at_rank(rank: float) -> float:
        below = int(rank)
        low, high = at[below], at[min(below + 1, last)]
        return low + (high - low) * (rank - below)

    quantiles = {name: at_rank(share * last) for name, share in QUANTILES.items()}
    return {"mean": total / count, **quantiles, "max": at[last]}


class PiecewiseSum:
    """The sum of `count` numbers that come in pieces, to the last digit what NumPy finds of them in one array.

    NumPy adds the sums of two halves, of which the first has a multiple of eight numbers, and so on within each.
    """

    def __init__(self, count: int) -> None:
        self._tree = _sum_of(count)
        self._leaf: Floats = np.empty(next(self._tree))
        self._filled = 0
        self.value = 0.0

    def add(self, values: NDArray[np.number]) -> None:
        while len(values):
            part = values[: len(self._leaf) - self._filled]
            self._leaf[self._filled : self._filled + len(part)] = part
            self._filled += len(part)
            values = values[len(part) :]
            if self._filled == len(self._leaf):
                self._next_leaf()

    def _next_leaf(self) -> None:
        try:
            self._leaf, self._filled = np.empty(self._tree.send(float(self._leaf.sum()))), 0
        except StopIteration as done:
            self.value = done.value


def _sum_of(count: int) -> Generator[int, float, float]:
    """Asks for the sums of so many numbers, one after the other."""
    if count <= _LEAF:
        return (yield count)
    first = count // 2
    first -= first % 8
    return (yield from _sum_of(first)) + (yield from _sum_of(count - first))


class PiecewiseDistribution:
    """`distribution` of values that come in pieces, the same ones in each of a few passes.

    The first pass (`look`) counts how many values there are of each magnitude; the next (`add`, and `again` after it
    tells whether there has to be another) keep only those among which the wanted ones are.
    """

    def __init__(self) -> None:
        self._counts = np.zeros(1 << _FIRST_BITS, np.int64)
        self._count = 0
        self._sum: PiecewiseSum | None = None
        self._open: list[_Range] = []
        self._at: dict[int, float] = {}  # what is known of the wanted places
        self._suspects = np.zeros(1 << _FIRST_BITS, bool)  # magnitudes that are looked at more closely

    def look(self, values: Floats) -> None:
        self._counts += np.bincount(_top(_keys(values)), minlength=1 << _FIRST_BITS)
        self._count += len(values)

    def begin(self) -> None:
        """The first pass is over."""
        self._sum = PiecewiseSum(self._count)
        if self._count:
            shift = 64 - _FIRST_BITS
            self._open = _ranges(self._counts, _places(self._count), 0, 0, shift)
        del self._counts
        self._mark()

    def add(self, values: Floats) -> None:
        if self._sum is not None:
            self._sum.add(values)
        keys = _keys(values)
        keys = keys[self._suspects[_top(keys)]]
        for each in self._open:
            each.add(keys)

    def again(self) -> bool:
        """A pass is over: whether one more is needed."""
        if self._sum is not None:
            self._total, self._sum = self._sum.value, None
        found, self._open = self._open, []
        for each in found:
            known, rest = each.settled()
            self._at |= known
            self._open += rest
        self._mark()
        return bool(self._open)

    def _mark(self) -> None:
        self._suspects[:] = False
        for each in self._open:
            self._suspects[each.low >> (64 - _FIRST_BITS)] = True

    @property
    def found(self) -> Distribution:
        if not self._count:
            return distribution(np.empty(0))
        return _of_places(self._total, self._count, self._at)

    @property
    def mean(self) -> float:
        """Known after the second pass."""
        return self._total / self._count

    def quantile(self, name: str) -> float:
        """One of QUANTILES, to the last digit what `np.quantile` finds, which counts from the nearer of two values."""
        rank = QUANTILES[name] * (self._count - 1)
        below = int(rank)
        low, high = self._at[below], self._at[min(below + 1, self._count - 1)]
        step, share = high - low, rank - below
        return high - step * (1 - share) if share >= 0.5 else low + step * share


class _Range:
    """Values from `low` on, as keys, `before` of which others come first; some of their places are wanted."""

    def __init__(self, low: int, bits: int, before: int, count: int, places: list[int]) -> None:
        self.low, self._bits, self._before, self._places = low, bits, before, places
        self._least = 0  # how many are the lowest value: there are many zeros, and slowdowns of 1
        self._kept: list[Keys] | None = [] if count <= _SORTED else None
        self._shift = max(bits - _NEXT_BITS, 0)
        self._counts = np.zeros(1 << (bits - self._shift) if self._kept is None else 0, np.int64)

    def add(self, keys: Keys) -> None:
        own = (keys - np.uint64(self.low))[(keys >> np.uint64(self._bits)) == self.low >> self._bits]
        others = own[own > 0]
        self._least += len(own) - len(others)
        if self._kept is not None:
            self._kept.append(others)
        elif len(others):
            self._counts += np.bincount((others >> np.uint64(self._shift)).view(np.int64), minlength=len(self._counts))

    def settled(self) -> tuple[dict[int, float], list[_Range]]:
        """What is known now, and where to look for the rest."""
        known = {place: _value(self.low) for place in self._places if place < self._before + self._least}
        rest = [place for place in self._places if place not in known]
        before = self._before + self._least
        if self._kept is None:
            self._counts[0] += self._least  # they are there again in the next pass
            return known, _ranges(self._counts, rest, self.low, self._before, self._shift)
        if rest:
            others = np.sort(np.concatenate(self._kept))
            known |= {place: _value(self.low + int(others[place - before])) for place in rest}
        return known, []


def _ranges(counts: NDArray[np.int64], places: list[int], low: int, before: int, shift: int) -> list[_Range]:
    """Where the values of these places are, if `counts` are those of keys from `low` on, in steps of 2^shift."""
    upto = np.cumsum(counts) + before
    found: dict[int, list[int]] = {}
    for place in places:
        found.setdefault(int(np.searchsorted(upto, place, side="right")), []).append(place)
    return [
        _Range(low + (step << shift), shift, int(upto[step] - counts[step]), int(counts[step]), own)
        for step, own in found.items()
    ]


_SIGN = np.uint64(1 << 63)


def _keys(values: Floats) -> Keys:
    """Whole numbers in the order of the values; what is no number comes last."""
    bits = np.ascontiguousarray(values, np.float64).view(np.uint64)
    if np.isnan(values).any():
        bits = np.where(np.isnan(values), np.float64(np.nan).view(np.uint64) & ~_SIGN, bits)
    negative = (bits.view(np.int64) >> 63).view(np.uint64)  # all ones, or none
    return np.asarray(bits ^ (negative | _SIGN))


def _value(key: int) -> float:
    bits = key ^ (1 << 63) if key >> 63 else key ^ ((1 << 64) - 1)
    return float(np.uint64(bits).view(np.float64))


def _top(keys: Keys) -> NDArray[np.int64]:
    return (keys >> np.uint64(64 - _FIRST_BITS)).view(np.int64)
