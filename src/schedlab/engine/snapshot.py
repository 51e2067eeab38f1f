"""A run at one moment: taken from the view here and nowhere else, for pure functions to show."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.model.cluster import Cluster
from schedlab.model.resources import resources_of

if TYPE_CHECKING:
    from schedlab._core import Job, Jobs, View
    from schedlab.model.run import Run

ROWS = 60  # jobs of the queue, and of those that run: more than a tall terminal shows
SAMPLES = 16_384  # of the past; beyond that every second one is forgotten
OFTEN = 500  # from so many on they are a picture of the whole run
RECENT, SHORTEST = 3.0, 0.05  # seconds over which a speed is measured

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Facts:
    """What does not change in the course of a run."""

    policy: str
    log: str
    cluster: Cluster
    jobs: int
    origin: datetime | None = None
    pace: float | None = None  # simulated seconds a second, at most


@dataclass(frozen=True, slots=True)
class Waiting:
    id: int
    cores: int
    estimate: float
    since: float


@dataclass(frozen=True, slots=True)
class Running:
    id: int
    cores: int
    start: float
    end: float  # as the scheduler believes


@dataclass(frozen=True, slots=True)
class Used:
    """How much of a resource is in use on the nodes that are up, and how much there is."""

    name: str
    busy: float
    total: float

    @property
    def share(self) -> float:
        return self.busy / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Past:
    """What held from each of these times on."""

    time: Numbers = field(default_factory=lambda: np.empty(0))
    busy: Numbers = field(default_factory=lambda: np.empty(0))  # cores
    waiting: Numbers = field(default_factory=lambda: np.empty(0))  # cores

    @property
    def length(self) -> float:
        return float(self.time[-1] - self.time[0]) if len(self.time) else 0.0

    def mean(self, values: Numbers) -> float:
        return float(self.cells(values, float(self.time[0]), self.length, 1)[0]) if self.length > 0 else 0.0

    def cells(self, values: Numbers, begin: float, cell: float, number: int) -> Numbers:
        """Means over stretches of time; NaN where nothing is known."""
        edges = begin + cell * np.arange(number + 1)
        area = np.concatenate([[0.0], np.cumsum(values[:-1] * np.diff(self.time))])
        inside = np.clip(edges, self.time[0], self.time[-1])
        lengths = np.diff(inside)
        sums = np.diff(np.interp(inside, self.time, area))
        return np.asarray(np.divide(sums, lengths, out=np.full(number, np.nan), where=lengths > 0), np.float64)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything that is shown of a run."""

    facts: Facts
    now: float
    done: int  # jobs that have left,
    jobs: int  # of so many that are known: those of the workload, and those that were submitted during the run
    busy: int  # cores
    free: NDArray[np.int64]  # cores of each node; 0 where it is closed
    total: NDArray[np.int64]
    states: tuple[str, ...] = ()  # of each node; empty while all are up
    queued: int = 0
    queued_cores: int = 0
    queue: tuple[Waiting, ...] = ()  # the first ones
    running: int | None = 0  # None: the engine does not keep a list
    ending: tuple[Running, ...] = ()  # the next ones
    suspended: int = 0
    time_speed: float | None = None  # simulated seconds a second
    job_speed: float | None = None
    past: Past = field(default_factory=Past)
    others: tuple[Used, ...] = ()  # resources besides cores that jobs have used so far

    @property
    def utilisation(self) -> float:
        return self.busy / max(self.facts.cluster.cores, 1)


