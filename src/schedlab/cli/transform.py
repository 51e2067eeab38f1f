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
        str | None,
        typer.Option(metavar="50%", help="All jobs of a random share of the users.", rich_help_panel=JOBS),
    ] = None,
    thin: Annotated[
        str | None, typer.Option(metavar="50%", help="Keep each job with this chance.", rich_help_panel=LOAD)
    ] = None,
    duplicate: Annotated[
        str | None,
        typer.Option(metavar="50%", help="With this chance a job comes again, within an hour.", rich_help_panel=LOAD),
    ] = None,
    stretch: Annotated[
        float | None,
        typer.Option(
            metavar="FACTOR",
            help="Multiply the times between submittals: [b]0.9[/b] is more load.",
            rich_help_panel=LOAD,
        ),
    ] = None,
    load: Annotated[
        float | None,
        typer.Option(
            metavar="LOAD",
            help="The offered load: multiply the times between submittals so that it is [b]0.9[/b], when sizes are "
            "what they will be.",
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

    Several logs are merged first; then things are done in the order of the lists below (a load when sizes are known);
    splitting comes last. The header of the new log says what was done.

    [b]schedlab transform KTH-SP2.swf.gz -o month.swf.gz --window 30d..60d --stretch 0.8[/b]

    [b]schedlab transform RICC.swf.gz -o clean.swf.gz --remove-flurries --machine 1024 --from 8192[/b]
    """
    from schedlab.cli.options import reading_options
    from schedlab.cli.transform_output import Measured, print_flurries, read, write
    from schedlab.model.errors import InputError
    from schedlab.workload.flurries import find_flurries
    from schedlab.workload.transform import merge
    from schedlab.workload.transform.steps import Steps

    if out is None and not flurries:
        raise InputError("where to?", hint="name the log to write: -o OUT.swf.gz")
    options = reading_options(clean, procs, missing_limit, bad_rows, reader)
    jobs: Workload = merge([read(log, options) for log in logs], align=align, same_site=same_site)
    before = Measured(jobs, machine_from)
    jobs = before.workload
    if flurries or remove_flurries:
        print_flurries(find_flurries(jobs), jobs)
    if out is None:
        return
    steps = Steps(
        remove_flurries=remove_flurries,
        window=window,
        users=users,
        groups=groups,
        queues=queues,
        partitions=partitions,
        sizes=sizes,
        runtimes=runtimes,
        sample_users=sample_users,
        thin=thin,
        duplicate=duplicate,
        stretch=stretch,
        shuffle=shuffle,
        cores_per_node=cores_per_node,
        machine=machine,
        machine_from=machine_from,
        load=load,
        estimates=estimates,
        round_limits=round_limits,
    )
    write(steps.apply(jobs, seed, "--"), out, split, before, force=force)
