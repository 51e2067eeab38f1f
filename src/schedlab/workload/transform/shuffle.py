"""The same jobs at the same times, but which job comes when is random."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from schedlab.model.random import random_stream
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.transform.derive import LOST_DEPENDENCY, Changes, derive, move


def shuffle(workload: Workload, seed: int = 0) -> Workload:
    """Submit times stay as they are, and the jobs are dealt out to them at random.

    Arrivals keep their cycles and bursts; everything that ties jobs to times or to each other is gone: sessions,
    runs of similar jobs, large jobs at night. A dependency on a job that now comes later is dropped. Jobs submitted at
    the same time come in the order of their numbers, so these exchange their numbers.
    All jobs are in memory while this is done.
    """

    def step(batches: Iterator[JobBatch], changes: Changes) -> Iterator[JobBatch]:
        everything = list(batches)
        if not everything:
            return
        jobs = JobBatch.joined(everything)
        dealt = jobs.take(random_stream(seed, "transform", "shuffle").permutation(len(jobs)))
        yield _without_later(_numbered(move(dealt, jobs.submit), changes), changes)

    return derive(workload, f"jobs shuffled over the submit times (seed {seed})", step)


def _numbered(jobs: JobBatch, changes: Changes) -> JobBatch:
    """Those of one submit time share out their numbers so that they are in the order of (submit time, number)."""
    numbers = jobs.id[np.lexsort((jobs.id, jobs.submit))]
    changed = int(np.count_nonzero(numbers != jobs.id))
    if not changed:
        return jobs
    changes.filled["job number: exchanged with a job submitted at the same time"] += changed
    before = jobs.predecessors
    if before is not None:
        place, known = _places(jobs.id, before.job)
        before = replace(before, job=np.where(known, numbers[place], before.job))
    return replace(jobs, id=numbers, predecessors=before)


def _without_later(jobs: JobBatch, changes: Changes) -> JobBatch:
    """Dependencies point backwards, or are dropped."""
    before = jobs.predecessors
    if before is None:
        return jobs
    place, known = _places(jobs.id, before.job)
    later = ~known | (place > before.row)
    if not later.any():
        return jobs
    changes.filled[LOST_DEPENDENCY] += int(later.sum())
    return replace(jobs, predecessors=before.where(~later))


def _places(ids: NDArray[np.int64], wanted: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The rows of the jobs with these ids, and whether there are such jobs."""
    by_number = np.argsort(ids, kind="stable")
    place = by_number[np.minimum(np.searchsorted(ids, wanted, sorter=by_number), len(ids) - 1)]
    return place, ids[place] == wanted
