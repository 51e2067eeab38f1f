"""What the repetitions of two groups tell about their difference and ratio, paired or not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.interval import LEVEL, Interval, student_interval, welch_interval


def difference_interval(
    one: NDArray[np.float64], other: NDArray[np.float64], *, paired: bool, level: float = LEVEL
) -> Interval | None:
    """Of the mean of the differences one[i] - other[i]; unpaired, of the difference of the means (Welch)."""
    return student_interval(one - other, level) if paired else welch_interval(one, other, level)


def ratio(one: NDArray[np.float64], other: NDArray[np.float64]) -> float | None:
    """The geometric mean of one divided by that of other; None unless all values are positive.

    For pairs it is the geometric mean of their ratios, so that half in one repetition and double in another cancel out.
    """
    logs = _logs(one, other)
    return None if logs is None else float(np.exp(logs[0].mean() - logs[1].mean()))


def ratio_interval(
    one: NDArray[np.float64], other: NDArray[np.float64], *, paired: bool, level: float = LEVEL
) -> Interval | None:
    """Of `ratio`, on the scale of logarithms."""
    logs = _logs(one, other)
    found = None if logs is None else difference_interval(*logs, paired=paired, level=level)
    return found and found.mapped(lambda log: float(np.exp(log)))


def _logs(
    one: NDArray[np.float64], other: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    if not (len(one) and len(other) and (one > 0).all() and (other > 0).all()):
        return None
    return np.log(one), np.log(other)
