"""Groups of hours of the week in which similarly many jobs come."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.week import HOUR, WEEK
from schedlab.generate.empirical.histogram import Histograms, Numbers

GROUPS = 6  # at most
FEWEST = 200  # times between submissions that a group needs
SHORTEST = 2 * WEEK * HOUR  # log that shows a weekly cycle
ATTEMPTS = 40
SURPRISE, ROUNDING = 1e-6, 1e-9


def gaps_by_hour(hours: NDArray[np.int64], span: float) -> NDArray[np.int64]:
    """Gaps that begin in each hour of the week; the same for all where the log is too short to tell."""
    return np.bincount(hours, minlength=WEEK) if span >= SHORTEST else np.ones(WEEK, np.int64)


def similar_hours(seen: NDArray[np.int64]) -> NDArray[np.int64]:
    """The group of each rank, from the quietest hour on: similarly busy hours together, each group with enough gaps.

    The square roots of the numbers of gaps are grouped by least squares (Jenks' natural breaks).
    """
    spread = _spreads(np.sort(seen))
    cost = spread[0]  # of the best groups up to each rank
    starts: list[NDArray[np.intp]] = []  # where the last of them starts, for each number of groups
    while len(starts) < GROUPS - 1 and cost[-1] > ROUNDING * seen.sum():
        tried = np.append([np.inf], cost)[:-1, None] + spread
        if not np.isfinite(tried[:, -1]).any():
            break
        starts.append(np.argmin(tried, axis=0))
        cost = tried.min(axis=0)
    group, end = np.zeros(WEEK, np.int64), WEEK
    for start in reversed(starts):
        end = int(start[end - 1])
        group[end:] += 1
    return group


def _spreads(seen: NDArray[np.int64]) -> Numbers:
    """The sum of squares within a group of ranks from row to column; infinite where it has too few gaps."""
    level = np.sqrt(seen)
    gaps, sums, squares = (np.cumsum(np.append([0.0], values)) for values in (seen, level, level**2))
    begin, end = np.meshgrid(np.arange(WEEK), np.arange(1, WEEK + 1), indexing="ij")
    size = np.maximum(end - begin, 1)
    within = squares[end] - squares[begin] - (sums[end] - sums[begin]) ** 2 / size
    possible = (end > begin) & (gaps[end] - gaps[begin] >= FEWEST)
    return np.where(possible, np.maximum(within, 0.0), np.inf)


def passing(gaps: Histograms, repeating: Numbers) -> Numbers:
    """For each group the probabilities that the next job comes 0, 1, 2 … hours of the week later."""
    found = np.zeros((len(repeating), WEEK))
    for group, repeats in enumerate(repeating.tolist()):
        for one, weight in ((2 * group, 1 - repeats), (2 * group + 1, repeats)):
            bins = slice(gaps.begin[one], gaps.begin[one + 1])
            hours = (gaps.low[bins] + gaps.high[bins]) / 2 / HOUR
            share = weight * gaps.count[bins] / gaps.count[bins].sum()
            # A gap begins anywhere in its hour: one of 1.3 hours ends two hours later in three of ten cases.
            whole, part = np.floor(hours).astype(np.int64), hours - np.floor(hours)
            np.add.at(found[group], whole % WEEK, share * (1 - part))
            np.add.at(found[group], (whole + 1) % WEEK, share * part)
    # Never quite impossible: gaps of whole days would else tell nothing about the other hours.
    return (1 - SURPRISE) * found + SURPRISE / WEEK


def calibrated(begin: NDArray[np.int64], shares: Numbers, later: Numbers, rank: NDArray[np.int64]) -> NDArray[np.int64]:
    """The group of each hour, by its rank, with so many hours in each group that it gets its share of the jobs.

    `begin` are the hours in each group to begin with, `later` is what `passing` gives. Without that too many gaps would
    begin in quiet hours: a long one may begin at any time here, while in a log it begins in the evening. That would
    change how long gaps are on average.
    """
    groups = len(shares)
    hours = begin.astype(np.float64)
    apart = (np.arange(WEEK)[None, :] - np.arange(WEEK)[:, None]) % WEEK
    best, least = np.zeros(WEEK, np.int64), np.inf
    for _ in range(ATTEMPTS):
        group = np.searchsorted(np.cumsum(hours)[:-1], rank + 0.5)
        # How the jobs spread over the hours in the long run: what leaves each hour comes into it, all are 1.
        balance = later[group[:, None], apart].T - np.eye(WEEK)
        balance[0] = 1.0
        found = np.bincount(group, np.linalg.solve(balance, np.eye(WEEK)[0]), minlength=groups)
        if (off := float(np.abs(found - shares).sum())) < least:
            best, least = group, off
        hours = np.maximum(hours * (shares / np.maximum(found, 1e-6)) ** 0.5, 1.0)
        hours *= WEEK / hours.sum()
    return best
