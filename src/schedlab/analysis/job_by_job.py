"""Two runs of one workload, job by job: for whom the wait is shorter, for whom longer, and by how much."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from schedlab.analysis.interval import Interval, student_interval
from schedlab.analysis.pairing import paired_by_job
from schedlab.analysis.trim import Selection
from schedlab.model.run import Run


@dataclass(frozen=True, slots=True)
class JobByJob:
    """Shares of the jobs that start in both runs, and differences of their waits (seconds; negative is shorter)."""

    jobs: int
    shorter: float
    same: float
    longer: float
    mean: Interval | None  # of the difference; as if jobs were independent, which they are not
    median: float
    p95: float


def job_by_job(run: Run, baseline: Run, *, trim: Selection | None = None) -> JobByJob:
    """Every job's wait in `run` against its own wait in `baseline`."""
    difference = paired_by_job(run, baseline, trim=trim).difference
    if not len(difference):
        return JobByJob(0, 0.0, 0.0, 0.0, None, 0.0, 0.0)
    interval = student_interval(difference)
    median, p95 = np.quantile(difference, [0.5, 0.95])
    return JobByJob(
        jobs=len(difference),
        shorter=float(np.mean(difference < 0)),
        same=float(np.mean(difference == 0)),
        longer=float(np.mean(difference > 0)),
        mean=interval and replace(interval, p=None),  # no test: jobs depend on each other
        median=float(median),
        p95=float(p95),
    )
