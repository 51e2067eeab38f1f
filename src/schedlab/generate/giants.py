"""Rare giant jobs, left out of a log before a model is fitted to it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.workload import JobBatch, Workload

RARE_JOBS, RARE_WORK = 0.01, 0.1  # shares up to which they count as rare


@dataclass(frozen=True, slots=True)
class Giants:
    """The jobs of which each alone would keep the whole machine busy for longer than `longest` seconds."""

    longest: float
    number: int
    jobs: int  # of the log, giants included
    smallest: int  # cores
    largest: int
    work: float  # share of the log's

    @property
    def rare(self) -> bool:
        return self.number <= RARE_JOBS * self.jobs and self.work <= RARE_WORK

    def facts(self) -> list[str]:
        what = f"would keep the whole machine busy for more than {self.longest / 3600:g} h"
        if not self.number:
            return [f"no giant jobs: none {what}"]
        sizes = f"{self.smallest:,}" if self.smallest == self.largest else f"{self.smallest:,} to {self.largest:,}"
        found = [
            f"left out: {self.number:,} giant jobs of {sizes} cores, {100 * self.number / self.jobs:.2g} % of the jobs "
            f"and {100 * self.work:.1f} % of the work; each {what}"
        ]
        if not self.rare:
            found.append("they are not rare: what is left is another workload, with a lower load")
        return found


def without_giants(workload: Workload, processors: int, longest: float) -> tuple[Workload, Giants]:
    """The workload without the jobs whose work takes a machine of so many processors more than `longest` seconds."""
    if processors < 1:
        raise InputError("for which machine?", where=workload.name, hint="say how many processors it has")
    if not 0 < longest < math.inf:
        raise InputError(f"longest is {longest}, expected seconds above 0", where="giants")

    def work(batch: JobBatch) -> NDArray[np.float64]:
        return np.asarray(workload.cores(batch) * np.minimum(batch.runtime, batch.limit), np.float64)

    def source() -> Iterator[JobBatch]:
        for batch in workload.batches():
            keep = work(batch) <= processors * longest
            yield batch if keep.all() else batch.take(np.flatnonzero(keep))

    jobs, all_work, giant_work = 0, 0.0, 0.0
    sizes: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
    for batch in workload.batches():
        done = work(batch)
        giant = done > processors * longest
        jobs, all_work, giant_work = jobs + len(batch), all_work + done.sum(), giant_work + done[giant].sum()
        sizes.append(workload.cores(batch)[giant])
    size = np.concatenate(sizes)
    found = Giants(
        longest,
        number=len(size),
        jobs=jobs,
        smallest=int(size.min()) if len(size) else 0,
        largest=int(size.max(initial=0)),
        work=float(giant_work / all_work) if all_work else 0.0,
    )
    before = workload.report
    dropped = before.dropped | ({"giant jobs": found.number} if found.number else {})
    report = replace(before, kept=before.kept - found.number, dropped=dropped)
    name = f"{workload.name} without giants" if found.number else workload.name
    return replace(workload, name=name, source=source, report=report), found
