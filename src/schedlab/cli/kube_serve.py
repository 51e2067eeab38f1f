"""`schedlab kube serve`: a simulated cluster for any scheduler that speaks the Kubernetes API."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedlab.cli.kube_options import OUTPUT, ClusterOption, Force, Out, kept, pods_reading, print_run
from schedlab.cli.options import BadRows, MissingLimit, OnBadRows, Reader, reading_options
from schedlab.model.errors import InputError, SchedlabError

if TYPE_CHECKING:
    from schedlab.engine.scenario import Scenario

TIME, WHERE = "How time passes", "Where it listens"


def serve(
    cluster: ClusterOption,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND...]",
            help="Starts a scheduler; [b]{kubeconfig}[/b] and [b]{server}[/b] in it are replaced. "
            "[dim]\\[default: you start one][/dim]",
            show_default=False,
        ),
    ] = None,
    workload: Annotated[
        Path | None,
        typer.Option(
            "--workload",
            "-j",
            metavar="LOG",
            help="The jobs. Without: a cluster that stands by itself in real time, until Ctrl-C.",
            show_default=False,
        ),
    ] = None,
    quiet_window: Annotated[
        str,
        typer.Option(
            "--quiet-window",
            metavar="TIMES",
            help="The simulation goes on when nothing was heard for so long: an [b]approximation[/b]. Several, "
            "[b]0,5ms,20ms,50ms[/b], are a sweep that shows how far the schedule depends on it.",
            rich_help_panel=TIME,
        ),
    ] = "50ms",
    pace: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="FACTOR",
            help="So many simulated seconds pass in a real one, instead of waiting for quiet; 1 is real time.",
            show_default=False,
            rich_help_panel=TIME,
        ),
    ] = 0.0,
    patience: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="How long pods may wait that nothing but the scheduler can help; then they are given up.",
            rich_help_panel=TIME,
        ),
    ] = "30s",
    observe: Annotated[
        list[str],
        typer.Option(
            metavar="OBSERVER",
            help="What happens around the jobs, such as [b]startup(sync=0.5, pull=20)[/b] or "
            "[b]failures(mtbf=2e6)[/b]; once for each.",
        ),
    ] = [],  # noqa: B006 - Typer copies it
    kubeconfig: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the kubeconfig there.", show_default=False, rich_help_panel=WHERE),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: one that is free.", rich_help_panel=WHERE)] = 0,
    listen: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Another address than this machine's own. Nobody is asked who he is: mind who can reach it.",
            rich_help_panel=WHERE,
        ),
    ] = "127.0.0.1",
    also_known_as: Annotated[
        list[str],
        typer.Option(
            metavar="NAME",
            help="A further name by which clients call this machine, such as [b]kubernetes.docker.internal[/b]; once "
            "for each. Requests for other names are refused.",
            rich_help_panel=WHERE,
        ),
    ] = [],  # noqa: B006
    out: Out = None,
    force: Force = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", metavar="", help="Print errors only.", rich_help_panel=OUTPUT)
    ] = False,
    missing_limit: MissingLimit = "runtime",
    bad_rows: OnBadRows = BadRows.fail,
    reader: Reader = None,
) -> None:
    """Serve a simulated cluster: print a kubeconfig, and let any scheduler, or kubectl, work on it.

    [b]schedlab kube serve --cluster 16x4 --workload w.json -- ./my-scheduler --kubeconfig {kubeconfig}[/b]

    [b]schedlab kube serve --cluster nodes.yaml[/b]
    """
    from schedlab.cluster.read import read_cluster
    from schedlab.model.units import parse_duration

    machine = read_cluster(cluster)
    windows = [parse_duration(text.strip(), where="--quiet-window") for text in quiet_window.split(",") if text.strip()]
    where = {"host": listen, "port": port, "names": also_known_as, "kubeconfig": kubeconfig}
    if workload is None:
        _stand(machine, command or [], where, pace or 1.0)
        return
    from schedlab.engine.folder import check_target
    from schedlab.engine.scenario import Scenario, load_observers

    load_observers(observe)
    if out is not None:
        check_target(out, force)
    reading = pods_reading(workload, reading_options("none", "requested", missing_limit, bad_rows, reader))
    scenario = Scenario(workload, machine, observers=observe, out=out, force=force, reading=reading).loaded()
    options: dict[str, Any] = {"pace": pace, "patience": parse_duration(patience, where="--patience"), **where}
    if len(windows) > 1:
        _sweep(scenario, windows, command or [], options)
        return
    _simulate(scenario, windows, command or [], options, quiet)


def _simulate(
    scenario: Scenario, windows: list[float], command: list[str], options: dict[str, Any], quiet: bool
) -> None:
    from dataclasses import replace

    from schedlab.bridge.kubernetes.served import Served
    from schedlab.cli.output import say
    from schedlab.engine.simulate import simulate

    def announce(path: Path) -> None:
        if not quiet:
            say(f"export KUBECONFIG={path}")
            if not command:
                say("waiting for a scheduler that watches pods and nodes", "dim")

    served = Served(windows[0] if windows else 0.05, command, announce=announce, **options)
    with kept(Path(scenario.out) if scenario.out else None):
        run = simulate(replace(scenario, policy=served))
    if not quiet:
        facts = served.facts()
        say(f"{facts['mode']}: {facts['time']}; {facts['requests']:,} requests", "dim")
        print_run(run, Path(scenario.out) if scenario.out else None)


def _sweep(scenario: Scenario, windows: list[float], command: list[str], options: dict[str, Any]) -> None:
    """The same run with each window: what is approximate shows where it is not."""
    from dataclasses import replace

    from rich.table import Table

    from schedlab.bridge.kubernetes.served import Served
    from schedlab.cli.output import console, say
    from schedlab.engine.simulate import simulate

    if not command:
        hint = "add the command of a scheduler after --"
        raise InputError("a sweep starts the scheduler anew for each window", where="--quiet-window", hint=hint)
    if scenario.out is not None:
        raise InputError("a sweep is a table; no run of it is kept", where="--out", hint="give one window")
    table = Table(box=None)
    for title in ("window (ms)", "makespan (s)", "mean wait (s)", "rejected", "wall time (s)", "failed"):
        table.add_column(title, justify="right")
    for window in windows:
        begin = time.monotonic()
        cells = [f"{1000 * window:g}"]
        try:
            run = simulate(replace(scenario, policy=Served(window, command, **options)))
            summary = run.summary
            rejected = summary.get("rejected", 0)
            cells += [f"{summary['makespan'] or 0:,.1f}", f"{summary['wait']['mean']:,.2f}", f"{rejected}"]
            failed = ""
        except SchedlabError as error:
            cells += ["", "", ""]
            failed = str(error).partition("\n")[0]
        table.add_row(*cells, f"{time.monotonic() - begin:.1f}", failed)
    console().print(table)
    say("where neighbouring windows agree, it does not matter which of them it is; a scheduler that works in", "dim")
    say("rounds needs one that is longer than its rounds", "dim")


def _stand(machine: Any, command: list[str], where: dict[str, Any], speed: float) -> None:
    import asyncio

    from schedlab.bridge.kubernetes.standing import stand
    from schedlab.bridge.kubernetes.transport import new_loop
    from schedlab.cli.output import say

    def announce(path: Path, server: str) -> None:
        say(f"export KUBECONFIG={path}")
        say(f"{machine.nodes:,} nodes at {server}; pods run as long as they sleep, or as their annotation", "dim")
        say("schedlab.io/duration says (seconds); Ctrl-C ends it", "dim")

    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(stand(machine, announce, command=command, speed=speed, **where))
    except KeyboardInterrupt:
        say("stopped", "dim")
