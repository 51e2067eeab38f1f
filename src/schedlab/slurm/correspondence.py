"""What slurmctld is told of jobs and nodes, one thing after the other, and which job is which on either side."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from schedlab._core import Job, View
from schedlab.engine.decider import Event
from schedlab.slurm.controller import Controller
from schedlab.slurm.jobs import Speaker
from schedlab.workload.slurm.order import array_tasks

_JOB = re.compile(r"(?:jobid_)?(\d+)(_\w+)?(\+\d+)?")  # 1001, 1001_3, 1001+5


@dataclass(slots=True)
class Known:
    """A job that Slurm has been told of, or is about to be."""

    job: Job
    task: int | None = None  # of an array
    number: int = 0  # Slurm's; 0 until it has answered
    runs: bool = False
    node: str = ""  # where its batch script runs
    launched_as: int = 0  # the number under which it runs: tasks of arrays get their own


class Correspondence:
    """Jobs that are in the system, and what slurmctld has not been told yet."""

    def __init__(self, controller: Controller, speaker: Speaker) -> None:
        self._controller, self._speaker = controller, speaker
        self._jobs: dict[int, Known] = {}  # by their place in the workload
        self._by_number: dict[tuple[int, int | None], Known] = {}
        self._numbers: dict[int, int] = {}  # job id -> Slurm's number, also of jobs that have left
        self._ids: dict[int, int] = {}  # the other way round
        self._running: dict[int, Known] = {}  # by the number under which they were launched
        self._to_tell: deque[Callable[[], None]] = deque()
        self.refused: list[tuple[Known, str]] = []  # submissions that Slurm did not take, with its words

    def __len__(self) -> int:
        """How many jobs are in the system."""
        return len(self._jobs)

    @property
    def news(self) -> bool:
        """Whether there is something that slurmctld does not know."""
        return bool(self._to_tell)

    def jobs(self) -> list[Known]:
        return list(self._jobs.values())

    def find(self, number: int, task: int | None) -> Known | None:
        """By Slurm's numbers; None for a job that has left."""
        return self._by_number.get((number, task))

    def job_of(self, number: int) -> int:
        """Its id, by Slurm's number of it (of an array, its first task's); -1 if there is none."""
        return self._ids.get(number, -1)

    def launched(self, known: Known, number: int, node: str) -> None:
        known.runs, known.launched_as, known.node = True, number, node
        self._running[number] = known
        self._ids[number] = known.job.id

    def stopped(self, number: int) -> Known | None:
        """The job that Slurm has ended under that number; None if we know that it is over."""
        known = self._running.pop(number, None)
        if known is not None:
            known.runs = False
        return known

    def forget(self, known: Known) -> None:
        """It has left on both sides."""
        self._jobs.pop(known.job.sequence, None)
        self._running.pop(known.launched_as, None)
        self._by_number.pop((known.number, known.task), None)

    def tell_next(self) -> None:
        self._to_tell.popleft()()

    def hear(self, view: View, events: list[Event]) -> None:
        """Nodes come first, then submissions, then the ends of jobs."""
        told: dict[str, list[Any]] = {}
        for kind, what in events:
            told.setdefault(kind, []).append(what)
        nodes = dict.fromkeys(node for kind in ("closed", "opened") for node in told.get(kind, ()))
        for node in nodes:
            self._later(self._controller.set_node, view.cluster.names[node], view.cluster.state(node))
        self._hear_submissions(told.get("submitted", []))
        for job in told.get("requeued", ()):
            if (known := self._jobs.get(job.sequence)) is not None and known.runs:
                self.stopped(known.launched_as)
                self._later(self._tell_requeued, known)
        for kind in ("completed", "cancelled"):
            # A job that is lost with its node Slurm may have queued again: then it has to be cancelled.
            tell = self._tell_cancelled if nodes or kind == "cancelled" else self._tell_completed
            for job in told.get(kind, ()):
                if (known := self._jobs.pop(job.sequence, None)) is not None:
                    self._running.pop(known.launched_as, None)
                    self._later(tell, known)

    def _later(self, tell: Callable[..., None], *what: Any) -> None:
        self._to_tell.append(lambda: tell(*what))

    def _hear_submissions(self, jobs: list[Job]) -> None:
        while jobs:
            tasks, together = self._array(jobs)
            entries = [Known(job, task) for job, task in zip(together, tasks, strict=True)]
            self._jobs.update((known.job.sequence, known) for known in entries)
            self._later(self._tell_submitted, entries)
            jobs = [job for job in jobs if job not in together] if len(together) > 1 else jobs[1:]

    def _array(self, jobs: list[Job]) -> tuple[list[int | None], list[Job]]:
        """The jobs that are submitted together with the first one, as tasks of an array, and their numbers in it."""
        text = self._speaker.array(jobs[0])
        if text:
            together = [job for job in jobs if self._speaker.written_together(jobs[0], job)]
            tasks: list[int | None] = [task for some in array_tasks(text) for task in some]
            if len(tasks) == len(together):
                return tasks, together
        return [None], jobs[:1]

    def _tell_submitted(self, entries: list[Known]) -> None:
        if not any(known.job.sequence in self._jobs for known in entries):
            return  # withdrawn at once
        job = entries[0].job
        options = self._speaker.options(job)
        if entries[0].task is not None:
            options["array"] = self._speaker.array(job)
        if dependency := self._dependency(job):
            options["dependency"] = dependency

        def answered(number: int, refusal: str) -> None:
            for known in entries:
                if refusal:
                    self.refused.append((known, refusal))
                    continue
                known.number = self._numbers[self._speaker.number(known.job)] = number
                self._by_number[number, known.task] = known
                self._ids.setdefault(number, known.job.id)

        user, name, limit = self._speaker.user(job.user), self._speaker.name(job), self._speaker.limit(job)
        self._controller.submit(f"job {self._speaker.written(job.id)}", user, name, options, limit, answered)

    def _dependency(self, job: Job) -> str:
        """What it waits for, with Slurm's numbers; jobs that Slurm does not know are left out."""
        text = self._speaker.dependency(job)
        separator = "?" if "?" in text else ","
        return separator.join(filter(None, map(self._translated, text.split(separator))))

    def _translated(self, text: str) -> str:
        """Of afterok:1001:1002."""
        kind, *jobs = text.split(":")
        found = [match for job in jobs if (match := _JOB.fullmatch(job)) and int(match[1]) in self._numbers]
        known = [f"{self._numbers[int(match[1])]}{match[2] or ''}{match[3] or ''}" for match in found]
        return ":".join([kind, *known]) if known or not jobs else ""

    def _tell_completed(self, known: Known) -> None:
        self._by_number.pop((known.number, known.task), None)
        self._controller.complete(known.launched_as, known.node)

    def _tell_cancelled(self, known: Known) -> None:
        if self._by_number.pop((known.number, known.task), None) is not None:
            self._controller.cancel(known.number, known.task)

    def _tell_requeued(self, known: Known) -> None:
        """Slurm queues jobs of nodes that fail again by itself, if it may; else we submit it once more."""
        if self._controller.job(known.launched_as).state == "PENDING":
            return
        self._by_number.pop((known.number, known.task), None)
        self._controller.cancel(known.number, known.task)
        known.task = None
        self._later(self._tell_submitted, [known])
