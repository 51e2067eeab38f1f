"""`schedlab plot`: figures of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedlab.cli.options import ForceFile

if TYPE_CHECKING:
    from schedlab.experiment.results import Results
    from schedlab.model.run import Run
    from schedlab.plot.catalogue import Kind

METRICS = ("wait", "turnaround", "slowdown", "bounded_slowdown", "processor_slowdown", "speedup")
_FLAGS = {"span": "--from, --to", "labels": "--label"}


class PaperWidth(StrEnum):
    column = "column"
    page = "page"


def plot(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN…",
            help="Run folders, or folders that hold runs; for [b]--kind users[/b] and [b]workflows[/b] also the folder "
            "of a study, for [b]--kind sweep[/b] nothing else; for [b]--kind speedups[/b] the file of a heatmap; for "
            "[b]--kind dag[/b] also the file of a workflow.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option("--kind", "-k", metavar="KIND", help="What to draw: [b]--list[/b] shows the kinds.")
    ] = "comparison",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The figure: a name that ends in .pdf, .svg or .png."),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC",
            help=f"What is shown of each job: {', '.join(METRICS)}; of box, violin and ecdf also queue_length, over "
            "time; of workflows wait, runtime, turnaround, stretch, wait_share, intermediate_wait or idle_share; of a "
            "sweep any metric of a run: [b]wait.mean[/b], [b]turnaround.p99[/b], "
            "[b]observed.energy_kwh[/b].",
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(
            "--x",
            metavar="PARAMETER",
            help="Of a sweep, or workflows of a study: what the study varies ([b]load[/b]), or an argument in it "
            "([b]policy.depth[/b], [b]observe.mtbf[/b]). [dim]\\[default: the first that is a number][/dim]",
            show_default=False,
        ),
    ] = None,
    statistic: Annotated[str | None, typer.Option(metavar="mean|median", help="Of the jobs of a class.")] = None,
    colour: Annotated[
        str | None,
        typer.Option(
            metavar="job|workflow|user|group|queue|partition|application|slowdown|bounded_slowdown|size",
            help="What the colours of a Gantt chart mean.",
        ),
    ] = None,
    workflow: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Which workflow a dag shows. [dim]\\[default: the first that finished][/dim]",
            show_default=False,
        ),
    ] = None,
    resource: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What is in use, or what the queue asks for: [b]cores[/b], [b]memory[/b], [b]gpus[/b] …",
        ),
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="From then on: [b]2d[/b] after the first submission, or a date ([b]2012-03-01[/b]). Figures of jobs "
            "show those submitted in that time.",
        ),
    ] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="TIME", help="Until then.")] = None,
    width: Annotated[
        PaperWidth, typer.Option(help="A [b]column[/b] of a paper (3.4 in) or a whole [b]page[/b] (7 in).")
    ] = PaperWidth.page,
    label: Annotated[
        list[str],
        typer.Option(
            "--label",
            metavar="NAME",
            help="What a run is called, instead of its policy; once for each run, or for each group of a study.",
        ),
    ] = [],  # noqa: B006 - Typer copies it
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Above everything.")] = None,
    force: ForceFile = False,
    list_kinds: Annotated[bool, typer.Option("--list", metavar="", help="Show the kinds of figures and stop.")] = False,
) -> None:
    """Draw finished runs for papers and reports.

    [b]schedlab plot results/* --kind ecdf --metric bounded_slowdown -o slowdowns.pdf[/b]

    [b]schedlab plot results/easy --kind gantt --colour user --from 2d --to 3d -o gantt.pdf[/b]

    [b]schedlab plot study --kind sweep --x load --metric wait.mean -o waits.pdf[/b]
    """
    from schedlab.cli.compare import open_runs
    from schedlab.cli.output import check_new_file, say
    from schedlab.experiment.folder import is_study
    from schedlab.model.errors import InputError
    from schedlab.plot.catalogue import draw, kind_of
    from schedlab.plot.style import checked_ending

    if list_kinds:
        _print_kinds()
        return
    if not runs:
        raise InputError("which runs?", hint="name run folders, such as results/*; --list shows the kinds of figures")
    if out is None:
        raise InputError("where to?", hint="name the figure to write: -o figure.pdf")
    options: dict[str, Any] = {"metric": metric, "statistic": statistic, "colour": colour, "labels": label or None}
    options |= {"resource": resource, "x": x, "workflow": workflow}
    _check_options(kind_of(kind), options | {"span": begin or end})
    checked_ending(out)
    check_new_file(out, force)
    if kind_of(kind).of_heatmap:
        _draw_heatmap(kind, runs, out, width=str(width), title=title)
        return
    if kind_of(kind).of_study:
        _draw_study(kind, runs, out, width=str(width), title=title, **options)
        return
    if kind == "dag" and len(runs) == 1 and not runs[0].is_dir():
        _draw_shape(str(runs[0]), out, width=str(width), title=title)
        return
    if kind == "workflows":
        _draw_workflows(runs, out, width=str(width), title=title, **options)
        return
    del options["x"]
    if kind_of(kind).repetitions and len(runs) == 1 and is_study(runs[0]):
        found, options["labels"] = _runs_of_study(runs[0], label)
    else:
        found = open_runs(runs)
    draw(kind, found, out, span=_span(found, begin, end), width=str(width), title=title, **options)
    say(f"{'1 run' if len(found) == 1 else f'{len(found)} runs'} in {out}")


def _draw_heatmap(kind: str, files: Sequence[Path], out: Path, *, width: str, title: str | None) -> None:
    from schedlab.cli.output import say
    from schedlab.heatmap.read import read_heatmap
    from schedlab.model.errors import InputError
    from schedlab.plot.catalogue import draw

    if len(files) != 1 or files[0].is_dir():
        raise InputError(f"--kind {kind} shows one heatmap", hint="name its file, such as aris.json")
    heatmap = read_heatmap(files[0])
    draw(kind, heatmap, out, width=width, title=title or files[0].name)  # type: ignore[arg-type]
    say(f"{len(heatmap)} applications in {out}")


def _draw_study(
    kind: str, folders: Sequence[Path], out: Path, *, x: str | None, metric: str | None, **options: Any
) -> None:
    from schedlab.cli.output import say
    from schedlab.experiment.sweep import axis_of, sweep_table
    from schedlab.model.errors import InputError
    from schedlab.plot.catalogue import draw

    if len(folders) != 1:
        hint = "name one: a folder that schedlab experiment run made"
        raise InputError(f"--kind {kind} shows one study, not {len(folders)}", hint=hint)
    study = _finished(folders[0])
    if kind == "improvement":
        draw(kind, study.table, out, metric=metric, **options)  # type: ignore[arg-type]
        say(f"{len(study.table):,} runs in {out}")
        return
    axis, metric = axis_of(study, x), metric or study.metrics[0]
    table = sweep_table(study, axis, metric)
    draw(kind, table, out, **options, **axis.titles(study, metric))  # type: ignore[arg-type]
    say(f"{table['n'].sum():,} runs in {out}: {metric} over {axis.name}")


def _draw_shape(text: str, out: Path, *, width: Any, title: str | None) -> None:
    """Of a workflow that nobody has run: a file, or a shape by its name."""
    from schedlab.cli.output import say
    from schedlab.plot.dag import plot_shape
    from schedlab.workflow.read import read_workflow

    workflow = read_workflow(text)
    plot_shape(workflow, out, width=width, title=title or "")
    say(f"{len(workflow):,} tasks in {out}")


def _draw_workflows(
    folders: Sequence[Path], out: Path, *, x: str | None, metric: str | None, labels: Sequence[str] | None, **other: Any
) -> None:
    """Of runs, or of the folder of a study, also where only summaries were kept."""
    from schedlab.cli.compare import open_runs
    from schedlab.cli.output import say
    from schedlab.experiment.folder import is_study
    from schedlab.experiment.workflow_results import workflow_sweep
    from schedlab.model.errors import InputError
    from schedlab.plot.catalogue import draw

    drawn: dict[str, Any] = {"metric": metric, "labels": labels, "width": other["width"], "title": other["title"]}
    if not (len(folders) == 1 and is_study(folders[0])):
        if x is not None:
            raise InputError("--x is a parameter of a study", hint="name the folder of a study, or leave it out")
        found = open_runs(folders)
        draw("workflows", found, out, **drawn)
        say(f"{'1 run' if len(found) == 1 else f'{len(found)} runs'} in {out}")
        return
    study = _finished(folders[0])
    table, axis = workflow_sweep(study, x)
    named = {} if axis is None else {"x": axis.name, "x_unit": axis.unit}
    draw("workflows", table, out, **drawn, **named)  # type: ignore[arg-type]
    say(f"{len(table):,} workflows of {table['run'].n_unique():,} runs in {out}")


def _finished(folder: Path) -> Results:
    from schedlab.cli.output import warn
    from schedlab.experiment.results import Results
    from schedlab.model.errors import InputError

    study = Results(folder)
    for sentence in study.warnings:
        warn(sentence)
    if not study.results:
        hint = f"schedlab experiment status {folder} tells how far it is"
        raise InputError("no run of this study is finished", where=str(folder), hint=hint)
    return study


def _runs_of_study(folder: Path, labels: Sequence[str]) -> tuple[list[Run], list[str]]:
    """Its finished runs in the order of the plan, and what the group of each is called."""
    from schedlab.model.errors import InputError

    study = _finished(folder)
    if study.study.get("keep") == "summary":
        hint = 'keep = "tables" in the study file keeps them'
        raise InputError("the study has not kept the jobs of its runs", where=str(folder), hint=hint)
    groups = [study.group_of(result["point"]) for result in study.results]
    names = list(dict.fromkeys(groups))
    if labels and len(labels) != len(names):
        hint = f"give one label for each group: {'; '.join(names)}"
        raise InputError(f"labels: {len(labels)}, groups of the study: {len(names)}", hint=hint)
    called = dict(zip(names, labels or names, strict=True))
    return [study.run(result["identity"]) for result in study.results], [called[group] for group in groups]


def _check_options(kind: Kind, options: Mapping[str, object]) -> None:
    from schedlab.model.errors import InputError
    from schedlab.plot.catalogue import KINDS

    for name, value in options.items():
        if value is not None and name not in kind.options:
            others = ", ".join(other.name for other in KINDS.values() if name in other.options)
            hint = f"it is for {others}"
            raise InputError(f"{_FLAGS.get(name, f'--{name}')} means nothing for --kind {kind.name}", hint=hint)


def _print_kinds() -> None:
    from schedlab.cli.output import print_sections
    from schedlab.plot.catalogue import KINDS

    rows = []
    for kind in KINDS.values():
        options = ", ".join(_FLAGS.get(name, f"--{name}") for name in kind.options)
        rows.append(("kinds", kind.name, f"{kind.description} ({options})" if options else kind.description))
    print_sections(rows)


def _span(runs: Sequence[Run], begin: str | None, end: str | None) -> tuple[float, float] | None:
    """In seconds of the runs."""
    from schedlab.model.errors import InputError
    from schedlab.plot.times import span_of

    if begin is None and end is None:
        return None
    whole = span_of(runs)
    low = whole[0] if begin is None else _moment(runs, begin, "--from", whole[0])
    high = whole[1] if end is None else _moment(runs, end, "--to", whole[0])
    if low >= whole[1] or high <= whole[0]:
        raise InputError("nothing happened between --from and --to", hint=_extent(whole))
    if not low < high:
        raise InputError("--to is not after --from", hint=_extent(whole))
    return low, high


def _moment(runs: Sequence[Run], text: str, option: str, first: float) -> float:
    """`2d` after the first submission, or the date `2012-03-01` (UTC unless it says otherwise)."""
    from datetime import UTC, datetime

    from schedlab.model.errors import InputError
    from schedlab.model.units import parse_duration

    if "-" not in text:
        return first + parse_duration(text, where=option)
    origin = runs[0].workload.get("origin")
    try:
        date = datetime.fromisoformat(text)
    except ValueError:
        hint = "write a duration such as 2d, or a date such as 2012-03-01T12:00"
        raise InputError(f"'{text}' is not a time", where=option, hint=hint) from None
    if not origin:
        hint = "write the time since the first submission, such as 2d"
        raise InputError("the run has no dates", where=option, hint=hint)
    return ((date if date.tzinfo else date.replace(tzinfo=UTC)) - datetime.fromisoformat(origin)).total_seconds()


def _extent(whole: tuple[float, float]) -> str:
    from schedlab.model.units import format_duration

    return f"from the first submission to the last end it is {format_duration(whole[1] - whole[0])}"
