"""Who brings the work of a log: its jobs and core-hours by size, run time, user, group, queue or partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.classes import CLASSES, RUNTIME_NAMES, RUNTIMES, SIZE_NAMES, SIZES
from schedlab.model.errors import InputError
from schedlab.model.resources import THOUSANDTHS, resources_named
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
    resource = resources_named(THOUSANDTHS)[0]
    jobs: dict[int, int] = {}  # of the class of each number; -1 is an unknown owner
    work: dict[int, float] = {}
    for batch in workload.batches():
        cores = amounts(resource, workload.requests, batch)
        if by == "size":
            place: NDArray[np.int64] = np.searchsorted(SIZES, cores, side="left")
        elif by == "runtime":
            place = np.searchsorted(RUNTIMES, batch.runtime, side="right")
        else:
            place = np.maximum(np.asarray(getattr(batch, by), np.int64), -1)
        numbers, at = np.unique(place, return_inverse=True)
        counts, brought = np.bincount(at), np.bincount(at, cores * batch.runtime)
        for number, count, core_seconds in zip(numbers.tolist(), counts.tolist(), brought.tolist(), strict=True):
            jobs[number] = jobs.get(number, 0) + count
            work[number] = work.get(number, 0.0) + core_seconds
    there = sorted(jobs)
    if by not in ("size", "runtime"):
        there.sort(key=lambda number: -work[number])
    table = pl.DataFrame(
        {
            "class": pl.Series([_name(workload, by, number) for number in there], dtype=pl.String),
            "jobs": pl.Series([jobs[number] for number in there], dtype=pl.Int64),
            "core_hours": pl.Series([work[number] / 3600 for number in there], dtype=pl.Float64),
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
    if number < 0:
        return None
    return names[number] if number < len(names) else str(number)
