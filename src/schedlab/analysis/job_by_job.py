"""Two runs of one workload, job by job: who waits less, who longer, by how much, and how far starts are apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.compare import summary_of
from schedlab.analysis.distribution import FEW, PiecewiseDistribution, PiecewiseSum
from schedlab.analysis.interval import Interval, interval_of
from schedlab.analysis.pairing import pairs_by_job
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
    """Every job's wait in `run` against its own wait in `baseline`, in a few passes over the jobs."""
    pairs, spread, counts = _Pairs(run, baseline, trim), PiecewiseDistribution(), np.zeros(5, np.int64)
    for wait, start, error in pairs:
        spread.look(wait)
        counts += np.array([len(wait), len(start), len(error), (wait < 0).sum(), (wait == 0).sum()])
    jobs, starts, errors, shorter, same = counts.tolist()
    if not jobs:
        return JobByJob(0, 0.0, 0.0, 0.0, None, None, None)
    spread.begin()
    sum_of_starts, sum_of_errors = PiecewiseSum(starts), PiecewiseSum(errors)
    for wait, start, error in pairs:
        spread.add(wait)
        sum_of_starts.add(start)
        sum_of_errors.add(error)
    again = spread.again()
    mean, start_mean = spread.mean, sum_of_starts.value / starts
    squares, squares_of_starts = PiecewiseSum(jobs), PiecewiseSum(starts)
    for wait, start, _ in pairs:
        squares.add(np.square(wait - mean))
        squares_of_starts.add(np.square(start - start_mean))
        if again:
            spread.add(wait)
    while again and (again := spread.again()):
        for wait, _, _ in pairs:
            spread.add(wait)
    makespan, wanted = (_makespan(each, trim) for each in (run, baseline))
    return JobByJob(
        jobs=jobs,
        shorter=shorter / jobs,
        same=same / jobs,
        longer=(jobs - shorter - same) / jobs,
        # No test: jobs depend on each other.
        mean=replace(interval_of(jobs, mean, squares.value / (jobs - 1)), p=None) if jobs > 1 else None,
        median=spread.quantile("median"),
        p95=spread.quantile("p95"),
        start_mean=start_mean,
        start_deviation=math.sqrt(squares_of_starts.value / starts),
        turnaround_error=sum_of_errors.value / errors if errors else None,
        makespan_error=abs(makespan - wanted) / wanted if wanted > 0 else None,
    )


class _Pairs:
    """Differences of waits and of starts, and relative errors of turnarounds, some jobs at a time: as often as they are
    asked for. Those of few jobs are kept, and not read again."""

    def __init__(self, run: Run, baseline: Run, trim: Selection | None) -> None:
        self._runs, self._trim = (run, baseline), trim
        self._kept: list[tuple[Numbers, Numbers, Numbers]] | None = None

    def __iter__(self) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
        if self._kept is not None:
            yield from self._kept
            return
        kept, jobs = [], 0
        for pairs in pairs_by_job(*self._runs, ("wait", "start", "turnaround"), trim=self._trim):
            found, wanted = pairs["turnaround"].one, pairs["turnaround"].other
            some = wanted > 0
            errors = np.abs(found[some] - wanted[some]) / wanted[some]
            yield (piece := (pairs["wait"].difference, pairs["start"].difference, errors))
            jobs += len(piece[0])
            if jobs <= FEW:
                kept.append(piece)
        if jobs <= FEW:
            self._kept = kept


def _makespan(run: Run, trim: Selection | None) -> float:
    return summary_of(run, trim=trim)["makespan"] or 0.0
