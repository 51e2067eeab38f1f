"""`schedlab export`: a schedule for other tools."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import ForceFile
from schedlab.model.errors import InputError

if TYPE_CHECKING:
    from schedlab.model.run import Run


class Target(StrEnum):
    swf = "swf"
    batsim = "batsim"


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run folder.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Argument(
            metavar="[OUT]",
            help="The log to write: OUT.swf; .gz or .zst compresses it. With [b]--to batsim[/b] what the names of the "
            "files begin with. [dim]\\[default: the run's folder][/dim]",
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        Target,
        typer.Option(
            "--to",
            metavar="swf|batsim",
            help="A log in the Standard Workload Format, or the tables that Batsim writes (OUT_jobs.csv, "
            "OUT_schedule.csv, OUT_machine_states.csv, OUT_schedule.trace), as evalys reads them.",
        ),
    ] = Target.swf,
    force: ForceFile = False,
) -> None:
    """Write a simulated schedule for other tools: as a log, or as Batsim's tables.

    [b]schedlab export results/easy easy.swf.gz[/b]

    [b]schedlab export results/easy out/easy --to batsim[/b]
    """
    from schedlab.engine.store import read_run

    found = read_run(run)
    if to is Target.batsim:
        export_batsim(found, Path(run) if out is None else out, force)
    elif out is None:
        raise InputError("a log needs a name", hint=f"schedlab export {run} easy.swf.gz")
    else:
        _export_swf(found, out, force)


def _export_swf(run: Run, out: Path, force: bool) -> None:
    from schedlab.cli.output import check_new_file, say
    from schedlab.files.bytestream import plain_name
    from schedlab.workload.swf.write import write_swf

    if not plain_name(out).endswith(".swf"):
        hint = "let it end in .swf, .swf.gz or .swf.zst; other formats have a name: --to batsim"
        raise InputError("is not the name of an SWF log", where=str(out), hint=hint)
    check_new_file(out, force)
    lost = write_swf(out, run, swf_header(run))
    say(f"{run.summary['jobs']:,} jobs in {out}")
    for sentence in (*lost, *_of_the_schedule(run)):
        say(f"  lost: {sentence}", "yellow")


def export_batsim(run: Run, prefix: Path, force: bool) -> None:
    from schedlab.bridge.batsim.export import export_run
    from schedlab.cli.output import check_new_file, say

    check_new_file(Path(f"{prefix}_jobs.csv"), force)
    done = export_run(run, str(prefix))
    say(f"{done.jobs:,} jobs on {done.resources:,} resources ({done.of}) in {prefix}_jobs.csv and beside it")
    for sentence in done.lost:
        say(f"  lost: {sentence}", "yellow")


def _of_the_schedule(run: Run) -> list[str]:
    """What happened in the run and has no place in a log: attempts, interruptions, jobs that are still there."""
    from schedlab.model.jobs import interrupted

    told = []
    if several := interrupted(run.tables):
        told.append(
            f"the course of {several:,} jobs that were interrupted, requeued, slowed down or reshaped: their last "
            "start is the end of their wait"
        )
    if there := sum(run.summary["states"].get(state, 0) for state in ("held", "waiting", "running", "suspended")):
        told.append(f"that {there:,} jobs had not ended: the run was broken off")
    return told


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
