"""The colours of the jobs of a Gantt chart: job by job, by workflow, by user, queue …, or by a number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.job_values import job_values
from schedlab.analysis.machine import Machine
from schedlab.analysis.workflow_jobs import WorkflowJobs
from schedlab.analysis.workflow_log import has_waits
from schedlab.analysis.workflows import has_workflows
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.suggest import did_you_mean
from schedlab.plot.measures import owner_name
from schedlab.plot.style import COLOURS, LIGHT, shades

OWNERS = ("user", "group", "queue", "partition", "application")
NUMBERS = {
    "slowdown": "slowdown (up to 1,000)",
    "bounded_slowdown": "bounded slowdown (up to 1,000)",
    "size": "size (cores)",
}
COLOURINGS = ("job", "workflow", *OWNERS, *NUMBERS)

# Neighbours in the queue get different ones; none is dark, so that a number can be read on it.
JOB_COLOURS = (
    "#56B4E9",
    "#E69F00",
    "#7FCFB9",
    "#E8A98A",
    "#8FB8DA",
    "#F0E442",
    "#DDA6C4",
    "#5FAF92",
    "#F3CF80",
    "#B5B9BF",
)
_OTHERS, _UNKNOWN = "#9aa0a6", LIGHT
MOST_NAMES = 7
_LARGEST_SLOWDOWN = 1000.0  # on the scale: from here on all are equally dark


@dataclass(frozen=True, slots=True)
class Colouring:
    """A colour for each job; what the colours mean, in a legend or on a scale."""

    colours: NDArray[np.float64]  # red, green, blue and opacity, in the order of the table of jobs
    names: dict[str, str] = field(default_factory=dict)  # name -> colour
    scale: Any = None  # a ScalarMappable
    scale_label: str = ""


def colouring(run: Run, by: str) -> Colouring:
    """Users (groups …) with the most core time have colours of their own."""
    if by == "job":
        return Colouring(_rgba(JOB_COLOURS)[np.arange(len(run.jobs)) % len(JOB_COLOURS)])
    if by == "workflow":
        return _by_workflow(run)
    if by in OWNERS:
        return _by_owner(run, by)
    if by in NUMBERS:
        return _by_number(run, by)
    hint = did_you_mean(by, COLOURINGS, f"colours: {', '.join(COLOURINGS)}")
    raise InputError(f"jobs cannot be coloured by '{by}'", hint=hint)


def _by_workflow(run: Run) -> Colouring:
    """One of the seven colours for each workflow, in turn; a few are named. Other jobs are light."""
    if not has_workflows(run.tables) and not has_waits(run.tables):
        hint = "choose another colour; docs/workflows.md tells how a run gets some"
        raise InputError("there are no workflows in it", where=str(run.path or run), hint=hint)
    workflows = WorkflowJobs(run.tables, Machine.of_run(run))
    owner = workflows.of_rows()[np.argsort(run.tables.column("sequence"))]
    kinds = [workflows.kinds.names[kind][0] for kind in workflows.kind]
    names = {"other jobs": _UNKNOWN} if (owner < 0).any() else {}
    if len(kinds) <= len(COLOURS):
        names = {f"{kind} {at}": COLOURS[at] for at, kind in enumerate(kinds)} | names
    else:
        names = {f"{len(kinds):,} workflows, {len(COLOURS)} colours in turn": COLOURS[0]} | names
    palette = _rgba([*COLOURS, _UNKNOWN])
    return Colouring(palette[np.where(owner < 0, len(COLOURS), owner % len(COLOURS))], names)


def _by_owner(run: Run, by: str) -> Colouring:
    if by not in run.jobs.columns:
        hint = "simulate it with a heatmap, or choose another colour"
        raise InputError(f"its jobs have no {by}", where=str(run.path or run), hint=hint)
    owner = run.jobs[by].fill_null(-1).to_numpy()
    owners, place = np.unique(owner, return_inverse=True)
    in_turn = np.searchsorted(owners, ranked_owners(run, by)).tolist()
    chosen, rest = in_turn[:MOST_NAMES], in_turn[MOST_NAMES:]
    colour = {at: COLOURS[number] for number, at in enumerate(chosen)}
    names = {owner_name(run, by, int(owners[at])): colour[at] for at in chosen}
    if rest:
        names[f"{len(rest):,} others"] = _OTHERS
    if (owner < 0).any():
        names["unknown"] = _UNKNOWN
    palette = [colour.get(at, _OTHERS if owners[at] >= 0 else _UNKNOWN) for at in range(len(owners))]
    return Colouring(_rgba(palette)[place], names)


_LARGEST_NUMBER = 1 << 22  # of owners that are counted in a table of all numbers


def ranked_owners(run: Run, by: str) -> list[int]:
    """Those that the log names, by their core time in it, the most first.

    What the log says, not what the schedule made of it: the same colours for all runs of a workload.
    """
    return ranked(run.tables.column(by), core_time(run))


def core_time(run: Run) -> NDArray[np.float64]:
    """Of each job, as the log tells it."""
    return np.asarray(run.tables.column("cores") * run.tables.column("runtime"))


def ranked(owners: NDArray[Any], work: NDArray[np.float64]) -> list[int]:
    """Owners of jobs (below 0: unknown) by the work of these, the most first."""
    known = owners >= 0
    if not known.all():
        owners, work = owners[known], work[known]
    if owners.max(initial=0) > _LARGEST_NUMBER:
        different, place = np.unique(owners, return_inverse=True)
        sums = np.bincount(place, work, len(different))
    else:  # without sorting millions of jobs
        different = np.flatnonzero(np.bincount(owners))
        sums = np.bincount(owners, work)[different]
    return [int(different[at]) for at in np.argsort(-sums, kind="stable")]


def _by_number(run: Run, by: str) -> Colouring:
    """On scales that do not depend on the schedule, so that charts can be compared."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm

    jobs = run.jobs
    if by == "size":
        values, largest = np.maximum(jobs["cores"].to_numpy(), 1.0), max(float(run.cluster.cores), 10.0)
    else:
        of_job = job_values(run.tables, by, tau=run.summary["tau"])
        values, largest = of_job[np.argsort(run.tables.column("sequence"))], _LARGEST_SLOWDOWN
    scale = ScalarMappable(LogNorm(1.0, largest), shades())
    return Colouring(np.asarray(scale.to_rgba(values)), scale=scale, scale_label=NUMBERS[by])


def _rgba(colours: Any) -> NDArray[np.float64]:
    from matplotlib.colors import to_rgba_array

    return np.asarray(to_rgba_array(list(colours)))
