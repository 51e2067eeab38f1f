"""`schedlab kube`: the real kube-scheduler in simulated time; other schedulers and real clusters beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedlab.cli.kube_delays import delays
from schedlab.cli.kube_options import OUTPUT, ClusterOption, Force, Out, WorkloadOption, kept, pods_reading
from schedlab.cli.kube_serve import serve
from schedlab.cli.kube_submit import submit
from schedlab.cli.options import (
    BadRows,
    Json,
    MissingLimit,
    OnBadRows,
    Pace,
    Reader,
    StatusEvery,
    Watch,
    reading_options,
)

if TYPE_CHECKING:
    from schedlab.bridge.kubernetes.decider import Kubernetes
    from schedlab.model.run import Run

kube = typer.Typer(
    name="kube",
    help="The real kube-scheduler, and any other, on a simulated cluster; the same jobs on a real one.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
TIME = "How time passes"

Config = Annotated[
    list[Path],
    typer.Option(
        "--config",
        metavar="FILE",
        help="The configuration of the scheduler (KubeSchedulerConfiguration); once for each scheduler. "
        "[dim]\\[default: kube-scheduler as it comes][/dim]",
        show_default=False,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="PROGRAM",
        help="A scheduler that [b]schedlab kube build[/b] has built. "
        "[dim]\\[default: the kube-scheduler in your cache][/dim]",
        show_default=False,
    ),
]


@kube.command()
def doctor(
    build: Annotated[
        bool, typer.Option(help="Build a kube-scheduler into your cache if there is none: some minutes, once.")
    ] = True,
    config: Config = [],  # noqa: B006 - Typer copies it
    scheduler: Scheduler = None,
    repeats: Annotated[
        int, typer.Option(min=2, metavar="N", help="How often it is tried: every time has to be the same.")
    ] = 3,
    as_json: Json = False,
) -> None:
    """Find or build a kube-scheduler with the simulated clock, look at all that is needed, and try it three times.

    [b]schedlab kube doctor --config profile.yaml --repeats 50[/b]
    """
    from schedlab.bridge.kubernetes.doctor import examine
    from schedlab.cli.findings import print_findings

    findings = examine(build=build, scheduler=scheduler, configs=config, progress=_progress, repeats=repeats)
    print_findings(findings, as_json=as_json)


@kube.command()
def build(
    source: Annotated[
        str,
        typer.Argument(
            metavar="MODULE|DIR",
            help="What to build: the folder of a main package, or a package with its version, such as "
            "[b]k8s.io/kubernetes/cmd/kube-scheduler@v1.36.3[/b].",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where the program goes instead of your cache.")
    ] = None,
) -> None:
    """Build any scheduler written in Go with the simulated clock, and print where it is.

    [b]schedlab kube build ./cmd/scheduler[/b]
    """
    from schedlab.bridge.kubernetes import build as builder

    path = builder.build(builder.target_of(source), _progress, out)
    typer.echo(str(path))


@kube.command()
def run(
    cluster: ClusterOption,
    workload: WorkloadOption,
    config: Config = [],  # noqa: B006
    scheduler: Scheduler = None,
    command: Annotated[
        str,
        typer.Option(
            metavar="WORDS",
            help="Start another scheduler: a program that [b]schedlab kube build[/b] has built, and its arguments, "
            "with {kubeconfig} or {server} where it wants them; [b]KUBECONFIG[/b] is set.",
            show_default=False,
        ),
    ] = "",
    serves: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="With [b]--command[/b]: the schedulerName of the pods that it serves. "
            "[dim]\\[default: default-scheduler][/dim]",
            show_default=False,
        ),
    ] = "",
    gates: Annotated[
        str, typer.Option(metavar="GATES", help="Feature gates of the scheduler: [b]Name=true,Other=false[/b].")
    ] = "",
    observe: Annotated[
        list[str],
        typer.Option(
            metavar="OBSERVER",
            help="What happens around the jobs, such as [b]failures(mtbf=2e6)[/b]; once for each.",
        ),
    ] = [],  # noqa: B006
    tick: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="What each look at the clock costs the scheduler in simulated time.",
            rich_help_panel=TIME,
        ),
    ] = 0.0,
    cpu: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="FACTOR",
            help="So many seconds of simulated time for a second of CPU time that it really uses; then runs are not "
            "repeatable.",
            rich_help_panel=TIME,
        ),
    ] = 0.0,
    latency: Annotated[
        float,
        typer.Option(min=0, metavar="SECONDS", help="What a binding takes to have an effect.", rich_help_panel=TIME),
    ] = 0.0,
    skip: Annotated[
        bool | None,
        typer.Option(
            "--skip/--no-skip",
            help="While no pod waits, pass over the timers of the scheduler. "
            "[dim]\\[default: those of kube-scheduler, not those of --command][/dim]",
            show_default=False,
            rich_help_panel=TIME,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Of the scheduler's random numbers.")] = 1,
    out: Out = None,
    force: Force = False,
    label: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What the run is called in tables and figures.", rich_help_panel=OUTPUT),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", metavar="", help="Print errors only.", rich_help_panel=OUTPUT)
    ] = False,
    missing_limit: MissingLimit = "runtime",
    bad_rows: OnBadRows = BadRows.fail,
    reader: Reader = None,
    watch: Watch = False,
    pace: Pace = None,
    status_every: StatusEvery = None,
) -> None:
    """Run jobs as pods through the real kube-scheduler, to the end, in simulated time.

    [b]schedlab kube run --cluster 16x1 --workload jobs.json --out results[/b]
    """
    from schedlab.bridge.kubernetes.decider import Kubernetes
    from schedlab.cli.output import say
    from schedlab.cli.watch import Monitor
    from schedlab.engine.folder import check_target
    from schedlab.engine.scenario import Scenario, load_observers
    from schedlab.files.bytestream import check_there

    check_there([workload, *config])
    names = [str(path) for path in config]
    asked: dict[str, Any] = {"command": command, "serves": serves, "gates": gates, "seed": seed}
    decider = Kubernetes(names, scheduler, **asked, tick=tick, cpu=cpu, latency=latency, skip=skip)
    if not quiet:
        for line in decider.differences():
            say(f"  {line}", "dim")
    load_observers(observe)  # mistakes are to be known before the log is read
    scenario = Scenario(
        workload,
        cluster,
        decider,
        observers=observe,
        out=out,
        force=force,
        reading=pods_reading(workload, reading_options("none", "requested", missing_limit, bad_rows, reader)),
        name=label or "",
    )
    if out is not None:
        check_target(out, force)
    with Monitor(watch, pace, status_every, quiet) as monitor:
        scenario = monitor.read(scenario)
        with kept(out):
            found = monitor.simulate(scenario, "kubernetes")
    if not quiet:
        _print(found, decider, out)


def _print(run: Run, decider: Kubernetes, out: Path | None) -> None:
    from schedlab.analysis.compare import Comparison, Row, observed, summary_of
    from schedlab.cli.output import console, say, warn
    from schedlab.cli.table import comparison_table, footnote
    from schedlab.workload.notes import run_notes

    rows = (Row(run.policy, summary_of(run)),)
    comparison = Comparison(rows, metrics=observed(rows))
    say(f"{run.workload['name']}: {run.summary['jobs']:,} jobs through {decider.facts()['program']}")
    for note in run_notes(run.workload, run.cluster.name):
        say(f"  {note}", "dim")
    console().print(comparison_table(comparison, most=7))
    seconds = run.config["timing"]["engine"]
    simulated = run.summary["makespan"] or 0.0
    speed = f"{simulated:,.0f} s of simulated time in {seconds:.1f} s (×{simulated / seconds:,.0f})" if seconds else ""
    say("; ".join(filter(None, [footnote(comparison), speed])), "dim")
    for one in run.config["decider"]["schedulers"]:
        used = f"{one['cpu_seconds']:.1f} s of CPU time, at most {one['peak_memory'] / 1e6:.0f} MB"
        say(f"  {', '.join(one['names'])}: {one['requests']:,} requests, {used}", "dim")
    for words, ids in decider.refusals().items():
        some = ", ".join(map(str, ids[:5])) + (", …" if len(ids) > 5 else "")
        warn(f"{len(ids):,} {'job' if len(ids) == 1 else 'jobs'} ({some}) did not start: {words}")
    say(f"results in {out}" if out else "not kept: --out DIR writes the run to a folder", "" if out else "dim")


def _progress(text: str) -> None:
    from schedlab.cli.output import messages

    messages().print(text, style="dim")


kube.command()(serve)
kube.command()(submit)
kube.command()(delays)
