"""How a job runs on the hosts that it has: tasks one after the other, each with the time that it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from schedlab.bridge.batsim.demand import Demand
from schedlab.workload.batsim.kinds import Composed


@dataclass(frozen=True, slots=True)
class Use:
    """From `begin` to `end`, seconds after the start of a task, its cores are loaded on these hosts."""

    begin: float
    end: float
    load: float  # 1: all cores of the host, all the time
    hosts: frozenset[int]


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One step: a delay, a parallel task, or the replay of a trace."""

    profile: str
    seconds: float
    latency: float = 0.0  # of these, before it makes any progress
    uses: tuple[Use, ...] = ()
    demand: Demand | None = None  # of a parallel task
    measured: bool = True  # whether Batsim says how far it has come; it does not of replays

    def progress(self, elapsed: float) -> dict[str, Any]:
        if not self.measured:
            return {"profile_name": self.profile, "current_task_index": -1}
        working = self.seconds - self.latency
        done = (elapsed - self.latency) / working if working > 0 else 1.0
        return {"profile_name": self.profile, "progress": min(max(done, 0.0), 1.0)}

    def task_at(self, elapsed: float) -> Task:
        """The task that runs then."""
        return self

    def tasks(self) -> Iterator[Task]:
        """The different ones of which it is made."""
        yield self

    @property
    def ends_with_delay(self) -> bool:
        """Whether its last step only lets time pass."""
        return self.demand is None and self.measured

    def locate(self, elapsed: float, slack: float) -> tuple[Task, float, bool]:
        """The task that runs then, how long it has been running, and whether it is the last.

        One that has no more than `slack` to go has ended, if another one follows.
        """
        return self, elapsed, True

    def used(self, until: float) -> Iterator[Use]:
        """Its uses in their order, none later than that."""
        for use in self.uses:
            if use.begin < until:
                yield Use(use.begin, min(use.end, until), use.load, use.hosts)


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """Parts one after the other, `repeat` times."""

    profile: str
    parts: tuple[Task | Series, ...]
    repeat: int
    seconds: float

    @classmethod
    def of(cls, profile: Composed, parts: tuple[Task | Series, ...], repeat: int) -> Series:
        return cls(profile.name, parts, repeat, repeat * sum(part.seconds for part in parts))

    def progress(self, elapsed: float) -> dict[str, Any]:
        index, part, inside = self._at(elapsed)
        return {"profile_name": self.profile, "current_task_index": index, "current_task": part.progress(inside)}

    def _at(self, elapsed: float, slack: float = 0.0) -> tuple[int, Task | Series, float]:
        """The part that runs then, its number over all rounds, and how long it has been running."""
        once = self.seconds / self.repeat
        done = min(int((elapsed + slack) / once), self.repeat - 1) if once > 0 else self.repeat - 1
        inside = max(elapsed - done * once, 0.0)
        for place, part in enumerate(self.parts[:-1]):
            if inside < part.seconds - slack:
                return done * len(self.parts) + place, part, inside
            inside = max(inside - part.seconds, 0.0)
        return (done + 1) * len(self.parts) - 1, self.parts[-1], inside

    def task_at(self, elapsed: float) -> Task:
        _, part, inside = self._at(elapsed)
        return part.task_at(inside)

    def tasks(self) -> Iterator[Task]:
        for part in dict.fromkeys(self.parts):
            yield from part.tasks()

    @property
    def ends_with_delay(self) -> bool:
        return self.parts[-1].ends_with_delay

    def locate(self, elapsed: float, slack: float) -> tuple[Task, float, bool]:
        index, part, inside = self._at(elapsed, slack)
        task, inside, last = part.locate(inside, slack)
        return task, inside, last and index == self.repeat * len(self.parts) - 1

    def used(self, until: float) -> Iterator[Use]:
        begin = 0.0
        for _ in range(self.repeat):
            for part in self.parts:
                if begin >= until:
                    return
                for use in part.used(until - begin):
                    yield Use(begin + use.begin, begin + use.end, use.load, use.hosts)
                begin += part.seconds


Course = Task | Series
