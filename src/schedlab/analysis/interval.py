"""What a handful of repetitions can honestly tell about a mean: Student's interval, and the test that belongs to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and the limits between which, at `level`, the true value is expected.

    `p` is that of the two-sided test whether the true value is 0: below 1 - level exactly where the limits leave 0 out.
    """

    estimate: float
    low: float
    high: float
    level: float
    p: float | None = None

    def mapped(self, function: Callable[[float], float]) -> Interval:
        """Of an increasing function of the estimated value; what was 0 before is what `p` is about."""
        return replace(self, estimate=function(self.estimate), low=function(self.low), high=function(self.high))


def student_interval(values: NDArray[Any], level: float = LEVEL) -> Interval | None:
    """Of the mean. None for fewer than two values: one repetition says nothing about the spread."""
    check_level(level)
    n = len(values)
    return interval_of(n, float(values.mean()), float(values.var(ddof=1)), level) if n > 1 else None


def interval_of(n: int, mean: float, variance: float, level: float = LEVEL) -> Interval:
    """Of the mean of `n` values, at least two, that have this mean and this sample variance."""
    check_level(level)
    return _around(mean, math.sqrt(variance / n), n - 1, level)


def welch_interval(one: NDArray[Any], other: NDArray[Any], level: float = LEVEL) -> Interval | None:
    """Of mean(one) - mean(other), for samples that are not paired and may vary differently (Welch)."""
    check_level(level)
    if len(one) < 2 or len(other) < 2:
        return None
    parts = [float(sample.var(ddof=1)) / len(sample) for sample in (one, other)]
    difference, variance = float(one.mean() - other.mean()), sum(parts)
    squares = parts[0] ** 2 / (len(one) - 1) + parts[1] ** 2 / (len(other) - 1)
    return _around(difference, math.sqrt(variance), variance**2 / squares if squares else math.inf, level)


def check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"{level} is not a level of confidence", hint="a share between 0 and 1, such as 0.95")


def known(values: Any) -> NDArray[np.float64]:
    """As numbers, without those that are missing (None, NaN)."""
    numbers = np.asarray(values, np.float64)
    return numbers[~np.isnan(numbers)]


def _around(centre: float, error: float, freedom: float, level: float) -> Interval:
    if error == 0:
        return Interval(centre, centre, centre, level, float(centre == 0))
    from scipy.special import stdtr, stdtrit

    reach = -float(stdtrit(freedom, (1 - level) / 2)) * error
    return Interval(centre, centre - reach, centre + reach, level, 2 * float(stdtr(freedom, -abs(centre) / error)))
