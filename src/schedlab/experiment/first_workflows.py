"""Metrics of workflows in a study, where not as many finished under each handling: over the first n of each run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from schedlab.analysis.study import PARAMETER, numbers
from schedlab.analysis.workflow_comparison import REPETITION
from schedlab.analysis.workflows import MEASURED, summary_of_workflows

if TYPE_CHECKING:
    import polars as pl

HANDLING, FINISHED = f"{PARAMETER}handling", "workflow.finished"


def over_first_workflows(table: pl.DataFrame, workflows: Callable[[str], pl.DataFrame | None]) -> pl.DataFrame:
    """The table of a study's runs with `workflow.turnaround.mean` … over the first n finished workflows of each run, n
    being the smallest number that finished in any of the runs that differ from it in the handling alone. Runs in which
    none finished do not count. `workflows` gives those of a run, if they were kept."""
    import polars as pl

    if FINISHED not in table.columns or HANDLING not in table.columns:
        return table
    others = [name for name in table.columns if name.startswith(PARAMETER) and name != HANDLING]
    some = pl.when(pl.col(FINISHED) > 0).then(pl.col(FINISHED))
    fewest = table.select(n=some.min().over([*REPETITION, *others]))["n"]
    if not (table[FINISHED] > fewest).any():
        return table
    rows: list[dict[str, Any]] = table.to_dicts()
    for row, n in zip(rows, fewest, strict=True):
        if n is None or not (row[FINISHED] or 0) > n or (own := workflows(row["run"])) is None:
            continue
        found = summary_of_workflows(own.filter("finished").sort("workflow").head(int(n)))
        row |= {f"workflow.{name}": value for name, value in numbers({name: found[name] for name in MEASURED})}
    return pl.DataFrame(rows, table.schema)
