"""`schedlab generate`: jobs from a model, written as a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import (
    ForceFile,
    HandlingOfWorkflows,
    Pattern,
    PeriodOfWorkflows,
    ShareOfWorkflows,
    Workflows,
)

if TYPE_CHECKING:
    from schedlab.model.workload import JobBatch

LOAD = "A load and a wait"


def generate(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A model file ([b]schedlab fit[/b] makes one), or a model in words: [b]lublin(processors=256)[/b].",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="OUT",
            help="The log to write; its ending says in which format, .gz or .zst compresses it.",
            show_default=False,
        ),
    ],
    jobs: Annotated[int | None, typer.Option(min=1, metavar="N", help="How many jobs.")] = None,
    span: Annotated[
        str | None, typer.Option(metavar="TIME", help="For how long jobs are submitted: [b]1y[/b], [b]30d[/b].")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", "-c", metavar="CLUSTER", help="The machine, for what follows.", rich_help_panel=LOAD),
    ] = None,
    pressure: Annotated[
        str | None,
        typer.Option(
            metavar="P|LOW..HIGH",
            help="Hold the job pressure: put jobs in below, leave some out above; [b]1.0[/b] or [b]1.0..1.1[/b].",
            rich_help_panel=LOAD,
        ),
    ] = None,
    fill: Annotated[
        str | None,
        typer.Option(metavar="WAIT", help="Fill the machine first, so that jobs wait so long.", rich_help_panel=LOAD),
    ] = None,
    fill_cores: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="The size of the jobs that fill it: one every 10 s takes the machine within the wait.",
            rich_help_panel=LOAD,
        ),
    ] = None,
    stabilisation: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="After the fill, before the experiment: six times the wait.", rich_help_panel=LOAD
        ),
    ] = None,
    experiment: Annotated[
        str | None, typer.Option(metavar="TIME", help="How long the experiment is.", rich_help_panel=LOAD)
    ] = None,
    drain: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="After the experiment: twice the wait.", rich_help_panel=LOAD),
    ] = None,
    workflows: Workflows = None,
    handling: HandlingOfWorkflows = None,
    period: PeriodOfWorkflows = None,
    share: ShareOfWorkflows = None,
    inject: Pattern = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same jobs.")] = 0,
    force: ForceFile = False,
) -> None:
    """Generate jobs from a model: so many, or for so long; with both, whichever comes first.

    [b]schedlab generate hpc2n.json --span 1y --seed 7 --out year.swf.gz[/b]

    [b]schedlab generate "lublin(processors=256)" --jobs 100000 --out lublin.swf[/b]

    [b]schedlab generate site.json -c 5576x24 --pressure 1.0 --fill 4h --experiment 7d --out week.swf[/b]
    """
    from schedlab.cli.jobs import PutIn
    from schedlab.cli.output import check_new_file, say
    from schedlab.cluster.read import read_cluster
    from schedlab.generate.base import generate as generate_jobs
    from schedlab.generate.prepare import Preparation, node_cores, parse_pressure
    from schedlab.generate.store import read_model
    from schedlab.model.errors import InputError
    from schedlab.model.units import format_duration, parse_duration
    from schedlab.workload.formats import write_workload

    check_new_file(out, force)
    more = PutIn(workflows=workflows, handling=handling, period=period, share=share, inject=inject)
    more.check(model)
    times = {"fill": fill, "stabilisation": stabilisation, "experiment": experiment, "drain": drain}
    found = read_model(model)
    machine = read_cluster(cluster) if cluster else None
    preparation = Preparation(
        cores=found.processors if machine is None else machine.cores,
        node_cores=1 if machine is None else node_cores(machine),
        pressure=None if pressure is None else parse_pressure(pressure, "--pressure"),
        fill_cores=fill_cores,
        **{name: None if text is None else parse_duration(text, where=f"--{name}") for name, text in times.items()},
    )
    if not preparation.cores and (pressure is not None or fill is not None):
        raise InputError("for which machine?", where="generate", hint="say it: --cluster 120x2")
    length = preparation.span if span is None else parse_duration(span, where="--span")
    if jobs is None and length is None:
        raise InputError("say how many jobs, or for how long", where="generate", hint="--jobs 100000 or --span 1y")
    workload = generate_jobs(found, jobs=jobs, span=length, seed=seed, name=out.name.partition(".")[0])
    workload = more.apply(preparation.apply(workload, seed), seed, make_room=pressure is not None)
    if workload.brings is not None:
        hint = "chained, which says in the log whom a task waits for"
        raise InputError("a log cannot hold tasks that come when they are ready", where="--handling", hint=hint)
    counted = _Counted(workload.batches)
    lost = write_workload(out, replace(workload, source=counted))
    say(f"{counted.jobs:,} jobs in {format_duration(counted.last)}, seed {seed}, in {out}")
    for what, count in (workload.report.filled | workload.report.dropped).items():
        say(f"  {count:,} {what}", "dim")
    for sentence in lost:
        say(f"  lost: {sentence}", "yellow")


class _Counted:
    """The jobs of a source as they pass."""

    def __init__(self, source: Callable[[], Iterator[JobBatch]]) -> None:
        self._source = source
        self.jobs, self.last = 0, 0.0

    def __call__(self) -> Iterator[JobBatch]:
        self.jobs = 0
        for batch in self._source():
            self.jobs += len(batch)
            self.last = float(batch.submit[-1])
            yield batch