class Recorder:
    """Takes snapshots of one run, and remembers what they need of the past."""

    def __init__(self, facts: Facts, clock: Callable[[], float] = time.monotonic) -> None:
        self.facts = facts
        self.done = 0
        self._clock = clock
        self._samples: list[tuple[float, int, int]] = []
        self._recent: deque[tuple[float, float, int]] = deque()
        self._in_use: set[str] = set()  # resources that jobs have used; what Slurm alone knows of is never among them

    def take(self, view: View) -> Snapshot:
        """The state of things; `complete` adds what was before."""
        cluster, queue, running = view.cluster, view.queue, view.running
        free, total, up = np.array(cluster.free), np.array(cluster.total), cluster.up
        taken = int(total[up].sum() - free.sum())
        known = len(running) > 0 or taken == 0
        busy, queued_cores = int(running.cores.sum()) if known else taken, int(queue.cores.sum())
        self._remember(view.now, busy, queued_cores)
        return Snapshot(
            facts=self.facts,
            now=view.now,
            done=self.done,
            jobs=self.facts.jobs + view.announced,
            busy=busy,
            free=free,
            total=total,
            states=() if up.all() else tuple(cluster.states),
            queued=len(queue),
            queued_cores=queued_cores,
            queue=tuple(Waiting(job.id, job.cores, job.estimate, job.eligible) for job in _first(queue)),
            running=len(running) if known else None,
            ending=tuple(Running(job.id, job.cores, job.start, job.estimated_end) for job in _first(running)),
            suspended=len(view.suspended),
            others=self._others(view),
        )

    def _others(self, view: View) -> tuple[Used, ...]:
        cluster, up = self.facts.cluster, view.cluster.up
        if len(cluster.resource_names) == 1:
            return ()
        found = []
        for resource in resources_of(cluster):
            if resource.name == "cores":
                continue
            numbers = [(cluster.resource_names.index(part), size) for part, size in resource.parts.items()]
            total = np.array([size * view.cluster.total_of(number)[up] for number, size in numbers])
            free = np.array([size * view.cluster.free_of(number)[up] for number, size in numbers])
            there = total.max(axis=0)  # a node may say the same in two units
            found.append(Used(resource.name, float((total - free).sum()), float(there.sum())))
        self._in_use |= {used.name for used in found if used.busy > 0}
        return tuple(used for used in found if used.name in self._in_use)

    def complete(self, snapshot: Snapshot, now: float | None = None) -> Snapshot:
        """With the past and the speed; as of `now`, up to which nothing else has happened."""
        now = snapshot.now if now is None else now
        self.note(now)
        time_speed, job_speed = self._speeds()
        past = self._past([*self._samples, (now, *self._samples[-1][1:])])
        return replace(snapshot, now=now, time_speed=time_speed, job_speed=job_speed, past=past)

    def closing(self, run: Run, seconds: float) -> Snapshot:
        """A run that is over, with means: its past as it was written down, or as it was seen if that was often."""
        past = self._past(self._samples) if len(self._samples) > OFTEN else past_of(run)
        nodes = np.zeros(self.facts.cluster.nodes, np.int64)
        jobs = self.facts.jobs + len(run.table("submitted"))
        return Snapshot(
            facts=replace(self.facts, pace=None),
            now=float(past.time[-1]) if len(past.time) else 0.0,
            done=jobs,
            jobs=jobs,
            busy=round(past.mean(past.busy)),
            free=nodes,
            total=nodes,
            queued_cores=round(past.mean(past.waiting)),
            time_speed=past.length / seconds,
            job_speed=jobs / seconds,
            past=past,
        )

    def _remember(self, now: float, busy: int, queued_cores: int) -> None:
        if self._samples and self._samples[-1][0] == now:
            self._samples.pop()
        self._samples.append((now, busy, queued_cores))
        if len(self._samples) > SAMPLES:
            del self._samples[1::2]

    @staticmethod
    def _past(samples: Sequence[tuple[float, int, int]]) -> Past:
        return Past(*np.array(samples, np.float64).T)

    def note(self, now: float) -> None:
        """How far it has come; speeds are measured between these calls."""
        clock = self._clock()
        self._recent.append((clock, now, self.done))
        while len(self._recent) > 2 and clock - self._recent[1][0] > RECENT:
            self._recent.popleft()

    def _speeds(self) -> tuple[float | None, float | None]:
        (begin, since, done), (end, now, done_now) = self._recent[0], self._recent[-1]
        if end - begin < SHORTEST:
            return None, None
        return (now - since) / (end - begin), (done_now - done) / (end - begin)


def past_of(run: Run) -> Past:
    names = ("time", "used_cores", "queued_cores")
    pieces = list(run.tables.batches(names, "timeline"))
    if not pieces:
        return Past()
    return Past(*(np.concatenate([piece[name] for piece in pieces]).astype(np.float64) for name in names))


def _first(jobs: Jobs) -> list[Job]:
    return [jobs[number] for number in range(min(len(jobs), ROWS))]
