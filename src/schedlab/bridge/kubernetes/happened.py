"""What happened elsewhere, in real time, as a run like any other."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

from schedlab._core import DecisionError, Job, View
from schedlab.engine.decider import Event, Policy
from schedlab.model.workload import Workload


@dataclass(slots=True)
class Life:
    """Of a job, in seconds since the first submission; None: it has not come to that."""

    submitted: float
    nodes: tuple[tuple[int, int], ...] = ()  # number, chunks
    started: float | None = None
    ended: float | None = None


class Happened(Policy):
    """Starts every job when and where it started; one that never did is rejected. `lives` are by place among jobs."""

    overrun = "run"
    resumable = False
    knows_calendar = False
    knows_budget = False

    def __init__(self, lives: Mapping[int, Life], name: str) -> None:
        self._lives, self.name = lives, name
        self._due: list[tuple[float, int]] = []  # a heap: when, who
        self._waiting: dict[int, Job] = {}
        self.files: dict[str, bytes] = {}  # what was seen of it all

    def evidence(self) -> dict[str, bytes]:
        return self.files

    def decide(self, view: View, events: list[Event]) -> None:
        for kind, job in events:
            if kind == "submitted" and isinstance(job, Job):
                self._expect(view, job)
        delayed: list[tuple[float, int]] = []  # whose nodes somebody else is still leaving
        while self._due and self._due[0][0] <= view.now:
            due = heapq.heappop(self._due)
            if self._start(view, due[1]):
                del self._waiting[due[1]]
            else:
                delayed.append(due)
        if self._due:
            view.wake_at(self._due[0][0])
        for due in delayed:
            heapq.heappush(self._due, due)

    def _expect(self, view: View, job: Job) -> None:
        started = self._lives[job.sequence].started
        if started is None:
            view.reject(job)
        else:
            heapq.heappush(self._due, (started, job.sequence))
            self._waiting[job.sequence] = job

    def _start(self, view: View, sequence: int) -> bool:
        try:
            return view.start(self._waiting[sequence], list(self._lives[sequence].nodes))
        except DecisionError:
            return False


def as_it_happened(workload: Workload, lives: Mapping[int, Life], name: str) -> tuple[Workload, Happened]:
    """The jobs that came, with their own times, and who starts them as they started. `lives` are by place, too."""
    rows = []
    sequence = 0
    named = False
    for batch in workload.batches():
        named = named or batch.names is not None
        for row in range(len(batch)):
            life = lives.get(sequence)
            sequence += 1
            if life is not None:
                ran = 0.0 if life.started is None or life.ended is None else max(life.ended - life.started, 0.0)
                written = batch.names[row] if batch.names else str(int(batch.id[row]))
                known = int(batch.id[row]), float(batch.limit[row]), int(batch.count[row]), int(batch.request[row])
                rows.append((life.submitted, *known, ran, written, life))
    rows.sort(key=lambda one: one[:2])  # as workloads are: their places are in this order
    submit, ids, limit, count, request, runtime, names, lived = map(list, zip(*rows, strict=True))
    made = Workload.of(
        name=workload.name,
        requests=workload.requests,
        id=ids,
        submit=submit,
        runtime=runtime,
        limit=limit,
        count=count,
        request=request,
        names=tuple(names) if named else None,
    )
    made.content_hash = workload.content_hash
    return made, Happened(dict(enumerate(lived)), name)
