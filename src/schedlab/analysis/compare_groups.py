"""Groups of repetitions against a baseline: difference, ratio, intervals, tests, effect sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.interval import LEVEL, Interval
from schedlab.analysis.pairing import BASELINE, SAME_REPETITION, other_groups, partners
from schedlab.analysis.repetitions import difference_interval, ratio, ratio_interval
from schedlab.analysis.significance import Correction, corrected, mann_whitney, wilcoxon
from schedlab.analysis.study import chosen_metrics, metric_columns

if TYPE_CHECKING:
    import polars as pl

_TEXTS = ("group", "baseline", "metric", "test")
_COUNTS = ("n", "n_baseline", "comparisons", "common")
COLUMNS = (
    "group",
    "baseline",
    "metric",
    "paired",
    "n",  # repetitions that differ from each other in any metric
    "n_baseline",
    "mean",
    "baseline_mean",
    "difference",
    "difference_low",
    "difference_high",
    "ratio",
    "ratio_low",
    "ratio_high",
    "level",
    "test",
    "p",
    "p_corrected",
    "comparisons",  # that p is corrected for
    "effect",
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
    """Where nothing but the summaries is known: jobs are the same if equally many started."""
    return None if all(one.get(name) == other.get(name) for name in ("jobs", "started")) else Shared()


def compare_groups(
    table: pl.DataFrame,
    baseline: str,
    metrics: Sequence[str] | None = None,
    *,
    on: Sequence[str] = SAME_REPETITION,
    correction: Correction = "holm",
    level: float = LEVEL,
    shared: Callable[[Mapping[str, Any], Mapping[str, Any]], Shared | None] = by_counts,
) -> pl.DataFrame:
    """One row per group and metric (COLUMNS). p-values are corrected for all comparisons of this table.

    Runs are paired by the columns `on` where at least half of the smaller group has a partner, and only those count
    then. Null: no interval for one repetition, no ratio where a value is not positive. `shared` is asked of each pair
    of rows of the table which jobs both started; None: the same.
    """
    import polars as pl

    chosen = chosen_metrics(table, metrics)
    rows: list[dict[str, Any]] = []
    for group in other_groups(table, baseline):
        paired, sides = _sides(table, group, baseline, on)
        jobs, sides = _of_shared_jobs(paired, sides, shared)
        for metric in chosen:
            one, other = _values(sides, metric, paired)
            row = {"group": group, "baseline": baseline, "metric": metric, "paired": paired}
            rows.append(row | _compared(one, other, paired, level) | jobs)
    comparisons = sum(row["p"] is not None for row in rows)
    for row, p in zip(rows, corrected([row["p"] for row in rows], correction).tolist(), strict=True):
        row |= {"p_corrected": None if np.isnan(p) else p, "comparisons": comparisons}
    schema: dict[str, Any] = dict.fromkeys(COLUMNS, pl.Float64)
    schema |= dict.fromkeys(_TEXTS, pl.String) | dict.fromkeys(_COUNTS, pl.Int64) | {"paired": pl.Boolean}
    schema["same_jobs"] = pl.Boolean
    return pl.DataFrame(rows, schema, orient="row")


def _sides(
    table: pl.DataFrame, group: str, baseline: str, on: Sequence[str]
) -> tuple[bool, tuple[pl.DataFrame, pl.DataFrame]]:
    """The runs to compare, row by row if they are paired. Copies (the same in every metric) count once."""
    metrics = metric_columns(table)
    of_baseline = [name + BASELINE for name in metrics]
    both = partners(table, group, baseline, on=on)
    one, other = (table.filter(table["group"] == name) for name in (group, baseline))
    if 2 * len(both) >= min(len(one), len(other)):
        both = both.unique([*metrics, *of_baseline], keep="first", maintain_order=True)
        ours = [name for name in both.columns if not name.endswith(BASELINE)]
        theirs = {name: name.removesuffix(BASELINE) for name in both.columns if name.endswith(BASELINE)}
        return True, (both.select(ours), both.select(list(theirs)).rename(theirs))
    one, other = (side.unique(metrics, keep="first", maintain_order=True) for side in (one, other))
    return False, (one, other)


def _of_shared_jobs(
    paired: bool,
    sides: tuple[pl.DataFrame, pl.DataFrame],
    shared: Callable[[Mapping[str, Any], Mapping[str, Any]], Shared | None],
) -> tuple[dict[str, Any], tuple[pl.DataFrame, pl.DataFrame]]:
    """Metrics of jobs keep to the jobs that both runs of a pair started, where they did not start the same."""
    if not paired:
        means = [side.select(name for name in ("jobs", "started") if name in side.columns).mean() for side in sides]
        return {"same_jobs": means[0].equals(means[1]), "common": None}, sides
    rows = tuple(side.to_dicts() for side in sides)
    found = [shared(one, other) for one, other in zip(*rows, strict=True)]
    others = [each for each in found if each is not None]
    if not others:
        return {"same_jobs": True, "common": None}, sides
    counts = [each.jobs for each in others if each.jobs is not None]
    for at, each in enumerate(found):
        if each is not None:
            rows[0][at] |= each.one
            rows[1][at] |= each.other
    changed = tuple(_as_table(own, side.schema) for own, side in zip(rows, sides, strict=True))
    common = min(counts) if len(counts) == len(others) else None
    return {"same_jobs": False, "common": common}, (changed[0], changed[1])


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


def _compared(one: NDArray[np.float64], other: NDArray[np.float64], paired: bool, level: float) -> dict[str, Any]:
    test = (wilcoxon if paired else mann_whitney)(one, other)
    known = len(one) and len(other)
    return {
        "n": len(one),
        "n_baseline": len(other),
        "mean": float(one.mean()) if len(one) else None,
        "baseline_mean": float(other.mean()) if len(other) else None,
        "difference": float(one.mean() - other.mean()) if known else None,
        **_limits("difference", difference_interval(one, other, paired=paired, level=level)),
        "ratio": ratio(one, other),
        **_limits("ratio", ratio_interval(one, other, paired=paired, level=level)),
        "level": level,
        "test": test and test.test,
        "p": test and test.p,
        "effect": test and test.effect,
    }


def _limits(name: str, interval: Interval | None) -> dict[str, float | None]:
    low, high = (interval.low, interval.high) if interval else (None, None)
    return {f"{name}_low": low, f"{name}_high": high}
