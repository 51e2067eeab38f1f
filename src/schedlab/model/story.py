"""A job's story: what it waited for, who passed it, what held the cores, and when it could first have started."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.jobs import in_pieces, job_names, jobs_at, name_column, names_of
from schedlab.model.run import EVERYWHERE
from schedlab.model.states import GATE, NOT_STARTED, STATES, UNSAID, WOULD_DELAY, YES
from schedlab.model.suggest import did_you_mean

if TYPE_CHECKING:
    from schedlab.model.run import Run

_COLUMNS = ("submit", "eligible", "start", "end", "cores", "estimate", "priority", "backfilled", "state")
_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")  # as numbers of jobs are written
_MOST_NAMES = 1 << 20  # among which it is worth while to look for one that was meant

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
    """What a run tells of one job. `print(story)` tells it in words. Of the tables it looks only at the parts that tell
    of the time for which the job waited."""

    def __init__(self, run: Run, job: int | str) -> None:
        self.run = run
        self.job, self.sequence = _find(run, str(job))
        columns = jobs_at(run.tables, _COLUMNS, np.array([self.sequence]))
        own = {name: column[0] for name, column in columns.items()}
        self.cores, self._key = int(own["cores"]), float(own["priority"])
        self.submit, self.end, self.estimate = (float(own[name]) for name in ("submit", "end", "estimate"))
        self.eligible, self.start = (_known(own[name]) for name in ("eligible", "start"))
        self.state = STATES[int(own["state"])]
        self.backfilled = {YES: True, UNSAID: None}.get(int(own["backfilled"]), False)

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
        rows = self.run.tables.of_job("reasons", self.sequence).sort("from")
        names = names_of(self.run.tables, rows["who"].drop_nulls().to_numpy())
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
        name = name_column(self.run.tables)
        columns = ("start", "sequence", "eligible", "cores", "priority", "backfilled")
        asked = tuple(dict.fromkeys((*columns, name)))
        passed: list[tuple[Any, ...]] = []
        for jobs in self.run.tables.batches(asked, "jobs", {"start": (self.eligible, self.waited_until)}):
            start, eligible = jobs["start"], jobs["eligible"]
            later = (eligible > self.eligible) | ((eligible == self.eligible) & (jobs["sequence"] > self.sequence))
            here = later & (start >= self.eligible) & (start < self.waited_until)
            passed += zip(*(jobs[column][here].tolist() for column in (*columns, name)), strict=True)
        passed.sort(key=lambda job: job[:2])
        return [
            Passer(str(who), start, int(cores), self._right(key, backfilled))
            for start, _, _, cores, key, backfilled, who in passed
        ]

    def _right(self, key: float, backfilled: int) -> str:
        if backfilled == YES:
            return "backfilled: it was behind in the order, and there was room for it"
        if backfilled == UNSAID:
            return "as the policy decided"
        if key < self._key:
            return f"ahead in the order: its key was {key:.6g}, this one's was {self._key:.6g} when it started"
        return "ahead in the order when it started"

    @cached_property
    def holders(self) -> list[Holder]:
        """Who had the cores while it waited, the largest part first."""
        begin = self.submit if self.eligible is None else self.eligible
        length = self.waited_until - begin
        if length <= 0:
            return []
        found = []
        for job, cores, start, end in self._runs(begin):
            overlap = min(end, self.waited_until) - max(start, begin)
            if overlap > 0 and cores:
                share = cores * overlap / (max(self.run.cluster.cores, 1) * length)
                found.append(Holder(str(job), cores, start, end, share))
        return sorted(found, key=lambda holder: (-holder.share, holder.begin, holder.job))

    def _runs(self, begin: float) -> Iterator[tuple[Any, int, float, float]]:
        """Who had so many cores from when to when, of those who had them while it waited."""
        tables, name, until = self.run.tables, name_column(self.run.tables), self.waited_until
        before, after = (-np.inf, until), (begin, np.inf)
        columns = ("sequence", "cores", "start", "end")
        for jobs in tables.batches((*columns, name), "jobs", {"start": before, "end": after}):
            there = np.flatnonzero((jobs["start"] < until) & (jobs["end"] > begin))
            simple = there[~in_pieces(tables, jobs["sequence"][there])]
            yield from zip(*(jobs[column][simple].tolist() for column in (name, *columns[1:])), strict=True)
        columns = ("sequence", "cores", "begin", "end")
        for pieces in tables.batches(columns, "pieces", {"begin": before, "end": after}):
            there = np.flatnonzero((pieces["begin"] < until) & (pieces["end"] > begin))
            names = jobs_at(tables, (name,), pieces["sequence"][there])[name]
            yield from zip(names.tolist(), *(pieces[column][there].tolist() for column in columns[1:]), strict=True)

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
        """Times, and the cores in use from each on: for as long as it waited, and a second if it did not."""
        begin, end = self.submit, max(self.waited_until, self.submit + 1)
        parts: list[dict[str, NDArray[Any]]] = []
        for part in self.run.tables.batches(("time", "used_cores"), "timeline", {"time": (-np.inf, end)}):
            if len(part["time"]) and part["time"][0] <= begin:
                parts.clear()  # what was before holds no more
            parts.append(part)
        time = np.concatenate([np.empty(0), *(part["time"] for part in parts)])
        used = np.concatenate([np.empty(0, np.int64), *(part["used_cores"] for part in parts)])
        shown = slice(max(int(np.searchsorted(time, begin, "right")) - 1, 0), int(np.searchsorted(time, end, "right")))
        return time[shown], used[shown]

    @property
    def could_start(self) -> float:
        """When it could first have started as far as the tables tell: by the reasons, or by counting cores."""
        if self.told:
            return next((each.begin for each in self.stretches if each.why in FITTED), self.waited_until)
        return self.waited_until if self.room is None else self.room[0]

    def __str__(self) -> str:
        from schedlab.model.story_words import sentences

        return "\n".join(sentences(self))


def _find(run: Run, job: str) -> tuple[str, int]:
    """What the log calls it, and its place in the workload; by its name, or the number that stands for it."""
    tables, name = run.tables, name_column(run.tables)
    for by in dict.fromkeys((name, "job")):
        wanted: Any = int(job) if by == "job" and _NUMBER.fullmatch(job) else job
        where = {by: (wanted, wanted)} if by == "job" and wanted != job else EVERYWHERE
        for batch in tables.batches(tuple(dict.fromkeys((by, name, "sequence"))), "jobs", where):
            for row in np.flatnonzero(batch[by] == wanted)[:1].tolist():
                return str(batch[name][row]), int(batch["sequence"][row])
    raise _unknown(run, job)


def _unknown(run: Run, job: str) -> InputError:
    number = run.summary["jobs"]
    names = job_names(run.tables) if number <= _MOST_NAMES else []
    listing = f"it has {number:,} jobs" + (f", such as {names[0]}" if names else "")
    where = "the run" if run.path is None else str(run.path)
    return InputError(f"there is no job '{job}'", where=where, hint=did_you_mean(job, names, listing))


def _known(time: Any) -> float | None:
    return None if np.isnan(time) else float(time)
