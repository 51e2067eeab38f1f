"""`schedlab bridge`: simulations whose scheduler is another program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import WATCHING, Pace, StatusEvery
from schedlab.model.errors import InputError

if TYPE_CHECKING:
    from schedlab.model.run import Run

bridge = typer.Typer(
    name="bridge",
    help="Schedulers that exist already, in programs of their own, decide in simulations of ours.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
RULES, OUTPUT = "What the scheduler may do", "What becomes of the results"


@bridge.callback()
def options() -> None:
    pass


@bridge.command()
def batsim(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND…]",
            help="Starts the scheduler; {socket} and {port} in it are those of --socket, or free ones. Without a "
            "command, a scheduler that somebody else starts is waited for.",
            show_default=False,
        ),
    ] = None,
    workload: Annotated[
        list[Path],
        typer.Option("--workload", "-w", metavar="JSON", help="Jobs and profiles; once for each file."),
    ] = [],  # noqa: B006 - Typer copies it
    platform: Annotated[
        Path | None,
        typer.Option(
            "--platform",
            "-p",
            metavar="XML",
            help="The machine: a SimGrid platform. [dim]\\[default: as many hosts as nb_res of the workload][/dim]",
            show_default=False,
        ),
    ] = None,
    socket: Annotated[
        str,
        typer.Option(
            "--socket",
            "-s",
            metavar="ENDPOINT",
            help="Where the scheduler listens. [dim]\\[default: tcp://localhost:28000][/dim]",
            show_default=False,
        ),
    ] = "",
    events: Annotated[
        list[Path], typer.Option(metavar="FILE", help="External events, a JSON object a line; once for each file.")
    ] = [],  # noqa: B006
    deadline: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="How long an answer may take before the run is given up.")
    ] = 300.0,
    energy: Annotated[
        bool, typer.Option("--energy", "-E", metavar="", help="Hosts have power states.", rich_help_panel=RULES)
    ] = False,
    dynamic: Annotated[
        bool,
        typer.Option("--enable-dynamic-jobs", metavar="", help="It may register jobs.", rich_help_panel=RULES),
    ] = False,
    acknowledge: Annotated[
        bool,
        typer.Option(
            "--acknowledge-dynamic-jobs",
            metavar="",
            help="What it registers is told back.",
            rich_help_panel=RULES,
        ),
    ] = False,
    reuse_profiles: Annotated[
        bool,
        typer.Option(
            "--enable-profile-reuse", metavar="", help="Its jobs may have profiles of others.", rich_help_panel=RULES
        ),
    ] = False,
    forward_profiles: Annotated[
        bool,
        typer.Option(
            "--forward-profiles-on-submission", metavar="", help="Jobs come with profiles.", rich_help_panel=RULES
        ),
    ] = False,
    compute_sharing: Annotated[
        bool,
        typer.Option(
            "--enable-compute-sharing", metavar="", help="Hosts may have several jobs.", rich_help_panel=RULES
        ),
    ] = False,
    forward_unknown_events: Annotated[
        bool,
        typer.Option("--forward-unknown-events", metavar="", help="Events of other types, too.", rich_help_panel=RULES),
    ] = False,
    sched_cfg: Annotated[
        str, typer.Option("--sched-cfg", metavar="TEXT", help="A text for the scheduler.", rich_help_panel=RULES)
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="The folder of the run.", rich_help_panel=OUTPUT),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", "-f", metavar="", help="Replace a run that is there.", rich_help_panel=OUTPUT)
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", metavar="", help="Print errors only.", rich_help_panel=OUTPUT)
    ] = False,
    watch: Annotated[
        bool,
        typer.Option("--watch", metavar="", help="Show what happens in the terminal.", rich_help_panel=WATCHING),
    ] = False,
    pace: Pace = None,
    status_every: StatusEvery = None,
) -> None:
    """Run a Batsim workload under a scheduler that speaks Batsim's protocol, started here or somewhere else.

    [b]schedlab bridge batsim --workload w.json --platform p.xml --out results -- batsched -v easy_bf[/b]
    """
    from schedlab.bridge.batsim.decider import Batsim
    from schedlab.bridge.batsim.documents import Documents
    from schedlab.bridge.batsim.machine import nodes_of
    from schedlab.bridge.batsim.platform import Platform
    from schedlab.cli.output import InterruptedError
    from schedlab.cli.watch import Monitor
    from schedlab.engine.folder import check_target
    from schedlab.engine.scenario import Scenario
    from schedlab.files.bytestream import check_there

    if not workload:
        raise InputError("is missing", where="--workload", hint="name a Batsim workload: --workload w.json")
    check_there([*workload, *events, *([] if platform is None else [platform])])
    hosts = Platform.read(platform) if platform is not None else None
    documents = Documents.read(workload, hosts)
    decider = Batsim(
        socket,
        command or (),
        documents=documents,
        events=events,
        deadline=deadline,
        energy=energy,
        dynamic=dynamic,
        acknowledge=acknowledge,
        reuse_profiles=reuse_profiles,
        forward_profiles=forward_profiles,
        compute_sharing=compute_sharing,
        forward_unknown_events=forward_unknown_events,
        scheduler_config=sched_cfg,
    )
    name = Path(platform).stem if platform is not None else f"{len(documents.platform.compute)} hosts"
    machine = nodes_of(documents.platform, name)
    scenario = Scenario(documents.workload(), machine, decider, out=out, force=force)
    if out is not None:
        check_target(out, force)
    with Monitor(watch, pace, status_every, quiet) as monitor:
        scenario = monitor.read(scenario)
        try:
            run = monitor.simulate(scenario, "batsim")
        except KeyboardInterrupt:
            raise InterruptedError("nothing was written, and a scheduler that was started is stopped") from None
    if not quiet:
        _print(run, out)


def _print(run: Run, out: Path | None) -> None:
    from schedlab.analysis.compare import Comparison, Row, observed, summary_of
    from schedlab.cli.output import console, say
    from schedlab.cli.table import comparison_table, footnote

    rows = (Row(run.policy, summary_of(run)),)
    comparison = Comparison(rows, metrics=observed(rows))
    say(f"{run.workload['name']}: {run.summary['jobs']:,} jobs on {run.cluster.nodes:,} hosts")
    console().print(comparison_table(comparison, most=7))
    facts = run.config["decider"]
    used = f"its CPU time {facts['cpu_seconds']:.1f} s" if "cpu_seconds" in facts else ""
    time = f"{facts['messages']:,} messages in {run.config['timing']['engine']:.1f} s"
    say("; ".join(filter(None, [footnote(comparison), time, used])), "dim")
    say(f"results in {out}" if out else "not kept: --out DIR writes the run to a folder", "" if out else "dim")
