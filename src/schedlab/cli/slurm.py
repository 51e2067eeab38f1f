"""`schedlab slurm`: the real Slurm in simulated time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
from schedlab.model.errors import InputError

if TYPE_CHECKING:
    from schedlab.model.run import Run
    from schedlab.slurm.decider import RealSlurm
    from schedlab.slurm.setup import Setup

slurm = typer.Typer(
    name="slurm",
    help="The real Slurm, unmodified, in simulated time: your slurm.conf and your jobs in, what it would do out.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
CHANGE, TIME, OUTPUT = "What if", "How time passes", "What becomes of the results"


@slurm.command()
def doctor(
    fetch: Annotated[
        bool, typer.Option(help="Fetch Debian's packages into your cache if no Slurm is installed; no root needed.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Find or fetch Slurm's programs, look at all that is needed, and clear away what killed runs have left.

    [b]schedlab slurm doctor[/b]
    """
    from schedlab.cli.findings import print_findings
    from schedlab.cli.output import messages
    from schedlab.slurm.install.doctor import examine

    findings = examine(fetch=fetch, progress=lambda text: messages().print(text, style="dim"))
    print_findings(findings, as_json=as_json)


@slurm.command()
def replay(
    conf: Annotated[
        Path,
        typer.Option(
            "--conf",
            "-c",
            metavar="slurm.conf",
            help="The slurm.conf of the site; gres.conf, topology.conf and included files are found beside it.",
            show_default=False,
        ),
    ],
    jobs: Annotated[
        Path,
        typer.Option(
            "--jobs",
            "-j",
            metavar="LOG",
            help="The jobs: an sacct dump, events of the Slurm simulator, an SWF log; whatever [b]schedlab formats[/b] "
            "lists.",
            show_default=False,
        ),
    ],
    accounts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Users, accounts, shares and limits: a [b]sacctmgr dump[/b], or a TOML file (docs/slurm-accounts.md). "
            "[dim]\\[default: everybody in the log, with equal shares][/dim]",
        ),
    ] = None,
    qos: Annotated[
        Path | None, typer.Option(metavar="FILE", help="QOS: the output of [b]sacctmgr -P show qos[/b].")
    ] = None,
    edit: Annotated[
        list[str],
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change the slurm.conf: [b]Key=value[/b], [b]Key+=item[/b], [b]Key-=item[/b], [b]Key*=1.2[/b], "
            "[b]PartitionName=debug:MaxTime=2:00:00[/b]; once for each change.",
            rich_help_panel=CHANGE,
        ),
    ] = [],  # noqa: B006 - Typer copies it
    label: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="What the run is called in tables and figures. "
            "[dim]\\[default: changed with --set, else as it is][/dim]",
            show_default=False,
            rich_help_panel=CHANGE,
        ),
    ] = None,
    observe: Annotated[
        list[str],
        typer.Option(
            metavar="OBSERVER",
            help="What happens around the jobs, such as [b]failures(mtbf=2e6)[/b]; once for each.",
            rich_help_panel=CHANGE,
        ),
    ] = [],  # noqa: B006
    phases: Annotated[
        int | None,
        typer.Option(
            min=2,
            metavar="N",
            help="Repeat it N times, on all cores, each with another phase of Slurm's loops: an ensemble, as a study. "
            "With [b]--set[/b] the unchanged settings, [b]as it is[/b], are repeated too.",
            rich_help_panel=TIME,
        ),
    ] = None,
    phase: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="From slurmctld being ready to the beginning of the log.",
            rich_help_panel=TIME,
        ),
    ] = 30.0,
    tick: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="What each look at the clock costs slurmctld in simulated time. [dim]\\[default: nothing][/dim]",
            show_default=False,
            rich_help_panel=TIME,
        ),
    ] = 0.0,
    cpu: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="FACTOR",
            help="So many seconds of simulated time for a second of CPU time that slurmctld really uses; then runs are "
            "not repeatable. [dim]\\[default: none][/dim]",
            show_default=False,
            rich_help_panel=TIME,
        ),
    ] = 0.0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="The folder of the run or study.", rich_help_panel=OUTPUT),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", "-f", metavar="", help="Replace a run that is there.", rich_help_panel=OUTPUT)
    ] = False,
    evidence: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="How often counters, priorities and shares are written down; 0 never.",
            rich_help_panel=OUTPUT,
        ),
    ] = "30m",
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
    """Run jobs through the real slurmctld with this slurm.conf, in simulated time.

    [b]schedlab slurm replay --conf slurm.conf --jobs sacct.txt --out results[/b]

    [b]schedlab slurm replay --conf slurm.conf --jobs sacct.txt --set SchedulerParameters+=bf_max_job_user=10 --phases 8
    --out study[/b]
    """
    from schedlab.cli.output import InterruptedError
    from schedlab.cli.watch import Monitor
    from schedlab.engine.folder import check_target
    from schedlab.engine.scenario import Scenario, load_observers
    from schedlab.files.bytestream import check_there
    from schedlab.model.units import parse_duration
    from schedlab.slurm.decider import RealSlurm
    from schedlab.slurm.study import AS_IT_IS, name_of

    if edit and phases is not None and label == AS_IT_IS:
        raise InputError(f"cannot be {AS_IT_IS!r}: so the unchanged settings are called", where="--label")
    for option, given in (("--watch", watch), ("--pace", pace), ("--status-every", status_every)):
        if given and phases is not None:
            raise InputError("is for one run, not for an ensemble", where=option, hint="leave out one of the two")
    check_there(path for path in (conf, jobs, accounts, qos) if path is not None)
    options: dict[str, Any] = {"set": edit, "accounts": accounts, "qos": qos, "phase": phase, "tick": tick, "cpu": cpu}
    options["evidence"] = parse_duration(evidence, where="--evidence")
    decider = RealSlurm(conf, **options)
    if not quiet:
        _print_settings(decider.setup, label or name_of(edit), edit)
    if phases is not None:
        reading = {"reader": reader, "missing_limit": None if missing_limit == "runtime" else missing_limit}
        reading["bad_rows"] = None if bad_rows == BadRows.fail else str(bad_rows)
        _ensemble(conf, jobs, options, observe, phases, out, quiet, reading, label or "")
        return
    load_observers(observe)  # mistakes are to be known before the log is read
    scenario = Scenario(
        jobs,
        decider.setup.cluster(),
        decider,
        observers=observe,
        out=out,
        force=force,
        reading=reading_options("none", "requested", missing_limit, bad_rows, reader),
        name=label or name_of(edit),
    )
    if out is not None:
        check_target(out, force)
    with Monitor(watch, pace, status_every, quiet) as monitor:
        scenario = monitor.read(scenario)
        try:
            run = monitor.simulate(scenario, "slurm-real")
        except KeyboardInterrupt:
            raise InterruptedError("nothing was written, and slurmctld is stopped") from None
    if not quiet:
        _print(run, decider, out)


