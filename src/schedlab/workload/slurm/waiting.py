"""Whom the jobs of an event file wait for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schedlab.model.predecessors import Predecessor, Predecessors
from schedlab.workload.slurm.dependency import predecessors
from schedlab.workload.slurm.event import Event
from schedlab.workload.slurm.order import array_tasks
from schedlab.workload.stream import Before

ABSENT = "dependency: on a job that is not there, not used"
NAMELESS = "dependency: singleton of a job without a name, not used"
SINGLETON_OR = "dependency: singleton among alternatives, not used"


@dataclass(slots=True)
class _Job:
    id: int
    event: Event
    task: int | None  # in its array


class Waiting:
    """The jobs of events, with ids in the order of the file; what cannot be said is counted."""

    def __init__(self, events: Sequence[Event], ids: list[int], filled: Counter[str]) -> None:
        self._jobs = [_Job(number, *job) for number, job in zip(ids, _jobs(events), strict=True)]
        self._filled = filled
        self._ids: dict[tuple[int, int | None], list[int]] = {}
        for job in self._jobs:
            if job.event.job is not None:
                self._ids.setdefault((job.event.job, None), []).append(job.id)
                if job.task is not None:
                    self._ids[job.event.job, job.task] = [job.id]

    def predecessors(self) -> Predecessors | None:
        """In the order of the file; None if nobody waits for anybody."""
        singles = self._singletons() if any(job.event.dependency.singleton for job in self._jobs) else {}
        found = [self._before(job, singles.get(job.id, ())) for job in self._jobs]
        if not any(found):
            return None
        return Predecessors.of([one.jobs if one else () for one in found], [bool(one and one.any) for one in found])

    def _before(self, job: _Job, singles: Sequence[int]) -> Before | None:
        wanted = job.event.dependency
        found = predecessors(wanted, self._ids_of, self._note, task=job.task, absent=ABSENT)
        if singles and wanted.any and wanted.waits:
            self._note(SINGLETON_OR)
        elif singles:
            return Before((*(found.jobs if found else ()), *map(Predecessor, singles)))
        return found

    def _ids_of(self, job: int, task: int | None) -> Sequence[int]:
        return self._ids.get((job, task), ())

    def _note(self, what: str) -> None:
        self._filled[what] += 1

    def _singletons(self) -> dict[int, list[int]]:
        """The earlier jobs of the same user and name. One that is a singleton itself stands for those before it."""
        earlier: dict[tuple[str, str], list[int]] = {}
        found: dict[int, list[int]] = {}
        for job in sorted(self._jobs, key=lambda job: (job.event.submit, job.id)):
            name = job.event.values.get("job-name", "")
            before = earlier.setdefault((job.event.values.get("uid", ""), name), [])
            if job.event.dependency.singleton and not name:
                self._note(NAMELESS)
            elif job.event.dependency.singleton:
                found[job.id] = list(before)
                before.clear()
            before.append(job.id)
        return found


def _jobs(events: Sequence[Event]) -> Iterator[tuple[Event, int | None]]:
    for event in events:
        if event.tasks:
            yield from ((event, task) for some in array_tasks(event.values["array"]) for task in some)
        else:
            yield event, None
