"""Two runs of one workload, job by job: who waits less, who longer, by how much, and how far starts are apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.compare import summary_of
from schedlab.analysis.interval import Interval, student_interval
from schedlab.analysis.pairing import paired_by_job
from schedlab.analysis.trim import Selection
from schedlab.model.run import Run

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JobByJob:
    """Shares of the jobs that start in both runs, and differences of their waits (seconds; negative is shorter; None
    where no job starts in both)."""

    jobs: int
    shorter: float
    same: float
    longer: float
    mean: Interval | None  # of the difference; as if jobs were independent, which they are not
    median: float | None
    p95: float | None
    start_mean: float | None = None  # of the difference of starts, in seconds
    start_deviation: float | None = None  # its standard deviation
    turnaround_error: float | None = None  # MAPE: mean of |difference| / turnaround in the baseline, as a share
    makespan_error: float | None = None  # |difference| / makespan of the baseline, as a share


RECORDED = "recorded"  # the policy whose runs are what really happened


def baseline_of(runs: Sequence[Run]) -> int:
    """Which of the runs the others are compared with: the recorded schedule, if there is one, else the first."""
    return next((at for at, run in enumerate(runs) if run.policy == RECORDED), 0)


def job_by_job(run: Run, baseline: Run, *, trim: Selection | None = None) -> JobByJob:
    """Every job's wait in `run` against its own wait in `baseline`."""
    difference = paired_by_job(run, baseline, trim=trim).difference
    if not len(difference):
        return JobByJob(0, 0.0, 0.0, 0.0, None, None, None)
    interval = student_interval(difference)
    starts = paired_by_job(run, baseline, "start", trim=trim).difference
    turnaround = paired_by_job(run, baseline, "turnaround", trim=trim)
    median, p95 = np.quantile(difference, [0.5, 0.95])
    return JobByJob(
        jobs=len(difference),
        shorter=float(np.mean(difference < 0)),
        same=float(np.mean(difference == 0)),
        longer=float(np.mean(difference > 0)),
        mean=interval and replace(interval, p=None),  # no test: jobs depend on each other
        median=float(median),
        p95=float(p95),
        start_mean=float(starts.mean()),
        start_deviation=float(starts.std()),
        turnaround_error=_error(turnaround.one, turnaround.other),
        makespan_error=_error(*(np.array([_makespan(each, trim)]) for each in (run, baseline))),
    )


def _makespan(run: Run, trim: Selection | None) -> float:
    return summary_of(run, trim=trim)["makespan"] or 0.0


def _error(found: Numbers, wanted: Numbers) -> float | None:
    """The mean absolute percentage error, as a share; of values of 0 there is none."""
    some = wanted > 0
    return float(np.mean(np.abs(found[some] - wanted[some]) / wanted[some])) if some.any() else None
