"""The rules by which batsched decided in Batsim's published runs on medium_late, written anew from their description.

A plan says from when to when each host has something to do. A job gets the earliest start at which enough hosts have
nothing to do for its whole walltime, and of these the ones with the lowest numbers.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Said = tuple[str, dict[str, Any]]
FOREVER = math.inf
DELAY = 5.0  # seconds by which whatever ends is expected later than it says; batsched's default


@dataclass(frozen=True)
class Job:
    id: str
    hosts: int
    walltime: float


@dataclass(frozen=True)
class Place:
    begin: float
    hosts: frozenset[int]


class Plan:
    """What hosts have to do from now on: [begin, end) each."""

    def __init__(self, now: float, hosts: int) -> None:
        self.now, self._hosts = now, range(hosts)
        self._tasks: dict[int, list[tuple[float, float]]] = defaultdict(list)

    def copy(self) -> Plan:
        plan = Plan(self.now, len(self._hosts))
        plan._tasks.update({host: list(tasks) for host, tasks in self._tasks.items()})
        return plan

    def add(self, hosts: Iterable[int], begin: float, end: float) -> None:
        for host in hosts:
            self._tasks[host].append((begin, end))

    def free(self, begin: float, end: float) -> list[int]:
        """Hosts that have nothing to do in the whole of [begin, end)."""
        return [h for h in self._hosts if all(e <= begin or end <= b for b, e in self._tasks[h])]

    def sleeps_from(self, host: int) -> float:
        return next((begin for begin, end in self._tasks[host] if end == FOREVER), FOREVER)

    def forget_sleep(self, host: int) -> None:
        self._tasks[host] = [task for task in self._tasks[host] if task[1] < FOREVER]

    def instants(self) -> list[float]:
        """Now, and when anything begins or ends after it."""
        times = {time for tasks in self._tasks.values() for task in tasks for time in task}
        return [self.now, *sorted(time for time in times if self.now < time < FOREVER)]

    def time_to_do(self, work: float, begin: float) -> float:
        """How long it takes from `begin` on to do so many host-seconds on whatever hosts are free."""
        changes = {begin: len(self._hosts), FOREVER: 0}
        for first, last in (task for tasks in self._tasks.values() for task in tasks if task[1] > begin):
            for time, change in ((max(first, begin), -1), (last, 1)):
                changes[time] = changes.get(time, 0) + change
        free = 0
        for time, until in pairwise(sorted(changes) if work else ()):
            free += changes[time]
            done = free * (until - time) if free else 0.0
            if done >= work:
                return time + work / free - begin
            work -= done
        return FOREVER if work else 0.0

    def last_end(self, host: int) -> float:
        return max((end for _, end in self._tasks[host]), default=self.now)

    def first_fit(self, job: Job) -> Place | None:
        """The earliest place, which the job has from then on; None if there is none at any time."""
        ends = {end for tasks in self._tasks.values() for _, end in tasks if self.now < end < FOREVER}
        for begin in sorted({self.now} | ends):
            if len(free := self.free(begin, begin + job.walltime)) >= job.hosts:
                place = Place(begin, frozenset(free[: job.hosts]))
                self.add(place.hosts, begin, begin + job.walltime)
                return place
        return None


class Easy:
    """EASY that reserves hosts, not a number of them.

    The textbook lets a job that would outlast the shadow time start if as many hosts as the head needs are left at that
    time, whichever they are. Here it may not touch the very hosts that are kept for the head.
    """

    def __init__(self, hosts: int) -> None:
        self.hosts = hosts
        self.queue: list[Job] = []
        self.running: dict[str, tuple[frozenset[int], float]] = {}  # hosts, and when its walltime is over

    def __call__(self, message: dict[str, Any]) -> list[Said]:
        self.now = message["now"]
        for event in message["events"]:
            self.hears(event["type"], event["data"])
        return self.decides()

    def hears(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "JOB_SUBMITTED":
            self.queue.append(Job(data["job_id"], data["job"]["res"], data["job"]["walltime"] + DELAY))
        elif kind == "JOB_COMPLETED":
            del self.running[data["job_id"]]

    def decides(self) -> list[Said]:
        plan = self.plan()
        _, starts = self.backfill(plan)
        return self.start(starts)

    def plan(self) -> Plan:
        plan = Plan(self.now, self.hosts)
        for hosts, end in self.running.values():
            plan.add(hosts, self.now, end)
        return plan

    def backfill(self, plan: Plan) -> tuple[Place | None, dict[Job, Place]]:
        """Where the head is to start, if it has to wait, and who starts now."""
        starts: dict[Job, Place] = {}
        head = None
        for job in self.queue:
            if head is None:
                place = plan.first_fit(job) or self.make_room(plan, job)
                if place.begin > self.now:
                    head = place
                else:
                    starts[job] = place
            elif len(free := plan.free(self.now, self.now + job.walltime)) >= job.hosts:
                starts[job] = Place(self.now, frozenset(free[: job.hosts]))
                plan.add(starts[job].hosts, self.now, self.now + job.walltime)
        return head, starts

    def make_room(self, plan: Plan, job: Job) -> Place:
        raise AssertionError(f"{job} does not fit on {self.hosts} hosts")

    def start(self, starts: dict[Job, Place]) -> list[Said]:
        for job, place in starts.items():
            self.queue.remove(job)
            self.running[job.id] = place.hosts, self.now + job.walltime
        return [("EXECUTE_JOB", {"job_id": job.id, "alloc": written(place.hosts)}) for job, place in starts.items()]


def written(hosts: Collection[int]) -> str:
    return " ".join(map(str, sorted(hosts)))
