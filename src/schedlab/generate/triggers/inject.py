"""Jobs injected into a workload when a trigger says so."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from schedlab.generate.load import INSERTED, take_over
from schedlab.generate.streams import merged
from schedlab.generate.triggers.beside import Beside
from schedlab.generate.triggers.manager import managers
from schedlab.generate.triggers.patterns import (
    AtRandom,
    AtTimes,
    Injection,
    InTurn,
    JobTemplate,
    OneOf,
    Periodic,
    Programmed,
    Template,
    Trigger,
    What,
)
from schedlab.generate.triggers.templates import FIRST_ID, WORKFLOW, Templates
from schedlab.model.errors import InputError
from schedlab.model.random import random_stream
from schedlab.model.workflow import Submission
from schedlab.model.workflow_record import WorkflowRecord
from schedlab.model.workload import JobBatch, Workload

__all__ = [
    "FIRST_ID",
    "AtRandom",
    "AtTimes",
    "InTurn",
    "Injection",
    "JobTemplate",
    "OneOf",
    "Periodic",
    "Programmed",
    "Template",
    "Trigger",
    "What",
    "inject",
]

_AT_ONCE = 4096  # jobs planned ahead


def inject(
    workload: Workload,
    trigger: Trigger,
    what: What | Template | Sequence[Template],
    *,
    seed: int = 0,
    name: str | None = None,
) -> Workload:
    """The workload with the injected jobs in it, in submit order; nothing is read before its batches are.

    Injected jobs have numbers from 1,000,000,001, the user "injected" and the executable "injected:TEMPLATE"; those of
    workflows (`schedlab.workflow.handling.handled`) the user "workflow" and the executable "WORKFLOW:TASK". A trigger
    without an end stops with the last job of the workload.
    """
    merge = _Merge(workload, trigger, _as_what(what), seed)
    made = Workload(
        name or f"{workload.name} with injections",
        merge.batches,
        merge.beside.requests,
        origin=workload.origin,
        header=workload.header,
        report=merge.report,
        flexible=workload.flexible,
        labels=merge.beside.labels,
        phases=workload.phases,
        workflows=merge.record,
    )
    if merge.record is not None:
        made.brings = managers(made, merge.record, merge.templates.users.index(WORKFLOW))
    return made


class _Merge:
    def __init__(self, workload: Workload, trigger: Trigger, what: What, seed: int) -> None:
        self.workload, self.trigger, self.what, self.seed = workload, trigger, what, seed
        self.templates = Templates(what.templates)
        self.beside = Beside(workload, self.templates)
        self.record = WorkflowRecord(self.templates.workflows) if self.templates.workflows else None
        self.report = replace(workload.report)

    def batches(self) -> Iterator[JobBatch]:
        end = _End()
        jobs = own = 0
        if self.record is not None:
            self.record.clear()
        for batch in self._until(end):
            jobs += len(batch)
            own += int(np.count_nonzero((batch.id >= FIRST_ID) & (batch.id < INSERTED)))
            yield batch
        if self.record is not None:
            self.record.cut(end.time if self.trigger.endless else math.inf)
            self.record.complete = True
        take_over(self.report, self.workload.report, jobs, filled={"injected jobs": own})

    def _until(self, end: _End) -> Iterator[JobBatch]:
        for batch in merged([self._given(end), self._injected()]):
            if not (end.reached and self.trigger.endless):
                yield batch
                continue
            kept = np.flatnonzero(batch.submit <= end.time)
            if len(kept):
                yield batch.take(kept)
            if len(kept) < len(batch):
                return

    def _given(self, end: _End) -> Iterator[JobBatch]:
        for batch in self.workload.batches():
            if not len(batch):
                continue
            end.time = float(batch.submit[-1])
            yield self.beside.renumbered(batch)
        end.reached = True

    def _injected(self) -> Iterator[JobBatch]:
        times, choices = (random_stream(self.seed, "inject", part) for part in ("time", "template"))
        last: Injection | None = None
        made: list[Injection] = []
        next_id = begin = FIRST_ID
        while (time := self.trigger.next_time(last, times)) is not None:
            number = 0 if last is None else last.number + 1
            _refuse_disorder(last, number, time)
            last = Injection(number, time, self.what.pick(number, choices))
            made.append(last)
            next_id += int(self.templates.ids[self.templates.place(last.template)])
            if next_id - begin >= _AT_ONCE:
                yield self._batch(made, begin)
                made, begin = [], next_id
        if made:
            yield self._batch(made, begin)

    def _batch(self, made: list[Injection], next_id: int) -> JobBatch:
        place = np.array([self.templates.place(injection.template) for injection in made], np.int64)
        time = np.array([injection.time for injection in made], np.float64)
        ids = self.templates.ids[place]
        first = next_id + np.cumsum(ids) - ids
        if self.record is not None:
            kinds = self.templates.kind[place]
            for kind, when, job in zip(kinds.tolist(), time.tolist(), first.tolist(), strict=True):
                if kind >= 0:
                    self.record.add(kind, when, job)
        return self.templates.batch(place, time, first)


class _End:
    """How far the workload has been read."""

    time = -math.inf
    reached = False


def _as_what(what: What | Template | Sequence[Template]) -> What:
    if isinstance(what, JobTemplate | Submission):
        return InTurn([what])
    return InTurn(what) if isinstance(what, Sequence) else what


def _refuse_disorder(last: Injection | None, number: int, time: float) -> None:
    if not (0.0 if last is None else last.time) <= time < math.inf:
        before = "" if last is None else f", after one at {last.time:g} s"
        hint = "an injection cannot be before the one in front of it"
        raise InputError(f"injection {number} is at {time:g} s{before}", where="trigger", hint=hint)
