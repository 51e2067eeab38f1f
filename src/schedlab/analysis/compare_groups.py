"""Groups of repetitions against a baseline: difference, ratio, and intervals that hold all together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.interval import LEVEL, Interval
from schedlab.analysis.pairing import BASELINE, SAME_REPETITION, other_groups, partners
from schedlab.analysis.repetitions import difference_interval, ratio, ratio_interval
from schedlab.analysis.study import chosen_metrics, is_timed, schedule_columns
from schedlab.analysis.verdict import metric_unit

if TYPE_CHECKING:
    import polars as pl

_TEXTS = ("group", "baseline", "metric", "scale")
_COUNTS = ("n", "n_baseline", "comparisons", "common")
_JOBS = ("jobs", "started")
COLUMNS = (
    "group",
    "baseline",
    "metric",
    "paired",
    "n",  # repetitions that differ from each other in any metric of their schedules
    "n_baseline",
    "mean",
    "baseline_mean",
    "difference",
    "difference_low",
    "difference_high",
    "ratio",
    "ratio_low",
    "ratio_high",
    "level",  # at which all intervals hold together
    "comparisons",  # that the intervals are corrected for
    "scale",  # on which the difference is told and tested: ratio or difference
    "p",
    "p_corrected",
    "same_jobs",  # whether both sides started the same jobs
    "common",  # if not: how many both started (in the pair with fewest), which metrics of jobs are about; null: unknown
)


@dataclass(frozen=True, slots=True)
class Shared:
    """Two runs that did not start the same jobs: how many both started, and metrics of those jobs in each of them."""

    jobs: int | None = None  # None: nobody knows
    one: Mapping[str, float | None] = field(default_factory=dict)
    other: Mapping[str, float | None] = field(default_factory=dict)


def by_counts(one: Mapping[str, Any], other: Mapping[str, Any]) -> Shared | None:
    """Where nothing but the summaries is known: jobs are the same if all started, or equally many of as many."""
    counts = [(each.get("jobs"), each.get("started")) for each in (one, other)]
    return None if counts[0] == counts[1] or all(jobs == started for jobs, started in counts) else Shared()


def compare_groups(
    table: pl.DataFrame,
    baseline: str,
    metrics: Sequence[str] | None = None,
    *,
    on: Sequence[str] = SAME_REPETITION,
    comparisons: int | None = None,
    level: float = LEVEL,
    shared: Callable[[Mapping[str, Any], Mapping[str, Any]], Shared | None] = by_counts,
) -> pl.DataFrame:
    """One row per group and metric (COLUMNS).

    The intervals hold all together at `level`: each is as much wider as the number of `comparisons` demands
    (Bonferroni), by default those of this table. Runs are paired by the columns `on` where at least half of the smaller
    group has a partner, and only those count then. Null: no interval for one repetition, no ratio where a value is not
    positive. `shared` is asked of each pair of rows of the table which jobs both started; None: the same.
    """
    import polars as pl

    chosen, others = chosen_metrics(table, metrics), other_groups(table, baseline)
    many = max(comparisons or len(chosen) * len(others), 1)
    rows: list[dict[str, Any]] = []
    for group in others:
        runs = {
            timed: _of_shared_jobs(*_sides(table, group, baseline, on, copies=timed), shared)
            for timed in set(map(is_timed, chosen))
        }
        for metric in chosen:
            paired, sides, jobs = runs[is_timed(metric)]
            one, other = _values(sides, metric, paired)
            row = {"group": group, "baseline": baseline, "metric": metric, "paired": paired}
            found = _compared(one, other, paired, metric, 1 - (1 - level) / many)
            corrected = None if found["p"] is None else min(many * found["p"], 1.0)
            rows.append(row | found | {"level": level, "comparisons": many, "p_corrected": corrected} | jobs)
    schema: dict[str, Any] = dict.fromkeys(COLUMNS, pl.Float64)
    schema |= dict.fromkeys(_TEXTS, pl.String) | dict.fromkeys(_COUNTS, pl.Int64) | {"paired": pl.Boolean}
    schema["same_jobs"] = pl.Boolean
    return pl.DataFrame(rows, schema, orient="row")


def _sides(
    table: pl.DataFrame, group: str, baseline: str, on: Sequence[str], *, copies: bool
) -> tuple[bool, tuple[pl.DataFrame, pl.DataFrame]]:
    """The runs to compare, row by row if they are paired. Copies (the same schedule) count once, or each."""
    of_schedule = schedule_columns(table)
    both = partners(table, group, baseline, on=on)
    one, other = (table.filter(table["group"] == name) for name in (group, baseline))
    if 2 * len(both) >= min(len(one), len(other)):
        if not copies:
            same = [*of_schedule, *(name + BASELINE for name in of_schedule)]
            both = both.unique(same, keep="first", maintain_order=True)
        ours = [name for name in both.columns if not name.endswith(BASELINE)]
        theirs = {name: name.removesuffix(BASELINE) for name in both.columns if name.endswith(BASELINE)}
        return True, (both.select(ours), both.select(list(theirs)).rename(theirs))
    if not copies:
        one, other = (side.unique(of_schedule, keep="first", maintain_order=True) for side in (one, other))
    return False, (one, other)


def _of_shared_jobs(
    paired: bool,
    sides: tuple[pl.DataFrame, pl.DataFrame],
    shared: Callable[[Mapping[str, Any], Mapping[str, Any]], Shared | None],
) -> tuple[bool, tuple[pl.DataFrame, pl.DataFrame], dict[str, Any]]:
    """Metrics of jobs keep to the jobs that both runs of a pair started, where they did not start the same."""
    if not paired:
        means = [{name: side[name].mean() for name in _JOBS if name in side.columns} for side in sides]
        return paired, sides, {"same_jobs": by_counts(*means) is None, "common": None}
    rows = tuple(side.to_dicts() for side in sides)
    found = [shared(one, other) for one, other in zip(*rows, strict=True)]
    others = [each for each in found if each is not None]
    if not others:
        return paired, sides, {"same_jobs": True, "common": None}
    counts = [each.jobs for each in others if each.jobs is not None]
    for at, each in enumerate(found):
        if each is not None:
            rows[0][at] |= each.one
            rows[1][at] |= each.other
    changed = tuple(_as_table(own, side.schema) for own, side in zip(rows, sides, strict=True))
    common = min(counts) if len(counts) == len(others) else None
    return paired, (changed[0], changed[1]), {"same_jobs": False, "common": common}


def _as_table(rows: list[dict[str, Any]], schema: Any) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame([{name: row[name] for name in schema} for row in rows], schema)


def _values(
    sides: tuple[pl.DataFrame, pl.DataFrame], metric: str, paired: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Without runs that lack the metric, and without the partners of those."""
    one, other = (side[metric].to_numpy().astype(np.float64) for side in sides)
    if paired:
        has = ~(np.isnan(one) | np.isnan(other))
        return one[has], other[has]
    return one[~np.isnan(one)], other[~np.isnan(other)]


def _compared(
    one: NDArray[np.float64], other: NDArray[np.float64], paired: bool, metric: str, level: float
) -> dict[str, Any]:
    known = len(one) and len(other)
    apart = difference_interval(one, other, paired=paired, level=level)
    times = ratio_interval(one, other, paired=paired, level=level)
    factor = ratio(one, other)
    scale = "difference" if factor is None or metric_unit(metric) == "share" else "ratio"
    told = apart if scale == "difference" else times
    return {
        "n": len(one),
        "n_baseline": len(other),
        "mean": float(one.mean()) if len(one) else None,
        "baseline_mean": float(other.mean()) if len(other) else None,
        "difference": float(one.mean() - other.mean()) if known else None,
        **_limits("difference", apart),
        "ratio": factor,
        **_limits("ratio", times),
        "scale": scale,
        "p": told and told.p,
    }


def _limits(name: str, interval: Interval | None) -> dict[str, float | None]:
    low, high = (interval.low, interval.high) if interval else (None, None)
    return {f"{name}_low": low, f"{name}_high": high}
