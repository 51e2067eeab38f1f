"""What all transformations share: a workload that is made of another one, batch by batch."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.workload import JobBatch, Workload

LOST_DEPENDENCY = "dependency on a job that is no longer there: dropped"
# Labels of a header that are about the file as it was.
OF_THE_FILE = ("MaxJobs", "MaxRecords", "StartTime", "EndTime")
_MOST_FLAGS = 1 << 28


@dataclass
class Changes:
    """What one pass has dropped and changed, in plain words."""

    dropped: Counter[str] = field(default_factory=Counter)
    filled: Counter[str] = field(default_factory=Counter)


Step = Callable[[Iterator[JobBatch], Changes], Iterator[JobBatch]]


def derive(
    workload: Workload, note: str, step: Step, *, forget: str = "", job_by_job: bool = False, **changes: Any
) -> Workload:
    """The workload that `step` makes of the batches of another one; it runs anew in each pass.

    The header says in a `Note` what was done; the report is that of the other one, with what the step counts. It is
    complete when a pass is. What was filled in before and begins with `forget` is no longer true. `job_by_job`: the
    step looks at each job alone, so that other jobs of a model can go through it too. `changes` are other fields of the
    new workload.
    """
    header = {label: value for label, value in workload.header.items() if label not in OF_THE_FILE}
    header |= changes.pop("header", {})
    before = header.get("Note")
    header["Note"] = f"{before}\n{note}" if before else note
    if changes.get("origin") is not None:
        header["UnixStartTime"] = str(int(changes["origin"].timestamp()))
    report = replace(workload.report, filled=_filled_before(workload, forget))
    made_of = f"{workload.content_hash}\n{note}".encode()
    changes |= {"header": header, "report": report, "content_hash": hashlib.sha256(made_of).hexdigest()}
    source_of_more = workload.more if job_by_job else None
    more = None if source_of_more is None else lambda: step(source_of_more(), Changes())
    found = replace(workload, more=more, **changes)

    def source() -> Iterator[JobBatch]:
        made, kept = Changes(), 0
        for batch in step(workload.batches(), made):
            if len(batch):
                kept += len(batch)
                yield batch
        report.records, report.kept = workload.report.records, kept
        report.dropped = dict(Counter(workload.report.dropped) + made.dropped)
        report.filled = dict(Counter(_filled_before(workload, forget)) + made.filled)

    found.source = source
    return found


def _filled_before(workload: Workload, forget: str) -> dict[str, int]:
    known = workload.report.filled.items()
    return {what: count for what, count in known if not (forget and what.startswith(forget))}


def keep_jobs(
    workload: Workload, note: str, reason: str, choose: Callable[[], Callable[[JobBatch], NDArray[np.bool_]]]
) -> Workload:
    """The jobs that a choice takes; `choose()` makes a new one for each pass. Remembers who is gone: a byte a job."""

    def step(batches: Iterator[JobBatch], changes: Changes) -> Iterator[JobBatch]:
        chosen_in, gone = choose(), Ids()
        for batch in batches:
            chosen = chosen_in(batch)
            gone.add(batch.id[~chosen])
            changes.dropped[reason] += int((~chosen).sum())
            yield unbind(batch.take(np.flatnonzero(chosen)), gone, changes)

    return derive(workload, note, step)


def unbind(batch: JobBatch, gone: Ids, changes: Changes) -> JobBatch:
    """Nobody waits for jobs that are gone."""
    before = batch.predecessors
    lost = None if before is None else gone.has(before.job)
    if before is None or lost is None or not lost.any():
        return batch
    changes.filled[LOST_DEPENDENCY] += int(lost.sum())
    return replace(batch, predecessors=before.where(~lost))


def move(batch: JobBatch, submit: NDArray[np.float64]) -> JobBatch:
    """The same jobs at other times. Users wait as long as before until they withdraw them."""
    return replace(batch, submit=submit, cancel=batch.cancel - batch.submit + submit)


class Ids:
    """A set of job numbers: a byte for each number up to the largest, unless that is absurd."""

    def __init__(self) -> None:
        self._flags = np.zeros(0, np.bool_)
        self._large: set[int] = set()

    def add(self, ids: NDArray[np.int64]) -> None:
        small = ids[(ids >= 0) & (ids < _MOST_FLAGS)]
        self._large.update(ids[ids >= _MOST_FLAGS].tolist())
        if len(small):
            needed = int(small.max()) + 1
            if needed > len(self._flags):
                self._flags = np.concatenate([self._flags, np.zeros(max(needed, 2 * len(self._flags)), np.bool_)])
            self._flags[small] = True

    def has(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        found = np.zeros(len(ids), np.bool_)
        near = (ids >= 0) & (ids < len(self._flags))
        found[near] = self._flags[ids[near]]
        for row in np.flatnonzero(ids >= _MOST_FLAGS) if self._large else ():
            found[row] = int(ids[row]) in self._large
        return found
