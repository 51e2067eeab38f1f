"""Workflows (`--workflow`): each task becomes a job when those that it waits for have completed."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import msgspec

from schedlab._core import View
from schedlab.bridge.batsim.stage import Stage
from schedlab.model.errors import InputError
from schedlab.model.workflow import Task
from schedlab.workflow.dax import read_dax

SPARE = 10.0  # seconds that a job may run longer than its task is said to take


class Flow:
    """One workflow: the jobs NAME!0, NAME!1, … in the order in which they are submitted."""

    def __init__(self, name: str, path: Path, start: float = 0.0, limit: int = 0) -> None:
        self.name, self.file, self.start = name, str(path.resolve()), start
        self._limit = limit  # jobs at a time; 0: any number
        workflow = read_dax(path)
        if wrong := [task.id for task in workflow.tasks if not task.runtime > 0]:
            raise InputError(f"task '{wrong[0]}' takes no time", where=str(path), hint="Batsim refuses such delays")
        self._tasks, self._before = workflow.tasks, workflow.before
        self._missing = [len(parents) for parents in workflow.after]
        sources = [place for place, parents in enumerate(workflow.after) if not parents]
        self._ready = deque(sorted(sources, key=lambda place: self._tasks[place].id))
        self._there: dict[str, int] = {}  # jobs that have not completed: the places of their tasks
        self._submitted = self._completed = 0

    @property
    def done(self) -> bool:
        return self._completed == len(self._tasks)

    def submit(self, view: View, stage: Stage) -> None:
        """Those that may come, do."""
        if view.now < self.start:
            view.wake_at(self.start)
            return
        while self._ready and not 0 < self._limit <= len(self._there):
            place = self._ready.popleft()
            job, task = f"{self.name}!{self._submitted}", self._tasks[place]
            self._there[job] = place
            self._submitted += 1
            profile = f"{self.name}_{task.id}"
            stage.workload(self.name).add_profile(profile, {"type": "delay", "delay": task.runtime})
            stage.enter(view, job, _described(job, task, profile, view.now), tell=True)

    def completed(self, job: str) -> None:
        place = self._there.pop(job)
        self._completed += 1
        for child in self._before[place]:
            self._missing[child] -= 1
            if self._missing[child] == 0:
                self._ready.append(child)


def _described(job: str, task: Task, profile: str, now: float) -> bytes:
    """The job of a task, as it is told."""
    walltime = task.runtime + SPARE
    return msgspec.json.encode({"id": job, "subtime": now, "walltime": walltime, "res": task.cores, "profile": profile})
