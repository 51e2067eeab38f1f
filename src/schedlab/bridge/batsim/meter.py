"""What hosts have consumed: joules of each, of all, and of jobs.

Between two changes (a job comes or goes, its rate or the state of a host changes) the course of each job says how its
hosts are loaded. The hosts whose watts stay as they are until the next change are added up as one number; only those
on which a job goes through several steps, or where jobs share a host, are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from schedlab.bridge.batsim.course import Course, Task
from schedlab.bridge.batsim.energy import PowerStates, Watts
from schedlab.bridge.batsim.platform import Platform


@dataclass(slots=True, eq=False)
class _Stay:
    """A job on its hosts. `done` of its course at `since`; from then on `rate` of it in a second."""

    course: Course
    hosts: tuple[int, ...]
    speeds: dict[int, float]  # of its hosts, when it came: loads are shares of that
    before: float  # what its hosts had consumed then
    since: float
    done: float = 0.0
    rate: float = 1.0

    def at(self, now: float) -> float:
        return self.done + self.rate * (now - self.since)


@dataclass(slots=True, eq=False)
class _Host:
    watts: Watts
    speed: float  # of a core
    joules: float = 0.0
    since: float = 0.0
    busy: float = 0.0  # load besides that of jobs: of switching
    stays: dict[Hashable, _Stay] = field(default_factory=dict)
    constant: float | None = None  # its watts, if they stay as they are


class Meter:
    """`powers` are the states of each host of the platform, which begins in those that it says."""

    def __init__(self, platform: Platform, powers: Sequence[PowerStates]) -> None:
        self._platform, self._powers = platform, powers
        self._hosts = [
            _Host(power.watts[host.pstate], host.speeds[host.pstate])
            for power, host in zip(powers, platform.hosts, strict=True)
        ]
        self._stays: dict[Hashable, _Stay] = {}
        self._settled = self._then = (
            0.0  # joules of all hosts until then, without what the varying ones have consumed since
        )
        self._level = 0.0  # watts of those that do not vary
        self._varying: dict[int, None] = {}
        self._least = sum(host.watts.epsilon for host in self._hosts)
        for number in range(len(self._hosts)):
            self._enter(number)

    def start(self, job: Hashable, course: Course, hosts: Sequence[int], now: float) -> None:
        """A job runs on these hosts from now on."""
        hosts = tuple(dict.fromkeys(hosts))
        speeds = {number: self._hosts[number].speed for number in hosts}
        stay = self._stays[job] = _Stay(course, hosts, speeds, self.joules_of(hosts, now), now)
        for number in hosts:
            self._leave(number, now)
            self._hosts[number].stays[job] = stay
            self._enter(number)

    def change_rate(self, job: Hashable, rate: float, now: float) -> None:
        stay = self._stays[job]
        for number in stay.hosts:
            self._leave(number, now)
        stay.done, stay.since, stay.rate = stay.at(now), now, rate
        for number in stay.hosts:
            self._enter(number)

    def stop(self, job: Hashable, now: float) -> float:
        """It has ended, or was ended: the joules of its hosts while it was there."""
        stay = self._stays.pop(job)
        for number in stay.hosts:
            self._leave(number, now)
            del self._hosts[number].stays[job]
            self._enter(number)
        return self.joules_of(stay.hosts, now) - stay.before

    def set_state(self, number: int, state: int, now: float, *, busy: bool = False) -> None:
        """A host is in another power state; `busy`: it computes a flop on one core, to switch."""
        self._leave(number, now)
        host = self._hosts[number]
        host.speed = self._platform.hosts[number].speeds[state]
        watts = self._powers[number].watts[state]
        self._least += watts.epsilon - host.watts.epsilon
        host.watts = watts
        host.busy = 1.0 / self._platform.hosts[number].cores if busy else 0.0
        self._enter(number)

    def total(self, now: float) -> float:
        """The joules of all hosts until now."""
        varying = sum(self._consumed(number, now) for number in self._varying)
        return self._settled + self._level * (now - self._then) + varying

    def joules_of(self, hosts: Sequence[int], now: float) -> float:
        return sum(self._joules(number, now) for number in hosts)

    def least_watts(self) -> float:
        """The epsilon watts of all hosts in their states."""
        return self._least

    def _joules(self, number: int, now: float) -> float:
        return self._hosts[number].joules + self._consumed(number, now)

    def _leave(self, number: int, now: float) -> None:
        """What it has consumed until now is settled."""
        host = self._hosts[number]
        consumed = self._consumed(number, now)
        self._settled += self._level * (now - self._then)
        self._then = now
        if host.constant is None:
            del self._varying[number]
            self._settled += consumed
        else:
            self._level -= host.constant
        host.joules, host.since = host.joules + consumed, now

    def _enter(self, number: int) -> None:
        host = self._hosts[number]
        host.constant = self._constant(number)
        if host.constant is None:
            self._varying[number] = None
        else:
            self._level += host.constant

    def _constant(self, number: int) -> float | None:
        """Its watts, if no job on it goes through steps of different loads."""
        host = self._hosts[number]
        load = host.busy
        for stay in host.stays.values():
            task = stay.course
            if not isinstance(task, Task):
                return None
            for use in task.uses:
                if number in use.hosts:
                    if use.begin > 0 or use.end < task.seconds:
                        return None
                    load += use.load * stay.rate * stay.speeds[number] / host.speed
        return host.watts.at(load)

    def _consumed(self, number: int, now: float) -> float:
        """From the last change until now."""
        host = self._hosts[number]
        if host.constant is not None:
            return host.constant * (now - host.since)
        if len(host.stays) == 1 and not host.busy:
            (stay,) = host.stays.values()
            if stay.rate == 1.0 and stay.speeds[number] == host.speed:
                begin, end = (_joules(stay.course, number, host.watts, stay.at(at)) for at in (host.since, now))
                return end - begin
        return _together(list(host.stays.values()), number, host, now)


def _joules(course: Course, number: int, watts: Watts, until: float) -> float:
    """Of a host that has this course for itself, from its begin on."""
    if isinstance(course, Task):
        joules = watts.idle * until
        for use in course.uses:
            if number in use.hosts and use.begin < until:
                joules += (min(use.end, until) - use.begin) * (watts.at(use.load) - watts.idle)
        return joules
    whole = [_joules(part, number, watts, part.seconds) for part in course.parts]
    once = course.seconds / course.repeat
    done = min(int(until / once), course.repeat) if once > 0 else course.repeat
    joules, left = done * sum(whole), until - done * once
    for part, all_of_it in zip(course.parts, whole, strict=True):
        if left <= 0:
            break
        joules += all_of_it if left >= part.seconds else _joules(part, number, watts, left)
        left -= part.seconds
    return joules + max(left, 0.0) * watts.idle


def _together(stays: Sequence[_Stay], number: int, host: _Host, now: float) -> float:
    """Of a host with several courses, each at its rate: between the times at which any of them changes."""
    changes: dict[float, float] = {host.since: 0.0, now: 0.0}  # time -> how much the load grows then
    for stay in stays:
        faster = host.speed / stay.speeds[number]
        for begin, end, load in _loads(stay, number, host.since, now):
            load /= faster
            changes[begin] = changes.get(begin, 0.0) + load
            changes[end] = changes.get(end, 0.0) - load
    joules, load, then = 0.0, host.busy, host.since
    for time in sorted(changes):
        joules += (time - then) * host.watts.at(load if load > 1e-12 else 0.0)
        load += changes[time]
        then = time
    return joules


def _loads(stay: _Stay, number: int, since: float, now: float) -> Iterator[tuple[float, float, float]]:
    """When and how much it loads a host, by the clock."""
    first, last = stay.at(since), stay.at(now)
    if not stay.rate > 0:
        return
    for use in stay.course.used(last):
        if number in use.hosts and use.end > first:
            begin, end = (since + (max(at, first) - first) / stay.rate for at in (use.begin, use.end))
            yield begin, end, use.load * stay.rate
