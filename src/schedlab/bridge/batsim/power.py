"""Power states and energy in a run: what a scheduler asks of hosts, and what they and their jobs consume."""

from __future__ import annotations

from collections.abc import Container, Sequence
from math import inf

from schedlab._core import View
from schedlab.bridge.batsim.contention import Contention
from schedlab.bridge.batsim.course import Task
from schedlab.bridge.batsim.energy import COMPUTE, SLEEP, power_states
from schedlab.bridge.batsim.listener import Listener
from schedlab.bridge.batsim.live import Live
from schedlab.bridge.batsim.meter import Meter
from schedlab.bridge.batsim.platform import Platform
from schedlab.bridge.batsim.switches import OFF, ON, Change, Request, Switches
from schedlab.model.errors import InputError


class Power:
    """Hosts that sleep or switch are closed to jobs: to the engine they are off, or boot."""

    def __init__(self, platform: Platform, listeners: Sequence[Listener], unavailable: Container[int] = ()) -> None:
        self._platform, self._listeners = platform, listeners
        self._unavailable = unavailable  # hosts that stay closed, whatever their state
        powers = power_states(platform)
        self._kinds = [states.kinds for states in powers]
        self._switches = Switches(platform, powers)
        self.meter = Meter(platform, powers)
        self.contention: Contention | None = None  # who has to know that a host is faster or slower
        self._asked = inf  # for when a wake-up is due
        self._submitted = False  # whether a job has come

    @property
    def states(self) -> Sequence[int]:
        """The power state of each host."""
        return self._switches.states

    @property
    def switching(self) -> bool:
        return self._switches.next_at() < inf

    def computes(self, host: int) -> bool:
        return self._switches.computes(host)

    def speed(self, host: int) -> float:
        return self._platform.hosts[host].speeds[self.states[host]]

    def joules(self, now: float) -> float:
        """What all hosts have consumed."""
        return self.meter.total(now)

    def submitted(self, now: float) -> None:
        if not self._submitted:
            self._submitted = True
            for listener in self._listeners:
                listener.first_submission(self.meter.total(now))

    def started(self, now: float, live: Live) -> None:
        course = live.course or Task(live.profile, live.seconds)
        self._note(now, "s")
        self.meter.start(live.job.id, course, live.hosts, now)

    def ended(self, now: float, live: Live) -> None:
        live.joules = self.meter.stop(live.job.id, now)
        self._note(now, "e")

    def ask(self, view: View, hosts: Sequence[int], state: int) -> Request | None:
        """From SET_RESOURCE_STATE; the request, if it is fulfilled at once."""
        for host in hosts:
            kinds = self._kinds[host]
            if state < len(kinds) and kinds[state] == SLEEP and view.jobs_on(host):
                name = self._platform.hosts[host].name
                raise InputError(f"host {host} ({name}) cannot go to sleep: a job runs there")
        changes, request = self._switches.ask(hosts, state, view.now)
        off = [change.host for change in changes if self._switches.switching(change.host) == OFF]
        on = [change.host for change in changes if self._switches.switching(change.host) == ON]
        for listener in self._listeners:
            listener.power_asked(view.now, list(hosts), self._kinds[hosts[0]][state] == SLEEP)
            listener.switching(view.now, off, on)
        self._note(view.now, "p")
        for host in [*off, *on]:
            self.close(view, host)
        self._apply(view.now, changes)
        if request is not None:
            self._fulfilled(view.now, request, switched=False)
        self._wake(view)
        return request

    def due(self, view: View) -> list[Request]:
        """The requests that are fulfilled now."""
        if self._switches.next_at() > view.now:
            return []
        changes, requests = self._switches.switched(view.now)
        for change in changes:
            asleep = self._kinds[change.host][change.state] != COMPUTE
            if asleep:
                self.close(view, change.host)
            elif change.host not in self._unavailable:
                view.open(change.host)
            for listener in self._listeners:
                listener.switched(view.now, change.host, asleep)
        self._apply(view.now, changes)
        for request in requests:
            self._fulfilled(view.now, request, switched=True)
        self._asked = inf
        self._wake(view)
        return requests

    def close(self, view: View, host: int) -> None:
        """One that sleeps or switches. An external event may have closed it before, for a reason of its own."""
        if host not in self._unavailable:
            view.close(host, "booting" if self._switches.switching(host) == ON else "off")

    def _apply(self, now: float, changes: Sequence[Change]) -> None:
        for change in changes:
            self.meter.set_state(change.host, change.state, now, busy=change.busy)
            if self.contention is not None:
                self.contention.touch(change.host)

    def _fulfilled(self, now: float, request: Request, *, switched: bool) -> None:
        self._note(now, "p")
        for listener in self._listeners:
            listener.in_state(now, list(request.hosts), request.state, switched)

    def _note(self, now: float, event: str) -> None:
        for listener in self._listeners:
            listener.consumed(now, self.meter.total(now), event, self.meter.least_watts())

    def _wake(self, view: View) -> None:
        if (soonest := self._switches.next_at()) < self._asked:
            self._asked = soonest
            view.wake_at(soonest)
