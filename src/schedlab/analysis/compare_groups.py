"""Groups of repetitions against a baseline: difference, ratio, intervals, tests, effect sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.interval import LEVEL, Interval
from schedlab.analysis.pairing import BASELINE, SAME_REPETITION, other_groups, partners
from schedlab.analysis.repetitions import difference_interval, ratio, ratio_interval
from schedlab.analysis.significance import Correction, corrected, mann_whitney, wilcoxon
from schedlab.analysis.study import chosen_metrics, is_timed, metric_columns, schedule_columns

if TYPE_CHECKING:
    import polars as pl

_TEXTS = ("group", "baseline", "metric", "test")
_COUNTS = ("n", "n_baseline", "comparisons")
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
    "level",
    "test",
    "p",
    "p_corrected",
    "comparisons",  # that p is corrected for
    "effect",
)


def compare_groups(
    table: pl.DataFrame,
    baseline: str,
    metrics: Sequence[str] | None = None,
    *,
    on: Sequence[str] = SAME_REPETITION,
    correction: Correction = "holm",
    level: float = LEVEL,
) -> pl.DataFrame:
    """One row per group and metric (COLUMNS). p-values are corrected for all comparisons of this table.

    Runs are paired by the columns `on` where at least half of the smaller group has a partner, and only those count
    then. Null: no interval for one repetition, no ratio where a value is not positive.
    """
    import polars as pl

    chosen = chosen_metrics(table, metrics)
    rows: list[dict[str, Any]] = []
    for group in other_groups(table, baseline):
        found = {timed: _sides(table, group, baseline, on, copies=timed) for timed in set(map(is_timed, chosen))}
        for metric in chosen:
            paired, sides = found[is_timed(metric)]
            one, other = _values(sides, metric, paired)
            row = {"group": group, "baseline": baseline, "metric": metric, "paired": paired}
            rows.append(row | _compared(one, other, paired, level))
    comparisons = sum(row["p"] is not None for row in rows)
    for row, p in zip(rows, corrected([row["p"] for row in rows], correction).tolist(), strict=True):
        row |= {"p_corrected": None if np.isnan(p) else p, "comparisons": comparisons}
    schema: dict[str, Any] = dict.fromkeys(COLUMNS, pl.Float64)
    schema |= dict.fromkeys(_TEXTS, pl.String) | dict.fromkeys(_COUNTS, pl.Int64) | {"paired": pl.Boolean}
    return pl.DataFrame(rows, schema, orient="row")


def _sides(
    table: pl.DataFrame, group: str, baseline: str, on: Sequence[str], *, copies: bool
) -> tuple[bool, tuple[pl.DataFrame, pl.DataFrame]]:
    """The runs to compare, row by row if they are paired. Copies (the same schedule) count once, or each."""
    metrics, of_schedule = metric_columns(table), schedule_columns(table)
    of_baseline = [name + BASELINE for name in metrics]
    both = partners(table, group, baseline, on=on)
    one, other = (table.filter(table["group"] == name) for name in (group, baseline))
    if 2 * len(both) >= min(len(one), len(other)):
        if not copies:
            same = [*of_schedule, *(name + BASELINE for name in of_schedule)]
            both = both.unique(same, keep="first", maintain_order=True)
        renamed = dict(zip(of_baseline, metrics, strict=True))
        return True, (both.select(metrics), both.select(of_baseline).rename(renamed))
    if not copies:
        one, other = (side.unique(of_schedule, keep="first", maintain_order=True) for side in (one, other))
    return False, (one, other)


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
