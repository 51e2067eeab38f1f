"""The graph of a workflow: its tasks level by level, or of a run from when to when each ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.analysis.machine import Machine
from schedlab.analysis.workflow_jobs import WorkflowJobs
from schedlab.analysis.workflows import has_workflows, workflow_table
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.workflow import Workflow
from schedlab.plot.distributions import tint
from schedlab.plot.style import (
    CHARACTER,
    COLOURS,
    GREY,
    INCHES,
    SMALL,
    Width,
    headline,
    new_figure,
    plain,
    save_axes,
    wrapped,
)
from schedlab.plot.times import Clock, spoken

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TASKS = 36  # of more, tasks of one level and name are drawn together: a stage
MOST_STAGES = 60
_APART = 0.12  # inches between boxes that have nothing to do with each other
_STEEP = 0.3  # inches: arrows over less lead from edge to edge of their boxes
_LANE, _HIGH = 0.27, 0.62  # inches; of which the box takes this share
_MARGIN, _EDGE = 0.4, 0.05  # inches beside the axes, and beside what is drawn


_LETTER = 0.066  # inches, of headlines


@dataclass(frozen=True, slots=True)
class Box:
    """A task, or the tasks of one stage."""

    name: str
    level: int
    before: tuple[int, ...]  # positions of those that it comes after
    begin: float = 0.0
    end: float = 0.0
    number: int = 1

    @property
    def label(self) -> str:
        return self.name if self.number == 1 else f"{self.name} × {self.number:,}"


def plot_shape(workflow: Workflow, path: str | Path | None = None, *, width: Width = "page", title: str = "") -> Axes:
    """The tasks of a workflow in columns, each behind all that it waits for; of a large one its stages."""
    tasks = zip(workflow.tasks, workflow.level, workflow.after, strict=True)
    boxes = _reduced(_stages([Box(task.name or task.id, level, after) for task, level, after in tasks]))
    columns = max(box.level for box in boxes) + 1
    places = _in_columns(boxes)
    rows = max(place for place in places) + 1
    wide = (INCHES[width] - 0.2) / columns
    axes = new_figure(width, 0.45 + 0.42 * rows).subplots()
    size = min(0.88, (max(len(box.label) for box in boxes) * CHARACTER + 0.18) / wide)
    for box, row in zip(boxes, places, strict=True):
        letters = max(int(size * wide / CHARACTER), 4)
        _rectangle(axes, box.level - size / 2, row - 0.3, size, 0.6, box.level)
        axes.text(box.level, row, wrapped(box.label, letters), ha="center", va="center", fontsize=SMALL)
        for before in box.before:
            other = boxes[before]
            _arrow(axes, (other.level + size / 2, places[before]), (box.level - size / 2, row))
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.axis("off")
    headline(axes, title or f"{workflow.name}: {len(workflow):,} tasks, critical path {spoken(workflow.critical_path)}")
    save_axes(axes, path)
    return axes


def plot_dag(
    runs: Sequence[Run],
    path: str | Path | None = None,
    *,
    workflow: int | None = None,
    width: Width = "page",
    title: str = "",
) -> Axes:
    """When the tasks of one workflow of a run ran, and which of them waited for which; of a large one its stages, each
    from its first start to its last end. By default the first workflow that finished."""
    if len(runs) != 1:
        raise InputError(f"a figure of kind 'dag' shows one run, not {len(runs)}", hint="name one run")
    run = runs[0]
    row = _chosen(run, workflow)
    boxes = _reduced(_stages(_tasks(run, row["workflow"])))
    span = min(box.begin for box in boxes), max(max(box.end for box in boxes), row["start"] + 1.0)
    per_inch = (span[1] - span[0]) / (INCHES[width] - 2 * _MARGIN)
    lanes = _lanes(boxes, per_inch)
    said = wrapped(title or _said(row), int(INCHES[width] / _LETTER))
    axes = new_figure(width, 0.75 + _LANE * (max(lanes) + 1) + 0.13 * said.count("\n")).subplots()
    clock = Clock.of([run], span)
    for box, lane in zip(boxes, lanes, strict=True):
        begin, end = clock.places(box.begin), clock.places(box.end)
        _rectangle(axes, begin, lane - _HIGH / 2, max(end - begin, 0.0), _HIGH, box.level)
        inside = _fits(box, per_inch)
        place: Any = ((begin + end) / 2, lane) if inside else (end, lane)
        axes.annotate(
            box.label,
            place,
            (0 if inside else 2, 0),
            textcoords="offset points",
            ha="center" if inside else "left",
            va="center_baseline",
            fontsize=SMALL,
            path_effects=None if inside else _halo(),
        )
        for before in box.before:
            since = max(min(boxes[before].end, box.begin), boxes[before].begin)
            steep = lanes[before] != lane and (box.begin - since) / per_inch < _STEEP
            edge = np.sign(lane - lanes[before]) * _HIGH / 2 if steep else 0.0
            _arrow(axes, (clock.places(since), lanes[before] + edge), (begin, lane - edge))
    last = max(_until(box, per_inch) for box in boxes)
    clock.finish(axes, (span[0] - _EDGE * per_inch, max(last, span[1]) + _EDGE * per_inch))
    axes.set_ylim(max(lanes) + 0.5, -0.5)
    axes.set_yticks([])
    plain(axes, "x")
    headline(axes, said)
    save_axes(axes, path)
    return axes


def _chosen(run: Run, workflow: int | None) -> dict[str, Any]:
    table = workflow_table(run)
    if not has_workflows(run.tables):
        hint = "read the workflow of the log as one (docs/workflows.md#files), or draw --kind gantt --colour workflow"
        raise InputError("its log has dependencies, but no workflows to draw", where=str(run.path or run), hint=hint)
    number = workflow
    if number is None:
        number = int(table["finished"].arg_max() or 0)
    if not 0 <= number < len(table):
        hint = f"they are 0 to {len(table) - 1:,}"
        raise InputError(f"there is no workflow {number}", where=str(run.path or run), hint=hint)
    row = table.row(number, named=True)
    if row["start"] is None:
        raise InputError(f"workflow {number} has not started", where=str(run.path or run), hint="name another one")
    return row


def _said(row: dict[str, Any]) -> str:
    """`montage 3 (chained): waited 4 min, ran for 2.5 h`."""
    ran = spoken(row["end"] - row["start"])
    what = f"{row['kind']} {row['workflow']} ({row['handling']}): waited {spoken(row['wait'])}, ran for {ran}"
    if row["finished"]:
        between = f", of which {spoken(row['intermediate_wait'])} waiting" if row["intermediate_wait"] else ""
        return f"{what}{between}; critical path {spoken(row['critical_path'])}"
    return f"{what}, and did not finish"


def _tasks(run: Run, workflow: int) -> list[Box]:
    """Those that ran; the last attempt of each."""
    jobs = WorkflowJobs(run.tables, Machine.of_run(run))
    members, attempts = jobs.tasks()
    own = members.owner == workflow
    kind, handling = jobs.kinds.names[int(jobs.kind[workflow])]
    tasks = run.table("tasks")
    rows = tasks.filter((tasks["kind"] == kind) & (tasks["handling"] == handling)).to_dicts()
    begin, end = attempts[0][0][own], attempts[0][1][own]
    for since, until in attempts[1:]:
        again = ~np.isnan(since[own])
        begin, end = np.where(again, since[own], begin), np.where(again, until[own], end)
    there = [at for at in range(len(rows)) if not np.isnan(begin[at])]
    place = {at: number for number, at in enumerate(there)}
    return [
        Box(
            rows[at]["name"] if len(rows) > MOST_TASKS and rows[at]["name"] else rows[at]["task"],
            rows[at]["level"],
            tuple(place[int(before)] for before in rows[at]["after"].split() if int(before) in place),
            float(begin[at]),
            float(end[at]),
        )
        for at in there
    ]


def _stages(boxes: list[Box]) -> list[Box]:
    """As they are if they are few; else the tasks of one level and name together, or of one level."""
    if len(boxes) <= MOST_TASKS:
        return boxes
    for named in (True, False):
        keys = [(box.level, box.name if named else "") for box in boxes]
        if len(set(keys)) <= MOST_STAGES or not named:
            break
    number = {key: at for at, key in enumerate(sorted(set(keys), key=lambda key: (key[0], keys.index(key))))}
    found: dict[int, Box] = {}
    for box, key in zip(boxes, keys, strict=True):
        at, name = number[key], key[1] or f"level {key[0]}"
        before = tuple(number[keys[other]] for other in box.before)
        known = found.get(at, replace(box, name=name, number=0, before=()))
        found[at] = replace(
            known,
            number=known.number + 1,
            before=tuple(dict.fromkeys((*known.before, *before))),
            begin=min(known.begin, box.begin),
            end=max(known.end, box.end),
        )
    return [found[at] for at in sorted(found)]


def _in_columns(boxes: Sequence[Box]) -> list[float]:
    """The row of each in its column: near those that it comes after, and columns in the middle of the figure."""
    columns: dict[int, list[int]] = {}
    for at, box in enumerate(boxes):
        columns.setdefault(box.level, []).append(at)
    tallest = max(map(len, columns.values()))
    places = [0.0] * len(boxes)
    for level in sorted(columns):
        some = columns[level]
        wish = {at: np.mean([places[before] for before in boxes[at].before] or [0.0]) for at in some}
        for row, at in enumerate(sorted(some, key=lambda at: (wish[at], at))):
            places[at] = row + (tallest - len(some)) / 2
    return places


def _lanes(boxes: Sequence[Box], per_inch: float) -> list[int]:
    """So that neither boxes nor the words beside them cover each other. Right behind a box there is only one that
    waited for it."""
    free: list[float] = []  # when each lane is
    last: list[int] = []  # who is the last in it
    lanes = [0] * len(boxes)
    for at in sorted(range(len(boxes)), key=lambda at: (boxes[at].begin, boxes[at].level, at)):
        box = boxes[at]
        behind = [lane for lane, one in enumerate(last) if one in box.before and free[lane] <= box.begin]
        apart = [lane for lane, until in enumerate(free) if until + _APART * per_inch <= box.begin]
        mine = next(iter([*behind, *apart]), len(free))
        if mine == len(free):
            free.append(0.0)
            last.append(at)
        lanes[at], last[mine], free[mine] = mine, at, _until(box, per_inch)
    return lanes


def _until(box: Box, per_inch: float) -> float:
    return box.end if _fits(box, per_inch) else box.end + (len(box.label) * CHARACTER + 0.1) * per_inch


def _fits(box: Box, per_inch: float) -> bool:
    return (box.end - box.begin) / per_inch > len(box.label) * CHARACTER + 0.06


def _rectangle(axes: Axes, left: float, top: float, wide: float, high: float, level: int) -> None:
    from matplotlib.patches import Rectangle

    colour = COLOURS[level % 6]
    axes.add_patch(
        Rectangle((left, top), wide, high, facecolor=tint(colour), edgecolor=colour, linewidth=0.8, zorder=2)
    )


def _arrow(axes: Axes, begin: tuple[float, float], end: tuple[float, float]) -> None:
    """Behind the boxes."""
    from matplotlib.patches import FancyArrowPatch

    if begin == end:
        return
    style = "-|>,head_length=2.6,head_width=1.2"
    look: Any = {"arrowstyle": style, "color": GREY, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0, "zorder": 1}
    axes.add_patch(FancyArrowPatch(begin, end, **look))


def _halo() -> list[Any]:
    """White around words, so that lines do not run through them."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=1.8, foreground="white")]


def _reduced(boxes: list[Box]) -> list[Box]:
    """Without what follows from the rest: of a before b before c it need not be said that a is before c."""
    above: list[set[int]] = []  # of each all that are before it; they come before it in the list
    found = []
    for box in boxes:
        implied: set[int] = set().union(*(above[before] for before in box.before))
        above.append(implied | set(box.before))
        found.append(replace(box, before=tuple(before for before in box.before if before not in implied)))
    return found
