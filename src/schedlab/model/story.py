"""A job's story: what it waited for, who passed it, what held the cores, and when it could first have started."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.states import GATE, NOT_STARTED, STATES, UNSAID, WOULD_DELAY, YES
from schedlab.model.suggest import did_you_mean

if TYPE_CHECKING:
    from schedlab.model.run import Run

FITTED = (WOULD_DELAY, "limit", GATE, NOT_STARTED)  # reasons of jobs for which there is room


@dataclass(frozen=True, slots=True)
class Stretch:
    """What it waited for from `begin` until `end`; `who` is the job in the way, as its log writes it."""

    begin: float
    end: float
    why: str
    who: str | None
    words: str | None


@dataclass(frozen=True, slots=True)
class Passer:
    """A job that became eligible later, and started while this one waited."""

    job: str
    start: float
    cores: int
    right: str  # by which it did


@dataclass(frozen=True, slots=True)
class Holder:
    """A job that ran while this one waited."""

    job: str
    cores: int
    begin: float
    end: float
    share: float  # of all cores of the machine, over the time that this one waited


class Story:
    """What a run tells of one job. `print(story)` tells it in words."""

    def __init__(self, run: Run, job: int | str) -> None:
        self.run = run
        self._names = _names(run)
        self._row = _find(self._names, run, str(job))
        self.job = self._names[self._row]
        tables = run.tables
        columns = ("sequence", "submit", "eligible", "start", "end", "cores", "estimate", "priority", "backfilled")
        self._jobs = {name: tables.column(name) for name in columns}
        self.sequence, self.cores = int(self._at("sequence")), int(self._at("cores"))
        self.submit, self.end, self.estimate = (float(self._at(name)) for name in ("submit", "end", "estimate"))
        self.eligible, self.start = (_known(self._at(name)) for name in ("eligible", "start"))
        self.state = STATES[int(tables.column("state")[self._row])]
        self.backfilled = {YES: True, UNSAID: None}.get(int(self._at("backfilled")), False)

    def _at(self, name: str) -> Any:
        return self._jobs[name][self._row]

    @property
    def waited_until(self) -> float:
        """Its (last) start, or when it left without one."""
        return self.end if self.start is None else self.start

    @property
    def told(self) -> bool:
        """Whether the run was asked why jobs wait."""
        return bool(self.run.config.get("reasons"))

    @cached_property
    def stretches(self) -> list[Stretch]:
        """What it waited for, in the order of time; empty if it did not wait, or if nobody asked."""
        names = dict(zip(self.run.tables.column("job").tolist(), self._names, strict=True))
        rows = self.run.tables.of_job("reasons", self.sequence).sort("from")
        return [
            Stretch(begin, end, why, None if who is None else names.get(who, str(who)), words)
            for begin, end, why, who, words in rows.select("from", "until", "why", "who", "words").rows()
        ]

    @property
    def waited(self) -> float:
        """For how long, held or in the queue; a job that was requeued, as far as it is told, each time."""
        return sum(each.end - each.begin for each in self.stretches) if self.told else self.waited_until - self.submit

    @cached_property
    def passers(self) -> list[Passer]:
        """Who came later and started while it waited, in the order of their starts."""
        if self.eligible is None:
            return []
        eligible, start = self._jobs["eligible"], self._jobs["start"]
        later = (eligible > self.eligible) | ((eligible == self.eligible) & (self._jobs["sequence"] > self.sequence))
        passed = later & (start >= self.eligible) & (start < self.waited_until)
        rows = np.flatnonzero(passed)
        rows = rows[np.lexsort((self._jobs["sequence"][rows], start[rows]))]
        cores = self._jobs["cores"]
        return [Passer(self._names[r], float(start[r]), int(cores[r]), self._right(r)) for r in rows.tolist()]

    def _right(self, row: int) -> str:
        backfilled, key, own = (self._jobs["backfilled"][row], self._jobs["priority"][row], self._at("priority"))
        if backfilled == YES:
            return "backfilled: it was behind in the order, and there was room for it"
        if backfilled == UNSAID:
            return "as the policy decided"
        if key < own:
            return f"ahead in the order: its key was {key:.6g}, this one's was {own:.6g} when it started"
        return "ahead in the order when it started"

    @cached_property
    def holders(self) -> list[Holder]:
        """Who had the cores while it waited, the largest part first."""
        begin = self.submit if self.eligible is None else self.eligible
        length = self.waited_until - begin
        if length <= 0:
            return []
        found = []
        for row, cores, start, end in self._runs():
            overlap = min(end, self.waited_until) - max(start, begin)
            if overlap > 0 and cores:
                share = cores * overlap / (max(self.run.cluster.cores, 1) * length)
                found.append(Holder(self._names[row], cores, start, end, share))
        return sorted(found, key=lambda holder: (-holder.share, holder.begin, holder.job))

    def _runs(self) -> Iterator[tuple[int, int, float, float]]:
        """Who had so many cores from when to when, of those who had them while it waited."""
        tables, until = self.run.tables, self.waited_until
        begin = self.submit if self.eligible is None else self.eligible
        pieced = tables.column("sequence", "pieces")
        start, end, cores = self._jobs["start"], self._jobs["end"], self._jobs["cores"]
        simple = (start < until) & (end > begin) & ~np.isin(self._jobs["sequence"], pieced)
        for row in np.flatnonzero(simple).tolist():
            yield row, int(cores[row]), float(start[row]), float(end[row])
        if not len(pieced):
            return
        rows = {sequence: row for row, sequence in enumerate(self._jobs["sequence"].tolist())}
        columns = (tables.column(name, "pieces").tolist() for name in ("cores", "begin", "end"))
        for sequence, amount, first, last in zip(pieced.tolist(), *columns, strict=True):
            if first < until and last > begin:
                yield rows[sequence], int(amount), first, last

    @cached_property
    def room(self) -> tuple[float, float] | None:
        """When as many cores as it asks for were first free while it waited, and for how long in all; by counting."""
        if self.eligible is None:
            return None
        time, used = self.timeline
        begin = np.maximum(time, self.eligible)
        end = np.minimum(np.append(time[1:], math.inf), self.waited_until)
        enough = (used + self.cores <= self.run.cluster.cores) & (end > begin)
        if not enough.any():
            return None
        return float(begin[enough][0]), float((end - begin)[enough].sum())

    @cached_property
    def timeline(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Times, and the cores in use from each on."""
        parts = list(self.run.tables.batches(["time", "used_cores"], "timeline"))
        if not parts:
            return np.empty(0), np.empty(0, np.int64)
        return np.concatenate([part["time"] for part in parts]), np.concatenate([part["used_cores"] for part in parts])

    @property
    def could_start(self) -> float:
        """When it could first have started as far as the tables tell: by the reasons, or by counting cores."""
        if self.told:
            return next((each.begin for each in self.stretches if each.why in FITTED), self.waited_until)
        return self.waited_until if self.room is None else self.room[0]

    def __str__(self) -> str:
        from schedlab.model.story_words import sentences

        return "\n".join(sentences(self))


def _names(run: Run) -> list[str]:
    from schedlab.model.run import job_names

    return job_names(run.tables)


def _find(names: list[str], run: Run, job: str) -> int:
    """Its position among the rows; by its name, or the number that stands for it."""
    if job in names:
        return names.index(job)
    numbers = [str(number) for number in run.tables.column("job").tolist()]
    if job in numbers:
        return numbers.index(job)
    where = "the run" if run.path is None else str(run.path)
    listing = f"it has {len(names):,} jobs" + (f", such as {names[0]}" if names else "")
    raise InputError(f"there is no job '{job}'", where=where, hint=did_you_mean(job, names, listing))


def _known(time: Any) -> float | None:
    return None if np.isnan(time) else float(time)
