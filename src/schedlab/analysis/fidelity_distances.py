"""How far apart two samples are, and how the values of one sample depend on each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def ks_distance(one: NDArray[Any], other: NDArray[Any]) -> float:
    """Kolmogorov and Smirnov's: the largest difference of the cumulative shares. 0 alike, 1 without overlap."""
    _, first, second = _cumulative(one, other)
    return float(np.abs(first - second).max(initial=0.0))


def wasserstein_distance(one: NDArray[Any], other: NDArray[Any]) -> float:
    """The area between the cumulative shares: how far values have to be moved on average, in their own unit."""
    values, first, second = _cumulative(one, other)
    return float(np.abs(first - second)[:-1] @ np.diff(values))


def _cumulative(one: NDArray[Any], other: NDArray[Any]) -> tuple[Numbers, Numbers, Numbers]:
    """All values that occur, and the share of each sample up to each of them."""
    values = np.unique(np.concatenate([one, other])).astype(np.float64)
    shares = [np.searchsorted(np.sort(sample), values, side="right") / max(len(sample), 1) for sample in (one, other)]
    return values, shares[0], shares[1]


def ranks(values: NDArray[Any]) -> Numbers:
    """Places in order, from 0; equal values share the middle of theirs."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    middle: Numbers = np.cumsum(count) - (count + 1) / 2
    return middle[place]


def spearman(one: NDArray[Any], other: NDArray[Any]) -> float | None:
    """The correlation of ranks; None where one of the two never changes."""
    return _correlation(ranks(one), ranks(other)) if len(one) else None


def autocorrelation(rank: Numbers, lag: int) -> float | None:
    """Of ranks, with those `lag` places later, against the variance of all."""
    if len(rank) <= lag:
        return None
    centred = rank - rank.mean()
    variance = float(centred @ centred)
    return float(centred[lag:] @ centred[:-lag]) / variance if variance else None


def share_distance(one: Numbers, other: Numbers) -> float:
    """The share that would have to move to make two lists of shares the same (total variation)."""
    return float(np.abs(one - other).sum() / 2)


def _correlation(one: Numbers, other: Numbers) -> float | None:
    one, other = one - one.mean(), other - other.mean()
    size = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / size if size else None
