"""`schedlab run`: one log, one cluster, any number of policies."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedlab.cli.options import (
    ApplicationsOfJobs,
    BadRows,
    Clean,
    Cleaning,
    HandlingOfWorkflows,
    HeatmapFile,
    Jobs,
    Json,
    Load,
    MissingLimit,
    OnBadRows,
    Pace,
    Pattern,
    PeriodOfWorkflows,
    Processors,
    Procs,
    Reader,
    Requests,
    Seed,
    ShareOfWorkflows,
    SomeLog,
    StatusEvery,
    Tau,
    TimeOfJobs,
    Watch,
    Workflows,
    reading_options,
)
from schedlab.cli.output import InterruptedError, warn
from schedlab.model.errors import InputError, SchedlabError
from schedlab.model.units import parse_duration

if TYPE_CHECKING:
    from schedlab.analysis.compare import Comparison
    from schedlab.cli.watch import Monitor
    from schedlab.engine.scenario import Scenario
    from schedlab.experiment.session import Result

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


class Beliefs(StrEnum):
    limit = "limit"
    rates = "rates"


def run(
    log: SomeLog = None,
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
    heatmap: HeatmapFile = None,
    applications: ApplicationsOfJobs = "executable",
    workflows: Workflows = None,
    handling: HandlingOfWorkflows = None,
    period: PeriodOfWorkflows = None,
    share: ShareOfWorkflows = None,
    inject: Pattern = None,
    load: Load = None,
    jobs: Jobs = None,
    span: TimeOfJobs = None,
    seed: Seed = 0,
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
        Overrun | None,
        typer.Option(
            help="What happens to a job at its requested time. [dim]\\[default: kill, unless the policy says][/dim]",
            show_default=False,
            rich_help_panel=RULES,
        ),
    ] = None,
    passes: Annotated[
        Passes,
        typer.Option(
            help="Ask the scheduler once per instant, or after every single event as older simulators do.",
            rich_help_panel=RULES,
        ),
    ] = Passes.instant,
    dependencies: Annotated[
        Dependencies,
        typer.Option(
            help="Whether a job waits for others as the log says: a preceding job (SWF), sbatch --dependency. Those of "
            "workflows always do.",
            rich_help_panel=RULES,
        ),
    ] = Dependencies.ignore,
    beliefs: Annotated[
        Beliefs,
        typer.Option(
            help="Whether the scheduler's estimated ends of running jobs stay, or follow the rates at which they work.",
            rich_help_panel=RULES,
        ),
    ] = Beliefs.limit,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="TIME|phases",
            help="End the simulation then, jobs as they are, and without those that come later: [b]8d[/b] (from second "
            "0 of the log), or [b]phases[/b] for the end of the workload's last phase.",
            rich_help_panel=RULES,
        ),
    ] = None,
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
    places: Annotated[
        bool,
        typer.Option(
            "--places",
            metavar="",
            help="Write a table of what each job had on each node, and when.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    reasons: Annotated[
        bool,
        typer.Option(
            "--reasons",
            metavar="",
            help="Record why jobs wait ([b]schedlab why DIR JOB[/b] tells a job's story).",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    go_on: Annotated[Path | None, typer.Option("--go-on", hidden=True)] = None,
) -> None:
    """Replay a log on a cluster under one or more schedulers, and compare what happens.

    [b]schedlab run KTH-SP2.swf.gz --policy easy --policy fcfs --out results[/b]

    [b]schedlab run HPC2N.swf.gz -c 120x2 -p easy:order=sjf,place=best-fit -p conservative -o results[/b]

    [b]schedlab run KTH-SP2.swf.gz --policy mine.py:SmallestThatFits --policy easy[/b]

    [b]schedlab run --heatmap aris.json --jobs 500 -c 200x20 -p easy:nodes=exclusive -p cosched[/b]

    [b]schedlab run KTH-SP2.swf.gz --workflows montage.json --handling aware --share 5%[/b]

    [b]schedlab run montage.json --handling chained -c 20x24[/b]
    """
    from schedlab.cli.jobs import PutIn, beside, jobs_of
    from schedlab.cli.output import print_json
    from schedlab.cli.watch import Monitor
    from schedlab.cluster.read import read_cluster
    from schedlab.engine.scenario import Scenario, load_observers
    from schedlab.experiment.session import compared, parse_policies, run_folders, scenarios
    from schedlab.policy.estimates import parse_estimate
    from schedlab.workload.transform.load import check_load, scale_load

    # Everything that can be wrong is looked at before the log is read, which may take a while.
    policies = parse_policies(policy)
    out = out if go_on is None else go_on  # where the checkpoint is now
    folders = run_folders(out, policies, force=force, go_on=go_on is not None)
    for option, wanted in (("--performance", performance), ("--places", places), ("--reasons", reasons)):
        if wanted and out is None:
            raise InputError("needs a folder for the results", where=option, hint="add --out DIR")
    if performance:
        _check_performance(checkpoint_every)
    if load is not None:
        check_load(load, "--load")
    parse_estimate(estimate)
    load_observers(observe)
    observe = [*observe, *beside(heatmap, applications)]
    more = PutIn(workflows=workflows, handling=handling, period=period, share=share, inject=inject)
    more.check(log or heatmap)
    made = more.alone(log, heatmap) or jobs_of(log, heatmap, jobs, span, seed)
    reading = reading_options(clean, procs, missing_limit, bad_rows, reader)
    common = Scenario(
        made,
        read_cluster(cluster) if cluster else None,
        estimate=estimate,
        overrun=None if overrun is None else overrun.value,
        passes=passes.value,
        dependencies=dependencies.value,
        beliefs=beliefs.value,
        until=until,
        requests="auto" if requests is None else requests.value,
        observers=observe,
        validate=validate,
        force=force,
        performance=performance,
        places=places,
        reasons=reasons,
        reading=reading if isinstance(made, str) else {},
    )
    every = None if checkpoint_every is None else parse_duration(checkpoint_every, where="--checkpoint-every")
    if every is not None and out is None:
        raise InputError("needs a folder for the results", where="--checkpoint-every", hint="add --out DIR")
    recipe = {"arguments": sys.argv[1:], "folder": str(Path.cwd()), "out": str(out and out.absolute())}
    planned = scenarios(common, policies, folders, checkpoint_every=every, recipe=recipe)
    with Monitor(watch, pace, status_every, quiet) as monitor:
        monitor.expect(len(planned))
        read = monitor.read(common)
        if load is not None:
            read = replace(read, workload=scale_load(read.inputs[0], load, read.inputs[1].cores))
        read = replace(read, workload=more.apply(read.inputs[0], seed))
        planned = [replace(each, workload=read.workload, cluster=read.cluster, reading={}) for each in planned]
        results = _simulate(planned, go_on is not None, tau, monitor)
    achieved = None if load is None else _load_of(read)
    if quiet and not as_json:
        return
    comparison = compared(results, tau)
    if as_json:
        print_json(_document(results, comparison, achieved))
    else:
        _print(read, cluster is None, achieved, results, comparison)


def _check_performance(checkpoint_every: str | None) -> None:
    if checkpoint_every is not None:
        hint = "a run that is taken up does not make its decisions again: leave out one of the two"
        raise InputError("does not go with --checkpoint-every", where="--performance", hint=hint)


def _simulate(planned: Sequence[Scenario], go_on: bool, tau: float | None, monitor: Monitor) -> list[Result]:
    from schedlab.experiment.session import run_all

    results: list[Result] = []
    try:
        results.extend(run_all(planned, go_on=go_on, tau=tau, run=monitor.simulate))  # those before a failure stay
    except KeyboardInterrupt:
        at = planned[len(results)]
        if at.checkpoint is not None:
            state = f"{at.policy} is not finished: schedlab resume {at.out} takes it up at its last checkpoint"
        else:
            state = f"nothing was written for {at.policy}"
        raise InterruptedError(f"{state}; {_finished(results)}") from None
    except SchedlabError as error:
        at = planned[len(results)]
        if results:
            warn(f"{at.policy} failed; {_finished(results)}")
        if error.run is not None and at.out is not None:
            warn(f"what had been simulated until then is in {at.out}, marked as incomplete")
        raise
    return results


def _finished(results: Sequence[Result]) -> str:
    if not results:
        return "no policy was finished"
    return "finished: " + ", ".join(str(result.folder or result.policy) for result in results)


def _load_of(read: Scenario) -> float | None:
    from schedlab.workload.offered import offered

    workload, cluster = read.inputs
    return offered(workload).load(cluster.cores)


def _document(results: Sequence[Result], comparison: Comparison, load: float | None) -> dict[str, Any]:
    """What --json prints; summaries as `compare` has them."""
    from schedlab.cli.compare import first_facts

    config = results[0].config
    workload = {name: config["workload"][name] for name in ("name", "sha256", "report")}
    return {
        "workload": workload if load is None else workload | {"offered_load": load},
        "cluster": config["cluster"],
        "options": config["options"],
        **first_facts(comparison),
        "runs": [
            {
                "policy": result.policy,
                "folder": None if result.folder is None else str(result.folder),
                "seconds": result.seconds,
                "summary": row.summary,
            }
            for result, row in zip(results, comparison.rows, strict=True)
        ],
    }


def _print(
    read: Scenario, of_header: bool, achieved: float | None, results: Sequence[Result], comparison: Comparison
) -> None:
    from schedlab.cli.compare import say_first
    from schedlab.cli.jobs import too_wide
    from schedlab.cli.output import console, say
    from schedlab.cli.table import comparison_table, footnote
    from schedlab.workload.losses import counted
    from schedlab.workload.notes import run_notes
    from schedlab.workload.swf.header import machine_size

    workload, cluster = read.inputs
    nodes = "" if cluster.pool else f"{cluster.nodes:,} node{'s' * (cluster.nodes != 1)}, "
    size = f"{nodes}{cluster.cores:,} cores"
    found = machine_size(workload.header) if of_header else None
    source = f", {found[1]} of the log's header" if found else ""
    more = ", and more of workflows as they get ready," if workload.brings is not None else ""
    say(f"{workload.name}: {counted(workload.report.kept)}{more} on {cluster.name} ({size}{source})")
    if achieved is not None:
        say(f"  {workload.header['Note'].splitlines()[-1]} (now {achieved:.4f})", "dim")
    for note in run_notes(results[0].config["workload"], cluster.name, read.requests):
        say(f"  {note}", "dim")
    for note in too_wide(workload, cluster):
        say(f"  {note}")
    for note in cluster.notes:
        say(f"  noted of the cluster: {note}", "dim")
    for result in results:
        if (own := result.config["cluster"]["name"]) != cluster.name:
            say(f"  {result.policy} ran on {own}", "dim")
    say("")
    say_first(comparison)
    console().print(comparison_table(comparison, most=7))
    seconds = f"simulated in {sum(result.seconds for result in results):.2f} s"
    say("; ".join(filter(None, [footnote(comparison), seconds])), "dim")
    say("")
    folders = [result.folder for result in results if result.folder is not None]
    if folders:
        say(f"results in {', '.join(str(folder) for folder in folders)}")
    else:
        say("not kept: --out DIR writes jobs, timeline and summary to a folder", "dim")
