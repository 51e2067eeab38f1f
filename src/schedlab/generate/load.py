"""Job pressure: the work that is submitted against the work that the machine can do, measured and held."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError, InputErrors
from schedlab.model.random import random_stream
from schedlab.model.workload import JobBatch, ReadReport, Workload

SLICE = 600.0  # seconds of the workload that are looked at together
RECENT = 1000  # jobs that inserted ones are drawn from
INSERTED = 10**12  # inserted jobs are numbered from here on: far from those of any log

Floats = NDArray[np.float64]
Places = NDArray[np.intp]


def core_seconds(batch: JobBatch, workload: Workload) -> Floats:
    """The work of each job: its cores times how long it will run (until its limit at most)."""
    return np.asarray(workload.cores(batch) * np.minimum(batch.runtime, batch.limit), np.float64)


def job_pressure(workload: Workload, capacity_cores: int, at: Floats) -> Floats:
    """Work submitted until each time of `at` / work the machine can do from the first submission until then."""
    begin, work = math.nan, np.zeros(len(at) + 1)
    for batch in workload.batches():
        if not len(batch):
            continue
        begin = float(batch.submit[0]) if math.isnan(begin) else begin
        np.add.at(work, np.searchsorted(at, batch.submit, side="left"), core_seconds(batch, workload))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.cumsum(work)[:-1] / (capacity_cores * (at - begin)))


def hold_pressure(
    workload: Workload,
    capacity_cores: int,
    *,
    low: float = 1.0,
    high: float = 1.0,
    slack: float = SLICE,
    seed: int = 0,
) -> Workload:
    """The workload with its job pressure held between `low` and `high`, counted since its first submission.

    At time t the submitted work stays between `low` and `high` times what `capacity_cores` can do until t; `slack` are
    the seconds of the whole machine that it may be off. Where too little comes, jobs are put in at random times: new
    ones of the model that the workload was generated from, else copies of recent jobs. Where too much comes, jobs are
    left out at random, whatever their size.
    """
    _refuse_nonsense(workload, capacity_cores, low, high, slack)
    report = ReadReport()
    band = f"{low:g}" if low == high else f"{low:g} to {high:g}"
    note = f"job pressure held at {band} of {capacity_cores} cores since the first submission, seed {seed}"
    held = replace(workload, report=report, content_hash="", header=noted(workload, note))

    def source() -> Iterator[JobBatch]:
        return _Holder(workload, capacity_cores, low, high, slack, seed).batches(report)

    held.source = source
    return held


def noted(workload: Workload, note: str) -> dict[str, str]:
    """The header with another line of `Note`."""
    before = workload.header.get("Note", "")
    return {**workload.header, "Note": f"{before}\n{note}" if before else note}


class _Holder:
    """One pass over a workload."""

    def __init__(self, workload: Workload, capacity: int, low: float, high: float, slack: float, seed: int) -> None:
        self.workload, self.capacity = workload, capacity
        self.low, self.high, self.slack = low, high, slack
        self.random = random_stream(seed, "hold pressure")
        self.begin = self.slice_begin = math.nan
        self.submitted = 0.0  # core-seconds so far
        self.fresh = None if workload.more is None else Fresh(workload, capacity)
        self.kept = self.inserted = self.left_out = self.too_large = 0

    def batches(self, report: ReadReport) -> Iterator[JobBatch]:
        waiting: JobBatch | None = None  # of a slice whose end has not been seen
        recent: JobBatch | None = None
        for batch in self.workload.batches():
            batch = self._that_fit(batch)
            waiting = batch if waiting is None else together(waiting, batch)
            if not len(waiting):
                continue
            if math.isnan(self.begin):
                self.begin = self.slice_begin = float(waiting.submit[0])
            slices = math.floor((float(waiting.submit[-1]) - self.slice_begin) / SLICE)
            ends = self.slice_begin + SLICE * np.arange(1, slices + 1, dtype=np.float64)
            whole = int(np.searchsorted(waiting.submit, ends[-1])) if slices else 0
            if slices:
                held = self._hold(recent, waiting, whole, ends)
                self._tell(report)  # who reads this may stop before the end
                yield held
                recent = self._recent(recent, waiting, whole)
                waiting = waiting.take(np.arange(whole, len(waiting)))
        if waiting is not None and len(waiting):
            held = self._hold(recent, waiting, len(waiting), waiting.submit[-1:])
            self._tell(report)
            yield held

    def _that_fit(self, batch: JobBatch) -> JobBatch:
        fits = self.workload.cores(batch) <= self.capacity
        self.too_large += int((~fits).sum())
        return batch if fits.all() else batch.take(np.flatnonzero(fits))

    def _recent(self, recent: JobBatch | None, waiting: JobBatch, whole: int) -> JobBatch:
        fresh = waiting.take(np.arange(max(0, whole - RECENT), whole))
        pool = fresh if recent is None else together(recent, fresh)
        return pool.take(np.arange(max(0, len(pool) - RECENT), len(pool)))

    def _hold(self, recent: JobBatch | None, waiting: JobBatch, whole: int, ends: Floats) -> JobBatch:
        """The first `whole` waiting jobs, slice by slice up to the `ends`, and what had to be put in."""
        pool = waiting if recent is None else together(recent, waiting)
        work = core_seconds(pool, self.workload)
        first = len(pool) - len(waiting)
        kept: list[Places] = []
        copied: list[Places] = []
        times: list[Floats] = []
        cuts = first + np.searchsorted(waiting.submit[:whole], ends, side="left")
        cuts[-1] = first + whole
        for end, cut in zip(ends.tolist(), cuts.tolist(), strict=True):
            kept.append(self._admit(work, first, cut, end))
            recent_enough = slice(max(0, cut - RECENT), max(cut, min(RECENT, len(pool))))
            more = self._put_in(work[recent_enough], end)
            copied.append(recent_enough.start + more)
            # Whole seconds after the beginning of the slice: logs have no others.
            times.append(self.slice_begin + np.floor(self.random.random(len(more)) * (end - self.slice_begin)))
            first, self.slice_begin = cut, end
        jobs = pool.take(np.concatenate(copied)) if self.fresh is None else self.fresh.take()
        inserted = self._inserted(jobs, np.concatenate(times))
        held = together(pool.take(np.concatenate(kept)), inserted)
        self.kept += len(held)
        return held.take(np.lexsort((held.id, held.submit)))

    def _admit(self, work: Floats, first: int, cut: int, end: float) -> Places:
        """Jobs in random order until the ceiling is passed: whether one comes in does not depend on its own size."""
        ceiling = self.capacity * (self.high * (end - self.begin) + self.slack) - self.submitted
        total = np.cumsum(work[first:cut])
        if not len(total) or total[-1] <= ceiling:
            self.submitted += float(total[-1]) if len(total) else 0.0
            return np.arange(first, cut)
        order = first + self.random.permutation(cut - first)
        total = np.cumsum(work[order])
        admitted = int(np.searchsorted(total - work[order], ceiling, side="right")) if ceiling >= 0 else 0
        self.submitted += float(total[admitted - 1]) if admitted else 0.0
        self.left_out += cut - first - admitted
        return order[:admitted]

    def _put_in(self, work: Floats, end: float) -> Places:
        """Which jobs to put in so that the floor is reached: of the recent ones, or as many of the fresh ones."""
        lacking = self.capacity * (self.low * (end - self.begin) - self.slack) - self.submitted
        if self.fresh is not None:
            number, added = self.fresh.draw(lacking)
            self.submitted += added
            return np.arange(number)
        mean = float(work.mean())
        found: list[Places] = [np.empty(0, np.intp)]
        while lacking > 0 and mean > 0:
            drawn = self.random.integers(0, len(work), 8 + int(lacking / mean))
            total = np.cumsum(work[drawn])
            needed = min(int(np.searchsorted(total, lacking)) + 1, len(drawn))
            found.append(drawn[:needed])
            self.submitted += float(total[needed - 1])
            lacking -= float(total[needed - 1])
        return np.concatenate(found)

    def _inserted(self, batch: JobBatch, times: Floats) -> JobBatch:
        """As jobs of their own: nobody waits for them, they wait for nobody."""
        number = INSERTED + 1 + self.inserted + np.arange(len(batch))
        self.inserted += len(batch)
        return replace(
            batch,
            id=number[np.argsort(np.argsort(times, kind="stable"), kind="stable")],
            submit=times,
            wait=np.full(len(batch), np.nan),
            cancel=np.full(len(batch), np.inf),
            predecessors=None,
            names=None if batch.names is None else tuple(str(one) for one in number),
        )

    def _tell(self, report: ReadReport) -> None:
        dropped = {
            "left out to hold the job pressure": self.left_out,
            f"larger than the {self.capacity} cores of the machine": self.too_large,
        }
        kind = "copies of recent ones" if self.fresh is None else "new ones of the model"
        filled = {f"jobs put in to hold the job pressure: {kind}": self.inserted}
        take_over(report, self.workload.report, self.kept, dropped, filled)


def take_over(
    report: ReadReport,
    before: ReadReport,
    kept: int,
    dropped: Mapping[str, int] | None = None,
    filled: Mapping[str, int] | None = None,
) -> None:
    """What reading the jobs before has told, and what has been left out and put in since, where it is any."""
    report.records, report.kept, report.bad_rows = before.records, kept, before.bad_rows
    report.unkept, report.for_slurm = dict(before.unkept), dict(before.for_slurm)
    report.dropped = before.dropped | {reason: count for reason, count in (dropped or {}).items() if count}
    report.filled = before.filled | {what: count for what, count in (filled or {}).items() if count}


class Fresh:
    """New jobs of the model that a workload comes from, as many as are needed."""

    def __init__(self, workload: Workload, capacity: int) -> None:
        assert workload.more is not None
        self._workload, self._capacity, self._source = workload, capacity, workload.more()
        self._ready = JobBatch.of(submit=[], runtime=[])
        self._total: Floats = np.empty(0)  # the work of the jobs that are ready, up to each of them
        self._drawn = 0  # how many of them

    def draw(self, lacking: float) -> tuple[int, float]:
        """The next jobs that make up so much work: how many, and how much work they are."""
        if lacking <= 0:
            return 0, 0.0
        before = self._total[self._drawn - 1] if self._drawn else 0.0
        while not len(self._total) or self._total[-1] < before + lacking:
            if not self._more():
                break
        number = min(int(np.searchsorted(self._total, before + lacking)) + 1, len(self._total)) - self._drawn
        self._drawn += number
        return number, float(self._total[self._drawn - 1] - before) if number else 0.0

    def take(self) -> JobBatch:
        """The jobs that have been drawn since the last call."""
        taken = self._ready.take(np.arange(self._drawn))
        self._ready = self._ready.take(np.arange(self._drawn, len(self._ready)))
        self._drawn = 0
        self._add_up()
        return taken

    def _more(self) -> bool:
        """Get the next batch ready; whether there is work in it."""
        batch = next(self._source)
        batch = batch.take(np.flatnonzero(self._workload.cores(batch) <= self._capacity))
        self._ready = together(self._ready, batch)
        self._add_up()
        return bool(core_seconds(batch, self._workload).any())

    def _add_up(self) -> None:
        self._total = np.cumsum(core_seconds(self._ready, self._workload))


def together(first: JobBatch, second: JobBatch) -> JobBatch:
    """One batch after the other."""
    return JobBatch.joined([batch for batch in (first, second) if len(batch)] or [first])


def _refuse_nonsense(workload: Workload, capacity_cores: int, low: float, high: float, slack: float) -> None:
    wrong = []
    if workload.flexible:
        wrong.append(InputError("jobs that may have several shapes have no fixed amount of work", where=workload.name))
    if workload.phases:
        hint = "hold the pressure first, then fill"
        wrong.append(InputError("the workload has phases already", where=workload.name, hint=hint))
    if capacity_cores < 1:
        wrong.append(InputError(f"a machine of {capacity_cores} cores can do no work", where="capacity_cores"))
    if not 0 <= low <= high < math.inf:
        hint = "for example low=1.0, high=1.1"
        wrong.append(InputError(f"low is {low} and high is {high}, expected 0 <= low <= high", hint=hint))
    if not 0 <= slack < math.inf:
        wrong.append(InputError(f"slack is {slack}, expected seconds", where="slack"))
    if wrong:
        raise InputErrors(wrong)
