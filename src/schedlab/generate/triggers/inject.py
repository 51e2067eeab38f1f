"""Jobs injected into a workload when a trigger says so."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.streams import merged
from schedlab.generate.triggers.patterns import (
    AtRandom,
    AtTimes,
    Injection,
    InTurn,
    JobTemplate,
    OneOf,
    Periodic,
    Programmed,
    Trigger,
    What,
)
from schedlab.model.errors import InputError
from schedlab.model.random import random_stream
from schedlab.model.request import Request
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
    "Trigger",
    "What",
    "inject",
]

FIRST_ID = 1_000_000_001  # above every number that a job of a log has, which is not known before the log's end

_AT_ONCE = 4096  # injections planned ahead


def inject(
    workload: Workload,
    trigger: Trigger,
    what: What | JobTemplate | Sequence[JobTemplate],
    *,
    seed: int = 0,
    name: str | None = None,
) -> Workload:
    """The workload with the injected jobs in it, in submit order; nothing is read before its batches are.

    Injected jobs have numbers from 1,000,000,001, the user "injected" and the executable "injected:TEMPLATE". A
    trigger without an end stops with the last job of the workload.
    """
    chosen = _as_what(what)
    merge = _Merge(workload, trigger, chosen, seed)
    return Workload(
        name or f"{workload.name} with injections",
        merge.batches,
        merge.requests,
        origin=workload.origin,
        header=workload.header,
        report=workload.report,
        flexible=workload.flexible,
        labels=merge.labels,
        phases=workload.phases,
    )


class _Merge:
    """What the templates need comes first in `requests` and `labels`: those of the workload grow while it is read."""

    def __init__(self, workload: Workload, trigger: Trigger, what: What, seed: int) -> None:
        self.workload, self.trigger, self.what, self.seed = workload, trigger, what, seed
        own: list[Request] = []
        for template in what.templates:
            if template.request not in own:
                own.append(template.request)
        self.own = own
        self.requests = [*own, *workload.requests]
        names = dict.fromkeys(f"injected:{template.name}" for template in what.templates)
        self.executables = _Renumbered(workload, "executable", list(names))
        self.users = _Renumbered(workload, "user", ["injected"])
        self.labels: dict[str, list[str]] = {}
        self._share()

    def batches(self) -> Iterator[JobBatch]:
        end = _End()
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
            _refuse_high_ids(self.workload.name, batch)
            end.time = float(batch.submit[-1])
            renumbered = replace(
                batch,
                request=batch.request + np.int32(len(self.own)),
                executable=self.executables.of(batch.executable),
                user=self.users.of(batch.user),
                shapes=None
                if batch.shapes is None
                else replace(batch.shapes, request=batch.shapes.request + np.int32(len(self.own))),
            )
            self._share()
            yield renumbered
        end.reached = True

    def _share(self) -> None:
        """Takes over what reading the workload has added since."""
        self.requests.extend(self.workload.requests[len(self.requests) - len(self.own) :])
        self.labels.update(self.workload.labels)
        self.labels.update(executable=self.executables.names, user=self.users.names)

    def _injected(self) -> Iterator[JobBatch]:
        times, choices = (random_stream(self.seed, "inject", part) for part in ("time", "template"))
        last: Injection | None = None
        made: list[Injection] = []
        while (time := self.trigger.next_time(last, times)) is not None:
            number = 0 if last is None else last.number + 1
            _refuse_disorder(last, number, time)
            last = Injection(number, time, self.what.pick(number, choices))
            made.append(last)
            if len(made) == _AT_ONCE:
                yield self._batch(made)
                made = []
        if made:
            yield self._batch(made)

    def _batch(self, made: list[Injection]) -> JobBatch:
        templates = [injection.template for injection in made]
        columns: dict[str, Any] = {
            "id": [FIRST_ID + injection.number for injection in made],
            "submit": [injection.time for injection in made],
            "runtime": [template.runtime for template in templates],
            "limit": [template.runtime if template.limit is None else template.limit for template in templates],
            "count": [template.count for template in templates],
            "request": [self.own.index(template.request) for template in templates],
            "executable": [self.executables.names.index(f"injected:{template.name}") for template in templates],
            "user": [0] * len(made),
        }
        return JobBatch.of(**columns)


class _End:
    """How far the workload has been read."""

    time = -math.inf
    reached = False


class _Renumbered:
    """A column with names of our own in front: its other numbers follow in the order in which they appear."""

    def __init__(self, workload: Workload, column: str, own: list[str]) -> None:
        self.names = own
        self._labels, self._column = workload.labels, column
        self._place: dict[int, int] = {}

    def of(self, numbers: NDArray[np.int32]) -> NDArray[np.int32]:
        known, where = np.unique(numbers, return_inverse=True)
        return np.array([self._number(number) for number in known.tolist()], np.int32)[where]

    def _number(self, number: int) -> int:
        if number < 0:
            return number
        if number not in self._place:
            labels = self._labels.get(self._column, [])
            self._place[number] = len(self.names)
            self.names.append(labels[number] if number < len(labels) else str(number))
        return self._place[number]


def _as_what(what: What | JobTemplate | Sequence[JobTemplate]) -> What:
    if isinstance(what, JobTemplate):
        return InTurn([what])
    return InTurn(what) if isinstance(what, Sequence) else what


def _refuse_high_ids(name: str, batch: JobBatch) -> None:
    highest = int(batch.id.max())
    if highest >= FIRST_ID:
        hint = f"numbers from {FIRST_ID} are for injected jobs; give the workload's jobs smaller ones"
        raise InputError(f"there is a job number {highest}", where=name, hint=hint)


def _refuse_disorder(last: Injection | None, number: int, time: float) -> None:
    if not (0.0 if last is None else last.time) <= time < math.inf:
        before = "" if last is None else f", after one at {last.time:g} s"
        hint = "an injection cannot be before the one in front of it"
        raise InputError(f"injection {number} is at {time:g} s{before}", where="trigger", hint=hint)
