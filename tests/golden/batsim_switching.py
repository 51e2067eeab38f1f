"""What the rules that switch hosts off have in common: states of hosts, a plan that knows them, calls by the clock."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import Any

from tests.golden.batsim_backfilling import DELAY, FOREVER, Easy, Plan, Said, written

AWAKE_STATE, SLEEP_STATE = 0, 1
SWITCH_OFF, SWITCH_ON = 6.1, 152.0  # seconds, as the scheduler was told; switching on takes 151.52 in fact


class SwitchedHosts(Easy, ABC):
    """EASY on hosts that may be asleep."""

    period: float  # between two calls, in seconds

    def __init__(self, hosts: int, told_first: Collection[str] = ()) -> None:
        super().__init__(hosts)
        self.told_first = told_first
        self.all_submitted = self.news = False
        self.awake = set(range(hosts))
        self.asleep: set[int] = set()
        self.switching_off: dict[int, float] = {}  # until when it takes
        self.switching_on: dict[int, float] = {}
        self.to_wake: set[int] = set()  # as soon as they are off
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
        elif kind == "REQUESTED_CALL" and not self.done():
            self.monitor()
            self.call_again()
        elif kind == "JOB_SUBMITTED" and not self.calls:
            self.call_again()
        elif kind == "NOTIFY" and data["type"] == "no_more_static_job_to_submit":
            self.all_submitted = True
        self.news |= kind != "NOTIFY"  # which Batsim did not send then

    def done(self) -> bool:
        return self.all_submitted and not self.queue and not self.running

    @abstractmethod
    def monitor(self) -> None:
        """What is to be done when the clock calls."""

    def call_again(self) -> None:
        self.calls += 1
        self.said.append(("CALL_ME_LATER", {"timestamp": self.period * self.calls}))

    def switched(self, resources: str, state: int) -> None:
        for host in numbers(resources):
            if state == SLEEP_STATE:
                del self.switching_off[host]
                self.asleep.add(host)
            else:
                del self.switching_on[host]
                self.awake.add(host)

    def plan(self) -> Plan:
        plan = super().plan()
        for host, end in self.switching_on.items():
            plan.add([host], self.now, end)
        for host in self.asleep:
            plan.add([host], self.now, FOREVER)
        for host, end in self.switching_off.items():
            plan.add([host], self.now, end)
            plan.add([host], end, FOREVER)
        for host in self.to_wake:
            self.switch_on(plan, host)
        return plan

    def switch_on(self, plan: Plan, host: int) -> None:
        begin = plan.sleeps_from(host)
        plan.forget_sleep(host)
        plan.add([host], begin, begin + SWITCH_ON + DELAY)

    def switch_on_some(self, plan: Plan, lacking: int) -> None:
        """Those that sleep already first, then those that soon do."""
        off = (self.asleep | self.switching_off.keys()) - self.to_wake
        for host in sorted(off, key=lambda host: (plan.sleeps_from(host), host))[:lacking]:
            self.switch_on(plan, host)
            self.to_wake.add(host)

    def sleep(self, hosts: Collection[int]) -> list[Said]:
        for host in hosts:
            self.awake.remove(host)
            self.switching_off[host] = self.now + SWITCH_OFF + DELAY
        return [switch(hosts, SLEEP_STATE)] if hosts else []

    def wake(self, hosts: Collection[int]) -> list[Said]:
        for host in hosts:
            self.asleep.remove(host)
            self.to_wake.discard(host)
            self.switching_on[host] = self.now + SWITCH_ON + DELAY
        return [switch(hosts, AWAKE_STATE)] if hosts else []


def switch(hosts: Collection[int], state: int) -> Said:
    return "SET_RESOURCE_STATE", {"resources": written(hosts), "state": str(state)}


def numbers(resources: str) -> list[int]:
    found: list[int] = []
    for part in resources.replace(",", " ").split():
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
