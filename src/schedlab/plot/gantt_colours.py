"""The colours of the jobs of a Gantt chart: job by job, by workflow, by user, queue …, or by a number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.job_values import columns_of, values_of
from schedlab.analysis.machine import Machine
from schedlab.analysis.workflow_jobs import WorkflowJobs
from schedlab.analysis.workflow_log import has_waits
from schedlab.analysis.workflows import has_workflows
from schedlab.model.errors import InputError
from schedlab.model.jobs import jobs_at, jobs_of_rows
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

    colours: NDArray[np.float64]  # red, green, blue and opacity
    names: dict[str, str] = field(default_factory=dict)  # name -> colour
    scale: Any = None  # a ScalarMappable
    scale_label: str = ""


def colouring(run: Run, by: str, rows: NDArray[np.int64] | None = None) -> Colouring:
    """Of the jobs of these rows in the order of the workload; of all, if none are named. What colours mean does not
    depend on which jobs these are. Users (groups …) with the most core time have colours of their own."""
    if by not in COLOURINGS:
        hint = did_you_mean(by, COLOURINGS, f"colours: {', '.join(COLOURINGS)}")
        raise InputError(f"jobs cannot be coloured by '{by}'", hint=hint)
    if rows is None:
        rows = np.arange(sum(len(batch["sequence"]) for batch in run.tables.batches(("sequence",), "jobs")))
    if by == "job":
        return Colouring(_rgba(JOB_COLOURS)[rows % len(JOB_COLOURS)])
    if by == "workflow":
        return _by_workflow(run, rows)
    jobs = jobs_of_rows(run.tables, rows)
    return _by_owner(run, by, jobs) if by in OWNERS else _by_number(run, by, jobs)


def _by_workflow(run: Run, rows: NDArray[np.int64]) -> Colouring:
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
    return Colouring(palette[np.where(owner < 0, len(COLOURS), owner % len(COLOURS))[rows]], names)


def _by_owner(run: Run, by: str, jobs: NDArray[np.int64]) -> Colouring:
    try:  # what the log says, not what the schedule made of it: the same colours for all runs of a workload
        pieces = run.tables.batches((by, "cores", "runtime"), "jobs")
        owners, work = work_of((piece[by], piece["cores"] * piece["runtime"]) for piece in pieces)
    except KeyError:
        hint = "simulate it with a heatmap, or choose another colour"
        raise InputError(f"its jobs have no {by}", where=str(run.path or run), hint=hint) from None
    in_turn = ranked(owners, work)
    colour = {owner: COLOURS[number] for number, owner in enumerate(in_turn[:MOST_NAMES])}
    names = {owner_name(run, by, owner): shade for owner, shade in colour.items()}
    if rest := in_turn[MOST_NAMES:]:
        names[f"{len(rest):,} others"] = _OTHERS
    if (owners < 0).any():
        names["unknown"] = _UNKNOWN
    palette = [colour.get(owner, _OTHERS if owner >= 0 else _UNKNOWN) for owner in owners.tolist()]
    own = jobs_at(run.tables, (by,), jobs)[by]
    return Colouring(_rgba(palette)[np.searchsorted(owners, own)], names)


_LARGEST_NUMBER = 1 << 22  # of owners that are counted in a table of all numbers


def work_of(jobs: Iterable[tuple[NDArray[Any], NDArray[np.float64]]]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Each owner (below 0: unknown) once, and the work of his jobs; of the owners and works of jobs, piece by piece."""
    owners, sums = np.empty(0, np.int64), np.empty(0)
    for some, work in jobs:
        least, most = int(some.min(initial=0)), int(some.max(initial=0))
        if most - least <= _LARGEST_NUMBER:
            different = np.flatnonzero(np.bincount(some - least)) + least  # without sorting millions of jobs
        else:
            different = np.unique(some)
        known = np.union1d(owners, different)
        before, sums = sums, np.zeros(len(known))
        sums[np.searchsorted(known, owners)] = before
        owners = known
        np.add.at(sums, np.searchsorted(owners, some), work)
    return owners, sums


def ranked(owners: NDArray[np.int64], work: NDArray[np.float64]) -> list[int]:
    """Those that the log names, the one with the most work first."""
    known = owners >= 0
    owners, work = owners[known], work[known]
    return [int(owners[at]) for at in np.argsort(-work, kind="stable")]


def _by_number(run: Run, by: str, jobs: NDArray[np.int64]) -> Colouring:
    """On scales that do not depend on the schedule, so that charts can be compared."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm

    if by == "size":
        cores = jobs_at(run.tables, ("cores",), jobs)["cores"]
        values, largest = np.maximum(cores, 1.0), max(float(run.cluster.cores), 10.0)
    else:
        columns = jobs_at(run.tables, columns_of(by), jobs)
        values, largest = values_of(columns, by, tau=run.summary["tau"]), _LARGEST_SLOWDOWN
    scale = ScalarMappable(LogNorm(1.0, largest), shades())
    return Colouring(np.asarray(scale.to_rgba(values)), scale=scale, scale_label=NUMBERS[by])


def _rgba(colours: Any) -> NDArray[np.float64]:
    from matplotlib.colors import to_rgba_array

    return np.asarray(to_rgba_array(list(colours)))
