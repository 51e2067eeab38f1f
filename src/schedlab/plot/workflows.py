"""Workflows by how they were submitted: medians of their turnaround, run time, stretch …, kind by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab.analysis.compare import METRICS
from schedlab.analysis.workflow_comparison import first_n, medians
from schedlab.analysis.workflows import workflow_table
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.plot.style import Width
from schedlab.plot.sweep import plot_sweep

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


def plot_workflows(
    source: Sequence[Run] | pl.DataFrame,
    path: str | Path | None = None,
    *,
    metric: str = "turnaround",
    x: str = "kind",
    x_unit: str = "",
    width: Width = "page",
    labels: Sequence[str] | None = None,
    title: str = "",
) -> Figure:
    """A line (or points, over words) for each handling. Of several runs, or of a table of workflows with the columns
    `run`, `x`, `line` and `panel`, which `workflow_sweep` makes of a study.

    Whiskers and bands are intervals of confidence of the median where there are repetitions, else quartiles. Of runs,
    those with the same label are repetitions of each other.
    """
    import polars as pl

    table = source if isinstance(source, pl.DataFrame) else _table(source, labels)
    found = medians(table, metric, ["x", "line", "panel"])
    if not len(found):
        raise InputError("no workflow has finished", hint="draw runs in which some have")
    named = METRICS["workflow.idle_share" if metric == "idle_share" else f"workflow.{metric}.median"]
    repeated = bool((found["n"] > 1).any())
    told: dict[str, Any] = {"title": title} | ({"labels": labels} if isinstance(source, pl.DataFrame) else {})
    return plot_sweep(
        found.sort("x", maintain_order=True) if found["x"].dtype.is_numeric() else found,
        path,
        x=x,
        x_unit=x_unit,
        label=named.label,
        spread="" if repeated else "quartiles",
        unit={"time": "s", "share": "%"}.get(named.unit, ""),
        width=width,
        **told,
    )


def _table(runs: Sequence[Run], labels: Sequence[str] | None) -> pl.DataFrame:
    """Over the first n that finished in all the runs."""
    import polars as pl

    if labels is not None and len(labels) != len(runs):
        raise InputError(f"labels: {len(labels)}, runs: {len(runs)}", hint="give one label for each run")
    tables = [workflow_table(run) for run in runs]
    policies = {run.policy for run in runs}
    seen: Counter[str] = Counter()
    found = []
    for number, (run, table) in enumerate(zip(runs, tables, strict=True)):
        handling = ", ".join(table["handling"].unique(maintain_order=True))
        line = labels[number] if labels else handling if len(policies) == 1 else f"{handling}, {run.policy}"
        found.append(
            table.with_columns(
                run=pl.lit(str(number)),
                line=pl.lit(line),
                repetition=pl.lit(seen[line]),
                x=pl.col("kind"),
                panel=pl.lit(""),
            )
        )
        seen[line] += 1
    return first_n(pl.concat(found), "line")
