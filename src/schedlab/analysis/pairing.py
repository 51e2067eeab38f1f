"""What belongs together: the same job in two runs, the same repetition under two policies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.job_values import columns_of, values_of
from schedlab.analysis.metrics import TAU
from schedlab.analysis.trim import TOLD, Chooser, Selection
from schedlab.model.errors import InputError
from schedlab.model.jobs import Columns, in_order
from schedlab.model.run import Run, Tables
from schedlab.model.suggest import did_you_mean

if TYPE_CHECKING:
    import polars as pl

SAME_REPETITION = ("repetition", "seed")  # columns in which two runs have to agree to be a pair
BASELINE = " of baseline"  # ends the names of the baseline's columns where a row holds both runs


@dataclass(frozen=True, slots=True)
class JobPairs:
    """The jobs that have the metric in both runs, and how many have it in one run only."""

    place: NDArray[np.int64]  # in the workload of the first run
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
    found = [pairs[metric] for pairs in pairs_by_job(one, other, (metric,), tau=tau, trim=trim)]

    def whole(name: str, kind: type) -> NDArray[Any]:
        return np.concatenate([np.empty(0, kind), *(getattr(pairs, name) for pairs in found)])

    return JobPairs(
        place=whole("place", np.int64),
        job=whole("job", np.int64),
        one=whole("one", np.float64),
        other=whole("other", np.float64),
        only_one=sum(pairs.only_one for pairs in found),
        only_other=sum(pairs.only_other for pairs in found),
    )


def pairs_by_job(
    one: Run, other: Run, metrics: Sequence[str], *, tau: float = TAU, trim: Selection | None = None
) -> Iterator[dict[str, JobPairs]]:
    """The same of several metrics, some jobs at a time: in the order of their numbers, or of their places in the
    workload where a number is not one job's alone."""
    runs = [run.tables for run in (one, other)]
    key = "job" if all(_different(tables) for tables in runs) else "sequence"
    names = tuple(dict.fromkeys(("job", "start", *TOLD, *(name for metric in metrics for name in columns_of(metric)))))
    counts = [None if trim is None else trim.of(run).chooser(run.tables) for run in (one, other)]
    for parts in in_order(runs, names, key):
        sides = [_counted(part, chooser) for part, chooser in zip(parts, counts, strict=True)]
        yield {metric: _pairs(sides[0], sides[1], key, metric, tau) for metric in metrics}


def _counted(jobs: Columns, counts: Chooser | None) -> Columns:
    """Those that count and started."""
    chosen = ~np.isnan(jobs["start"])
    if counts is not None:
        chosen &= counts(jobs)
    return {name: values[chosen] for name, values in jobs.items()}


def _pairs(one: Columns, other: Columns, key: str, metric: str, tau: float) -> JobPairs:
    values = [values_of(side, metric, tau=tau) for side in (one, other)]
    has = [np.flatnonzero(~np.isnan(found)) for found in values]
    common, *places = np.intersect1d(one[key][has[0]], other[key][has[1]], assume_unique=True, return_indices=True)
    at, there = (rows[place] for rows, place in zip(has, places, strict=True))
    submits = one["submit"][at], other["submit"][there]
    moved = np.flatnonzero(submits[0] != submits[1])
    if len(moved):
        first = moved[0]
        times = f"at {submits[0][first]:g} s in one run and at {submits[1][first]:g} s in the other"
        hint = "pair runs of the same workload, at the same load"
        raise InputError(f"{key} {common[first]} was submitted {times}", hint=hint)
    only = [len(rows) - len(common) for rows in has]
    return JobPairs(one["sequence"][at], one["job"][at], values[0][at], values[1][there], *only)


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


def _different(tables: Tables) -> bool:
    """Whether each job has a number of its own."""
    return all((jobs["job"][1:] != jobs["job"][:-1]).all() for (jobs,) in in_order([tables], (), "job"))
