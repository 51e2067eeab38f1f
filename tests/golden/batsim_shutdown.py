"""Opportunistic shutdown: EASY on hosts that are switched off when nobody has them, and on when they are needed."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tests.golden.batsim_backfilling import FOREVER, Easy, Job, Place, Plan, Said, written

AWAKE_STATE, SLEEP_STATE = 0, 1
SWITCH_OFF, SWITCH_ON = 6.1, 152.0  # seconds, as the scheduler was told; switching on takes 151.52 in fact
PERIOD = 300.0


class OpportunisticShutdown(Easy):
    """A host is switched off when it is idle, nobody is being switched on, and enough others for the head are awake.

    It is switched on for the head, if there would not be enough hosts at any time; else for whoever of the queue it
    helps to start, the hosts that are kept for the head aside.
    """

    def __init__(self, hosts: int, told_first: Collection[str] = ()) -> None:
        super().__init__(hosts)
        self.told_first = told_first
        self.all_submitted = self.news = False
        self.awake = set(range(hosts))
        self.asleep: set[int] = set()
        self.switching_off: dict[int, float] = {}  # until when it takes
        self.switching_on: dict[int, float] = {}
        self.to_wake: set[int] = set()  # as soon as they are off
        self.woken: set[int] = set()  # those that are switched on in this instant
        self.calls = 0
        self.said: list[Said] = []

    def __call__(self, message: dict[str, Any]) -> list[Said]:
        """What ends in one instant was told in several messages then: one end, and after the answer what is left."""
        events = message["events"]
        alone = [event for event in events if event["data"].get("job_id") in self.told_first]
        if alone and len(events) > 1:
            rest = [event for event in events if event not in alone]
            return super().__call__({**message, "events": alone}) + super().__call__({**message, "events": rest})
        return super().__call__(message)

    def hears(self, kind: str, data: dict[str, Any]) -> None:
        super().hears(kind, data)
        if kind == "RESOURCE_STATE_CHANGED":
            self.switched(data["resources"], int(data["state"]))
        elif kind == "REQUESTED_CALL":
            self.monitor()
            self.call_again()
        elif kind == "JOB_SUBMITTED" and not self.calls:
            self.call_again()
        elif kind == "NOTIFY" and data["type"] == "no_more_static_job_to_submit":
            self.all_submitted = True
        self.news |= kind != "NOTIFY"  # which Batsim did not send then

    def call_again(self) -> None:
        """Every five minutes, until nothing is left to do."""
        if not (self.all_submitted and not self.queue and not self.running):
            self.calls += 1
            self.said.append(("CALL_ME_LATER", {"timestamp": PERIOD * self.calls}))

    def switched(self, resources: str, state: int) -> None:
        for host in numbers(resources):
            if state == SLEEP_STATE:
                del self.switching_off[host]
                self.asleep.add(host)
            else:
                del self.switching_on[host]
                self.awake.add(host)

    def decides(self) -> list[Said]:
        if not self.news:
            return []
        self.news = False
        plan = self.plan()
        head, starts = self.backfill(plan)
        said = [*self.said, *self.start(starts), *self.wake(self.woken & self.asleep)]
        self.said, self.woken = [], set()
        idle = plan.free(self.now, self.now + 1e-9)
        if helpful := self.helpful(head, idle):
            said += self.wake(helpful)
        elif not self.switching_on and not self.to_wake:
            said += self.sleep(plan, idle, self.queue[0] if self.queue else None)
        return said

    def plan(self) -> Plan:
        plan = super().plan()
        for host, end in self.switching_on.items():
            plan.add([host], self.now, end)
        for host in self.asleep - self.to_wake:
            plan.add([host], self.now, FOREVER)
        for host, end in self.switching_off.items():
            plan.add([host], self.now, end if host in self.to_wake else FOREVER)
        self.woken = set()
        for host in self.to_wake:
            self.switch_on(plan, host)
        return plan

    def switch_on(self, plan: Plan, host: int) -> None:
        begin = self.now if host in self.asleep else self.switching_off[host]
        plan.add([host], begin, begin + SWITCH_ON)
        self.woken.add(host)

    def make_room(self, plan: Plan, job: Job) -> Place:
        """Switch on as many hosts as it lacks, those that sleep already first."""
        lacking = job.hosts - len(self.awake | self.switching_on.keys() | self.to_wake)
        off_later = sorted(self.switching_off.keys() - self.to_wake, key=lambda host: (self.switching_off[host], host))
        for host in [*sorted(self.asleep - self.woken), *off_later][:lacking]:
            plan.forget_sleep(host)
            if host in self.switching_off:
                plan.add([host], self.now, self.switching_off[host])
            self.switch_on(plan, host)
            self.to_wake.add(host)
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

    def sleep(self, plan: Plan, idle: list[int], head: Job | None) -> list[Said]:
        spare = len(self.awake) - (head.hosts if head else 0)
        hosts = [host for host in idle[: max(0, spare)] if plan.last_end(host) <= self.now]
        for host in hosts:
            self.awake.remove(host)
            self.switching_off[host] = self.now + SWITCH_OFF
        return [switch(hosts, SLEEP_STATE)] if hosts else []

    def wake(self, hosts: set[int]) -> list[Said]:
        for host in hosts:
            self.asleep.remove(host)
            self.to_wake.discard(host)
            self.switching_on[host] = self.now + SWITCH_ON
        return [switch(hosts, AWAKE_STATE)] if hosts else []

    def monitor(self) -> None:
        """Idle hosts are switched off also now, if the head does not wait for others to be switched on."""
        plan = self.plan()
        head = self.queue[0] if self.queue else None
        if head is not None and plan.copy().first_fit(head) is None:
            return
        if not self.switching_on and not self.to_wake:
            self.said += self.sleep(plan, plan.free(self.now, self.now + 1e-9), head)


def switch(hosts: Collection[int], state: int) -> Said:
    return "SET_RESOURCE_STATE", {"resources": written(hosts), "state": str(state)}


def numbers(resources: str) -> list[int]:
    found: list[int] = []
    for part in resources.replace(",", " ").split():
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
