"""Which hosts the jobs of a stored co-scheduled run must have had: found from their run times alone.

The file has starts and run times, no hosts. But who shares hosts with whom decides how fast jobs are, and run times
have 16 digits. Every way to place a job is a hypothesis; those under which a job would not end when it did are dropped.
Hosts with the same jobs are alike, so a hypothesis is how many hosts there are of each kind, and what every running job
has left to do; two that agree in this have the same future and count as one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

HOSTS = 8
NOBODY = -1
IDLE = (NOBODY, NOBODY)
SAME_TIME = 1e-6  # seconds: times are sums that were rounded

Host = tuple[int, int]  # who has its halves, the smaller number first
Kinds = tuple[tuple[Host, int], ...]  # of hosts, and how many there are of each


@dataclass(frozen=True)
class Stored:
    """A job of the file. Its numbers are their places there, by time of submission."""

    submit: float
    start: float
    end: float
    hosts: int  # how many; it has a half of each
    application: int
    work: float


class Hypothesis(NamedTuple):
    kinds: Kinds
    left: dict[int, float]  # seconds of work, of the running jobs
    choices: Any  # (choices before, job, ((kind, hosts of it), …)), as far as the start


@dataclass(frozen=True)
class Found:
    explained: int  # so many jobs ended as they should under some hypothesis
    most: int  # hypotheses at one time
    last: list[Hypothesis]
    error: float  # seconds of work, the largest that a job had left at its end


class Search:
    """`alone`: the speed-up of each application on hosts where it has no neighbour.

    `first`: which hosts are taken first as far as they go, "occupied" or "idle"; "": any.
    """

    def __init__(
        self,
        jobs: list[Stored],
        speedups: list[list[float]],
        alone: list[float],
        first: str = "",
        tolerance: float = 1e-6,
    ) -> None:
        self.jobs, self.speedups, self.alone, self.first, self.tolerance = jobs, speedups, alone, first, tolerance
        self.fastest = [max(*row, own) for row, own in zip(speedups, alone, strict=True)]
        self.slowest = [min(*row, own) for row, own in zip(speedups, alone, strict=True)]
        self.rates = lru_cache(100_000)(self._rates)

    def run(self) -> Found:
        now, hypotheses, explained, most, error = 0.0, [Hypothesis(((IDLE, HOSTS),), {}, None)], 0, 1, 0.0
        for time, ends, starts in self.instants():
            after: dict[Any, Hypothesis] = {}
            for hypothesis in hypotheses:
                left = self.worked(hypothesis, time - now)
                if not self.possible(left, time, ends):
                    continue
                error = max([error, *(abs(left[job]) for job in ends)])
                for placed in self.placed(self.without(hypothesis, left, ends), starts):
                    rounded = tuple(round(placed.left[job], 4) for job in sorted(placed.left))
                    after.setdefault((placed.kinds, rounded), placed)
            if not after:
                break
            now, hypotheses = time, list(after.values())
            explained, most = explained + len(ends), max(most, len(hypotheses))
        return Found(explained, most, hypotheses, error)

    def instants(self) -> Iterator[tuple[float, list[int], list[int]]]:
        """Times, who ends then, and who starts."""
        events = sorted(
            event for number, job in enumerate(self.jobs) for event in ((job.end, 0, number), (job.start, 1, number))
        )
        while events:
            time = events[0][0]
            now = [event for event in events[: 4 * HOSTS] if event[0] < time + SAME_TIME]
            del events[: len(now)]
            yield time, [job for _, what, job in now if what == 0], [job for _, what, job in now if what == 1]

    def _rates(self, kinds: Kinds) -> dict[int, float]:
        """The least over the hosts of each job."""
        rates: dict[int, float] = {}
        for host, _ in kinds:
            for job, other in (host, host[::-1]):
                if job != NOBODY:
                    own = self.jobs[job].application
                    here = self.alone[own] if other == NOBODY else self.speedups[own][self.jobs[other].application]
                    rates[job] = min(rates.get(job, here), here)
        return rates

    def worked(self, hypothesis: Hypothesis, time: float) -> dict[int, float]:
        rates = self.rates(hypothesis.kinds)
        return {job: left - rates[job] * time for job, left in hypothesis.left.items()}

    def possible(self, left: dict[int, float], now: float, ends: list[int]) -> bool:
        """Whether who ends has nothing left to do, and all others can be done when they ended, at some speeds."""
        for number, work in left.items():
            job, more = self.jobs[number], 0.0 if number in ends else self.jobs[number].end - now
            most, least = more * self.fastest[job.application], more * self.slowest[job.application]
            if not least - self.tolerance <= work <= most + self.tolerance:
                return False
        return True

    def without(self, hypothesis: Hypothesis, left: dict[int, float], ends: list[int]) -> Hypothesis:
        kinds: Counter[Host] = Counter()
        for host, number in hypothesis.kinds:
            first, second = sorted(NOBODY if job in ends else job for job in host)
            kinds[first, second] += number
        staying = {job: work for job, work in left.items() if job not in ends}
        return Hypothesis(tuple(sorted(kinds.items())), staying, hypothesis.choices)

    def placed(self, hypothesis: Hypothesis, starts: list[int]) -> list[Hypothesis]:
        """With these jobs in every way that there is."""
        found = [hypothesis]
        for job in starts:
            found = [
                Hypothesis(kinds, {**before.left, job: self.jobs[job].work}, (before.choices, job, choice))
                for before in found
                for kinds, choice in self.ways(before.kinds, job)
            ]
        return found

    def ways(self, kinds: Kinds, job: int) -> Iterator[tuple[Kinds, tuple[tuple[Host, int], ...]]]:
        free = [(host, number) for host, number in kinds if NOBODY in host]
        for choice in choices(free, self.jobs[job].hosts):
            if self.first and not self.in_order(free, choice):
                continue
            after = Counter(dict(kinds))
            for host, number in choice:
                after[host] -= number
                after[min(host[1], job), max(host[1], job)] += number
            yield tuple(sorted((host, number) for host, number in after.items() if number)), choice

    def in_order(self, free: list[tuple[Host, int]], choice: tuple[tuple[Host, int], ...]) -> bool:
        """Whether hosts of the second sort are taken only when all of the first are."""
        there, taken = (
            sum(number for host, number in hosts if (host == IDLE) == (self.first == "idle"))
            for hosts in (free, choice)
        )
        return taken == min(there, sum(number for _, number in choice))


def choices(kinds: list[tuple[Host, int]], wanted: int) -> Iterator[tuple[tuple[Host, int], ...]]:
    """All ways to take so many hosts of these kinds."""
    if not kinds:
        if not wanted:
            yield ()
        return
    (host, number), *others = kinds
    for taken in range(min(number, wanted) + 1):
        for rest in choices(others, wanted - taken):
            yield ((host, taken), *rest) if taken else rest


def numbered(search: Search, found: Hypothesis) -> list[list[int]]:
    """Host numbers of each job, for one of the hypotheses: of hosts that are alike, the first ones."""
    chosen: dict[int, tuple[tuple[Host, int], ...]] = {}
    before = found.choices
    while before is not None:
        before, job, chosen[job] = before
    hosts: list[Host] = [IDLE] * HOSTS
    nodes: list[list[int]] = [[] for _ in search.jobs]
    for _, ends, starts in search.instants():
        for number, host in enumerate(hosts):
            first, second = sorted(NOBODY if job in ends else job for job in host)
            hosts[number] = (first, second)
        for job in starts:
            for kind, many in chosen.get(job, ()):
                nodes[job] += [number for number, host in enumerate(hosts) if host == kind][:many]
            for number in nodes[job]:
                other = hosts[number][1]
                hosts[number] = (min(other, job), max(other, job))
    return nodes
