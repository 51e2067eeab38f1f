"""What became of each workflow in the runs of a study: a small table per run, kept also where only summaries are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab.analysis.study import IDENTITY, PARAMETER
from schedlab.analysis.trim import Selection
from schedlab.analysis.workflow_comparison import compared_columns, first_n
from schedlab.analysis.workflows import MEASURED, has_workflows, workflow_table
from schedlab.experiment.execute import selection
from schedlab.experiment.folder import run_folder
from schedlab.experiment.results import Results
from schedlab.experiment.sweep import Axis, axis_of, swept
from schedlab.experiment.workflow_file import FILE, read_workflows
from schedlab.model.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def workflow_results(folder: str | Path | Results) -> pl.DataFrame:
    """The workflows of all finished runs of a study, a row each: who the run is (`run`, `group`, `policy`,
    `repetition`, `seed`), `parameters.handling` … that the study varies, and the columns of `workflow_table`."""
    import polars as pl

    results = folder if isinstance(folder, Results) else Results(folder)
    found = list(_tables(results, _identities(results))) if results.results else []
    if not found:
        raise _without_workflows(results)
    return pl.concat(found, how="vertical_relaxed")


def workflow_medians(folder: str | Path | Results, by: str = "handling") -> pl.DataFrame:
    """The medians of each finished run with workflows over the first n of them that finished (`first_n`), kind by kind:
    who the run is, `kind`, `handling`, how many came (`number`), `finished` and were counted (`n`), and the median
    `runtime`, `turnaround` …, null where n is 0.

    The runs to compare are read together and no others: memory is that of one run for each value of `by`.
    """
    import polars as pl

    results = folder if isinstance(folder, Results) else Results(folder)
    if not results.results:
        raise InputError("no run of this study is finished", where=str(results.folder))
    identity = _identities(results)
    _, context = compared_columns(identity, by)
    sets = identity.partition_by(context, maintain_order=True) if context else [identity]
    of_run = [*identity.columns, "kind", "handling"]
    found = []
    for runs in sets:
        if tables := list(_tables(results, runs)):
            table = pl.concat(tables, how="vertical_relaxed")
            counts = table.group_by(of_run, maintain_order=True).agg(pl.len().alias("number"), pl.col("finished").sum())
            counted = first_n(table, by, within=())
            medians = counted.group_by("run", "kind", "handling").agg(pl.len().alias("n"), pl.col(MEASURED).median())
            found.append(counts.join(medians, on=["run", "kind", "handling"], how="left", maintain_order="left"))
    if not found:
        raise _without_workflows(results)
    return pl.concat(found, how="vertical_relaxed").with_columns(pl.col("n").fill_null(0))


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
        line = ", ".join(filter(None, (handling, results.words(others, points[run]))))
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


def _identities(results: Results) -> pl.DataFrame:
    """Who the finished runs are, in the order of the plan."""
    varied = [name for name in results.table.columns if name.startswith(PARAMETER)]
    return results.table.select(*IDENTITY, *varied)


def _tables(results: Results, runs: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Of each of these runs that has workflows, a table of them with who the run is."""
    import polars as pl

    counted = selection(results.study)
    found = {result["identity"]: result for result in results.results}
    for row in runs.iter_rows(named=True):
        own = _workflows_of(results, found[row["run"]], counted)
        if own is not None:
            yield own.select(*(pl.lit(value).alias(name) for name, value in row.items()), pl.all())


def _workflows_of(results: Results, result: Mapping[str, Any], counted: Selection | None) -> pl.DataFrame | None:
    file = run_folder(results.folder, result["identity"]) / FILE
    if file.is_file():
        return read_workflows(file)
    if "run.json" in result["files"] and "workflow" in result["summary"]:
        run = results.run(result["identity"])
        return workflow_table(run, counted) if has_workflows(run.tables) else None
    return None


def _without_workflows(results: Results) -> InputError:
    hint = "docs/workflows.md tells how a study gets some"
    return InputError("no finished run of this study has workflows", where=str(results.folder), hint=hint)
