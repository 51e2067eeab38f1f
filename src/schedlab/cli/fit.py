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
    Seeds,
    SimulatedPolicies,
    reading_options,
)

WEEKS, EMPIRICAL = "The model of weeks", "The empirical model"


class Draws(StrEnum):
    uniform = "uniform"
    mid = "mid"


def fit(
    log: Log,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="MODEL.json", help="The model file to write.", show_default=False)
    ],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="KIND",
            help="The kind of model: [b]weeks[/b] (whole weeks of the log in another order), [b]empirical[/b] (fitted "
            "distributions), [b]cyclic[/b].",
        ),
    ] = "weeks",
    block: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="How long the blocks of the log are: [b]4w[/b], [b]1w[/b], [b]1d[/b]. "
            "[dim]\\[default: 4w; shorter for logs of less than half a year][/dim]",
            show_default=False,
            rich_help_panel=WEEKS,
        ),
    ] = None,
    replacement: Annotated[
        bool,
        typer.Option(
            "--with-replacement",
            metavar="",
            help="Draw each block from all of them, instead of all weeks before any comes again: seeds differ more.",
            rich_help_panel=WEEKS,
        ),
    ] = False,
    independent: Annotated[
        bool,
        typer.Option(
            "--independent",
            metavar="",
            help="Each variable on its own: size, limit, accuracy and times know nothing of each other.",
            rich_help_panel=EMPIRICAL,
        ),
    ] = False,
    draws: Annotated[
        Draws,
        typer.Option(
            help="Where in a bin of a histogram a drawn value lies: anywhere, or in the middle.",
            rich_help_panel=EMPIRICAL,
        ),
    ] = Draws.uniform,
    giants: Annotated[
        str | None,
        typer.Option(
            "--without-giants",
            metavar="TIME",
            help="Leave out jobs of which each alone would keep the whole machine busy for longer: [b]12h[/b].",
            show_default=False,
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", "-c", metavar="CLUSTER", help="The machine; the log's header says it otherwise."),
    ] = None,
    policy: SimulatedPolicies = None,
    seeds: Seeds = 5,
    clean: Clean = Cleaning.pwa,
    procs: Procs = Processors.requested,
    missing_limit: MissingLimit = "runtime",
    bad_rows: OnBadRows = BadRows.drop,
    reader: Reader = None,
    force: ForceFile = False,
) -> None:
    """Fit a model to a log, and say whether jobs generated from it fare like those of the log.

    [b]schedlab fit HPC2N-2002-2.2-cln.swf.gz --out hpc2n.json[/b]

    [b]schedlab generate hpc2n.json --span 1y --out year.swf.gz[/b]
    """
    from schedlab.analysis.fidelity import compare_workloads
    from schedlab.cli.fidelity import print_fidelity, print_headline, simulated
    from schedlab.cli.output import check_new_file, say, warn
    from schedlab.cluster.read import read_cluster
    from schedlab.engine.scenario import cluster_of_header
    from schedlab.experiment.outcomes import span_of
    from schedlab.generate.base import generate
    from schedlab.generate.giants import without_giants
    from schedlab.generate.store import fit as fit_model
    from schedlab.generate.store import write_model
    from schedlab.model.errors import InputError
    from schedlab.model.units import parse_duration
    from schedlab.workload.read import read_workload

    check_new_file(out, force)
    reading = reading_options(clean, procs, missing_limit, bad_rows, reader)
    workload = read_workload(log, **reading, in_memory=False)
    machine = read_cluster(cluster) if cluster else cluster_of_header(workload, or_largest_job=True)
    facts = []
    if giants is not None:
        seconds = parse_duration(giants, where="--without-giants")
        workload, found = without_giants(workload, machine.cores, seconds)
        facts = found.facts()
    options = _options(block, replacement, independent, draws) | ({"processors": machine.cores} if cluster else {})
    fitted = fit_model(workload, model, **options)
    write_model(out, fitted)
    sample = generate(fitted, span=span_of(workload), name="generated sample")
    try:
        outcomes = simulated(fitted, workload, machine, policy, seeds)
    except InputError as error:
        warn(f"the model is in {out}, but nothing is known of its schedules: {error.message} ({error.where})")
        outcomes = []
    fidelity = compare_workloads(sample, workload, processors=machine.cores, outcomes=outcomes)
    print_headline(fidelity)
    say(f"{fitted.kind} model of {workload.name} in {out} ({out.stat().st_size / 1024:,.0f} KiB)")
    for sentence in (*facts, *getattr(fitted, "facts", list)()):
        say(f"  {sentence}", "dim")
    say("")
    print_fidelity(fidelity)


def _options(block: str | None, replacement: bool, independent: bool, draws: Draws) -> dict[str, Any]:
    """Those that were given: each kind of model has its own."""
    from schedlab.model.units import parse_duration

    found: dict[str, Any] = {} if block is None else {"block": parse_duration(block, where="--block")}
    found |= {"replacement": True} if replacement else {}
    found |= {"joint": False} if independent else {}
    return found | ({"draws": str(draws)} if draws != Draws.uniform else {})
