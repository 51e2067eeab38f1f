"""Who was where from when to when: what becomes of nodes and of the timeline does not depend on why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.record import Pieces, Record


@dataclass(frozen=True)
class Stays:
    """Times during which a job had the same nodes. A job that simply ran has one: its row."""

    job: NDArray[np.int64]
    sequence: NDArray[np.int64]
    user: NDArray[np.int32]
    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    expected_end: NDArray[np.float64]  # as believed at its beginning; not a number where the run does not say
    cores: NDArray[np.int64]
    count: NDArray[np.int64]
    request: NDArray[np.int64]
    nodes: NDArray[np.int64]  # position in `node_sets` of the record; -1 if none are named
    unfinished: NDArray[np.bool_]  # it went on when the run ended
    goes_on: NDArray[np.bool_]  # it is the stay before, in another shape

    def __len__(self) -> int:
        return len(self.job)


def stays_of(record: Record) -> Stays:
    """The stays of jobs that simply ran, then those that are told in pieces."""
    simple = np.flatnonzero(record.started & ~record.pieced)
    pieces = record.pieces
    last = np.flatnonzero(~_same_stay(pieces))
    first = np.insert(last[:-1] + 1, 0, 0)[: len(last)]
    after_reshape = np.insert(pieces.ended("reshaped")[:-1], 0, False)[: len(pieces)] & ~pieces.first

    def joined(of_rows: NDArray[Any], of_pieces: NDArray[Any]) -> NDArray[Any]:
        if len(simple) == len(of_rows):
            return of_rows
        return np.concatenate([of_rows[simple], of_pieces])

    return Stays(
        job=joined(record.job, pieces.job[first]),
        sequence=joined(record.sequence, pieces.sequence[first]),
        user=joined(record.user, record.user[pieces.row[first]]),
        begin=joined(record.start, pieces.begin[first]),
        end=joined(record.end, pieces.end[last]),
        expected_end=joined(record.start + record.estimate, pieces.expected_end[first]),
        cores=joined(record.cores, pieces.cores[first]),
        count=joined(record.count, pieces.count[first]),
        request=joined(record.request, pieces.request[first]),
        nodes=joined(record.nodes, pieces.nodes[first]),
        unfinished=joined(record.in_state("running"), pieces.ended("unfinished")[last]),
        goes_on=joined(np.zeros(len(record.job), bool), after_reshape[first]),
    )


def _same_stay(pieces: Pieces) -> NDArray[np.bool_]:
    """Whether a piece and the next one are one stay: only the rate changed."""
    same = pieces.ended("slowed") & ~pieces.last
    for column in (pieces.nodes, pieces.count, pieces.request):
        same[:-1] &= column[1:] == column[:-1]
    same[:-1] &= pieces.begin[1:] == pieces.end[:-1]
    return same
