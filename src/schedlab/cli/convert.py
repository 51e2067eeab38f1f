"""`schedlab convert`: from one format to another, saying what does not survive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from schedlab.cli.options import (
    BadRows,
    Clean,
    Cleaning,
    ForceFile,
    MissingLimit,
    OnBadRows,
    Processors,
    Procs,
    Reader,
    reading_options,
)


def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="A log, or a description of a cluster.", show_default=False)
    ],
    out: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="The file to write; its ending says in which format.", show_default=False),
    ],
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", help="The format of OUT, where its ending does not tell."),
    ] = None,
    clean: Clean = Cleaning.none,
    procs: Procs = Processors.requested,
    missing_limit: MissingLimit = "runtime",
    bad_rows: OnBadRows = BadRows.fail,
    reader: Reader = None,
    force: ForceFile = False,
) -> None:
    """Write the jobs of a log, or a cluster, in another format; what that format cannot hold is said.

    [b]schedlab convert dump.txt jobs.swf.gz[/b]

    [b]schedlab convert slurm.conf machine.toml[/b]
    """
    from schedlab.cli.output import check_new_file, say
    from schedlab.cluster.read import recognised_cluster

    check_new_file(out, force)
    if reader is None and recognised_cluster(Path(source)):
        lost = _convert_cluster(source, out, to)
    else:
        lost = _convert_jobs(source, out, to, reading_options(clean, procs, missing_limit, bad_rows, reader))
    for sentence in lost:
        say(f"  lost: {sentence}", "yellow")


def _convert_cluster(source: str, out: Path, to: str | None) -> list[str]:
    from schedlab.cli.output import say
    from schedlab.cluster.formats import format_to_write
    from schedlab.cluster.read import read_cluster

    target = format_to_write(out, to)
    cluster = read_cluster(Path(source))
    lost = target.write(out, cluster)
    say(f"{cluster.name}: {cluster.nodes:,} nodes, {cluster.cores:,} cores in {out} ({target.what})")
    for note in cluster.notes:
        say(f"  noted: {note}", "dim")
    return lost


def _convert_jobs(source: str, out: Path, to: str | None, reading: dict[str, Any]) -> list[str]:
    from schedlab.cli.output import say
    from schedlab.workload.formats import format_to_write, write_workload
    from schedlab.workload.notes import reading_notes
    from schedlab.workload.read import read_workload

    target = format_to_write(out, to)
    workload = read_workload(source, **reading, in_memory=False)
    lost = write_workload(out, workload, to)
    say(f"{workload.name}: {workload.report.kept:,} jobs in {out} ({target.what})")
    for note in reading_notes(workload.report.to_dict()):
        say(f"  {note}", "dim")
    return lost
