"""Workflows under several handlings, of which not all finished as many: which of them may be compared.

Means over all that finished would be means over other workflows: the ones that come late, when queues are longest,
finish under the better handling only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from schedlab.analysis.interval import student_interval
from schedlab.analysis.study import PARAMETER
from schedlab.analysis.workflows import MEASURED
from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean

if TYPE_CHECKING:
    import polars as pl

REPETITION = ("repetition", "seed")


def comparable(tables: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """Tables of runs to compare (`workflow_table`): as they are if as many finished in each, else by `first_n`."""
    import polars as pl

    if len({int(table["finished"].sum()) for table in tables}) < 2:
        return list(tables)
    numbered = [table.with_columns(of_run=pl.lit(at)) for at, table in enumerate(tables)]
    found = first_n(pl.concat(numbered), "of_run", within=())
    return [found.filter(pl.col("of_run") == at).drop("of_run") for at in range(len(tables))]


def first_n(table: pl.DataFrame, by: str = "handling", *, within: Sequence[str] | None = None) -> pl.DataFrame:
    """The first n finished workflows of each run, n the smallest number that finished in any of the runs to compare.

    `table` is that of several runs (`workflow_results`, or `workflow_table` of each with a column that tells them
    apart). The runs to compare differ in `by` and agree in the columns `within`: by default the repetition and the
    other parameters.
    """
    import polars as pl

    method, context = _columns(table, by, within)
    finished = pl.col("finished").sum().over([*context, method])
    fewest = finished.min().over(context) if context else finished.min()
    ordered = table.with_row_index("at").with_columns(n=fewest).filter("finished").sort("workflow", maintain_order=True)
    place = pl.int_range(pl.len()).over([*context, method])
    return ordered.filter(place < pl.col("n")).sort("at").drop("at", "n")


def paired(table: pl.DataFrame, by: str = "handling", *, within: Sequence[str] | None = None) -> pl.DataFrame:
    """The workflows that finished in all of the runs to compare: the same number is the same workflow. As `first_n`."""
    import polars as pl

    method, context = _columns(table, by, within)
    methods = pl.col(method).n_unique()
    everywhere = methods.over(context) if context else methods
    done = pl.col(method).filter(pl.col("finished")).n_unique().over([*context, "workflow", "kind"])
    return table.filter(pl.col("finished") & (done == everywhere))


def _columns(table: pl.DataFrame, by: str, within: Sequence[str] | None) -> tuple[str, list[str]]:
    """What tells the methods apart, and what the runs to compare agree in. A parameter that each method has one value
    of is a part of the method."""
    import polars as pl

    method = by if by in table.columns else PARAMETER + by
    for name in (method, *(within or ())):
        if name not in table.columns:
            raise InputError(f"the table has no column '{name}'", hint=did_you_mean(name, table.columns))
    if within is not None:
        return method, list(within)
    parameters = [name for name in table.columns if name.startswith(PARAMETER) and name != method]
    values = table.group_by(method).agg(pl.col(parameters).n_unique())
    vary = [name for name in parameters if (values[name] > 1).any()]
    return method, [*(name for name in REPETITION if name in table.columns), *vary]


def medians(table: pl.DataFrame, metric: str, by: Sequence[str]) -> pl.DataFrame:
    """The median of a metric (MEASURED) for each combination of the columns `by`: `value`, `low`, `high` and `n` runs.

    Where there are several runs, told apart by the column `run`: the mean of their medians with its interval (95 %,
    Student's). Where there is one of each: its median and quartiles.
    """
    import polars as pl

    if metric not in (*MEASURED, "idle_share"):
        hint = did_you_mean(metric, MEASURED, f"metrics of workflows: {', '.join((*MEASURED, 'idle_share'))}")
        raise InputError(f"there is no metric of workflows '{metric}'", hint=hint)
    quantiles = {
        name: pl.col(metric).quantile(share, "linear") for name, share in (("m", 0.5), ("low", 0.25), ("high", 0.75))
    }
    of_runs = table.drop_nulls(metric).group_by([*by, "run"], maintain_order=True).agg(**quantiles)
    found = of_runs.group_by(by, maintain_order=True).agg(
        pl.len().cast(pl.Int64).alias("n"), pl.col("m"), pl.col("low", "high").first()
    )
    repeated = bool((found["n"] > 1).any())
    intervals = [student_interval(each.to_numpy()) for each in found["m"]] if repeated else []
    limits = {name: [getattr(each, name, None) for each in intervals] for name in ("low", "high")} if repeated else {}
    return found.with_columns(
        pl.col("m").list.mean().alias("value"),
        *(pl.Series(name, values, pl.Float64) for name, values in limits.items()),
    ).select(*by, "value", "low", "high", "n")
