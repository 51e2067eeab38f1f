"""Who brings the work of a log: its jobs and core-hours by size, run time, user, group, queue or partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.classes import CLASSES, RUNTIME_NAMES, RUNTIMES, SIZE_NAMES, SIZES
from schedlab.model.errors import InputError
from schedlab.model.resources import resources_named
from schedlab.model.suggest import did_you_mean
from schedlab.model.workload import Workload
from schedlab.workload.offered import amounts

if TYPE_CHECKING:
    import polars as pl


def shares_by_class(workload: Workload, by: str) -> pl.DataFrame:
    """One row per class that has jobs: `class`, `jobs`, `core_hours`, the shares of both, and the shares up to there.

    Classes as in `by_class`: sizes and run times in increasing order; users, groups, queues and partitions by
    core-hours, most first, under their names in the log (unknown is null).
    """
    import polars as pl

    if by not in CLASSES:
        hint = did_you_mean(by, CLASSES, f"classes: {', '.join(CLASSES)}")
        raise InputError(f"there is no class of jobs '{by}'", hint=hint)
    # Of the class of each number; the first of owners is unknown.
    jobs: NDArray[np.int64] = np.zeros(0, np.int64)
    work: NDArray[np.float64] = np.zeros(0)
    for batch in workload.batches():
        resource = resources_named(name for request in workload.requests for name in request.chunk)[0]
        cores = amounts(resource, workload.requests, batch)
        if by == "size":
            place: NDArray[np.int64] = np.searchsorted(SIZES, cores, side="left")
        elif by == "runtime":
            place = np.searchsorted(RUNTIMES, batch.runtime, side="right")
        else:
            place = np.maximum(np.asarray(getattr(batch, by), np.int64), -1) + 1
        length = max(len(jobs), int(place.max(initial=-1)) + 1)
        jobs = np.bincount(place, minlength=length) + np.pad(jobs, (0, length - len(jobs)))
        brought = np.asarray(np.bincount(place, cores * batch.runtime, length), np.float64)
        work = brought + np.pad(work, (0, length - len(work)))
    there = np.flatnonzero(jobs)
    if by not in ("size", "runtime"):
        there = there[np.lexsort((there, -work[there]))]
    table = pl.DataFrame(
        {
            "class": pl.Series([_name(workload, by, int(number)) for number in there], dtype=pl.String),
            "jobs": jobs[there],
            "core_hours": work[there] / 3600,
        }
    )
    share = [(pl.col(name) / pl.col(name).sum()).fill_nan(0.0) for name in ("jobs", "core_hours")]
    upto = [column.cum_sum().name.suffix("_upto") for column in share]
    return table.with_columns(*(column.name.suffix("_share") for column in share), *upto)


def _name(workload: Workload, by: str, number: int) -> str | None:
    if by == "size":
        return SIZE_NAMES[number]
    if by == "runtime":
        return RUNTIME_NAMES[number]
    names = workload.labels.get(by, ())
    if not number:
        return None
    return names[number - 1] if number <= len(names) else str(number - 1)
