"""How placed jobs fare: as much work as their profile is on these hosts, slower while others use what they use."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from math import inf
from typing import Any, Protocol

from schedlab._core import Job, View
from schedlab.bridge.batsim.contention import Contention
from schedlab.bridge.batsim.course import Course
from schedlab.bridge.batsim.meter import Meter
from schedlab.engine.execution import Execution
from schedlab.engine.observer import Nodes


class Running(Protocol):
    """A job that has hosts."""

    @property
    def course(self) -> Course | None:
        """None: a delay."""

    @property
    def seconds(self) -> float:
        """Of its course, or of the delay."""


class Courses(Execution):
    """Jobs take the time of their profile where they are. `of_job` has those with hosts, by the engine's ids."""

    name = "batsim"

    def __init__(self, of_job: Mapping[int, Running]) -> None:
        self._of_job = of_job

    def work(self, view: View, job: Job, nodes: Nodes) -> float | None:
        running = self._of_job.get(job.id)
        return None if running is None else running.seconds

    def facts(self) -> dict[str, Any]:
        return {"model": "batsim"}


class SharedCourses(Courses):
    """The same where jobs may slow one another down: on hosts that they share, and on links."""

    def __init__(self, of_job: Mapping[int, Running], contention: Contention, meter: Meter | None = None) -> None:
        super().__init__(of_job)
        self._contention, self._meter = contention, meter
        self._jobs: dict[Hashable, Job] = {}
        self._factors: dict[Hashable, float] = {}  # where it is not 1
        self._due: dict[Hashable, float] = {}  # when jobs that share something are at their next step
        self._asked = inf  # for which time a wake-up is due

    def started(self, view: View, job: Job, nodes: Nodes) -> None:
        running = self._of_job.get(job.id)
        if running is not None and running.course is not None:
            self._jobs[job.id] = job
            self._contention.start(job.id, running.course)

    def stopped(self, view: View, job: Job, nodes: Nodes) -> None:
        if self._jobs.pop(job.id, None) is not None:
            self._contention.stop(job.id)
            self._factors.pop(job.id, None)
            self._due.pop(job.id, None)

    def woken(self, view: View) -> None:
        self._asked = inf
        slack = _slack(view.now)
        for job, time in self._due.items():
            if time <= view.now + slack:
                self._contention.at_next_step(job)
        # Who has ended now is told of later: paces are for after the pass.

    def after(self, view: View) -> None:
        if self._contention.changed or (self._due and self._asked == inf):  # the latter: it was called in vain
            self._settle(view)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_jobs": None}  # jobs belong to a view

    def _settle(self, view: View) -> None:
        if self._jobs is None:  # it was kept, and goes on
            self._jobs = {job.id: job for job in view.running}
        paces = self._contention.settle(lambda job: self._jobs[job].done, _slack(view.now))
        for job, pace in paces.items():
            if pace.factor != self._factors.get(job, 1.0):
                self._factors[job] = pace.factor
                view.set_rate(self._jobs[job], pace.factor)
                if self._meter is not None:
                    self._meter.change_rate(job, pace.factor, view.now)
            if pace.seconds < inf:
                self._due[job] = view.now + pace.seconds
            else:
                self._due.pop(job, None)
        soonest = min(self._due.values(), default=inf)
        if soonest < self._asked:
            self._asked = soonest
            view.wake_at(soonest)


def _slack(now: float) -> float:
    """Seconds of work that are lost in adding times: what is nearer than that to its end has ended."""
    return 1e-9 + 5e-16 * now
