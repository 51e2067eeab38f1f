"""What became of each workflow in the runs of a study: a small table per run, kept also where only summaries are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.analysis.study import IDENTITY, PARAMETER
from schedlab.analysis.workflow_comparison import first_n
from schedlab.experiment.execute import selection
from schedlab.experiment.results import Results
from schedlab.experiment.sweep import Axis, axis_of, swept
from schedlab.experiment.workflow_file import workflows_of
from schedlab.model.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def workflow_results(folder: str | Path | Results) -> pl.DataFrame:
    """The workflows of all finished runs of a study, a row each: who the run is (`run`, `group`, `policy`,
    `repetition`, `seed`), `parameters.handling` … that the study varies, and the columns of `workflow_table`."""
    import polars as pl

    results = folder if isinstance(folder, Results) else Results(folder)
    counted = selection(results.study) if results.results else None
    names = [*IDENTITY, *(name for name in results.table.columns if name.startswith(PARAMETER))]
    runs = {row["run"]: row for row in results.table.select(names).iter_rows(named=True)}
    found = []
    for result in results.results:
        own = workflows_of(results.folder, result, counted)
        if own is not None:
            whose = runs[result["identity"]]
            columns = [pl.lit(whose[name], results.table.schema[name]).alias(name) for name in names]
            found.append(own.select(*columns, pl.all()))
    if not found:
        hint = "docs/workflows.md tells how a study gets some"
        raise InputError("no finished run of this study has workflows", where=str(results.folder), hint=hint)
    return pl.concat(found)


def workflow_sweep(results: Results, x: str | None = None) -> tuple[pl.DataFrame, Axis | None]:
    """The workflows of `workflow_results` that may be compared (`first_n`), with where each belongs in a figure: `x`
    (on the axis of a parameter, or its kind), `line` (its handling, and what else varies) and `panel` (its kind).

    The axis is that of `x`; by default the first parameter of numbers that varies, or none.
    """
    import polars as pl

    table = first_n(workflow_results(results))
    others = _told_apart(results, table)
    if x is None:
        x = next((name for name in swept(results) if name.partition(".")[0] in others), None)
    axis = None if x is None else axis_of(results, x)
    points = {run.identity: run.point for run in results.planned}
    others = [name for name in others if axis is None or name != axis.parameter]
    rows = []
    for run, handling, kind in table.select("run", "handling", "kind").unique(maintain_order=True).iter_rows():
        place = kind if axis is None else axis.places.get(points[run].get(axis.parameter))
        own = "" if axis is not None and axis.parameter == "handling" else handling
        line = ", ".join(filter(None, (own, results.words(others, points[run])))) or results.name
        rows.append((run, handling, kind, place, line, "" if axis is None else kind))
    names = ["run", "handling", "kind", "x", "line", "panel"]
    where = pl.DataFrame(rows, names, orient="row", infer_schema_length=None)
    return table.join(where, on=["run", "handling", "kind"], how="left", maintain_order="left"), axis


def _told_apart(results: Results, table: pl.DataFrame) -> list[str]:
    """The parameters that vary among the workflows of one kind and handling."""
    import polars as pl

    names = [name for name in results.varied if name != "handling"]
    most = table.group_by("kind", "handling").agg(pl.col(PARAMETER + name).n_unique() for name in names)
    return [name for name in names if (most[PARAMETER + name] > 1).any()]
