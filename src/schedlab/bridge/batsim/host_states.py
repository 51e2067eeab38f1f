"""What each host does over time, and how many do what: machine_states.csv, and sums of schedule.csv."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

SLEEPING, SWITCHING_ON, SWITCHING_OFF, IDLE, COMPUTING, UNAVAILABLE = STATES = (
    "sleeping",
    "switching_on",
    "switching_off",
    "idle",
    "computing",
    "unavailable",
)
COLUMNS = STATES[:-1]  # Batsim has no column for unavailable hosts


class HostStates:
    """Hosts by state. `file`, if there is one, gets a row whenever jobs or switches change something."""

    def __init__(self, hosts: int, file: TextIO | None = None, *, storage: int = 0) -> None:
        self.counts = dict.fromkeys(STATES, 0)
        self.counts[IDLE] = hosts - storage  # Batsim counts storage hosts only while they do something
        self.spent = dict.fromkeys(STATES, 0.0)  # seconds of all hosts together, of stays in a state that are over
        self._state = [IDLE] * hosts
        self._since = [0.0] * hosts
        self._jobs = [0] * hosts  # on each host
        self._file = file
        if file is not None:
            file.write(f"time,{','.join(f'nb_{state}' for state in COLUMNS)}\n")

    def started(self, time: float, hosts: Iterable[int]) -> None:
        """A job runs on these hosts from now on."""
        jobs = self._jobs
        hosts = list(hosts)
        for host in hosts:
            jobs[host] += 1
        self._set(time, hosts, COMPUTING)
        self.write(time)

    def stopped(self, time: float, hosts: Iterable[int]) -> list[int]:
        """A job does not run there any more; the hosts that are idle since then."""
        jobs, idle = self._jobs, []
        for host in hosts:
            jobs[host] -= 1
            if jobs[host] == 0 and self._state[host] != UNAVAILABLE:
                idle.append(host)
        self._set(time, idle, IDLE)
        self.write(time)
        return idle

    def become(self, time: float, hosts: Iterable[int], state: str) -> None:
        """Hosts that switch or have switched, or that external events take away and bring back."""
        for host in hosts:
            self._set(time, [host], COMPUTING if state == IDLE and self._jobs[host] else state)

    def write(self, time: float) -> None:
        if self._file is not None:
            counts = self.counts
            self._file.write(
                f"{time:g},{counts[SLEEPING]},{counts[SWITCHING_ON]},{counts[SWITCHING_OFF]},{counts[IDLE]},"
                f"{counts[COMPUTING]}\n"
            )

    def _set(self, time: float, hosts: Iterable[int], state: str) -> None:
        states, since, spent, counts = self._state, self._since, self.spent, self.counts
        for host in hosts:
            before = states[host]
            spent[before] += time - since[host]
            since[host] = time
            if state != before:
                states[host] = state
                counts[before] -= 1
                counts[state] += 1
