"""`schedlab run`: one log, one cluster, any number of policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedlab.cli.options import (
    BadRows,
    Clean,
    Cleaning,
    Json,
    Log,
    MissingLimit,
    OnBadRows,
    Pace,
    Processors,
    Procs,
    Reader,
    Requests,
    StatusEvery,
    Tau,
    Watch,
    reading_options,
)
from schedlab.cli.output import InterruptedError, warn
from schedlab.model.errors import InputError, SchedlabError

if TYPE_CHECKING:
    from schedlab.cli.watch import Monitor
    from schedlab.engine.checkpoint import Checkpoint
    from schedlab.model.cluster import Cluster
    from schedlab.model.plugins import Plugin
    from schedlab.model.workload import Workload
    from schedlab.policy.spec import PolicySpec

RULES = "How time passes"
OUTPUT = "What becomes of the results"


class Overrun(StrEnum):
    kill = "kill"
    run = "run"


class Passes(StrEnum):
    instant = "instant"
    event = "event"


class Dependencies(StrEnum):
    ignore = "ignore"
    follow = "follow"


def run(
    log: Log,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            "-c",
            metavar="CLUSTER",
            help="The machine: [b]120x2[/b] (120 nodes of 2 cores), [b]pool:240[/b] (240 cores, nodes do not matter), "
            "a [b].toml[/b] file, a [b]slurm.conf[/b] or a platform of another simulator. "
            "[dim]\\[default: a pool as large as the log's header says][/dim]",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        list[str],
        typer.Option(
            "--policy",
            "-p",
            metavar="POLICY",
            help="A scheduler, such as [b]easy[/b], [b]fcfs[/b], [b]conservative:order=saf,place=best-fit[/b] or "
            "your own [b]mine.py:Name[/b]; once for each. [b]schedlab policies[/b] lists what there is.",
        ),
    ] = ["easy"],  # noqa: B006 - Typer copies it
    observe: Annotated[
        list[str],
        typer.Option(
            "--observe",
            metavar="OBSERVER",
            help="What happens around the jobs, or who looks on: [b]power(idle=60, per_core=15)[/b], "
            "[b]failures(mtbf=2e6)[/b], your own [b]mine.py:Thermometer[/b]; once for each.",
        ),
    ] = [],  # noqa: B006
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="The folder of the run. With several policies, each gets a folder inside it, named after the policy.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", "-f", metavar="", help="Replace runs that are already there.", rich_help_panel=OUTPUT),
    ] = False,
    tau: Tau = None,
    as_json: Json = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", metavar="", help="Print errors only.", rich_help_panel=OUTPUT)
    ] = False,
    estimate: Annotated[
        str,
        typer.Option(
            metavar="ESTIMATE",
            help="How long the scheduler believes a job will run: its requested time ([b]limit[/b], [b]limit*0.5[/b]), "
            "its true run time ([b]exact[/b]), what earlier jobs suggest ([b]last-two[/b], [b]user-mean[/b], "
            "[b]nearest(5)[/b]), or what your own class says ([b]mine.py:Name[/b]).",
            rich_help_panel=RULES,
        ),
    ] = "limit",
    overrun: Annotated[
        Overrun, typer.Option(help="What happens to a job at its requested time.", rich_help_panel=RULES)
    ] = Overrun.kill,
    passes: Annotated[
        Passes,
        typer.Option(
            help="Ask the scheduler once per instant, or after every single event as older simulators do.",
            rich_help_panel=RULES,
        ),
    ] = Passes.instant,
    dependencies: Annotated[
        Dependencies,
        typer.Option(help="Whether a job waits for the preceding job that the log names.", rich_help_panel=RULES),
    ] = Dependencies.ignore,
    validate: Annotated[
        bool,
        typer.Option(
            "--validate", metavar="", help="Check the engine's invariants at every step (slow).", rich_help_panel=RULES
        ),
    ] = False,
    clean: Clean = Cleaning.pwa,
    procs: Procs = Processors.requested,
    missing_limit: MissingLimit = "runtime",
    bad_rows: OnBadRows = BadRows.fail,
    requests: Requests = None,
    reader: Reader = None,
    watch: Watch = False,
    pace: Pace = None,
    status_every: StatusEvery = None,
    checkpoint_every: Annotated[
        str | None,
        typer.Option(
            "--checkpoint-every",
            metavar="10m",
            help="Save the state of the simulation that often, so that [b]schedlab resume DIR[/b] can take it up again "
            "after whatever happens to the machine.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    performance: Annotated[
        bool,
        typer.Option(
            "--performance",
            metavar="",
            help="Record how long each decision took, the queue it was about, and memory "
            "([b]schedlab plot DIR --kind performance[/b] draws it).",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    go_on: Annotated[bool, typer.Option("--go-on", hidden=True)] = False,
) -> None:
    """Replay a log on a cluster under one or more schedulers, and compare what happens.

    [b]schedlab run KTH-SP2.swf.gz --policy easy --policy fcfs --out results[/b]

    [b]schedlab run HPC2N.swf.gz -c 120x2 -p easy:order=sjf,place=best-fit -p conservative -o results[/b]

    [b]schedlab run KTH-SP2.swf.gz --policy mine.py:SmallestThatFits --policy easy[/b]
    """
    from schedlab.cli.output import print_json
    from schedlab.cli.plan import load_observers, parse_policies, request_detail, run_folders
    from schedlab.cli.resume import checkpoints_of
    from schedlab.cli.watch import Monitor
    from schedlab.cluster.read import read_cluster
    from schedlab.policy.estimates import parse_estimate

    # Everything that can be wrong is looked at before the log is read, which may take a while.
    policies = parse_policies(policy)
    folders = run_folders(out, policies, force, finished=go_on)
    checkpoints = checkpoints_of(folders, checkpoint_every)
    if performance:
        _check_performance(out, checkpoint_every)
    machine = read_cluster(cluster) if cluster else None
    parse_estimate(estimate)
    observers = load_observers(observe)
    reading = reading_options(clean, procs, missing_limit, bad_rows, reader)
    reading["requests"] = str(requests or request_detail(machine))

    monitor = Monitor(watch, pace, status_every, quiet)

    rules = {"estimate": estimate, "overrun": str(overrun), "passes": str(passes), "dependencies": str(dependencies)}
    options = {**rules, "validate": validate, "force": force, "performance": performance}
    with monitor:
        workload, machine, machine_from = _read(log, machine, reading, quiet, monitor)
        results = _simulate(
            workload, machine, policies, folders, observers, checkpoints, go_on, quiet, tau, monitor, **options
        )
    if as_json:
        print_json(_document(workload, machine, rules, results))
    elif not quiet:
        _print(workload, machine, machine_from, results)


@dataclass(frozen=True, slots=True)
class Result:
    """What is kept of a finished run; the rest is in its folder."""

    policy: str
    folder: Path | None
    summary: dict[str, Any]
    seconds: float


def _check_performance(out: Path | None, checkpoint_every: str | None) -> None:
    if out is None:
        raise InputError("needs a folder for the results", where="--performance", hint="add --out DIR")
    if checkpoint_every is not None:
        hint = "a run that is taken up does not make its decisions again: leave out one of the two"
        raise InputError("does not go with --checkpoint-every", where="--performance", hint=hint)


def _read(
    log: str, machine: Cluster | None, reading: dict[str, Any], quiet: bool, monitor: Monitor
) -> tuple[Workload, Cluster, str]:
    """The jobs, the machine, and where its size comes from."""
    from schedlab.cli.plan import cluster_of_header
    from schedlab.cli.progress import ReadingBar, watched
    from schedlab.workload.read import read_workload

    try:
        with ReadingBar(Path(log).name) as bar:
            progress = monitor.reading(bar if watched(quiet) else None, Path(log).name)
            options = {**reading, "in_memory": False, "progress": progress}
            if machine is not None:
                return read_workload(log, max_procs=machine.cores, **options), machine, ""
            workload = read_workload(log, **options)
            machine, source = cluster_of_header(workload, log)
            if reading["clean"] == "strict":  # which leaves out what is larger than the machine
                workload = read_workload(log, max_procs=machine.cores, **options)
            return workload, machine, source
    except KeyboardInterrupt:
        raise InterruptedError(f"while {log} was being read; nothing was written") from None


def _simulate(
    workload: Workload,
    cluster: Cluster,
    policies: Sequence[PolicySpec],
    folders: Sequence[Path | None],
    observers: Sequence[Plugin],
    checkpoints: Sequence[Checkpoint | None],
    go_on: bool,
    quiet: bool,
    tau: float | None,
    monitor: Monitor,
    **options: Any,
) -> list[Result]:
    from schedlab.analysis.compare import summary_of
    from schedlab.cli.progress import SimulationBar, watched
    from schedlab.engine.folder import holds_run
    from schedlab.engine.store import read_run

    results: list[Result] = []
    for policy, folder, checkpoint in zip(policies, folders, checkpoints, strict=True):
        if folder is not None and go_on and holds_run(folder):
            before = read_run(folder)
            if not before.incomplete:
                results.append(Result(policy.text, folder, summary_of(before, tau=tau), 0.0))
                continue
            options["force"] = True  # what a mistake left there is replaced
        try:
            with SimulationBar(policy.text, workload.report.kept, workload.origin) as bar:
                progress = bar if watched(quiet) else None
                if observers:  # new ones for each policy
                    options["observers"] = [observer.make() for observer in observers]
                if checkpoint is not None:
                    options["checkpoint"] = checkpoint
                run = monitor.simulate(workload, cluster, policy, out=folder, progress=progress, **options)
        except KeyboardInterrupt:
            later = f"; schedlab resume {folder} takes it up again" if checkpoint is not None else ""
            raise InterruptedError(f"nothing was written for {policy}; {_finished(results)}{later}") from None
        except SchedlabError as error:
            if results:
                warn(f"{policy} failed; {_finished(results)}")
            if error.run is not None and folder is not None:
                warn(f"what had been simulated until then is in {folder}, marked as incomplete")
            raise
        seconds = float(run.config.get("timing", {}).get("engine", 0.0))
        results.append(Result(policy.text, folder, summary_of(run, tau=tau), seconds))
    return results


def _finished(results: Sequence[Result]) -> str:
    if not results:
        return "no policy was finished"
    return "finished: " + ", ".join(str(result.folder or result.policy) for result in results)


def _document(workload: Workload, cluster: Cluster, rules: dict[str, str], results: Sequence[Result]) -> dict[str, Any]:
    """What --json prints."""
    return {
        "workload": {"name": workload.name, "sha256": workload.content_hash, "report": asdict(workload.report)},
        "cluster": cluster.to_dict(),
        "options": rules,
        "runs": [
            {
                "policy": result.policy,
                "folder": None if result.folder is None else str(result.folder),
                "seconds": result.seconds,
                "summary": result.summary,
            }
            for result in results
        ],
    }


def _print(workload: Workload, cluster: Cluster, cluster_from: str, results: Sequence[Result]) -> None:
    from schedlab.analysis.compare import Comparison, Row, observed
    from schedlab.cli.output import console, say
    from schedlab.cli.table import comparison_table, footnote
    from schedlab.workload.notes import noted

    size = f"{cluster.cores:,} cores" if cluster.pool else f"{cluster.nodes:,} nodes, {cluster.cores:,} cores"
    say(f"{workload.name}: {workload.report.kept:,} jobs on {cluster.name} ({size}{cluster_from})")
    for reason, number in workload.report.dropped.items():
        say(f"  left out: {number:,} {reason}", "dim")
    for note in noted(workload.report.filled, workload.report.kept):
        say(f"  noted: {note}", "dim")
    for note in cluster.notes:
        say(f"  noted of the cluster: {note}", "dim")
    rows = tuple(Row(result.policy, result.summary) for result in results)
    comparison = Comparison(rows, metrics=observed(rows))
    say("")
    console().print(comparison_table(comparison, most=7))
    seconds = f"simulated in {sum(result.seconds for result in results):.2f} s"
    say("; ".join(filter(None, [footnote(comparison), seconds])), "dim")
    say("")
    folders = [result.folder for result in results if result.folder is not None]
    if folders:
        say(f"results in {', '.join(str(folder) for folder in folders)}")
    else:
        say("not kept: --out DIR writes jobs, timeline and summary to a folder", "dim")
