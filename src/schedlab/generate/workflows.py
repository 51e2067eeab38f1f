"""Workflows in a workload: every so often, as a share of its work, or at given times. See docs/workflows.md."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.load import core_seconds, noted, take_over
from schedlab.generate.triggers.beside import Beside
from schedlab.generate.triggers.manager import managers
from schedlab.generate.triggers.templates import FIRST_ID, WORKFLOW, Templates
from schedlab.model.errors import InputError
from schedlab.model.random import random_stream
from schedlab.model.workflow_record import WorkflowRecord
from schedlab.model.workload import JobBatch, Workload
from schedlab.workflow.handling import handled
from schedlab.workflow.mix import Mix

Floats = NDArray[np.float64]
_DRAWN = 1024  # kinds drawn at once
_LEAST = 1.0  # core-seconds that a workflow counts as, so that a share of those without work comes to an end


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """Which workflows come, when, and how they are submitted. Times in seconds.

    One of `period`, `share` and `times` says when; a period or a share of 0 is the same as none.
    """

    mix: Mix
    handling: str = "chained"
    period: float | None = None  # from one to the next
    share: float | None = None  # of all work
    times: Sequence[tuple[float, int]] | None = None  # when, and which of the mix

    def __post_init__(self) -> None:
        if self.share is not None and not 0 <= self.share <= 1:
            raise InputError(f"share = {self.share:g}: expected 0 to 1 (100%)", where="workflows", hint="0.05 or 5%")
        if self.period is not None and not 0 <= self.period < math.inf:
            raise InputError(f"period = {self.period:g}: expected seconds", where="workflows", hint="12h")
        given = [name for name in ("period", "share", "times") if getattr(self, name) is not None]
        if not given:
            raise InputError("how often do they come?", where="workflows", hint="say a period (12h) or a share (5%)")
        if len([name for name in given if getattr(self, name)]) > 1:
            hint = "give one of them; 0 is none"
            raise InputError(f"{' and '.join(given)} both say how many come", where="workflows", hint=hint)
        moments = [when for when, _ in self.times or ()]
        if moments != sorted(moments) or not all(0 <= when < math.inf for when in moments):
            raise InputError("times have to be seconds in order", where="workflows")

    def __bool__(self) -> bool:
        """Whether any come."""
        return bool(self.period or self.share or self.times)


def with_workflows(workload: Workload, arrivals: Arrivals, *, seed: int = 0, make_room: bool = False) -> Workload:
    """The workload with workflows in its experiment phase; in all of it, if it has no phases.

    A share takes the place of jobs, and so do workflows at times where `make_room` says that they are a part of the job
    pressure: jobs are left out while more work has come than without workflows. The same seed gives the same
    workflows at the same times, however they are handled.
    """
    if not arrivals:
        return workload
    pass_over = _Passes(workload, arrivals, seed, make_room)
    made = replace(
        workload,
        source=pass_over.batches,
        requests=pass_over.beside.requests,
        labels=pass_over.beside.labels,
        report=pass_over.report,
        header=noted(workload, _note(arrivals, seed)),
        content_hash="",
        more=None,
        workflows=pass_over.record,
    )
    made.brings = managers(made, pass_over.record, pass_over.templates.users.index(WORKFLOW))
    return made


def _note(arrivals: Arrivals, seed: int) -> str:
    names = ", ".join(workflow.name for workflow in arrivals.mix.workflows)
    when = f"every {arrivals.period:g} s" if arrivals.period else f"{arrivals.share or 0:.4g} of the work"
    when = f"at {len(arrivals.times)} times" if arrivals.times else when
    return f"workflows {names} {when}, {arrivals.handling}, seed {seed}"


class _Passes:
    """Over one workload, as often as somebody reads it."""

    def __init__(self, workload: Workload, arrivals: Arrivals, seed: int, make_room: bool) -> None:
        if workload.flexible and (arrivals.share or make_room):
            raise InputError("jobs that may have several shapes have no fixed amount of work", where=workload.name)
        if workload.workflows is not None:
            raise InputError("there are workflows among its jobs already", where=workload.name)
        self._workload, self._arrivals, self._seed, self._make_room = workload, arrivals, seed, make_room
        kinds = [handled(workflow, arrivals.handling) for workflow in arrivals.mix.workflows]
        self.templates = Templates(kinds)
        self.beside = Beside(workload, self.templates)
        self.record = WorkflowRecord(kinds)
        self.report = replace(workload.report)
        self._window = next(((one.begin, one.end) for one in workload.phases if one.name == "experiment"), None)

    def batches(self) -> Iterator[JobBatch]:
        self.record.clear()
        coming: _Share | _Times | None = None
        jobs = left_out = 0
        last = 0.0
        for batch in self._workload.batches():
            if not len(batch):
                continue
            if coming is None:
                coming = self._coming(*(self._window or (float(batch.submit[0]), math.inf)))
            last = float(batch.submit[-1])
            kept = coming.look_at(batch.submit, core_seconds(batch, self._workload))
            own = self.beside.renumbered(batch)
            if not kept.all():
                left_out += len(batch) - int(kept.sum())
                own = own.take(np.flatnonzero(kept))
            more = self._jobs(coming.before(last))
            made = own if more is None else _in_order(own, more)
            jobs += len(made)
            if len(made):
                yield made
        coming = coming or self._coming(*(self._window or (0.0, math.inf)))
        rest = self._jobs(coming.rest(last))
        if rest is not None:
            jobs += len(rest)
            yield rest
        self._tell(jobs, left_out)

    def _coming(self, begin: float, end: float) -> _Share | _Times:
        arrivals, choice = self._arrivals, _Choice(self._arrivals.mix, self._seed)
        if arrivals.share:
            return _Share(arrivals.share, choice, begin, end)
        if arrivals.times:
            return _Times(iter(arrivals.times), choice, begin, end, make_room=self._make_room)
        assert arrivals.period
        times, endless = _periodic(begin, arrivals.period, end, choice), math.isinf(end)
        return _Times(times, choice, begin, end, make_room=self._make_room, endless=endless)

    def _jobs(self, workflows: list[tuple[float, int]]) -> JobBatch | None:
        if not workflows:
            return None
        time, kind = np.array([when for when, _ in workflows]), np.array([kind for _, kind in workflows])
        ids = self.templates.ids[kind]
        known = self.record
        begin = known.first[-1] + int(self.templates.ids[known.kind[-1]]) if known.first else FIRST_ID
        first = begin + np.cumsum(ids) - ids
        for (when, which), job in zip(workflows, first.tolist(), strict=True):
            known.add(which, when, job)
        return self.templates.batch(kind, time, first)

    def _tell(self, jobs: int, left_out: int) -> None:
        self.record.complete = True
        dropped = {"in whose place workflows came": left_out}
        number = len(self.record.kind)
        filled = {f"workflow{'' if number == 1 else 's'} put in": number}
        take_over(self.report, self._workload.report, jobs, dropped, filled)


class _Choice:
    """Which workflow is the next, and how much work each is."""

    def __init__(self, mix: Mix, seed: int) -> None:
        self.work = [workflow.work for workflow in mix.workflows]
        self._shares = np.cumsum(mix.weights) / math.fsum(mix.weights)
        self._random = random_stream(seed, "workflows")
        self._drawn: list[int] = []

    def next(self) -> int:
        if len(self.work) == 1:
            return 0
        if not self._drawn:
            drawn = np.searchsorted(self._shares, self._random.random(_DRAWN), side="right")
            self._drawn = np.minimum(drawn, len(self.work) - 1)[::-1].tolist()
        return self._drawn.pop()


class _Coming(ABC):
    """What has come so far, in core-seconds, within the time in which workflows come."""

    def __init__(self, choice: _Choice, begin: float, end: float) -> None:
        self._choice, self._begin, self._end = choice, begin, end
        self._given = 0.0  # by the jobs of the workload
        self._excess = 0.0  # how much more has come than that
        self._ready: list[tuple[float, int]] = []

    def look_at(self, submit: Floats, work: Floats) -> NDArray[np.bool_]:
        """The next jobs of the workload: which of them stay."""
        kept = np.ones(len(submit), bool)
        low, high = np.searchsorted(submit, [self._begin, self._end]).tolist()
        if low < high:
            total = self._given + np.append(0.0, np.cumsum(work[low:high]))
            self._go(submit[low:high].tolist(), total.tolist(), kept[low:high])
            self._given = float(total[-1])
        return kept

    @abstractmethod
    def _go(self, submit: list[float], total: list[float], kept: NDArray[np.bool_]) -> None:
        """Which of these jobs stay, and which workflows come meanwhile; `total` is what was given before each."""

    def before(self, time: float) -> list[tuple[float, int]]:
        """The workflows until then that have not been asked for: when they come, and which they are."""
        place = bisect_left(self._ready, time, key=lambda one: one[0])
        found, self._ready = self._ready[:place], self._ready[place:]
        return found

    def rest(self, last: float) -> list[tuple[float, int]]:
        """Those that are left when the last job has come, at `last`."""
        return self._ready

    def _leave_out(self, begin: int, end: int, total: list[float], kept: NDArray[np.bool_]) -> int:
        """The first jobs while more has come than was given; from where on they stay. `total` is what was given before
        each of them."""
        if self._excess <= 0:
            return begin
        place = bisect_left(total, total[begin] + self._excess, begin, end)
        kept[begin:place] = False
        self._excess -= total[place] - total[begin]
        if place < end:
            self._excess = min(self._excess, 0.0)  # which it is, but for rounding
        return place


class _Share(_Coming):
    """Workflows whenever their work is not more than a share of what was given."""

    def __init__(self, share: float, choice: _Choice, begin: float, end: float) -> None:
        super().__init__(choice, begin, end)
        self._share = share
        self._of_workflows = 0.0

    def _go(self, submit: list[float], total: list[float], kept: NDArray[np.bool_]) -> None:
        place, jobs = 0, len(submit)
        while (here := bisect_left(total, self._of_workflows / self._share, place, jobs)) < jobs:
            self._leave_out(place, here, total, kept)
            place = here
            kind = self._choice.next()
            work = max(self._choice.work[kind], _LEAST)
            self._ready.append((submit[place], kind))
            self._of_workflows += work
            self._excess += work
        self._leave_out(place, jobs, total, kept)


class _Times(_Coming):
    """Workflows at times; jobs are left out for them if they are to make room. Endless ones end with the last job."""

    def __init__(
        self,
        times: Iterator[tuple[float, int]],
        choice: _Choice,
        begin: float,
        end: float,
        *,
        make_room: bool,
        endless: bool = False,
    ) -> None:
        super().__init__(choice, begin, end)
        self._times, self._make_room, self._endless = times, make_room, endless
        self._next = next(times, None)

    def _go(self, submit: list[float], total: list[float], kept: NDArray[np.bool_]) -> None:
        place, jobs = 0, len(submit)
        while self._next is not None and self._next[0] < submit[-1]:
            here = bisect_right(submit, self._next[0], place)
            self._leave_out(place, here, total, kept)
            place = here
            self._take()
        self._leave_out(place, jobs, total, kept)

    def _take(self) -> None:
        assert self._next is not None
        self._ready.append(self._next)
        if self._make_room:
            self._excess += self._choice.work[self._next[1]]
        self._next = next(self._times, None)

    def before(self, time: float) -> list[tuple[float, int]]:
        while self._next is not None and self._next[0] < time:
            self._take()
        return super().before(time)

    def rest(self, last: float) -> list[tuple[float, int]]:
        while self._next is not None and (self._next[0] <= last or not self._endless):
            self._take()
        return self._ready


def _periodic(begin: float, period: float, end: float, choice: _Choice) -> Iterator[tuple[float, int]]:
    number = 1
    while (when := begin + number * period) < end:
        yield when, choice.next()
        number += 1


def _in_order(jobs: JobBatch, workflows: JobBatch) -> JobBatch:
    """One batch, by time; a workflow is behind the jobs of the same time."""
    if not len(jobs):
        return workflows
    both = JobBatch.joined([jobs, workflows])
    return both.take(np.argsort(both.submit, kind="stable"))
