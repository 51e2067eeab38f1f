"""Which jobs of a workload others refer to: what became of a job is remembered only while one may still come."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from schedlab.model.workload import Workload

_END = np.iinfo(np.int64).max
_ENOUGH = 1 << 20  # references that are gathered before they are sorted


class References:
    """Of each job that another one names as a predecessor: the position in the log of the last one that does.

    It takes a pass over the workload, and 16 bytes for each job that is named and whose last referrer is yet to come.
    """

    def __init__(self, ids: NDArray[np.int64], last: NDArray[np.int64]) -> None:
        ids, last = _latest(ids, last)
        self._ids, self._last = np.append(ids, _END), np.append(last, -1)  # so that every search ends at one of them
        self._position = 0

    @classmethod
    def of(cls, workload: Workload) -> Self | None:
        """None if nobody names anybody."""
        ids, last = np.empty(0, np.int64), np.empty(0, np.int64)
        parts: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        position = gathered = 0
        for batch in workload.batches():
            before = batch.predecessors
            if before is not None:
                parts.append((before.job, before.row.astype(np.int64) + position))
                gathered += len(before.job)
            if gathered > max(_ENOUGH, len(ids)):
                ids, last = _latest(*_all([(ids, last), *parts]))
                parts, gathered = [], 0
            position += len(batch)
        ids, last = _all([(ids, last), *parts])
        return cls(ids, last) if len(ids) else None

    def last(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """For the next jobs of the log: the position of the last job that refers to each; -1 if none does."""
        place = np.searchsorted(self._ids, ids)
        found = np.where(self._ids[place] == ids, self._last[place], -1)
        past = int(np.count_nonzero(self._last < self._position))  # in batches before this one
        if 2 * past > len(self._last):
            kept = (self._last >= self._position) | (self._ids == _END)
            self._ids, self._last = self._ids[kept], self._last[kept]
        self._position += len(ids)
        return found

    def last_of(self, job: int) -> int:
        """The same for a job that is not of the log, while the jobs of the last batch come."""
        place = int(np.searchsorted(self._ids, job))
        return int(self._last[place]) if self._ids[place] == job else -1


def _all(parts: list[tuple[NDArray[np.int64], NDArray[np.int64]]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ids, last = zip(*parts, strict=True)
    return np.concatenate(ids), np.concatenate(last)


def _latest(ids: NDArray[np.int64], last: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each id once, with its largest position."""
    order = np.argsort(ids, kind="stable")  # of one id, later ones are behind earlier ones already
    ids, last = ids[order], last[order]
    final = np.append(ids[1:] != ids[:-1], True)[: len(ids)]
    return ids[final], last[final]
