"""Who was where from when to when: what becomes of nodes and of the timeline does not depend on why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.record import Record


@dataclass(frozen=True)
class Stays:
    """Times during which a job had the same nodes. A job that simply ran has one: its row."""

    job: NDArray[np.int64]
    sequence: NDArray[np.int64]
    user: NDArray[np.int32]
    application: NDArray[np.int64]
    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    expected_end: NDArray[np.float64]  # as believed at its beginning; not a number where the run does not say
    cores: NDArray[np.int64]
    count: NDArray[np.int64]
    request: NDArray[np.int64]
    nodes: NDArray[np.int64]  # position in `node_sets` of the record; -1 if none are named
    unfinished: NDArray[np.bool_]  # it went on when the run ended
    goes_on: NDArray[np.bool_]  # it is the stay before, in another shape
    whole: NDArray[np.float64]  # the work of the whole job there
    runtime: NDArray[np.float64]  # of the job's row,
    as_row: NDArray[np.bool_]  # which has the shape that it had then

    def __len__(self) -> int:
        return len(self.job)


def stays_of(record: Record) -> Stays:
    """The stays of jobs that simply ran, then those that are told in pieces."""
    simple = np.flatnonzero(record.started & ~record.pieced)
    pieces = record.pieces
    after_reshape = np.insert(pieces.ended("reshaped")[:-1], 0, False)[: len(pieces)] & ~pieces.first

    def joined(of_rows: NDArray[Any], of_pieces: NDArray[Any]) -> NDArray[Any]:
        if len(simple) == len(of_rows):
            return of_rows
        return np.concatenate([of_rows[simple], of_pieces])

    return Stays(
        job=joined(record.job, pieces.job),
        sequence=joined(record.sequence, pieces.sequence),
        user=joined(record.user, record.user[pieces.row]),
        application=joined(record.application, record.application[pieces.row]),
        begin=joined(record.start, pieces.begin),
        end=joined(record.end, pieces.end),
        expected_end=joined(record.start + record.estimate, pieces.expected_end),
        cores=joined(record.cores, pieces.cores),
        count=joined(record.count, pieces.count),
        request=joined(record.request, pieces.request),
        nodes=joined(record.nodes, pieces.nodes),
        unfinished=joined(record.in_state("running"), pieces.ended("unfinished")),
        goes_on=joined(np.zeros(len(record.job), bool), after_reshape),
        whole=joined(record.runtime, pieces.whole),
        runtime=joined(record.runtime, record.runtime[pieces.row]),
        as_row=joined(np.ones(len(record.job), bool), pieces.same_shape(record.count, record.request)),
    )
