"""Inertial shutdown: EASY on as many hosts as the load of the queue seems to need, more and more or fewer and fewer."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tests.golden.batsim_backfilling import FOREVER, Job, Place, Plan, Said
from tests.golden.batsim_switching import SwitchedHosts


class InertialShutdown(SwitchedHosts):
    """Once a minute it is asked whether the queue has become shorter, on the mean of that minute.

    How long a queue is, is how long free hosts would take to do all its work, divided as one likes (its liquid load
    horizon). As long as it grows, one host is switched on, then twice as many as in the minute before; as long as it
    does not, hosts are switched off in that way. When it turns, nothing is done for one minute. A host that has work is
    switched off after it, unless the head needs it or the next minute begins before.
    """

    period = 60.0

    def __init__(self, hosts: int, told_first: Collection[str] = ()) -> None:
        super().__init__(hosts, told_first)
        self.to_sleep: set[int] = set()  # as soon as they have nothing to do
        self.slept: set[int] = set()  # switched off since the last call, and on
        self.woke: set[int] = set()
        self.growing: bool | None = None  # None before the first call
        self.area = self.area_before = 0.0  # of the queue's length over time, in this minute and in the one before
        self.planned = Plan(0.0, hosts)
        self.measured = self.length = 0.0  # when the queue was measured, and how long it was

    def hears(self, kind: str, data: dict[str, Any]) -> None:
        if self.now > self.measured:
            begin, length = self.measured, self.length
            self.measure()
            self.area += (length + self.length) / 2 * (self.now - begin)
        super().hears(kind, data)

    def measure(self) -> None:
        work = sum(job.hosts * job.walltime for job in self.queue)
        self.measured, self.length = self.now, self.planned.time_to_do(work, self.now)

    def decides(self) -> list[Said]:
        if not self.news:
            return []
        self.news = False
        plan = self.plan()
        self.plan_sleep(plan)
        waiting = bool(self.queue)
        _, starts = self.backfill(plan)
        self.said += self.start(starts)
        slept, woke = self.switch(plan)
        if waiting:  # else they are not counted
            self.slept |= slept
            self.woke |= woke
        self.planned = plan
        self.measure()
        said, self.said = self.said, []
        return said

    def plan_sleep(self, plan: Plan) -> None:
        for host in self.to_sleep:
            plan.add([host], plan.last_end(host), FOREVER)

    def switch(self, plan: Plan) -> tuple[set[int], set[int]]:
        """What is due of what is to be switched."""
        slept = {host for host in self.to_sleep if plan.sleeps_from(host) <= self.now}
        woke = self.to_wake & self.asleep
        self.to_sleep -= slept
        self.said += self.sleep(slept) + self.wake(woke)
        return slept, woke

    def make_room(self, plan: Plan, job: Job) -> Place:
        """Keep hosts that were to be switched off; if that is not enough, switch on as many as it lacks."""
        for host in self.to_sleep:
            plan.forget_sleep(host)
        place = plan.first_fit(job)
        if place is None:
            self.to_sleep.clear()
            self.switch_on_some(plan, job.hosts - len(self.awake | self.switching_on.keys() | self.to_wake))
            place = plan.first_fit(job)
        assert place is not None
        self.to_sleep -= place.hosts
        self.plan_sleep(plan)
        return place

    def monitor(self) -> None:
        self.to_sleep.clear()
        plan = self.plan()
        head = self.queue[0] if self.queue else None
        place = plan.copy().first_fit(head) if head else None
        if self.growing is None:
            self.growing = True
        elif head is None or place is not None:  # else it waits for hosts to be switched on
            self.follow(plan, head, place)
        self.area_before, self.area = self.area, 0.0
        plan = self.plan()
        if head and place:
            plan.first_fit(head)
        self.plan_sleep(plan)
        self.slept, self.woke = self.switch(plan)

    def follow(self, plan: Plan, head: Job | None, place: Place | None) -> None:
        if self.growing != (self.area > self.area_before):
            self.growing = not self.growing
        elif self.growing:
            self.to_wake |= set(sorted(self.asleep - self.to_wake)[: max(1, 2 * len(self.woke))])
        else:
            number = min(max(1, 2 * len(self.slept)), len(self.awake) - (head.hosts if head else 0))
            self.to_sleep = self.first_free(plan, number, head, place)

    def first_free(self, plan: Plan, number: int, head: Job | None, place: Place | None) -> set[int]:
        """Hosts that are free first, but of those that the head could have only as many as it does not need."""
        shared, spare = set[int](), 0
        if head and place:
            shared = self.awake.intersection(plan.free(place.begin, place.begin + head.walltime))
            spare = max(0, len(shared) - head.hosts)
        chosen: list[int] = []
        for time in plan.instants():
            free = [host for host in plan.free(time, time + 1e-9) if host in self.awake and host not in chosen]
            lent = [host for host in free if host in shared][: max(0, min(spare, number - len(chosen)))]
            spare -= len(lent)
            chosen += lent
            chosen += [host for host in free if host not in shared][: max(0, number - len(chosen))]
        return set(chosen)
