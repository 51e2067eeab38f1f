"""The model of weeks: whole blocks of weeks of a log, in another order (Zakay and Feitelson call it resampling)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.base import ORIGIN
from schedlab.generate.checks import Checks
from schedlab.generate.streams import numbered
from schedlab.generate.weeks.cut import backlogs, blocks
from schedlab.generate.weeks.table import REMEDY, from_text, to_text
from schedlab.model.errors import InputError
from schedlab.model.predecessors import Predecessors
from schedlab.model.random import random_stream
from schedlab.model.request import Request
from schedlab.model.workload import JobBatch, ReadReport, Workload
from schedlab.workload.swf.header import machine_size

DAY, WEEK = 86_400.0, 604_800.0
# Blocks of 4 weeks of logs of at least half a year, of a week of logs of at least 4 weeks, of a day of shorter ones.
USUAL = ((26 * WEEK, 4 * WEEK), (4 * WEEK, WEEK), (2 * DAY, DAY))
BEHIND = 1 / 7  # of a step: a block does not end where the machine is so far behind with its work (a day for weeks)
KEYS = ("source", "processors", "requests", "labels", "step", "steps", "block", "begin", "replacement", "jobs")
_OUTSIDE = -2
LOST = "references to a preceding job that is not in the same block: dropped"


@dataclass(frozen=True, kw_only=True)
class Weeks:
    """`jobs` are those of `steps` whole weeks (or days) of a log, from second 0 on; predecessors are places of jobs.

    Blocks of `block` steps come in random order, each step once before any comes again; with `replacement` each block
    is drawn from all of them. Second 0 of the jobs is `begin` seconds after a Monday midnight.
    """

    kind: ClassVar[str] = "weeks"
    jobs: JobBatch
    steps: int
    step: float = WEEK
    block: int = 4
    begin: float = 0.0
    replacement: bool = False
    requests: list[Request]
    labels: dict[str, list[str]] = field(default_factory=dict)
    processors: int = 0
    source: dict[str, Any] = field(default_factory=dict)  # what it was fitted to

    @classmethod
    def fit(
        cls,
        workload: Workload,
        *,
        block: float | None = None,
        replacement: bool = False,
        processors: int | None = None,
    ) -> Self:
        """A model of the workload, whose jobs it holds. `block`: seconds, a whole number of days or weeks."""
        batches = [batch for batch in workload.batches() if len(batch)]
        if not batches:
            raise InputError("holds no jobs", where=workload.name)
        jobs = JobBatch.joined([replace(batch, names=None, shapes=None) for batch in batches])
        first, span = float(jobs.submit[0]), float(jobs.submit[-1] - jobs.submit[0])
        block = _usual_block(span, workload.name) if block is None else block
        step = WEEK if block % WEEK == 0 else DAY
        steps = int(span // step)
        if block <= 0 or block % step or steps < 2 * (block // step):
            hint = "a whole number of days or weeks, at most half of the log; or --model empirical, for short logs"
            raise InputError(f"cannot be cut into blocks of {block / DAY:g} days", where=workload.name, hint=hint)
        before, missing = _places(jobs)
        moved = replace(jobs, submit=jobs.submit - first, cancel=jobs.cancel - first, predecessors=before)
        whole = moved.take(np.arange(int(np.searchsorted(moved.submit, steps * step))))
        if whole.predecessors is not None:
            whole = replace(whole, predecessors=whole.predecessors.where(whole.predecessors.job < len(whole)))
        return cls(
            jobs=whole,
            steps=steps,
            step=step,
            block=int(block // step),
            begin=_since_monday(workload.origin, first),
            replacement=replacement,
            requests=list(workload.requests),
            labels={name: list(labels) for name, labels in workload.labels.items()},
            processors=processors or _machine(workload, jobs),
            source={
                "name": workload.name,
                "jobs": len(jobs),
                "span": span,
                "sha256": workload.content_hash,
                "shapes": workload.flexible,
                "unknown preceding jobs": missing,
            },
        )

    def batches(self, seed: int, *, jobs: int | None = None, span: float | None = None) -> Iterator[JobBatch]:
        return self.reported(seed, ReadReport(), jobs=jobs, span=span)

    def reported(
        self, seed: int, report: ReadReport, *, jobs: int | None = None, span: float | None = None
    ) -> Iterator[JobBatch]:
        """The same jobs; what had to be dropped is in the report."""
        for batch, lost in _with_lost(numbered(self._stream(seed), jobs, span)):
            if lost:
                report.dropped[LOST] = report.dropped.get(LOST, 0) + lost
            yield batch

    def order(self, seed: int) -> Iterator[tuple[int, int]]:
        """First step and number of steps of each block, without end."""
        random = random_stream(seed, "weeks")
        starts = np.flatnonzero(self.may_cut)
        while True:
            found = blocks(self.may_cut, self.block, int(random.choice(starts)))
            for place in random.permutation(len(found))[: 1 if self.replacement else None]:
                yield found[place]

    def _stream(self, seed: int) -> Iterator[JobBatch]:
        """Piece by piece. A predecessor outside of its piece is _OUTSIDE here."""
        period = min(self.step, WEEK)
        now = -((period - self.begin) % period)  # second 0 is a Monday midnight: the first block is entered there
        made = 0
        for first, length in self.order(seed):
            for low, high in _pieces(first, length, self.steps):
                rows = slice(int(self._rows[low]), int(self._rows[high]))
                piece = self._piece(rows, now - low * self.step, made)
                now += (high - low) * self.step
                made += len(piece)
                if len(piece):
                    yield piece

    def _piece(self, rows: slice, shift: float, made: int) -> JobBatch:
        submit = self.jobs.submit[rows] + shift
        early = int(np.searchsorted(submit, 0.0))
        low = rows.start + early
        part = self.jobs.take(np.arange(low, rows.stop))
        before = part.predecessors
        if before is not None:
            inside = (before.job >= low) & (before.job < rows.stop)
            before = replace(before, job=np.where(inside, before.job - low + made + 1, _OUTSIDE))
        return replace(part, submit=submit[early:], cancel=part.cancel + shift, predecessors=before)

    @cached_property
    def _rows(self) -> NDArray[np.intp]:
        """The job with which each step begins, and their number."""
        return np.searchsorted(self.jobs.submit, self.step * np.arange(self.steps + 1))

    @cached_property
    def may_cut(self) -> NDArray[np.bool_]:
        """For each step, whether a block may begin with it. The end of the log is followed by its beginning."""
        width = np.array([request.chunk.get("cores", 0) for request in self.requests], np.int64)
        cores = self.jobs.count * width[self.jobs.request]
        work = np.minimum(self.jobs.runtime, self.jobs.limit) * cores.astype(np.float64)
        times = np.arange(self.steps, dtype=np.float64) * self.step
        behind = backlogs(self.jobs.submit, work, max(self.processors, 1), times)
        found: NDArray[np.bool_] = behind <= BEHIND * self.step  # nothing is queued at second 0
        return found

    def facts(self) -> list[str]:
        """What was fitted, in a few sentences."""
        noun = "week" if self.step == WEEK else "day"
        known, span = self.source.get("jobs", len(self.jobs)), self.source.get("span", self.steps * self.step)
        many = f"{self.block} {noun}s" if self.block > 1 else f"one {noun}"
        found = [f"{known:,} jobs in {span / DAY:,.1f} days: {self.steps:,} whole {noun}s, drawn in blocks of {many}"]
        if dropped := known - len(self.jobs):
            rest = (span - self.steps * self.step) / DAY
            found.append(f"the last {rest:.1f} days ({dropped:,} jobs) are no whole {noun} and are left out")
        if self.step < WEEK:
            found.append("too short for blocks of weeks: days of the week come in any order, no weekly cycle is kept")
        if not self.may_cut.all():
            count, most = int((~self.may_cut).sum()), BEHIND * self.step / 3600
            found.append(
                f"{count:,} {noun}s begin with more than {most:.0f} h of the machine's work undone: "
                "no block is cut there, so that users' reactions stay with their cause"
            )
        if self.replacement:
            found.append("drawn with replacement: seeds differ in which weeks come, not only in their order")
        if self.source.get("shapes"):
            found.append("of jobs with several shapes, only the first is kept")
        if missing := self.source.get("unknown preceding jobs"):
            found.append(f"{missing:,} preceding jobs are not in the log: these references are dropped")
        found.append(
            f"the file holds the jobs of the log{_named(self.labels)}: give it to nobody who must not see the log"
        )
        return found

    def to_dict(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "processors": self.processors,
            "step": self.step,
            "steps": self.steps,
            "block": self.block,
            "begin": self.begin,
            "replacement": self.replacement,
            "requests": [request.to_dict() for request in self.requests],
            "labels": self.labels,
            "jobs": to_text(self.jobs),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], where: str) -> Self:
        mistakes = Checks(where)
        mistakes.keys(data, KEYS)
        mistakes.whole("processors", data.get("processors", 0))
        mistakes.whole("steps", data.get("steps"), low=1)
        mistakes.whole("block", data.get("block"), low=1)
        mistakes.number("begin", data.get("begin", 0.0), low=0, high=WEEK)
        if data.get("step") not in (WEEK, DAY):
            mistakes.add(f"step = {data.get('step')!r}: expected {WEEK:.0f} (a week) or {DAY:.0f} (a day)")
        if not isinstance(data.get("replacement", False), bool):
            mistakes.add(f"replacement = {data['replacement']!r}: expected true or false")
        for key in ("source", "labels"):
            if not isinstance(data.get(key, {}), dict):
                mistakes.add(f"{key} = {str(data[key])[:60]}: expected a table")
        mistakes.raise_all()
        jobs = from_text(data.get("jobs"), where)
        return cls(
            jobs=jobs,
            steps=data["steps"],
            step=float(data["step"]),
            block=data["block"],
            begin=float(data.get("begin", 0.0)),
            replacement=data.get("replacement", False),
            requests=_requests(data.get("requests"), jobs, where),
            labels=data.get("labels", {}),
            processors=data.get("processors", 0),
            source=data.get("source", {}),
        )


def _usual_block(span: float, name: str) -> float:
    for least, block in USUAL:
        if span >= least:
            return block
    hint = "fit distributions instead: --model empirical"
    raise InputError(f"lasts {span / 3600:.1f} h: no two whole days to draw from", where=name, hint=hint)


def _places(jobs: JobBatch) -> tuple[Predecessors | None, int]:
    """The predecessors, by their places instead of their ids; and how many are not in the log."""
    before = jobs.predecessors
    if before is None:
        return None, 0
    order = np.argsort(jobs.id, kind="stable")
    place = order[np.minimum(np.searchsorted(jobs.id[order], before.job), len(order) - 1)].astype(np.int64)
    there = jobs.id[place] == before.job
    return replace(before, job=place).where(there), int((~there).sum())


def _pieces(first: int, length: int, steps: int) -> list[tuple[int, int]]:
    """A block on the ring, in one piece, or in two where it goes over the end of the log."""
    end = first + length
    return [(first, end)] if end <= steps else [(first, steps), (0, end - steps)]


def _with_lost(batches: Iterator[JobBatch]) -> Iterator[tuple[JobBatch, int]]:
    for batch in batches:
        before = batch.predecessors
        lost = 0 if before is None else int(np.count_nonzero(before.job == _OUTSIDE))
        if before is not None and lost:
            batch = replace(batch, predecessors=before.where(before.job != _OUTSIDE))
        yield batch, lost


def _since_monday(origin: datetime | None, first: float) -> float:
    """Where no date is known, the first job counts as submitted at that midnight."""
    return 0.0 if origin is None else ((origin - ORIGIN).total_seconds() + first) % WEEK


def _machine(workload: Workload, jobs: JobBatch) -> int:
    """Processors as the header says, or as many as the largest job has."""
    said = machine_size(workload.header)
    return said[0] if said else int(workload.cores(jobs).max())


def _named(labels: dict[str, list[str]]) -> str:
    people = [f"names of {name}s" for name in ("user", "group", "executable") if labels.get(name)]
    return f", with {', '.join(people)}" if people else ""


def _requests(data: Any, jobs: JobBatch, where: str) -> list[Request]:
    largest = int(jobs.request.max())
    try:
        found = [Request.from_dict(one) for one in data]
    except (TypeError, ValueError, KeyError) as error:
        raise InputError(f"requests cannot be understood: {error}", where=where, hint=REMEDY) from None
    if len(found) <= largest or jobs.request.min() < 0:
        raise InputError(f"jobs have request {largest}, there are {len(found)}", where=where, hint=REMEDY)
    return found
