"""Options that the commands of `schedlab kube` share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from schedlab.model.run import Run

OUTPUT = "What becomes of the results"
ClusterOption = Annotated[
    str,
    typer.Option(
        "--cluster",
        "-c",
        metavar="CLUSTER",
        help="The nodes: [b]NxC[/b], a cluster file, a SimGrid platform, or [b]kubectl get nodes -o yaml[/b].",
        show_default=False,
    ),
]
WorkloadOption = Annotated[
    Path,
    typer.Option(
        "--workload",
        "-j",
        metavar="LOG",
        help="The jobs: Batsim JSON as Batkube has it, SWF, Alibaba GPU pods; whatever [b]schedlab formats[/b] lists.",
        show_default=False,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="DIR", help="The folder of the run.", rich_help_panel=OUTPUT),
]
Force = Annotated[
    bool, typer.Option("--force", "-f", metavar="", help="Replace a run that is there.", rich_help_panel=OUTPUT)
]


def pods_reading(workload: Path, reading: dict[str, Any]) -> dict[str, Any]:
    """Reading options for jobs that are to be pods: Batsim's as Batkube has them, Alibaba's with exact shares."""
    from schedlab.files.bytestream import first_text, plain_name
    from schedlab.workload.batsim.read import looks_like as is_batsim
    from schedlab.workload.formats import load_reader
    from schedlab.workload.table.alibaba import looks_like as is_alibaba

    if reading.get("reader") is not None:
        return reading
    text, name = first_text(workload), plain_name(workload)
    exact = "batkube" if is_batsim(text, name) else "alibaba-shares" if is_alibaba(text, name) else None
    return reading if exact is None else {**reading, "reader": load_reader(exact)}


@contextmanager
def kept(out: Path | None) -> Iterator[None]:
    """Where a run breaks off, say what is left of it."""
    from schedlab.cli.output import InterruptedError, warn
    from schedlab.model.errors import SchedlabError

    try:
        yield
    except KeyboardInterrupt:
        raise InterruptedError("nothing was written, and what was started is stopped") from None
    except SchedlabError as error:
        if out is not None and error.run is not None:
            warn(f"what had been simulated until then is in {out}, marked as incomplete")
        raise


def print_run(run: Run, out: Path | None) -> None:
    """The numbers of a run, and where it is."""
    from schedlab.analysis.compare import Comparison, Row, observed, summary_of
    from schedlab.analysis.job_ends import end_of
    from schedlab.cli.output import console, say, warn
    from schedlab.cli.table import comparison_table, footnote

    rows = (Row(run.policy, summary_of(run)),)
    comparison = Comparison(rows, metrics=observed(rows))
    console().print(comparison_table(comparison, most=7))
    say(footnote(comparison), "dim")
    for words, jobs in run.config.get("refusals", {}).items():
        what, why = end_of(words)
        warn(f"the scheduler {what} {jobs if isinstance(jobs, int) else len(jobs):,} jobs: {why}")
    say(f"results in {out}" if out else "not kept: --out DIR writes the run to a folder", "" if out else "dim")
