"""`schedlab export`: a schedule for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import ForceFile

if TYPE_CHECKING:
    import polars as pl

    from schedlab.model.run import Run


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run folder.", show_default=False)],
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT.swf", help="The log to write; .gz or .zst compresses it.", show_default=False),
    ],
    force: ForceFile = False,
) -> None:
    """Write a simulated schedule as a log in the Standard Workload Format, as other tools read it.

    [b]schedlab export results/easy easy.swf.gz[/b]
    """
    from schedlab.cli.output import check_new_file, say
    from schedlab.engine.store import read_run
    from schedlab.files.bytestream import plain_name
    from schedlab.model.errors import InputError
    from schedlab.workload.swf.write import write_swf

    if not plain_name(out).endswith(".swf"):
        raise InputError(
            "is not the name of an SWF log", where=str(out), hint="let it end in .swf, .swf.gz or .swf.zst"
        )
    found = read_run(run)
    check_new_file(out, force)
    lost = write_swf(out, _with_preceding(found), swf_header(found), requests=found.requests)
    say(f"{len(found.jobs):,} jobs in {out}")
    for sentence in (*lost, *_of_the_schedule(found)):
        say(f"  lost: {sentence}", "yellow")


def _of_the_schedule(run: Run) -> list[str]:
    """What happened in the run and has no place in a log: attempts, interruptions, jobs that are still there."""
    told = []
    if several := int((run.pieces["job"].value_counts()["count"] > 1).sum()) if len(run.pieces) else 0:
        told.append(
            f"the course of {several:,} jobs that were interrupted, requeued, slowed down or reshaped: their last "
            "start is the end of their wait"
        )
    if there := sum(run.summary["states"].get(state, 0) for state in ("held", "waiting", "running", "suspended")):
        told.append(f"that {there:,} jobs had not ended: the run was broken off")
    return told


def _with_preceding(run: Run) -> pl.DataFrame:
    """The jobs of a run, with what SWF can say of predecessors: the first one, and a think time."""
    if run.predecessors.is_empty() or "after" in run.jobs.columns:
        return run.jobs
    first = run.predecessors.unique("sequence", keep="first", maintain_order=True)
    first = first.select("sequence", after="predecessor", think="delay")
    return run.jobs.join(first, on="sequence", how="left", maintain_order="left")


def swf_header(run: Run) -> dict[str, str]:
    from datetime import datetime

    cluster, origin = run.cluster, run.workload.get("origin")
    header = {
        "Computer": cluster.name,
        "MaxJobs": str(run.summary["jobs"]),
        "MaxNodes": str(cluster.cores if cluster.pool else cluster.nodes),
        "MaxProcs": str(cluster.cores),
    }
    if origin:
        header["UnixStartTime"] = str(int(datetime.fromisoformat(origin).timestamp()))
    rules = ", ".join(f"{name} {value}" for name, value in run.options.items())
    return header | {"Note": f"{run.workload['name']} as scheduled by {run.policy} ({rules}); simulated by schedlab"}
