"""The jobs that several runs started: the only ones whose waits can be compared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import and_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.job_values import chosen_jobs
from schedlab.analysis.metrics import job_metrics
from schedlab.analysis.trim import TOLD, Among, Selection
from schedlab.model.jobs import JobSet, in_order
from schedlab.model.run import Run


def missing_jobs(run: Run, trim: Selection | None = None) -> str:
    """A hash of which of the jobs that count did not start; empty if all did. Equal for runs that started the same."""
    if run.summary["started"] == run.summary["jobs"]:
        return ""
    missing = _jobs(run, trim, started=False)
    if not len(missing):
        return ""
    found = hashlib.sha256()
    for places in missing.places():
        found.update(places.astype("<i8").tobytes())
    return found.hexdigest()


def _jobs(run: Run, trim: Selection | None, *, started: bool) -> JobSet:
    """Those that count and started, or did not."""
    counts = None if trim is None else trim.of(run).chooser(run.tables)

    def sequences() -> Iterator[NDArray[Any]]:
        for batch in run.tables.batches((*TOLD, "start"), "jobs"):
            chosen = np.isnan(batch["start"]) != started
            yield batch["sequence"][chosen if counts is None else chosen & counts(batch)]

    return JobSet.of(sequences())


def common_jobs(runs: Sequence[Run], trim: Selection | None = None) -> JobSet | None:
    """The jobs that all runs of a workload started; None if each run started the same ones."""
    if len({missing_jobs(run, trim) for run in runs}) < 2:
        return None
    return reduce(and_, (_jobs(run, trim, started=True) for run in runs))


def same_submissions(runs: Sequence[Run], jobs: JobSet) -> bool:
    """Whether these jobs are the same ones in all runs, as far as can be seen: submitted at the same times."""
    for parts in in_order([run.tables for run in runs], ("submit",)):
        first, *others = (part["submit"][jobs.has(part["sequence"])] for part in parts)
        if not all(np.array_equal(first, other) for other in others):
            return False
    return True


def metrics_of_jobs(run: Run, jobs: JobSet, tau: float, trim: Selection | None = None) -> dict[str, Any]:
    """Waits, turnarounds and slowdowns over some of the jobs that count."""
    return job_metrics(run.tables, chosen_jobs(run, Among(jobs, trim)), tau)
