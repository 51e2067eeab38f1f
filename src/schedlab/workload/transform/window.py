"""A part of the time of a workload."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import numpy as np

from schedlab.model.errors import InputError
from schedlab.model.units import format_duration
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.transform.derive import Changes, Ids, derive, move, unbind
from schedlab.workload.transform.survey import first_submit

Moment = float | date | None  # seconds from the first submittal, or a date (UTC unless it says otherwise)


def window(workload: Workload, begin: Moment = None, end: Moment = None) -> Workload:
    """The jobs that are submitted from `begin` on and before `end`.

    Time then begins at `begin`: submit times are moved to begin at 0, and the origin with them. Jobs that were running
    or waiting at `begin` are not in it, so its first days are emptier than the machine was.
    """
    first = first_submit(workload)
    low = 0.0 if begin is None else _seconds(workload, begin, first)
    high = math.inf if end is None else _seconds(workload, end, first)
    if not low < high:
        raise InputError(
            f"the window is empty: it begins {_said(low)} and ends {_said(high)} after the first submittal"
        )
    shift = float(math.floor(first + low))
    origin = None if workload.origin is None else workload.origin + timedelta(seconds=shift)
    phases = tuple(
        replace(phase, begin=max(phase.begin, first + low) - shift, end=min(phase.end, first + high) - shift)
        for phase in workload.phases
        if phase.end > first + low and phase.begin < first + high
    )

    def step(batches: Iterator[JobBatch], changes: Changes) -> Iterator[JobBatch]:
        gone = Ids()
        for batch in batches:
            chosen = (batch.submit >= first + low) & (batch.submit < first + high)
            changes.dropped["outside the window"] += int((~chosen).sum())
            gone.add(batch.id[~chosen])
            inside = batch.take(np.flatnonzero(chosen))
            yield unbind(move(inside, inside.submit - shift), gone, changes)

    note = f"the jobs submitted from {_said(low)} to {_said(high)} after the first submittal"
    return derive(workload, note, step, origin=origin, phases=phases)


def _seconds(workload: Workload, moment: float | date, first: float) -> float:
    if isinstance(moment, int | float):
        return float(moment)
    if workload.origin is None:
        raise InputError(
            f"the log does not say when it began, so {moment} cannot be found in it",
            where=workload.name,
            hint="give the window in time from the first submittal: 30d..60d",
        )
    when = moment if isinstance(moment, datetime) else datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return (when - workload.origin).total_seconds() - first


def _said(seconds: float) -> str:
    return "the end" if math.isinf(seconds) else format_duration(seconds)
