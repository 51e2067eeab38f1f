"""Confidence intervals by resampling, of any function of a sample or of pairs (Efron and Tibshirani, 1993).

For values that are independent of each other. With few of them the intervals are too narrow: for means, Student's hold
better up to a hundred (docs/statistics.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import NormalDist
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.interval import LEVEL, Interval, check_level
from schedlab.model.errors import InputError
from schedlab.model.random import random_stream

Floats = NDArray[np.float64]
Resampling = Literal["bca", "percentile"]

# Takes an array whose rows are samples, gives one number for each row.
RowStatistic: TypeAlias = Callable[[Floats], Floats]

RESAMPLES = 5_000
_BATCH = 1 << 22  # values that are drawn at once: 32 MB, and as much for their places
_LEFT_OUT = 500  # groups that the jackknife leaves out one by one: as good as single values, and does not take n² steps


def bootstrap(
    values: NDArray[Any],
    statistic: str | RowStatistic = "mean",
    *,
    method: Resampling = "bca",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """The interval of `mean`, `median`, a percentile (`p95`, `p99.9`) or a function; None for fewer than two values.

    A function gets an array whose rows are samples; `by_row` makes one of a function of a single sample.
    """
    return _interval((values,), _statistic(statistic), method, level, resamples, seed)


def bootstrap_difference(
    one: NDArray[Any],
    other: NDArray[Any],
    statistic: str | RowStatistic = "mean",
    *,
    method: Resampling = "bca",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Of statistic(one) - statistic(other), where one[i] and other[i] belong together and are drawn together."""
    function = _statistic(statistic)
    return _interval((one, other), lambda a, b: function(a) - function(b), method, level, resamples, seed)


def bootstrap_ratio(
    one: NDArray[Any],
    other: NDArray[Any],
    statistic: str | RowStatistic = "mean",
    *,
    method: Resampling = "bca",
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval | None:
    """Of statistic(one) / statistic(other), drawn together; None where a resample would divide by zero."""
    function = _statistic(statistic)

    def ratio(a: Floats, b: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return function(a) / function(b)

    return _interval((one, other), ratio, method, level, resamples, seed)


def by_row(function: Callable[[Floats], float]) -> RowStatistic:
    """A function of one sample, for an array whose rows are samples."""
    return lambda rows: np.array([function(row) for row in rows], np.float64)


def _statistic(given: str | RowStatistic) -> RowStatistic:
    if not isinstance(given, str):
        return given
    if given == "mean":
        return lambda rows: np.asarray(rows.mean(axis=-1))
    share = 0.5 if given == "median" else _percentile(given)
    return lambda rows: np.asarray(np.quantile(rows, share, axis=-1))


def _percentile(name: str) -> float:
    """The share of `p95`. Not `max`: no resample exceeds the largest value, so its interval would be wrong."""
    try:
        share = float(name.removeprefix("p")) / 100
    except ValueError:
        share = -1.0
    if not (name.startswith("p") and 0 < share < 1):
        raise InputError(f"cannot resample '{name}'", hint="mean, median, a percentile such as p95, or a function")
    return share


def _interval(
    columns: Sequence[NDArray[Any]],
    statistic: Callable[..., Floats],
    method: Resampling,
    level: float,
    resamples: int,
    seed: int,
) -> Interval | None:
    check_level(level)
    samples = [np.asarray(column, np.float64) for column in columns]
    n = len(samples[0])
    if any(len(sample) != n for sample in samples):
        raise InputError(f"{n} values cannot be paired with {len(samples[1])}")
    if n < 2:
        return None
    estimate = float(statistic(*(sample[None, :] for sample in samples))[0])
    random = random_stream(seed, "bootstrap")
    found = np.concatenate([statistic(*(sample[at] for sample in samples)) for at in _places(random, n, resamples)])
    if not (np.isfinite(estimate) and np.isfinite(found).all()):
        return None
    tails = (1 - level) / 2, (1 + level) / 2
    corrected = _bca_tails(tails, samples, statistic, estimate, found, random) if method == "bca" else None
    low, high = np.quantile(found, corrected or tails).tolist()
    return Interval(estimate, low, high, level, "bca" if corrected else "percentile")


def _places(random: np.random.Generator, n: int, resamples: int) -> Iterator[NDArray[np.int64]]:
    rows = max(1, _BATCH // n)
    for done in range(0, resamples, rows):
        yield random.integers(0, n, (min(rows, resamples - done), n))


def _bca_tails(
    tails: tuple[float, float],
    samples: Sequence[Floats],
    statistic: Callable[..., Floats],
    estimate: float,
    found: Floats,
    random: np.random.Generator,
) -> tuple[float, float] | None:
    """Corrected for bias and skewness; None where all resamples are on one side of the estimate."""
    normal = NormalDist()
    below = float(((found < estimate).sum() + 0.5 * (found == estimate).sum()) / len(found))
    if not 0 < below < 1:
        return None
    bias, skew = normal.inv_cdf(below), _acceleration(samples, statistic, random)

    def corrected(tail: float) -> float:
        shifted = bias + normal.inv_cdf(tail)
        shrunk = 1 - skew * shifted
        return normal.cdf(bias + shifted / shrunk) if shrunk > 0 else float(tail > 0.5)

    return corrected(tails[0]), corrected(tails[1])


def _acceleration(samples: Sequence[Floats], statistic: Callable[..., Floats], random: np.random.Generator) -> float:
    """How the spread of the statistic changes with its value, by leaving out groups of values drawn at random."""
    n = len(samples[0])
    groups = np.array_split(random.permutation(n), min(n, _LEFT_OUT))
    without = np.array(
        [float(statistic(*(np.delete(sample, group)[None, :] for sample in samples))[0]) for group in groups]
    )
    away = without.mean() - without
    squares = float((away**2).sum())
    return float((away**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0
