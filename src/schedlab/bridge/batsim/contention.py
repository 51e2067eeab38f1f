"""Jobs that want the same hosts and links: how much slower each is than it would be alone.

A job is `seconds` of work: what its course takes alone. While others use what it uses, it does less than a second of
that in a second. Which step it is in follows from how much work it has done. Only jobs with a resource, in any of
their steps, that another job has too are looked at, and only when one of them comes, goes, or is at its next step.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from math import inf

from schedlab.bridge.batsim.course import Course, Task
from schedlab.bridge.batsim.demand import Speed
from schedlab.bridge.batsim.fluid import Capacity, Flow, share
from schedlab.bridge.batsim.platform import Platform
from schedlab.bridge.batsim.tasks import link_capacity

SAME = 1e-9  # what differs by less was rounded

Demands = tuple[tuple[tuple[Hashable, float], ...], float]  # amounts of resources, and the bound of a rate


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a job goes on, and in how many seconds it is at another step (infinity: its last one is this)."""

    factor: float
    seconds: float


@dataclass(slots=True, eq=False)
class _Member:
    course: Course
    resources: tuple[Hashable, ...]
    shared: dict[Hashable, None] = field(default_factory=dict)  # of these, those that count; in the order of coming
    flows: dict[Task, Demands] = field(default_factory=dict)


class Contention:
    """`speed` is that of a core of a host now. Jobs are whatever the caller calls them by."""

    def __init__(self, platform: Platform, speed: Speed) -> None:
        self._platform, self._speed = platform, speed
        self._members: dict[Hashable, _Member] = {}
        self._users: dict[Hashable, dict[Hashable, None]] = {}
        self._touched: set[Hashable] = set()  # hosts whose speed has changed: it counts for whoever is there
        self._changed: dict[Hashable, None] = {}  # jobs whose pace may be another one

    @property
    def changed(self) -> bool:
        """Whether `settle` has something to say."""
        return bool(self._changed)

    def start(self, job: Hashable, course: Course) -> None:
        resources = tuple(dict.fromkeys(_resources(course)))
        if not resources:
            return
        member = self._members[job] = _Member(course, resources)
        for resource in resources:
            users = self._users.setdefault(resource, {})
            users[job] = None
            if len(users) > 1 or resource in self._touched:
                self._share(resource)
        if member.shared:
            self._changed[job] = None

    def stop(self, job: Hashable) -> None:
        member = self._members.pop(job, None)
        if member is None:
            return
        self._changed.pop(job, None)
        for resource in member.resources:
            users = self._users[resource]
            del users[job]
            if not users:
                del self._users[resource]
            for other in users if resource in member.shared else ():
                self._changed[other] = None
                if len(users) == 1 and resource not in self._touched:
                    del self._members[other].shared[resource]
                    self._members[other].flows.clear()

    def touch(self, host: int) -> None:
        """Its speed is another one than before."""
        self._touched.add(host)
        self._share(host)
        for job in self._users.get(host, ()):
            self._members[job].flows.clear()

    def at_next_step(self, job: Hashable) -> None:
        if job in self._members:
            self._changed[job] = None

    def _share(self, resource: Hashable) -> None:
        for job in self._users.get(resource, ()):
            member = self._members[job]
            if resource not in member.shared:
                member.shared[resource] = None
                member.flows.clear()
            self._changed[job] = None

    def settle(self, done: Callable[[Hashable], float], slack: float) -> dict[Hashable, Pace]:
        """The paces of the jobs that are concerned by what has changed, if so much work of each is done."""
        at = {job: self._members[job].course.locate(done(job), slack) for job in self._together()}
        flows = {
            job: Flow(*self._demands(self._members[job], task))
            for job, (task, inside, _) in at.items()
            if task.demand is not None and inside >= task.latency - slack
        }
        share(flows.values(), self._capacity)
        return {job: _pace(*where, flows.get(job), slack) for job, where in at.items()}

    def _together(self) -> Iterator[Hashable]:
        """The jobs that have changed, those that they share something with, and so on."""
        waiting, self._changed = self._changed, {}
        seen = set(waiting)
        queue = list(waiting)
        looked: set[Hashable] = set()
        while queue:
            job = queue.pop()
            yield job
            for resource in self._members[job].shared:
                if resource not in looked:
                    looked.add(resource)
                    more = [other for other in self._users[resource] if other not in seen]
                    seen.update(more)
                    queue += more

    def _demands(self, member: _Member, task: Task) -> Demands:
        """What it wants of what it shares, and its bound by what it has for itself."""
        known = member.flows.get(task)
        if known is None:
            assert task.demand is not None
            bound = task.demand.most(self._speed)
            demands: list[tuple[Hashable, float]] = [one for one in task.demand.flops if one[0] in member.shared]
            for host, flops in task.demand.work().items():
                if host not in member.shared:
                    bound = min(bound, self._capacity(host).amount / flops)
            for link, amount in task.demand.bytes.items():
                if link in member.shared:
                    demands.append((link, amount))
                else:
                    bound = min(bound, self._capacity(link).amount / amount)
            known = member.flows[task] = tuple(demands), bound
        return known

    def _capacity(self, resource: Hashable) -> Capacity:
        if isinstance(resource, int):
            return Capacity(self._speed(resource) * self._platform.hosts[resource].cores)
        return link_capacity(self._platform, str(resource))


def _pace(task: Task, inside: float, last: bool, flow: Flow | None, slack: float) -> Pace:
    """Of a job that has been `inside` a task for so long, which uses something if it has a flow."""
    factor, until = 1.0, task.seconds
    if inside < task.latency - slack:
        until, last = task.latency, False
    elif flow is not None and flow.rate < inf and task.seconds > task.latency:
        factor = flow.rate * (task.seconds - task.latency)
        factor = 1.0 if abs(factor - 1.0) < SAME else factor
    return Pace(factor, inf if last or not factor > 0 else (until - inside) / factor)


def _resources(course: Course) -> Iterator[Hashable]:
    """Every host and link that it uses in some step."""
    for task in course.tasks():
        if task.demand is not None:
            yield from (host for host, _ in task.demand.flops)
            yield from task.demand.bytes
