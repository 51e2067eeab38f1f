"""Opportunistic shutdown: EASY on hosts that are switched off when nobody has them, and on when they are needed."""

from __future__ import annotations

from tests.golden.batsim_backfilling import Job, Place, Plan, Said
from tests.golden.batsim_switching import SwitchedHosts


class OpportunisticShutdown(SwitchedHosts):
    """A host is switched off when it is idle, nobody is being switched on, and enough others for the head are awake.

    It is switched on for the head, if there would not be enough hosts at any time; else for whoever of the queue it
    helps to start, the hosts that are kept for the head aside.
    """

    period = 300.0

    def decides(self) -> list[Said]:
        if not self.news:
            return []
        self.news = False
        plan = self.plan()
        head, starts = self.backfill(plan)
        said = [*self.said, *self.start(starts), *self.wake(self.to_wake & self.asleep)]
        self.said = []
        idle = plan.free(self.now, self.now + 1e-9)
        if helpful := self.helpful(head, idle):
            said += self.wake(helpful)
        elif not self.switching_on and not self.to_wake:
            said += self.sleep_idle(plan, idle, self.queue[0] if self.queue else None)
        return said

    def make_room(self, plan: Plan, job: Job) -> Place:
        """Switch on as many hosts as it lacks."""
        self.switch_on_some(plan, job.hosts - len(self.awake | self.switching_on.keys() | self.to_wake))
        place = plan.first_fit(job)
        assert place is not None
        return place

    def helpful(self, head: Place | None, idle: list[int]) -> set[int]:
        """Sleeping hosts with which someone could start, who takes idle ones first."""
        kept = head.hosts if head else frozenset()
        sleeping = set(self.asleep)
        usable_idle, usable = set(idle) - kept, (set(idle) | sleeping) - kept
        found: set[int] = set()
        for job in self.queue:
            if job.hosts <= len(usable):
                chosen = set(sorted(usable_idle)[: job.hosts])
                usable_idle -= chosen
                chosen |= set(sorted(usable)[: job.hosts - len(chosen)])
                found |= chosen & sleeping
                usable -= chosen
        return found

    def sleep_idle(self, plan: Plan, idle: list[int], head: Job | None) -> list[Said]:
        spare = len(self.awake) - (head.hosts if head else 0)
        return self.sleep([host for host in idle[: max(0, spare)] if plan.last_end(host) <= self.now])

    def monitor(self) -> None:
        """Idle hosts are switched off also now, if the head does not wait for others to be switched on."""
        plan = self.plan()
        head = self.queue[0] if self.queue else None
        if head is not None and plan.copy().first_fit(head) is None:
            return
        if not self.switching_on and not self.to_wake:
            self.said += self.sleep_idle(plan, plan.free(self.now, self.now + 1e-9), head)
