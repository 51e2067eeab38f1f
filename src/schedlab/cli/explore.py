"""`schedlab explore`: runs as one page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from schedlab.cli.options import ForceFile


def explore(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="Run folders, or folders that hold runs.", show_default=False)
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE.html", help="The page: one file, with everything inside."),
    ],
    force: ForceFile = False,
) -> None:
    """Make a page of finished runs: Gantt chart, cluster map, queue, jobs, and why each of them waited.

    It is one file that any browser opens, without a server and without the network.

    [b]schedlab explore results/easy -o easy.html[/b]

    [b]schedlab explore results/* -o results.html[/b]
    """
    from schedlab.cli.compare import open_runs
    from schedlab.cli.output import check_new_file, say
    from schedlab.model.errors import InputError
    from schedlab.model.units import format_bytes
    from schedlab.web.explore import write_explorer

    if out.suffix not in (".html", ".htm"):
        raise InputError("is not the name of a page", where=str(out), hint="let it end in .html")
    check_new_file(out, force)
    found = open_runs(runs)
    write_explorer(found, out)
    jobs = sum(run.summary["jobs"] for run in found)
    what = "1 run" if len(found) == 1 else f"{len(found)} runs"
    say(f"{what}, {jobs:,} jobs in {out} ({format_bytes(round(out.stat().st_size, -4))}): open it in a browser")
