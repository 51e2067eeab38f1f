"""Which jobs are of one kind, which of them form a session, and which kinds share their histograms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.empirical.histogram import Numbers

LONGEST = 1 / 1000  # share of the jobs that one session may have; a longer one counts as several
POOL = 1 / 1000  # share of the jobs from which on a kind has a histogram of run times of its own


def row_numbers(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of each row among the different rows."""
    found = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        different, place = np.unique(column, return_inverse=True)
        found = np.unique(found * len(different) + place, return_inverse=True)[1]
    return found


def begins_session(kind: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which jobs begin a session: they are of another kind than the job before, or the session has become too long."""
    change = np.diff(kind, prepend=-1) != 0
    begin = np.flatnonzero(change)
    since = np.arange(len(kind)) - np.repeat(begin, np.diff(np.append(begin, len(kind))))
    begins: NDArray[np.bool_] = since % max(int(len(kind) * LONGEST), 10) == 0
    return begins


def correlation_in_sessions(ranks: Numbers, begins: NDArray[np.bool_]) -> float:
    """The rank correlation of neighbouring jobs of a session."""
    inside = np.flatnonzero(~begins)
    variance = float(ranks[inside] @ ranks[inside])
    return min(max(float(ranks[inside] @ ranks[inside - 1]) / variance, 0.0), 1.0) if variance else 0.0


def pools_of(kinds: dict[str, NDArray[np.int64]], limit: Numbers) -> NDArray[np.int64]:
    """A kind with enough jobs has its own; then one limit and power of two of the size; then powers of two of both."""
    number, fewest = kinds["jobs"], kinds["jobs"].sum() * POOL
    size = np.log2(kinds["count"]).astype(np.int64)
    similar = row_numbers(kinds["limit"], size)
    own = number >= fewest
    shared = np.bincount(similar, np.where(own, 0, number))[similar] >= fewest
    level = np.where(own, 0, np.where(shared, 1, 2))
    rest = row_numbers(np.log2(limit).astype(np.int64), size)
    return row_numbers(level, np.choose(level, [np.arange(len(own)), similar, rest]))


def largest_of(pool: NDArray[np.int64], values: Numbers) -> Numbers:
    found = np.full(int(pool.max()) + 1, -np.inf)
    np.maximum.at(found, pool, values)
    return found
