"""How far apart two samples are, and how the values of one sample depend on each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def distances(one: NDArray[Any], other: NDArray[Any]) -> tuple[float, float]:
    """Kolmogorov and Smirnov's, and Wasserstein's.

    The first is the largest difference of the cumulative shares: 0 alike, 1 without overlap. The second is the area
    between them: how far values have to be moved on average, in their own unit.
    """
    # scipy's ks_2samp and wasserstein_distance give the same, but each sorts everything: with a million jobs the whole
    # comparison takes 9.4 s instead of 4.0 s, and twice the memory.
    one, other = np.sort(one), np.sort(other)
    values = np.unique(np.concatenate([one, other])).astype(np.float64)
    first, second = (np.searchsorted(sample, values, side="right") / max(len(sample), 1) for sample in (one, other))
    apart = np.abs(first - second)
    return float(apart.max(initial=0.0)), float(apart[:-1] @ np.diff(values))


def ranks(values: NDArray[Any]) -> Numbers:
    """Places in order, from 0; equal values share the middle of theirs."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    middle: Numbers = np.cumsum(count) - (count + 1) / 2
    return middle[place]


def correlation(one: Numbers, other: Numbers) -> float | None:
    """Of ranks it is Spearman's. None where one of the two never changes."""
    if not len(one):
        return None
    one, other = one - one.mean(), other - other.mean()
    size = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / size if size else None


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
