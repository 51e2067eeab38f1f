"""Groups of repetitions against a baseline: difference, ratio, and intervals that hold all together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.interval import LEVEL, Interval
from schedlab.analysis.pairing import BASELINE, SAME_REPETITION, other_groups, partners
from schedlab.analysis.repetitions import difference_interval, ratio, ratio_interval
from schedlab.analysis.study import chosen_metrics, is_timed, metric_columns, schedule_columns
from schedlab.analysis.verdict import metric_unit

if TYPE_CHECKING:
    import polars as pl

_TEXTS = ("group", "baseline", "metric", "scale")
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
    "level",  # at which all intervals hold together
    "comparisons",  # that the intervals are corrected for
    "scale",  # on which the difference is told and tested: ratio or difference
    "p",
    "p_corrected",
)


def compare_groups(
    table: pl.DataFrame,
    baseline: str,
    metrics: Sequence[str] | None = None,
    *,
    on: Sequence[str] = SAME_REPETITION,
    comparisons: int | None = None,
    level: float = LEVEL,
) -> pl.DataFrame:
    """One row per group and metric (COLUMNS).

    The intervals hold all together at `level`: each is as much wider as the number of `comparisons` demands
    (Bonferroni), by default those of this table. Runs are paired by the columns `on` where at least half of the smaller
    group has a partner, and only those count then. Null: no interval for one repetition, no ratio where a value is not
    positive.
    """
    import polars as pl

    chosen, others = chosen_metrics(table, metrics), other_groups(table, baseline)
    many = max(comparisons or len(chosen) * len(others), 1)
    rows: list[dict[str, Any]] = []
    for group in others:
        runs = {timed: _sides(table, group, baseline, on, copies=timed) for timed in set(map(is_timed, chosen))}
        for metric in chosen:
            paired, sides = runs[is_timed(metric)]
            one, other = _values(sides, metric, paired)
            row = {"group": group, "baseline": baseline, "metric": metric, "paired": paired}
            found = _compared(one, other, paired, metric, 1 - (1 - level) / many)
            corrected = None if found["p"] is None else min(many * found["p"], 1.0)
            rows.append(row | found | {"level": level, "comparisons": many, "p_corrected": corrected})
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
