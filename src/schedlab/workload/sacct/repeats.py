"""Job numbers that occur more than once in an accounting dump: requeued jobs, and dumps that were put together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.workload.sacct.columns import ELEMENTS, REPEATED, Mask

Ids = NDArray[np.int64]


class Seen:
    """Numbers that have occurred, as sorted ranges: job numbers are dense, so a few ranges hold millions."""

    def __init__(self) -> None:
        self._first: Ids = np.empty(0, np.int64)
        self._last: Ids = np.empty(0, np.int64)

    def add(self, ids: Ids) -> Ids:
        """Note these. Gives those that occur again."""
        different, counts = np.unique(ids, return_counts=True)
        known = self._has(different)
        again = different[known | (counts > 1)]
        self._insert(different[~known])
        return again

    def _has(self, ids: Ids) -> Mask:
        if not len(self._first):
            return np.zeros(len(ids), bool)
        place = np.searchsorted(self._first, ids, side="right") - 1
        inside: Mask = (place >= 0) & (ids <= self._last[place])
        return inside

    def _insert(self, ids: Ids) -> None:
        if not len(ids):
            return
        gap = np.diff(ids) > 1
        first = np.concatenate([self._first, ids[np.concatenate([[True], gap])]])
        last = np.concatenate([self._last, ids[np.concatenate([gap, [True]])]])
        order = np.argsort(first, kind="stable")
        first, last = first[order], last[order]
        apart = first[1:] > last[:-1] + 1
        self._first = first[np.concatenate([[True], apart])]
        self._last = last[np.concatenate([apart, [True]])]


class Repeats:
    """One pass over the records of job numbers that are known to occur again.

    The first record of a job keeps its number, another one gets a number of its own; the same record again is no job.
    """

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._records: dict[int, list[tuple[float, ...]]] = {}
        self._extra = 0

    def renumber(self, ids: Ids, *times: NDArray[np.float64]) -> Mask:
        """Change numbers in place; which records are to be kept."""
        kept = np.ones(len(ids), bool)
        if not len(self._ids):
            return kept
        for row in np.flatnonzero(np.isin(ids, self._ids)).tolist():
            record = tuple(float(np.nan_to_num(column[row], nan=-1.0)) for column in times)
            earlier = self._records.setdefault(int(ids[row]), [])
            if record in earlier:
                kept[row] = False
                continue
            earlier.append(record)
            if len(earlier) > 1:
                ids[row] = REPEATED + self._extra
                self._extra += 1
        return kept


def mark_repeated(names: NDArray[Any], ids: Ids) -> None:
    """Let the names of records that got a number of their own differ from the first."""
    for row in np.flatnonzero((ids >= REPEATED) & (ids < ELEMENTS)).tolist():
        names[row] = f"{names[row]}#{ids[row] - REPEATED + 1}"
