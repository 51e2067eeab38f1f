"""`schedlab workflow`: what is in a workflow, how it runs on some cores, and as stages in a file of our own."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedlab.cli.once import OnceCommand
from schedlab.cli.options import ForceFile, Json
from schedlab.model.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from schedlab.model.workflow import Workflow
    from schedlab.workflow.describe import Description, Group

workflow = typer.Typer(
    name="workflow",
    help="Scientific workflows: tasks that wait for each other. What is in a file, how long it takes on some cores.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
MOST_GROUPS = 40
HOUR = 3600.0

_FILE = (
    "A workflow: WfFormat (JSON of WfCommons), DAX (XML of Pegasus), a manifest of ScSF, TOML, a script with [b]sbatch "
    "--dependency[/b], a log whose jobs wait for each other; of several in a file, [b]FILE.toml:NAME[/b] or, in a log, "
    "[b]FILE:JOB[/b]. Or a shape: [b]chain(tasks=5,cores=1,runtime=3600)[/b], "
    "[b]fork-join(width=10)[/b], [b]diamond[/b], [b]widelong[/b], [b]longwide[/b]; or, with the extra "
    "[i]workflows[/i], [b]wfcommons(recipe='montage',tasks=1000,seed=1)[/b]."
)
File = Annotated[str, typer.Argument(metavar="FILE", help=_FILE, show_default=False)]


class Method(StrEnum):
    heft = "heft"
    min_min = "min-min"
    critical_path = "critical-path"


class Rule(StrEnum):
    list = "list"
    waves = "waves"


class Negative(StrEnum):
    fail = "fail"
    zero = "zero"


NegativeTimes = Annotated[
    Negative,
    typer.Option(help="What becomes of negative run times, which some generators draw: an error, or they count as 0."),
]


@workflow.command(cls=OnceCommand)
def show(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help=_FILE, show_default=False)],
    negative_times: NegativeTimes = Negative.fail,
    as_json: Json = False,
) -> None:
    """Show what is in workflows: tasks, edges, levels, width, critical path, work, and tasks by level and name.

    The width is the most cores in use at once if every task starts as soon as it may; the critical path is how long the
    workflow then takes. Of several workflows there is a line for each.

    [b]schedlab workflow show Montage_1000.dax.xml.gz[/b]

    [b]schedlab workflow show examples/workflows/scsf.toml[/b]
    """
    from schedlab.cli.output import console, print_json, print_sections, say
    from schedlab.workflow.describe import describe_workflow
    from schedlab.workflow.read import read_workflows

    found = [
        describe_workflow(each) for file in files for each in read_workflows(file, negative_times=negative_times.value)
    ]
    if as_json:
        print_json([each.to_dict() for each in found])
        return
    if len(found) == 1:
        print_sections(_rows(found[0]))
        say("")
        console().print(_group_table(found[0].groups))
        if len(found[0].groups) > MOST_GROUPS:
            say(f"and {len(found[0].groups) - MOST_GROUPS:,} more: --json lists them all", "dim")
    else:
        console().print(_overview(found))
    for each in found:
        for note in each.notes:
            say(f"noted: {f'{each.name}: ' if len(found) > 1 else ''}{note}", "dim")


@workflow.command(cls=OnceCommand)
def plan(
    file: File,
    cores: Annotated[int, typer.Option("--cores", "-n", metavar="N", min=1, help="Cores of the allocation.")],
    method: Annotated[
        list[Method] | None,
        typer.Option(
            help="Who plans: [b]heft[/b] (by upward rank, each as early as it fits), [b]min-min[/b] (always the task "
            "that would end first), [b]critical-path[/b] (of those that can start, the highest upward rank). Once for "
            "each to compare. [dim]\\[default: all three][/dim]",
            show_default=False,
        ),
    ] = None,
    bandwidth: Annotated[
        str | None,
        typer.Option(
            metavar="BYTES",
            help="Bytes a second ([b]1 GB[/b]) at which data go from task to task, where the file has them.",
        ),
    ] = None,
    negative_times: NegativeTimes = Negative.fail,
    as_json: Json = False,
) -> None:
    """Plan one workflow on the cores of one allocation: how long it takes, and how much of the cores is idle.

    This is what happens inside a pilot job that has fewer cores than the workflow could use. The bound is the critical
    path, or the work over the cores if that is longer: no plan can be shorter.

    [b]schedlab workflow plan Montage_1000.dax.xml.gz --cores 64[/b]

    [b]schedlab workflow plan 'fork-join(width=100)' --cores 16 --method heft[/b]
    """
    from schedlab.cli.output import console, print_json, say
    from schedlab.model.units import format_duration, parse_bytes
    from schedlab.workflow.list_schedulers import makespan, schedule_on
    from schedlab.workflow.read import read_workflow

    found = read_workflow(file, negative_times=negative_times.value)
    rate = None if bandwidth is None else float(parse_bytes(bandwidth, where="--bandwidth"))
    rows: list[dict[str, Any]] = []
    for each in method or list(Method):
        begin = schedule_on(found, cores, each.value, rate)
        length = makespan(found, begin)
        idle = 1 - found.work / (cores * length) if length else 0.0
        rows.append({"method": each.value, "makespan": length, "idle": idle})
    bound = max(found.critical_path, found.work / cores)
    if as_json:
        whole = {"workflow": found.name, "tasks": len(found), "cores": cores, "bandwidth": rate, "bound": bound}
        print_json(whole | {"plans": rows})
        return
    say(f"{found.name}: {len(found):,} tasks, width {found.width:,}, on {cores:,} cores\n")
    table = _table("method", "makespan", "over the bound %", "idle %")
    for row in rows:
        over = 100 * (row["makespan"] / bound - 1) if bound else 0.0
        cells = (format_duration(row["makespan"]), f"{over:.1f}", f"{100 * row['idle']:.1f}")
        table.add_row(row["method"], *cells)
    console().print(table)
    which = "the critical path" if bound == found.critical_path else "work over cores"
    say(f"bound: {format_duration(bound)} ({which})", "dim")
    _say_notes(found)


@workflow.command(cls=OnceCommand)
def convert(
    file: File,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE.toml", help="The file to write.", show_default=False)
    ],
    group: Annotated[
        bool, typer.Option("--stages", metavar="", help="Group tasks of one level and name into one that takes more.")
    ] = False,
    cap: Annotated[
        int | None,
        typer.Option(metavar="CORES", help="Most cores of a stage; 0 for no cap. [dim]\\[default: 960][/dim]"),
    ] = None,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--name",
            metavar="NAME[:CORES]",
            help="Group only tasks of this name, with a cap of their own if one is given; once for each name.",
        ),
    ] = None,
    rule: Annotated[
        Rule | None,
        typer.Option(
            help="How long a stage takes: [b]list[/b], as its tasks do one after the other on its cores; [b]waves[/b], "
            "as ScSF counts, their mean for every wave of tasks that fits at once. [dim]\\[default: list][/dim]",
            show_default=False,
        ),
    ] = None,
    negative_times: NegativeTimes = Negative.fail,
    force: ForceFile = False,
) -> None:
    """Write workflows in schedlab's own form, as they are or with their tasks grouped into stages.

    [b]schedlab workflow convert Montage_1000.dax.xml.gz --stages --cap 960 -o montage.toml[/b]
    """
    from schedlab.cli.output import check_new_file, say
    from schedlab.workflow.read import read_workflows
    from schedlab.workflow.stages import stages
    from schedlab.workflow.toml_form import write_workflows

    if not group and (cap is not None or names or rule):
        raise InputError("--cap, --name and --rule are about stages", hint="add --stages")
    if not out.name.casefold().endswith((".toml", ".toml.gz", ".toml.zst")):
        raise InputError("workflows are written as TOML", where=str(out), hint=f"name it {out.with_suffix('.toml')}")
    check_new_file(out, force)
    most = 960 if cap is None else cap
    found = read_workflows(file, negative_times=negative_times.value)
    by_name = dict(_name_and_cap(text, most) for text in names) if names else None
    made = [stages(each, most, by_name, rule=(rule or Rule.list).value) for each in found] if group else found
    write_workflows(out, made, f"From {Path(file).name}" + (", tasks grouped into stages." if group else "."))
    for before, after in zip(found, made, strict=True):
        grouped = f" in {len(after):,} stages" if group else ""
        say(f"{after.name}: {len(before):,} tasks{grouped}")
        _say_notes(before)
    say(f"in {out}")


def _name_and_cap(text: str, cap: int) -> tuple[str, int]:
    name, colon, number = text.rpartition(":")
    if colon and number.isdecimal() and len(number) < 16:
        return name, int(number)
    return text, cap


def _say_notes(found: Workflow) -> None:
    from schedlab.cli.output import say

    for note in found.notes:
        say(f"noted: {note}", "dim")


def _rows(found: Description) -> Iterator[tuple[str, str, str]]:
    from schedlab.model.units import format_bytes, format_duration

    yield "workflow", "name", found.name
    yield "workflow", "tasks", f"{found.tasks:,}"
    yield "workflow", "edges", f"{found.edges:,}"
    yield "workflow", "levels", f"{found.levels:,}"
    if found.data:
        yield "workflow", "data", f"{format_bytes(round(found.data))} from task to task"
    yield "cores", "width", f"{found.width:,} at once"
    yield "cores", "largest stage", _largest(found)
    yield "time", "critical path", format_duration(found.critical_path)
    yield "time", "by limits", format_duration(found.limit)
    yield "time", "work", f"{found.work / HOUR:,.1f} core-hours"
    if found.critical_path:
        used = found.work / (found.width * found.critical_path)
        yield "time", "used by a pilot", f"{100 * used:.1f} % of width × critical path"


def _largest(found: Description) -> str:
    largest = found.largest
    tasks = "1 task" if largest.tasks == 1 else f"{largest.tasks:,} tasks"
    return f"{largest.name} on level {largest.level}: {tasks}, {largest.cores:,} cores"


def _group_table(groups: tuple[Group, ...]) -> Table:
    from schedlab.model.units import format_duration

    table = _table("level", "tasks", "cores", "run time, mean", "longest", "core-hours", name="name")
    for group in groups[:MOST_GROUPS]:
        cells = [f"{group.tasks:,}", f"{group.cores:,}", *map(format_duration, (group.runtime_mean, group.runtime_max))]
        table.add_row(str(group.level), group.name, *cells, f"{group.work / HOUR:,.1f}")
    return table


def _overview(found: list[Description]) -> Table:
    from schedlab.model.units import format_duration

    table = _table("workflow", "tasks", "edges", "levels", "width", "critical path", "by limits", "core-hours")
    for each in found:
        numbers = [f"{number:,}" for number in (each.tasks, each.edges, each.levels, each.width)]
        times = [format_duration(seconds) for seconds in (each.critical_path, each.limit)]
        table.add_row(each.name, *numbers, *times, f"{each.work / HOUR:,.1f}")
    return table


def _table(first: str, *headings: str, name: str = "") -> Table:
    """The first column and that of a name are text, the others numbers."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first, style="cyan", no_wrap=True)
    if name:
        table.add_column(name)
    for heading in headings:
        table.add_column(heading, justify="right")
    return table
