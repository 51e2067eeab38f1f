"""The schedule that a log tells, as a run like any other: what really happened, to set simulated runs beside."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab._core import Job, View
from schedlab.engine.decider import Event, Policy
from schedlab.model.cluster import Cluster
from schedlab.model.errors import DecisionError, InputError
from schedlab.model.request import SINGLE_CORE
from schedlab.model.workload import JobBatch, Workload

NEVER = -np.inf  # instead of a start that the log does not tell, of a job that nobody withdraws


class Recorded(Policy):
    """The log's own schedule: every job starts when the log says that it did, and runs as long as it did.

    Logs seldom say on which nodes jobs ran, so the machine is a pool of its cores. If the log has more cores in use at
    once than that, the pool is as large as the log needs. Jobs without a recorded start are rejected.
    """

    overrun = "run"  # at their limits the real system had its own rules: the run times are what came of them
    knows_calendar = False
    knows_budget = False

    def __init__(self) -> None:
        self._starts: NDArray[np.float64] = np.empty(0)  # by `sequence`
        self._due: list[tuple[float, int]] = []  # a heap: when, who
        self._waiting: dict[int, Job] = {}
        self._asked = NEVER  # to be woken at that time

    def adapt(self, workload: Workload, cluster: Cluster) -> tuple[Workload, Cluster]:
        if workload.flexible:
            hint = "simulate it under a policy that chooses shapes"
            raise InputError("jobs of several shapes have no recorded schedule", where=workload.name, hint=hint)
        starts, ends, cores = (np.concatenate(found) for found in zip(*_recorded(workload), strict=True))
        if len(starts) and not np.isfinite(starts).any():
            hint = "give a log that has waits (column 3 of SWF, Start of sacct), at its own load"
            raise InputError("the log does not say when jobs started", where=workload.name, hint=hint)
        self._starts = starts
        return _in_cores(workload), Cluster.of_cores(max(cluster.cores, _most_in_use(starts, ends, cores)))

    def decide(self, view: View, events: list[Event]) -> None:
        for kind, job in events:
            if kind == "submitted" and isinstance(job, Job):
                self._expect(view, job)
            elif kind == "cancelled" and isinstance(job, Job):
                self._waiting.pop(job.sequence, None)
        held: list[tuple[float, int]] = []  # who is to take the place of a job whose end is yet to come in this instant
        while self._due and self._due[0][0] <= view.now:
            start, number = heapq.heappop(self._due)
            if (job := self._waiting.get(number)) is None:
                continue
            if start < view.now:
                raise DecisionError(f"job {job.id} cannot start at {start:g} s, as the log says: its cores are in use")
            if view.start(job):
                del self._waiting[number]
            else:
                held.append((start, number))
        for entry in held:
            heapq.heappush(self._due, entry)
        if self._due and self._due[0][0] > view.now and self._due[0][0] != self._asked:
            self._asked = self._due[0][0]
            view.wake_at(self._asked)

    def recall(self, view: View) -> None:
        """In a run that is taken up again: who waits; what was asked for is asked for again."""
        for job in view.queue:
            self._expect(view, job)

    def _expect(self, view: View, job: Job) -> None:
        start = float(self._starts[job.sequence])
        if start == NEVER:
            view.reject(job)
        elif not np.isnan(start):  # else it waits until its user withdraws it
            heapq.heappush(self._due, (start, job.sequence))
            self._waiting[job.sequence] = job

    def __getstate__(self) -> dict[str, Any]:
        return {"_starts": self._starts, "_due": [], "_waiting": {}, "_asked": NEVER}


def _recorded(workload: Workload) -> Iterator[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Starts, ends and cores of each batch."""
    yield np.empty(0), np.empty(0), np.empty(0, np.int64)
    for batch in workload.batches():
        start = batch.submit + np.maximum(batch.wait, 0.0)  # a clock that was wrong: at once
        start[np.isnan(start) & np.isinf(batch.cancel)] = NEVER
        yield start, start + batch.runtime, _cores(workload, batch)


def _most_in_use(starts: NDArray[Any], ends: NDArray[Any], cores: NDArray[Any]) -> int:
    """Cores at one time. Who ends at an instant makes room for who starts then, unless it starts then itself."""
    began = np.isfinite(starts)
    starts, ends, cores = starts[began], ends[began], cores[began]
    rank = np.concatenate([np.where(ends > starts, 0, 2), np.ones(len(starts))])
    change = np.concatenate([-cores, cores])[np.lexsort((rank, np.concatenate([ends, starts])))]
    return int(np.cumsum(change).max(initial=0))


def _in_cores(workload: Workload) -> Workload:
    """Every job as so many single cores, wherever they were."""

    def batches() -> Iterator[JobBatch]:
        for batch in workload.batches():
            yield replace(batch, count=_cores(workload, batch), request=np.zeros(len(batch), np.int32))

    return replace(workload, source=batches, requests=[SINGLE_CORE])


def _cores(workload: Workload, batch: JobBatch) -> NDArray[np.int64]:
    return np.maximum(workload.cores(batch), 1)
