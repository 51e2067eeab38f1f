"""`schedlab fit`: a model of a log, to generate jobs like those in it."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from schedlab.cli.options import (
    BadRows,
    Clean,
    Cleaning,
    ForceFile,
    Log,
    MissingLimit,
    OnBadRows,
    Processors,
    Procs,
    Reader,
    reading_options,
)


class Draws(StrEnum):
    uniform = "uniform"
    mid = "mid"


def fit(
    log: Log,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="MODEL.json", help="The model file to write.", show_default=False)
    ],
    model: Annotated[
        str, typer.Option("--model", metavar="KIND", help="The kind of model: [b]empirical[/b], [b]cyclic[/b].")
    ] = "empirical",
    independent: Annotated[
        bool,
        typer.Option(
            "--independent",
            metavar="",
            help="Each variable on its own: size, limit, accuracy and times know nothing of each other.",
        ),
    ] = False,
    draws: Annotated[
        Draws, typer.Option(help="Where in a bin of a histogram a drawn value lies: anywhere, or in the middle.")
    ] = Draws.uniform,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", "-c", metavar="CLUSTER", help="The machine; the log's header says it otherwise."),
    ] = None,
    clean: Clean = Cleaning.pwa,
    procs: Procs = Processors.requested,
    missing_limit: MissingLimit = "runtime",
    bad_rows: OnBadRows = BadRows.drop,
    reader: Reader = None,
    force: ForceFile = False,
) -> None:
    """Fit a model to a log, and say how alike jobs generated from it are to those of the log.

    [b]schedlab fit HPC2N-2002-2.2-cln.swf.gz --out hpc2n.json[/b]

    [b]schedlab generate hpc2n.json --span 1y --out year.swf.gz[/b]
    """
    from schedlab.analysis.fidelity import compare_workloads
    from schedlab.cli.fidelity import print_fidelity
    from schedlab.cli.output import check_new_file, say
    from schedlab.cluster.read import read_cluster
    from schedlab.generate.base import generate
    from schedlab.generate.store import fit as fit_model
    from schedlab.generate.store import write_model
    from schedlab.workload.read import read_workload

    check_new_file(out, force)
    options: dict[str, Any] = {"processors": read_cluster(cluster).cores} if cluster else {}
    options |= ({"joint": False} if independent else {}) | ({"draws": str(draws)} if draws != Draws.uniform else {})
    reading = reading_options(clean, procs, missing_limit, bad_rows, reader)
    workload = read_workload(log, **reading, in_memory=False)
    fitted = fit_model(workload, model, **options)
    write_model(out, fitted)
    say(f"{fitted.kind} model of {workload.name} in {out} ({out.stat().st_size / 1024:,.0f} KiB)")
    for sentence in getattr(fitted, "facts", list)():
        say(f"  {sentence}", "dim")
    say("")
    sample = generate(fitted, span=_span(workload), name="generated sample")
    print_fidelity(compare_workloads(sample, workload, processors=fitted.processors or None))


def _span(workload: Any) -> float:
    """First to last submittal, in seconds."""
    ends = [(batch.submit[0], batch.submit[-1]) for batch in workload.batches() if len(batch)]
    return max(float(ends[-1][1] - ends[0][0]), 1.0)
