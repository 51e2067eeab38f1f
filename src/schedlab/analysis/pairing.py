"""What belongs together: the same job in two runs, the same repetition under two policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.job_values import chosen_jobs, job_values
from schedlab.analysis.metrics import TAU
from schedlab.analysis.trim import Selection
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.suggest import did_you_mean

if TYPE_CHECKING:
    import polars as pl

SAME_REPETITION = ("repetition", "seed")  # columns in which two runs have to agree to be a pair
BASELINE = " of baseline"  # ends the names of the baseline's columns where a row holds both runs


@dataclass(frozen=True, slots=True)
class JobPairs:
    """The jobs that have the metric in both runs, and how many have it in one run only."""

    row: NDArray[np.int64]  # in the table of the first run
    job: NDArray[np.int64]  # its number there, which need not be its own alone
    one: NDArray[np.float64]
    other: NDArray[np.float64]
    only_one: int
    only_other: int

    @property
    def difference(self) -> NDArray[np.float64]:
        return self.one - self.other


def paired_by_job(
    one: Run, other: Run, metric: str = "wait", *, tau: float = TAU, trim: Selection | None = None
) -> JobPairs:
    """The metric of each job in two runs of the same workload."""
    key = "job" if all(_unique(run.tables.column("job")) for run in (one, other)) else "sequence"
    rows, jobs, submits, values = [], [], [], []
    for run in (one, other):
        found = job_values(run.tables, metric, tau=tau)
        has = chosen_jobs(run, trim) & ~np.isnan(found)
        rows.append(np.flatnonzero(has))
        jobs.append(run.tables.column(key)[has])
        submits.append(run.tables.column("submit")[has])
        values.append(found[has])
    common, at, there = np.intersect1d(jobs[0], jobs[1], assume_unique=True, return_indices=True)
    moved = np.flatnonzero(submits[0][at] != submits[1][there])
    if len(moved):
        first = moved[0]
        times = f"at {submits[0][at][first]:g} s in one run and at {submits[1][there][first]:g} s in the other"
        hint = "pair runs of the same workload, at the same load"
        raise InputError(f"{key} {common[first]} was submitted {times}", hint=hint)
    only = [len(all_of_it) - len(common) for all_of_it in jobs]
    row = rows[0][at]
    return JobPairs(row, one.tables.column("job")[row], values[0][at], values[1][there], *only)


def paired_by_seed(
    table: pl.DataFrame, baseline: str, metrics: Sequence[str], *, on: Sequence[str] = SAME_REPETITION
) -> pl.DataFrame:
    """One row per group, repetition and metric: value, baseline, difference and ratio (null if divided by 0).

    `table` is one of `study_table`. Runs without a partner in the baseline are left out.
    """
    import polars as pl

    keys = pair_keys(table, on)
    tables = [
        partners(table, group, baseline, on=on).select(
            "group",
            *keys,
            pl.lit(metric).alias("metric"),
            pl.col(metric).alias("value"),
            pl.col(metric + BASELINE).alias("baseline"),
        )
        for group in other_groups(table, baseline)
        for metric in metrics
    ]
    if not tables:
        raise InputError(f"there is nothing besides '{baseline}' to compare it with")
    value, base = pl.col("value"), pl.col("baseline")
    return pl.concat(tables).with_columns(
        (value - base).alias("difference"), pl.when(base != 0).then(value / base).alias("ratio")
    )


def partners(table: pl.DataFrame, group: str, baseline: str, *, on: Sequence[str] = SAME_REPETITION) -> pl.DataFrame:
    """The runs of a group beside those of the baseline with the same repetition and seed; may be empty."""
    keys = pair_keys(table, on)
    sides = [_side(table, name, keys) for name in (group, baseline)]
    return sides[0].join(sides[1], on=keys, how="inner", suffix=BASELINE) if keys else _nobody(*sides)


def pair_keys(table: pl.DataFrame, on: Sequence[str]) -> list[str]:
    """Without the columns that nobody filled in: a study may have repetitions and no seeds."""
    return [name for name in on if name in table.columns and table[name].null_count() < len(table)]


def other_groups(table: pl.DataFrame, baseline: str) -> list[str]:
    groups: list[str] = table["group"].unique(maintain_order=True).to_list()
    if baseline not in groups:
        hint = did_you_mean(baseline, groups, f"groups: {', '.join(groups)}")
        raise InputError(f"there is no group '{baseline}'", hint=hint)
    return [group for group in groups if group != baseline]


def _side(table: pl.DataFrame, group: str, keys: list[str]) -> pl.DataFrame:
    side = table.filter(table["group"] == group)
    if keys:
        twice = side.filter(side.select(keys).is_duplicated() & side[keys[0]].is_not_null())
        if len(twice):
            which = ", ".join(f"{key} {value}" for key, value in zip(keys, twice.select(keys).row(0), strict=True))
            hint = "pair on more columns, or compare one part of the study at a time"
            raise InputError(f"group '{group}' has more than one run of {which}", hint=hint)
    return side


def _nobody(one: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    return one.join(other, how="cross", suffix=BASELINE).clear()


def _unique(values: NDArray[Any]) -> bool:
    return len(np.unique(values)) == len(values)
