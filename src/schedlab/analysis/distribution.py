"""A list of numbers in a few: mean, median, percentiles, largest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

QUANTILES = {"median": 0.5, "p5": 0.05, "p25": 0.25, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}

Distribution = dict[str, float | None]


def distribution(values: NDArray[np.float64]) -> Distribution:
    """Percentiles between two values are interpolated linearly (NumPy's default). Reorders `values`."""
    last = len(values) - 1
    if last < 0:
        return dict.fromkeys(["mean", *QUANTILES, "max"])
    mean = float(values.sum() / len(values))
    ranks = {name: share * last for name, share in QUANTILES.items()}
    neighbours = {min(int(rank) + step, last) for rank in ranks.values() for step in (0, 1)}
    values.partition(sorted(neighbours | {last}))  # only these have to be in place: half the time of sorting
    return {"mean": mean, **{name: _at_rank(values, rank) for name, rank in ranks.items()}, "max": float(values[last])}


def weighted_distribution(values: NDArray[np.float64], weights: NDArray[np.float64]) -> Distribution:
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


def _at_rank(values: NDArray[np.float64], rank: float) -> float:
    below = int(rank)
    low, high = float(values[below]), float(values[min(below + 1, len(values) - 1)])
    return low + (high - low) * (rank - below)
