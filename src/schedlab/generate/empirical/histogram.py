"""Histograms to draw from: popular values as they are, the others in bins that stay few however long the log is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError

Numbers = NDArray[np.float64]

# A value that at least this share of the jobs has is a bin of its own. Other neighbours share a bin while together they
# hold less than this and lie within a twentieth of each other.
SHARE = 1 / 2000
WIDTH = 1.05


@dataclass(frozen=True)
class Histograms:
    """Histograms of one variable, one for each of several classes of jobs (often there is only one class).

    The bins of class c are from `begin[c]` to `begin[c + 1]`. A bin reaches from the smallest to the largest value that
    was seen in it, so that one with a single value gives exactly that. Drawn values lie whole steps above the smallest.
    """

    begin: NDArray[np.int64]
    low: Numbers
    high: Numbers
    count: NDArray[np.int64]  # values seen in the bin
    step: float = 0.0  # 0: any value of the bin

    @classmethod
    def fit(
        cls,
        values: NDArray[Any],
        classes: NDArray[np.int64] | None = None,
        *,
        number: int = 1,
        resolution: float = 0.0,
        exact: bool = False,
        step: float = 0.0,
    ) -> Self:
        """Of values and their classes (below `number`). Values closer than the `resolution` share a bin.

        `exact` keeps every value: for what is counted or numbered.
        """
        where = np.zeros(len(values), np.int64) if classes is None else classes
        order = np.lexsort((values, where))
        value, of = np.asarray(values, np.float64)[order], where[order]
        first = np.flatnonzero(np.concatenate([[True], (np.diff(value) != 0) | (np.diff(of) != 0)])[: len(value)])
        count = np.diff(np.append(first, len(value)))
        popular = 0.0 if exact else max(len(value) * SHARE, 1.5)
        begin, last = _merged(value[first], of[first], count, popular, resolution)
        return cls(
            begin=np.searchsorted(of[first][begin], np.arange(number + 1)),
            low=value[first][begin],
            high=value[first][last],
            count=np.add.reduceat(count, begin) if len(begin) else count,
            step=step,
        )

    def __len__(self) -> int:
        return len(self.begin) - 1

    def draw(self, where: Numbers, classes: NDArray[np.int64] | int = 0, *, mid: bool = False) -> Numbers:
        """The values at these places (0 to 1) of the cumulated histograms of the classes."""
        bins = np.searchsorted(self._keys, where + 2.0 * classes, side="right")
        low, span = self.low[bins], self._span[bins]
        place = 0.5 if mid else np.clip((where - self._before[bins]) * self._inverse[bins], 0.0, 1.0)
        inside = place * span
        if self.step:
            inside = np.rint(inside / self.step) * self.step
        drawn: Numbers = low + inside
        return drawn

    def bins(self, values: Numbers) -> NDArray[np.int64]:
        """The bins of values that the histogram was fitted to (one class)."""
        return np.searchsorted(self.low, values, side="right") - 1

    def means(self) -> Numbers:
        """The mean of each class."""
        middle = (self.low + self.high) / 2
        return np.bincount(self._of, middle * self.count, minlength=len(self)) / np.maximum(self.sizes(), 1)

    def sizes(self) -> NDArray[np.int64]:
        """How many values each class was fitted to."""
        return np.bincount(self._of, self.count, minlength=len(self)).astype(np.int64)

    @cached_property
    def _of(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self)), np.diff(self.begin))

    @cached_property
    def _shares(self) -> Numbers:
        shares: Numbers = self.count / self.sizes()[self._of]
        return shares

    @cached_property
    def _before(self) -> Numbers:
        """The share of its class below each bin."""
        before = np.cumsum(self._shares) - self._shares
        return before - before[np.repeat(self.begin[:-1], np.diff(self.begin))]

    @cached_property
    def _keys(self) -> Numbers:
        """Upper ends of all bins, class after class with room between; the last bin of a class takes what is left."""
        keys = 2.0 * self._of + self._before + self._shares
        some = np.flatnonzero(np.diff(self.begin))
        keys[self.begin[some + 1] - 1] = 2.0 * some + 1.5
        return keys

    @cached_property
    def _span(self) -> Numbers:
        return self.high - self.low

    @cached_property
    def _inverse(self) -> Numbers:
        inverse: Numbers = 1.0 / self._shares
        return inverse

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {} if len(self) == 1 else {"begin": self.begin.tolist()}
        found |= {"low": plain(self.low), "high": plain(self.high), "count": self.count.tolist()}
        return found | ({"step": self.step} if self.step else {})

    @classmethod
    def from_dict(cls, data: Any, where: str, number: int | None = None) -> Self:
        """`number` is how many classes there must be."""
        low, high, count = (column(data, name, where) for name in ("low", "high", "count"))
        begin = column(data, "begin", where) if "begin" in data else np.array([0.0, len(low)])
        step = data.get("step", 0.0)
        wrong = (
            (not len(low) == len(high) == len(count), "low, high and count differ in length"),
            (number is not None and len(begin) != number + 1, f"begin has {len(begin)} places, not {number} + 1"),
            (begin[0] != 0 or begin[-1] != len(low) or bool(np.any(np.diff(begin) < 0)), "begin does not go upwards"),
            (len(low) == len(high) and bool(np.any(low > high)), "low is above high"),
            (bool(np.any(count <= 0)), "a count is not above 0"),
            (not isinstance(step, int | float) or not step >= 0, f"step is {step!r}, expected a number from 0 up"),
        )
        for found, message in wrong:
            if found:
                raise InputError(message, where=where, hint=REMEDY)
        return cls(begin.astype(np.int64), low, high, count.astype(np.int64), float(step))


REMEDY = "fit the model again, or undo what was changed in the file by hand"


def column(data: Any, name: str, where: str) -> Numbers:
    """A list of finite numbers from a model file."""
    found = data.get(name) if isinstance(data, dict) else None
    if not isinstance(found, list) or not found:
        raise InputError(f"{name} is missing, expected a list of numbers", where=where, hint=REMEDY)
    odd = next((value for value in found if type(value) not in (int, float) or not np.isfinite(value)), None)
    if odd is not None or None in found:
        raise InputError(f"{name} has {odd!r}, expected numbers", where=where, hint=REMEDY)
    return np.array(found, np.float64)


def plain(values: NDArray[Any]) -> list[Any]:
    """For JSON: whole numbers without a point."""
    return [int(value) if value == int(value) else float(value) for value in values.tolist()]


def _merged(
    values: Numbers, classes: NDArray[np.int64], counts: NDArray[np.int64], popular: float, resolution: float
) -> tuple[Sequence[int], Sequence[int]]:
    """The first and the last of the sorted different values in each bin."""
    begin: list[int] = []
    last: list[int] = []
    open_class, room, low, together = -1, False, 0.0, 0
    for at, (value, of, count) in enumerate(zip(values.tolist(), classes.tolist(), counts.tolist(), strict=True)):
        fits = (together + count < popular and value <= low * WIDTH) or value - low < resolution
        if room and of == open_class and count < popular and fits:
            last[-1], together = at, together + count
            continue
        begin.append(at)
        last.append(at)
        open_class, room, low, together = of, count < popular, value, count
    return begin, last
