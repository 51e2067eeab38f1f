"""The workflows of a run that keeps nothing else but its summary, in one small file."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab.analysis.trim import Selection
from schedlab.analysis.workflows import COLUMNS, has_workflows, workflow_table
from schedlab.engine.store import read_run
from schedlab.experiment.folder import run_folder
from schedlab.files.whole_file import whole_file
from schedlab.model.run import Run

if TYPE_CHECKING:
    import polars as pl

FILE = "workflow_results.parquet"


def write_workflows(run: Run, counted: Selection | None, folder: Path) -> bool:
    """Those that count; nothing where the run has none. Times are seconds after the submission, which single precision
    is enough for."""
    import polars as pl

    if not has_workflows(run.tables):
        return False
    small = (pl.col("start", "end") - pl.col("submit")).cast(pl.Float32)
    table = workflow_table(run, counted).select(
        pl.col("workflow").cast(pl.Int32),
        pl.col("kind", "handling").cast(pl.Categorical),
        "submit",
        small,
        "finished",
        pl.col("intermediate_wait", "critical_path", "used", "allocated").cast(pl.Float32),
    )
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(folder / FILE) as file:
        table.write_parquet(content := BytesIO(), compression="zstd", statistics=False)
        file.write(content.getvalue())  # polars would hide what a full disk says
    return True


def workflows_of(folder: Path, result: Mapping[str, Any], counted: Selection | None) -> pl.DataFrame | None:
    """Of a finished run of the study in that folder; None if it has no workflows, or did not keep them."""
    place = run_folder(folder, result["identity"])
    if (place / FILE).is_file():
        return read_workflows(place / FILE)
    if "workflow" not in result["summary"] or "run.json" not in result["files"]:
        return None
    return workflow_table(read_run(place), counted)


def read_workflows(path: Path) -> pl.DataFrame:
    """As `workflow_table` gives it."""
    import polars as pl

    def ratio(part: pl.Expr, whole: str) -> pl.Expr:
        return pl.when(pl.col(whole) > 0).then(part / pl.col(whole))

    wait, turnaround = pl.col("start") - pl.col("submit"), pl.col("end") - pl.col("submit")
    done = pl.when("finished")
    return (
        pl.read_parquet(path)
        .with_columns(pl.col("workflow").cast(pl.Int64), pl.col("kind", "handling").cast(pl.String))
        .with_columns(pl.col(pl.Float32).cast(pl.Float64))
        .with_columns(pl.col("start", "end") + pl.col("submit"))
        .with_columns(wait=wait, runtime=done.then(pl.col("end") - pl.col("start")), turnaround=done.then(turnaround))
        .with_columns(
            stretch=ratio(pl.col("turnaround"), "critical_path"),
            wait_share=ratio(pl.col("wait") + pl.col("intermediate_wait"), "turnaround"),
            idle_share=1 - ratio(pl.col("used"), "allocated"),
        )
        .select(COLUMNS)
    )
