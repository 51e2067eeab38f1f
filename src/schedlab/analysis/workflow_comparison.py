"""Workflows under several handlings, of which not all finished as many: which of them may be compared.

Means over all that finished would be means over other workflows: the ones that come late, when queues are longest,
finish under the better handling only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from schedlab.analysis.study import PARAMETER
from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean

if TYPE_CHECKING:
    import polars as pl

REPETITION = ("repetition", "seed")


def first_n(table: pl.DataFrame, by: str = "handling", *, within: Sequence[str] | None = None) -> pl.DataFrame:
    """The first n finished workflows of each run, n the smallest number that finished in any of the runs to compare.

    `table` is that of several runs (`workflow_results`, or `workflow_table` of each with a column that tells them
    apart). The runs to compare differ in `by` and agree in the columns `within`: by default the repetition and all
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
    method = by if by in table.columns else PARAMETER + by
    own = {by, PARAMETER + by}
    context = within
    if within is None:
        context = [
            name for name in table.columns if (name in REPETITION or name.startswith(PARAMETER)) and name not in own
        ]
    for name in (method, *(context or ())):
        if name not in table.columns:
            raise InputError(f"the table has no column '{name}'", hint=did_you_mean(name, table.columns))
    return method, list(context or ())
