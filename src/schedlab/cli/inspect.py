"""`schedlab inspect`: what is in a log."""

from __future__ import annotations

from typing import Annotated

import typer

from schedlab.cli.options import BadRows, Clean, Cleaning, Json, Log, MissingLimit, OnBadRows, Processors, Procs, Reader


def inspect(
    log: Log,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            "-c",
            metavar="CLUSTER",
            help="The machine, for its offered load; the log's header says it otherwise.",
        ),
    ] = None,
    clean: Clean = Cleaning.pwa,
    procs: Procs = Processors.requested,
    missing_limit: MissingLimit = "runtime",
    bad_rows: OnBadRows = BadRows.drop,
    reader: Reader = None,
    as_json: Json = False,
) -> None:
    """Show what is in a log: jobs, time span, offered load, sizes, accuracy of estimates, missing and bad fields.

    [b]schedlab inspect KTH-SP2-1996-2.1-cln.swf.gz[/b]
    """
    from schedlab.cli.options import reading_options
    from schedlab.cli.output import console, print_json
    from schedlab.cluster.read import read_cluster
    from schedlab.workload.describe import describe

    processors = read_cluster(cluster).cores if cluster else None
    found = describe(log, processors=processors, **reading_options(clean, procs, missing_limit, bad_rows, reader))
    if as_json:
        print_json(found.to_dict())
        return

    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column()
    above = ""
    for section, name, value in found.table():
        if above and section != above:
            table.add_row()
        table.add_row(section if section != above else "", name, Text(value))
        above = section
    console().print(table)
