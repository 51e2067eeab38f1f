"""Hosts that change their power states: what they are in, and when a request for another state has been fulfilled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from schedlab.bridge.batsim.energy import COMPUTE, SLEEP, PowerStates
from schedlab.bridge.batsim.platform import Platform
from schedlab.model.errors import InputError

ON, OFF = "switching_on", "switching_off"


@dataclass(slots=True, eq=False)
class Request:
    """Hosts that are to be in a state; it is fulfilled when the last of them is."""

    hosts: tuple[int, ...]
    state: int
    missing: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Change:
    """A host is in another state from now on: switching is one, too."""

    host: int
    state: int
    busy: bool = False  # it computes a flop, which is how long it takes to switch


class Switches:
    """`states[host]` is the state of each host, also while it is one that stands for switching."""

    def __init__(self, platform: Platform, powers: Sequence[PowerStates]) -> None:
        self._platform, self._powers = platform, powers
        self.states = [host.pstate for host in platform.hosts]
        self._going: dict[int, tuple[float, Request]] = {}  # hosts that switch: until when, for whom

    def switching(self, host: int) -> str:
        """`switching_on`, `switching_off`, or nothing."""
        if host not in self._going:
            return ""
        return OFF if self._powers[host].kinds[self._going[host][1].state] == SLEEP else ON

    def computes(self, host: int) -> bool:
        """Whether it may have jobs, as far as its state goes."""
        return self._powers[host].kinds[self.states[host]] == COMPUTE

    def ask(self, hosts: Sequence[int], state: int, now: float) -> tuple[list[Change], Request | None]:
        """From SET_RESOURCE_STATE: what changes at once, and the request if it is fulfilled already."""
        for host in hosts:
            self._check(host, state)
        request = Request(tuple(hosts), state)
        changes = []
        for host in hosts:
            power, before = self._powers[host], self.states[host]
            if power.kinds[state] == SLEEP:
                through = power.sleeps[state].off
            elif power.kinds[before] == SLEEP:
                through = power.sleeps[before].on
            else:
                self.states[host] = state
                changes.append(Change(host, state))
                continue
            request.missing.add(host)
            self.states[host] = through
            self._going[host] = (now + 1.0 / self._platform.hosts[host].speeds[through], request)
            changes.append(Change(host, through, busy=True))
        return changes, None if request.missing else request

    def _check(self, host: int, state: int) -> None:
        power, name = self._powers[host], self._platform.hosts[host].name
        if host in self._going:
            raise InputError(f"host {host} ({name}) is switching already, and cannot be asked for state {state}")
        if not 0 <= state < len(power.kinds):
            raise InputError(f"host {host} ({name}) has no state {state}; it has {len(power.kinds)}")
        kind, before = power.kinds[state], power.kinds[self.states[host]]
        if kind not in (COMPUTE, SLEEP):
            raise InputError(f"state {state} of host {host} ({name}) only stands for switching")
        if before == SLEEP and kind == SLEEP:
            raise InputError(
                f"host {host} ({name}) sleeps in state {self.states[host]}, and cannot go to sleep in {state}"
            )

    def next_at(self) -> float:
        """When the next host has switched; infinity if none does."""
        return min((at for at, _ in self._going.values()), default=inf)

    def switched(self, now: float) -> tuple[list[Change], list[Request]]:
        """The hosts that have switched by now, and the requests that are fulfilled thereby."""
        changes: list[Change] = []
        fulfilled: list[Request] = []
        for host in sorted(host for host, (at, _) in self._going.items() if at <= now):
            _, request = self._going.pop(host)
            self.states[host] = request.state
            changes.append(Change(host, request.state))
            request.missing.discard(host)
            if not request.missing:
                fulfilled.append(request)
        return changes, fulfilled