def _print_settings(setup: Setup, name: str, edits: list[str]) -> None:
    """What is asked, then what of the site's settings does not hold here."""
    from schedlab.cli.output import say

    if edits:
        say(f"{name}: {', '.join(edits)}")
    for line in setup.differences():
        say(f"  {line}", "dim")
    where = "slurm/differences.txt of each run that is kept lists them"
    say(f"  and {setup.replaced()} settings of hosts, ports and files replaced: {where}", "dim")


def _print(run: Run, decider: RealSlurm, out: Path | None) -> None:
    from schedlab.analysis.compare import Comparison, Row, observed, summary_of
    from schedlab.analysis.job_ends import end_of
    from schedlab.cli.output import console, say, warn
    from schedlab.cli.table import comparison_table, footnote
    from schedlab.workload.notes import run_notes

    rows = (Row(run.policy, summary_of(run)),)
    comparison = Comparison(rows, metrics=observed(rows))
    say(f"{run.workload['name']}: {run.summary['jobs']:,} jobs through {decider.setup.described()}")
    for note in run_notes(run.workload, run.cluster.name):
        say(f"  {note}", "dim")
    console().print(comparison_table(comparison, most=7))
    seconds = run.config["timing"]["engine"]
    simulated = run.summary["makespan"] or 0.0
    speed = f"{simulated:,.0f} s of Slurm's time in {seconds:.1f} s (×{simulated / seconds:,.0f})" if seconds else ""
    say("; ".join(filter(None, [footnote(comparison), speed])), "dim")
    for remark in decider.setup.remarks:
        say(f"  noted of the accounts: {remark}", "dim")
    if left_out := decider.left_out():
        say(f"  noted of the jobs: options that are not passed on: {', '.join(sorted(left_out))}", "dim")
    for words, ids in decider.refused().items():
        some = ", ".join(ids[:5]) + (", …" if len(ids) > 5 else "")
        what, why = end_of(words)
        warn(f"Slurm {what} {len(ids):,} {'job' if len(ids) == 1 else 'jobs'} ({some}): {why}")
    say(f"results in {out}" if out else "not kept: --out DIR writes the run to a folder", "" if out else "dim")


def _ensemble(
    conf: Path,
    jobs: Path,
    options: dict[str, Any],
    observe: list[str],
    phases: int,
    out: Path | None,
    quiet: bool,
    reading: dict[str, str | None],
    label: str,
) -> None:
    from schedlab.cli.experiment import run_and_report
    from schedlab.experiment.study import parse_study
    from schedlab.slurm.study import ensemble_text

    if out is None:
        raise InputError("an ensemble needs a folder", where="--phases", hint="add --out DIR")
    text = ensemble_text(conf.resolve(), jobs.resolve(), options, observe, phases, reading, label)
    run_and_report(parse_study(text, str(out / "study.toml")), out, quiet=quiet)
