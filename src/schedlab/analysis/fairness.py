"""How evenly a schedule treats users, and which jobs start later than a fair schedule would let them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.analysis.classes import by_class
from schedlab.analysis.interval import known
from schedlab.analysis.metrics import TAU
from schedlab.analysis.pairing import paired_by_job
from schedlab.analysis.trim import Selection
from schedlab.model.run import Run

if TYPE_CHECKING:
    import polars as pl

_SAME = 1e-3  # seconds; starts that are closer are the same


def jain_index(values: Any) -> float | None:
    """(Σx)² / (n Σx²): 1 if all have the same (even 0), 1/n if one has everything. None for nobody."""
    numbers = known(values)
    if not len(numbers):
        return None
    squares = float((numbers**2).sum())
    return float(numbers.sum()) ** 2 / (len(numbers) * squares) if squares > 0 else 1.0


def fairness(run: Run, *, tau: float = TAU, trim: Selection | None = None) -> dict[str, float | None]:
    """Jain's index over users of their mean wait and mean bounded slowdown, and how much longer the worst off waits.

    Users are those that are known and had a job that started. (The stretch of jobs is the slowdown of the summary.)
    """
    import polars as pl

    users = users_table(run, tau=tau, trim=trim).filter(pl.col("user").is_not_null())
    ratio: Any = users["wait_ratio"].max()
    return {
        "users": len(users),
        "jain_wait": jain_index(users["wait.mean"].to_numpy()),
        "jain_bounded_slowdown": jain_index(users["bounded_slowdown.mean"].to_numpy()),
        "largest_wait_ratio": None if ratio is None else float(ratio),
    }


def users_table(run: Run, *, tau: float = TAU, trim: Selection | None = None) -> pl.DataFrame:
    """One row per user (null: unknown), most core-hours first; `wait_ratio` is the user's mean wait / that of all jobs.

    The ratio is null if nobody waits.
    """
    import polars as pl

    labels: Mapping[str, Sequence[str]] | None = run.workload.get("labels")
    table = by_class(run.tables, "user", tau=tau, trim=trim.of(run) if trim else None, labels=labels)
    waits, jobs = table["wait.mean"], table["jobs"]
    overall = float((waits * jobs).sum()) / max(int(jobs.sum()), 1)
    ratio = pl.col("wait.mean") / overall if overall > 0 else pl.lit(None, pl.Float64)
    return table.rename({"class": "user"}).with_columns(ratio.alias("wait_ratio"))


@dataclass(frozen=True, slots=True)
class StartMisses:
    """Jobs that start later than in a reference run, of those that start in both."""

    jobs: int
    missed: int
    mean_miss: float  # seconds, over all these jobs; a job that is not late counts 0
    mean_of_missed: float | None  # over the late ones only
    never_started: int  # start in the reference only; neither in `jobs` nor in `missed`

    @property
    def share(self) -> float | None:
        return self.missed / self.jobs if self.jobs else None


def start_misses(run: Run, reference: Run, *, trim: Selection | None = None) -> StartMisses:
    """How often, and by how much, jobs start later than in the reference run of the same workload.

    An approximation of missed fair start times (Sabin and Sadayappan): theirs is the start in a schedule without any
    job that was submitted later, which takes one simulation per job. The reference takes its place: a run of
    `conservative` or of `none` (first come, first served), in which later jobs hardly or never delay earlier ones.
    """
    pairs = paired_by_job(run, reference, "start", trim=trim)
    late = pairs.difference[pairs.difference > _SAME]
    jobs = len(pairs.job)
    return StartMisses(
        jobs=jobs,
        missed=len(late),
        mean_miss=float(late.sum()) / jobs if jobs else 0.0,
        mean_of_missed=float(np.mean(late)) if len(late) else None,
        never_started=pairs.only_other,
    )
