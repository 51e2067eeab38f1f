"""`schedlab transform`: logs made of other logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import BadRows, Clean, Cleaning, MissingLimit, OnBadRows, Processors, Procs, Reader

if TYPE_CHECKING:
    from schedlab.model.workload import Workload

JOBS = "Which jobs"
LOAD = "When they come"
WISHES = "What they ask for"


def transform(
    logs: Annotated[
        list[str],
        typer.Argument(metavar="LOG…", help="Logs; several are merged onto one timeline.", show_default=False),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="OUT", help="The log to write; .gz or .zst compresses it."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", "-f", metavar="", help="Replace files that are there.")] = False,
    seed: Annotated[int, typer.Option(help="Of everything that is random.")] = 1,
    align: Annotated[
        str, typer.Option(metavar="start|date", help="Several logs: let them begin together, or at their dates.")
    ] = "start",
    same_site: Annotated[
        bool, typer.Option("--same-site", metavar="", help="Several logs: the same user or queue is the same in all.")
    ] = False,
    remove_flurries: Annotated[
        bool,
        typer.Option("--remove-flurries", metavar="", help="Leave out bursts of one user.", rich_help_panel=JOBS),
    ] = False,
    flurries: Annotated[
        bool, typer.Option("--flurries", metavar="", help="Show such bursts, write nothing.", rich_help_panel=JOBS)
    ] = False,
    window: Annotated[
        str | None,
        typer.Option(
            metavar="FROM..TO",
            help="Jobs submitted in that time: [b]30d..60d[/b] from the first submittal, [b]2012-03-01..[/b] by date.",
            rich_help_panel=JOBS,
        ),
    ] = None,
    users: Annotated[str | None, typer.Option(metavar="A,B", help="Jobs of these.", rich_help_panel=JOBS)] = None,
    groups: Annotated[str | None, typer.Option(metavar="A,B", help="Jobs of these.", rich_help_panel=JOBS)] = None,
    queues: Annotated[str | None, typer.Option(metavar="A,B", help="Jobs in these.", rich_help_panel=JOBS)] = None,
    partitions: Annotated[str | None, typer.Option(metavar="A,B", help="Jobs in these.", rich_help_panel=JOBS)] = None,
    sizes: Annotated[
        str | None,
        typer.Option(metavar="FROM..TO", help="Jobs of so many cores: [b]1..64[/b].", rich_help_panel=JOBS),
    ] = None,
    runtimes: Annotated[
        str | None,
        typer.Option(metavar="FROM..TO", help="Jobs that run so long: [b]1m..[/b]", rich_help_panel=JOBS),
    ] = None,
    sample_users: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="All jobs of a random share of the users.", rich_help_panel=JOBS),
    ] = None,
    thin: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Keep each job with this chance.", rich_help_panel=LOAD)
    ] = None,
    duplicate: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="With this chance a job comes again, within an hour.", rich_help_panel=LOAD),
    ] = None,
    stretch: Annotated[
        float | None,
        typer.Option(
            metavar="FACTOR",
            help="Multiply the times between submittals: [b]0.9[/b] is more load.",
            rich_help_panel=LOAD,
        ),
    ] = None,
    shuffle: Annotated[
        bool,
        typer.Option("--shuffle", metavar="", help="Deal the jobs out to the submit times.", rich_help_panel=LOAD),
    ] = False,
    cores_per_node: Annotated[
        int | None,
        typer.Option(metavar="N", help="Sizes are in nodes: make them cores.", rich_help_panel=WISHES),
    ] = None,
    machine: Annotated[
        int | None,
        typer.Option(metavar="N", help="Scale sizes to a machine of so many cores.", rich_help_panel=WISHES),
    ] = None,
    machine_from: Annotated[
        int | None,
        typer.Option("--from", metavar="N", help="The machine of the log, if it does not say.", rich_help_panel=WISHES),
    ] = None,
    estimates: Annotated[
        str | None,
        typer.Option(
            metavar="exact|F|f-model:F",
            help="Limits: the run time, F times that, or each a random factor from 1 to F.",
            rich_help_panel=WISHES,
        ),
    ] = None,
    round_limits: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Round limits up: [b]15m[/b].", rich_help_panel=WISHES),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="N|user|group|queue|partition",
            help="Write several files: so many equal times, or one for each user…",
        ),
    ] = None,
    clean: Clean = Cleaning.pwa,
    procs: Procs = Processors.requested,
    missing_limit: MissingLimit = "runtime",
    bad_rows: OnBadRows = BadRows.fail,
    reader: Reader = None,
) -> None:
    """Make a log of others: cut, filter, more or less load, another machine, other estimates.

    Several logs are merged first; then things are done in the order of the lists below; splitting comes last. The
    header of the new log says what was done.

    [b]schedlab transform KTH-SP2.swf.gz -o month.swf.gz --window 30d..60d --stretch 0.8[/b]

    [b]schedlab transform RICC.swf.gz -o clean.swf.gz --remove-flurries --machine 1024 --from 8192[/b]
    """
    from schedlab.cli import transform_steps as steps
    from schedlab.cli.options import reading_options
    from schedlab.model.errors import InputError
    from schedlab.model.units import parse_duration
    from schedlab.workload import transform as change
    from schedlab.workload.flurries import find_flurries
    from schedlab.workload.flurries import remove_flurries as without_flurries

    if out is None and not flurries:
        raise InputError("where to?", hint="name the log to write: -o OUT.swf.gz")
    options = reading_options(clean, procs, missing_limit, bad_rows, reader)
    jobs: Workload = change.merge([steps.read(log, options) for log in logs], align=align, same_site=same_site)
    before = steps.Measured(jobs, machine_from)
    jobs = before.workload
    if flurries:
        steps.print_flurries(find_flurries(jobs), jobs)
        return
    if remove_flurries:
        found = find_flurries(jobs)
        steps.print_flurries(found, jobs)
        jobs = without_flurries(jobs, found)
    if window is not None:
        jobs = change.window(jobs, *steps.parse_window(window))
    jobs = change.select(
        jobs,
        users=_words(users),
        groups=_words(groups),
        queues=_words(queues),
        partitions=_words(partitions),
        sizes=None if sizes is None else steps.parse_range(sizes, "--sizes"),
        runtimes=None if runtimes is None else steps.parse_range(runtimes, "--runtimes"),
    )
    if sample_users is not None:
        jobs = change.sample_users(jobs, sample_users, seed)
    if thin is not None:
        jobs = change.thin(jobs, thin, seed)
    if duplicate is not None:
        jobs = change.duplicate(jobs, duplicate, seed)
    if stretch is not None:
        jobs = change.stretch(jobs, stretch)
    if shuffle:
        jobs = change.shuffle(jobs, seed)
    if cores_per_node is not None:
        jobs = change.nodes_to_cores(jobs, cores_per_node)
    if machine is not None:
        jobs = change.rescale(jobs, machine, machine_from)
    if estimates is not None:
        factor, spread = steps.parse_estimates(estimates)
        jobs = change.set_estimates(jobs, factor=factor, spread=spread, seed=seed)
    if round_limits is not None:
        jobs = change.round_limits(jobs, parse_duration(round_limits, where="--round-limits"))
    assert out is not None
    steps.write(jobs, out, split, before, force=force)


def _words(text: str | None) -> list[str] | None:
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]
