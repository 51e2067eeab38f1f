"""A Gaussian copula: ranks that are autocorrelated from job to job, while every histogram is still filled evenly.

Correlated normal numbers give an order; their ranks, spread evenly from 0 to 1, are the quantiles that are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.empirical.histogram import Numbers

# The autocorrelation is a sum of two components, KEEP ** lag: one dies out within a few jobs, one within a hundred.
KEEP = (0.5, 0.97)
LAGS = np.array([1, 2, 3, 5, 8, 13, 21, 34, 55])
BELOW_ONE = float(np.nextafter(1.0, 0.0))
MOST = 0.98  # of the variance may be autocorrelated


def autocorrelated_normals(random: np.random.Generator, jobs: int, weights: Sequence[float]) -> Numbers:
    """One for each job; `weights` are the shares of their variance that each component has."""
    found: Numbers = np.sqrt(1.0 - sum(weights)) * random.standard_normal(jobs)
    for keep, weight in zip(KEEP, weights, strict=True):
        if weight:
            since = np.cumsum(random.random(jobs) >= keep)
            found += np.sqrt(weight) * random.standard_normal(int(since[-1]) + 1)[since]
    return found


def uniform_ranks(random: np.random.Generator, values: Numbers, classes: NDArray[Any]) -> Numbers:
    """Quantiles from 0 to 1 in the order of the values, spread evenly over each class."""
    jobs = len(values)
    order = np.lexsort((values, classes))
    begin = np.flatnonzero(np.diff(classes[order].astype(np.int64), prepend=-1))
    size = np.diff(np.append(begin, jobs))
    places = np.empty(jobs)
    places[order] = (np.arange(jobs) - np.repeat(begin, size) + random.random(jobs)) / np.repeat(size, size)
    return np.minimum(places, BELOW_ONE)


def centred_ranks(values: Numbers, classes: NDArray[np.int64]) -> Numbers:
    """The rank of each value in its class, from -1/2 to 1/2; equal values share a rank."""
    order = np.lexsort((values, classes))
    value, of = values[order], classes[order]
    first = np.diff(of, prepend=-1) != 0
    begin = np.flatnonzero(first)
    size = np.diff(np.append(begin, len(value)))
    tie = np.flatnonzero(first | (np.diff(value, prepend=np.nan) != 0))
    ties = np.diff(np.append(tie, len(value)))
    middle = np.repeat(tie + ties / 2, ties) - np.repeat(begin, size)
    found = np.empty(len(value))
    found[order] = middle / np.repeat(size, size) - 0.5
    return found


def fit_autocorrelation(ranks: Numbers) -> tuple[float, ...]:
    """The weights with which `autocorrelated_normals` come closest to the autocorrelation of these ranks."""
    variance = float(ranks @ ranks)
    lags = LAGS[len(ranks) > 10 * LAGS]
    weights = np.zeros(len(KEEP))
    if not variance or not len(lags):
        return tuple(weights.tolist())
    found = np.array([float(ranks[lag:] @ ranks[:-lag]) / variance for lag in lags])
    shapes = np.array(KEEP)[None, :] ** lags[:, None]
    used = np.ones(len(KEEP), np.bool_)
    while used.any():
        fitted = np.linalg.lstsq(shapes[:, used], found)[0]
        if fitted.min() >= 0:
            weights[used] = fitted * min(1.0, MOST / max(fitted.sum(), MOST))
            break
        used[np.flatnonzero(used)[fitted.argmin()]] = False
    return tuple(weights.tolist())
