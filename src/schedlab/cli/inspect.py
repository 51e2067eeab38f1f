"""`schedlab inspect`: what is in a log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedlab.cli.compare import MOST_CLASSES, By
from schedlab.cli.options import (
    ApplicationsOfJobs,
    BadRows,
    Clean,
    Cleaning,
    ForceFile,
    Json,
    MissingLimit,
    OnBadRows,
    OptionalLog,
    Processors,
    Procs,
    Reader,
    Seeds,
    SimulatedPolicies,
    reading_options,
)
from schedlab.cli.output import print_sections
from schedlab.model.errors import InputError

if TYPE_CHECKING:
    from schedlab.model.cluster import Cluster

FIGURES = (".png", ".pdf", ".svg")


def inspect(
    log: OptionalLog = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            "-c",
            metavar="CLUSTER",
            help="The machine, for its offered load and for schedules; the log's header says it otherwise.",
        ),
    ] = None,
    by: Annotated[
        By | None,
        typer.Option(
            help="Who brings the work: jobs and core-hours by size in cores, run time, user, group (account), queue "
            "(QOS) or partition.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="LOG",
            help="Compare with this log: whether schedules behave alike; distances between distributions, "
            "correlations, cycles, load. What is compared may be a model, too.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="A figure (.png, .pdf, .svg) of --by, --against or --heatmap; of --against also a page (.html).",
        ),
    ] = None,
    heatmap: Annotated[
        Path | None,
        typer.Option(
            "--heatmap",
            metavar="FILE",
            help="Show a heatmap: how fast applications run beside one another; with a log also the friendliness of "
            "its jobs, the mean speed-up over all their pairs.",
        ),
    ] = None,
    applications: ApplicationsOfJobs = "executable",
    policy: SimulatedPolicies = None,
    seeds: Seeds = 5,
    force: ForceFile = False,
    clean: Clean = Cleaning.pwa,
    procs: Procs = Processors.requested,
    missing_limit: MissingLimit = "runtime",
    bad_rows: OnBadRows = BadRows.drop,
    reader: Reader = None,
    as_json: Json = False,
) -> None:
    """Show what is in a log: jobs, time span, offered load, sizes, accuracy of estimates, missing and bad fields.

    Or what is in the description of a cluster or in a heatmap; or, with --against, how alike two logs are, or a model
    and a log.

    [b]schedlab inspect KTH-SP2-1996-2.1-cln.swf.gz[/b]

    [b]schedlab inspect KTH-SP2-1996-2.1-cln.swf.gz --by user --out users.png[/b]

    [b]schedlab inspect generated.swf --against HPC2N.swf.gz --out fidelity.html[/b]

    [b]schedlab inspect --heatmap aris.json.gz --out speedups.png[/b]
    """
    from schedlab.cli.output import print_json
    from schedlab.cluster.read import read_cluster, recognised_cluster

    if heatmap is not None:
        _refuse_beside_heatmap({"--by": by, "--against": against, "--cluster": cluster})
        from schedlab.cli.heatmap import show_heatmap

        reading = reading_options(clean, procs, missing_limit, bad_rows, reader)
        show_heatmap(heatmap, log, applications, reading, out, force, as_json)
        return
    if log is None:
        raise InputError("which log?", hint="name its file; or a heatmap: --heatmap FILE")
    if out is not None and against is None and by is None:
        raise InputError("--out is for comparisons and classes", hint="say of what: --against LOG, or --by user")
    if by is not None and against is not None:
        raise InputError("--by and --against do not go together", hint="give one of them")
    if reader is None and against is None and by is None and recognised_cluster(Path(log)):
        _show_cluster(read_cluster(Path(log)), as_json)
        return
    machine = read_cluster(cluster) if cluster else None
    reading = reading_options(clean, procs, missing_limit, bad_rows, reader)
    if by is not None:
        _show_classes(log, by.value, reading, out, force, as_json)
        return
    if against is not None:
        _show_fidelity(log, against, machine, reading, out, force, as_json, policy, seeds)
        return

    from schedlab.workload.describe import describe

    found = describe(log, cluster=machine, **reading)
    if as_json:
        print_json(found.to_dict())
    else:
        print_sections(found.table())


def _refuse_beside_heatmap(given: dict[str, object]) -> None:
    for option, value in given.items():
        if value is not None:
            raise InputError(f"{option} and --heatmap do not go together", hint="give one of them")


def _show_classes(log: str, by: str, reading: dict[str, Any], out: Path | None, force: bool, as_json: bool) -> None:
    from schedlab.analysis.shares import shares_by_class
    from schedlab.cli.output import check_new_file, console, print_json, say
    from schedlab.cli.table import shares_table
    from schedlab.workload.read import read_workload

    if out is not None:
        from schedlab.plot.style import checked_ending

        checked_ending(out)
        check_new_file(out, force)
    workload = read_workload(log, **reading, in_memory=False, requests="full")
    found = shares_by_class(workload, by)
    if out is not None:
        from schedlab.plot.shares import plot_shares

        plot_shares(found, out, by=by, title=workload.name)
    if as_json:
        print_json({"name": workload.name, "by": by, "classes": found.to_dicts()})
        return
    say(f"{workload.name}: {sum(found['jobs']):,} jobs, {sum(found['core_hours']):,.0f} core-hours\n")
    console().print(shares_table(by, found, MOST_CLASSES))
    if len(found) > MOST_CLASSES:
        say(f"and {len(found) - MOST_CLASSES:,} more with less core time: --json lists them all", "dim")
    if out is not None:
        say(f"in {out}")


def _show_cluster(cluster: Cluster, as_json: bool) -> None:
    from schedlab.cli.cluster_table import cluster_rows
    from schedlab.cli.output import print_json, say

    if as_json:
        print_json(cluster.to_dict() | {"notes": list(cluster.notes)})
        return
    print_sections(cluster_rows(cluster))
    for note in cluster.notes:
        say(f"noted: {note}", "dim")


def _show_fidelity(
    log: str,
    against: str,
    machine: Cluster | None,
    reading: dict[str, Any],
    out: Path | None,
    force: bool,
    as_json: bool,
    policies: list[str] | None,
    seeds: int,
) -> None:
    from schedlab.analysis.fidelity import compare_workloads
    from schedlab.cli.fidelity import print_fidelity, print_headline, simulated
    from schedlab.cli.output import check_new_file, print_json, say, warn
    from schedlab.engine.scenario import cluster_of_header
    from schedlab.experiment.outcomes import span_of
    from schedlab.generate.base import Model, generate
    from schedlab.generate.store import is_model_file, read_model
    from schedlab.model.workload import Workload
    from schedlab.workload.read import read_workload
    from schedlab.workload.swf.header import machine_size

    if out is not None:
        if out.suffix not in (".html", *FIGURES):
            hint = f"let the name end in .html, or in one of {', '.join(FIGURES)}"
            raise InputError("is neither a page nor a figure", where=str(out), hint=hint)
        check_new_file(out, force)
    source = read_workload(against, **reading, in_memory=False)
    same: Workload | Model
    if is_model_file(log):
        same = read_model(log)
        sample = generate(same, span=span_of(source), name=f"{same.kind} model {Path(log).name}")
    else:
        same = sample = read_workload(log, **reading, in_memory=False)
    if machine is None:
        machine = cluster_of_header(source, or_largest_job=True)
        if not machine_size(source.header):
            warn(f"nobody says how large the machine is: {machine.name} holds the largest job; --cluster says it")
    outcomes = simulated(same, source, machine, policies, seeds)
    found = compare_workloads(sample, source, processors=machine.cores, outcomes=outcomes)
    if out is not None and out.suffix == ".html":
        from schedlab.report.fidelity import write_fidelity

        write_fidelity(out, found)
    elif out is not None:
        from schedlab.plot.fidelity import plot_fidelity

        plot_fidelity(found, out)
    if as_json:
        print_json(found.to_dict())
        return
    print_headline(found)
    print_fidelity(found)
    if out is not None:
        say(f"in {out}")
