"""More or less load: the usual ways, none of which leaves everything else as it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.random import random_stream
from schedlab.model.units import format_duration
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.offered import offered
from schedlab.workload.transform.derive import Changes, derive, keep_jobs, move
from schedlab.workload.transform.order import in_order
from schedlab.workload.transform.survey import beyond, first_submit, survey

JITTER = 3600.0


def stretch(workload: Workload, factor: float) -> Workload:
    """All times between submittals × `factor`: 0.5 doubles the offered load, 2 halves it. Whole seconds stay whole.

    Jobs and their sequence stay as they are, but the days do not: the daily and weekly cycles get another length, while
    run times keep theirs, so that a job may reach into another day than it did.
    """
    if not 0 < factor < np.inf:
        raise InputError(f"the factor cannot be {factor:g}", hint="a number above 0; below 1 there is more load")
    return _stretched(workload, factor, f"times between submittals × {factor:g}")


def scale_load(workload: Workload, load: float, cores: int) -> Workload:
    """All times between submittals × one factor, so that the offered load on a machine of `cores` is `load`.

    The factor is the load that it has / `load`; what stretching does to a workload is said there. Jobs larger than the
    machine count too.
    """
    check_load(load)
    now = offered(workload).load(cores)
    if not now:
        hint = "jobs have to run, on a machine with cores, and must not all come at once"
        raise InputError("has no offered load that could be scaled", where=workload.name, hint=hint)
    factor = now / load
    note = f"times between submittals × {factor:.6g}: offered load {load:g} instead of {now:.4g} on {cores} cores"
    return _stretched(workload, factor, note, name=f"{workload.name} at load {load:g}")


def check_load(load: float, where: str = "") -> None:
    if not 0 < load < np.inf:
        raise InputError(f"the load cannot be {load:g}", where=where, hint="a number above 0, such as 0.9")


def _stretched(workload: Workload, factor: float, note: str, **changes: Any) -> Workload:
    first = first_submit(workload)

    def stretched(times: NDArray[np.float64]) -> NDArray[np.float64]:
        moved = first + (times - first) * factor
        return np.where(times == np.floor(times), np.round(moved), moved)

    def moved_batches(batches: Iterator[JobBatch]) -> Iterator[tuple[JobBatch, float]]:
        for batch in batches:
            if len(batch):
                submit = stretched(batch.submit)
                moved = replace(move(batch, submit), wait=np.full(len(batch), np.nan))  # the log waited at its own load
                yield moved, float(submit[-1]) - 1.0  # rounding moves by less than a second

    def step(batches: Iterator[JobBatch], _changes: Changes) -> Iterator[JobBatch]:
        return in_order(moved_batches(batches))

    phases = tuple(
        replace(phase, begin=first + (phase.begin - first) * factor, end=first + (phase.end - first) * factor)
        for phase in workload.phases
    )
    return derive(workload, note, step, phases=phases, **changes)


def thin(workload: Workload, share: float, seed: int = 0) -> Workload:
    """Each job stays with probability `share`.

    The daily and weekly cycles stay, and the mix of jobs on average. What a user does one after the other is torn: a
    session loses jobs in its middle, a job its predecessor, and bursts become milder.
    """
    _check_share(share)

    def choose() -> _Lottery:
        return _Lottery(share, seed, "thin")

    return keep_jobs(workload, f"each job kept with probability {share:g} (seed {seed})", "thinned out", choose)


def duplicate(workload: Workload, share: float, seed: int = 0, *, jitter: float = JITTER) -> Workload:
    """Each job is there a second time with probability `share`, up to `jitter` seconds later.

    The daily and weekly cycles stay. Users get more jobs of the same kind in the same session, so runs of similar jobs
    are longer than they were, and what learns from a user's last jobs has it easier than in reality. A copy
    waits for the same job as the original; nothing waits for a copy. Copies get job numbers above all others.
    """
    _check_share(share)
    if not 0 <= jitter < np.inf:
        raise InputError(f"the jitter cannot be {jitter:g}", hint="a number of seconds, 0 or more")
    base = beyond(survey(workload).highest)

    def with_copies(batches: Iterator[JobBatch], changes: Changes) -> Iterator[tuple[JobBatch, float]]:
        lottery, when, copies = _Lottery(share, seed, "duplicate"), random_stream(seed, "transform", "jitter"), 0
        for batch in batches:
            if not len(batch):
                continue
            again = batch.take(np.flatnonzero(lottery(batch)))
            again = move(again, again.submit + np.floor(when.random(len(again)) * jitter))
            ids = base + copies + np.arange(len(again))
            names = None if again.names is None else tuple(f"{name}-copy" for name in again.names)
            copies += len(again)
            changes.filled["job that is there twice"] += len(again)
            yield JobBatch.joined([batch, replace(again, id=ids, names=names)]), float(batch.submit[-1])

    def step(batches: Iterator[JobBatch], changes: Changes) -> Iterator[JobBatch]:
        return in_order(with_copies(batches, changes))

    note = f"each job twice with probability {share:g}, within {format_duration(jitter)} (seed {seed})"
    return derive(workload, note, step)


class _Lottery:
    """One draw a job, whatever the batches."""

    def __init__(self, share: float, seed: int, name: str) -> None:
        self._share, self._draws = share, random_stream(seed, "transform", name)

    def __call__(self, batch: JobBatch) -> NDArray[np.bool_]:
        return self._draws.random(len(batch)) < self._share


def _check_share(share: float) -> None:
    if not 0 <= share <= 1:
        raise InputError(f"the share cannot be {share:g}", hint="a number from 0 to 1")
