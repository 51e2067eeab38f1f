"""The workflows of a run, a row each, and what they say together (docs/workflows.md, "Metrics")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.distribution import distribution
from schedlab.analysis.machine import Machine
from schedlab.analysis.trim import Selection, keeps
from schedlab.analysis.workflow_chain import waits_between
from schedlab.analysis.workflow_jobs import Stretches, WorkflowJobs
from schedlab.analysis.workflow_kinds import Flags, Floats
from schedlab.analysis.workflow_log import has_waits
from schedlab.model.errors import InputError
from schedlab.model.run import Run, Tables

if TYPE_CHECKING:
    import polars as pl

COLUMNS = (
    *("workflow", "kind", "handling", "submit", "start", "end", "finished", "wait", "runtime", "turnaround"),
    *("critical_path", "stretch", "wait_share", "intermediate_wait", "used", "allocated", "idle_share"),
)
MEASURED = ("wait", "runtime", "turnaround", "stretch", "wait_share", "intermediate_wait")  # of finished workflows


def has_workflows(tables: Tables) -> bool:
    return len(tables.column("first", "workflows")) > 0


def workflow_table(run: Run, trim: Selection | None = None) -> pl.DataFrame:
    """One row per workflow that counts, in the order in which they came; times in seconds, `used` and `allocated` in
    core-seconds. What only a finished one has is null otherwise: `runtime`, `turnaround`, `stretch` …

    Of a run that no workflows were put into, the jobs of its log that waited for each other (`--dependencies follow`)
    are some: "chain of 3 jobs", with the handling "log"."""
    if not has_workflows(run.tables) and not has_waits(run.tables):
        hint = (
            "put some in: --workflows; or follow the dependencies of a log: --dependencies follow (docs/workflows.md)"
        )
        raise InputError("there are no workflows in it", where=str(run.path or run), hint=hint)
    found = _Workflows(run.tables, Machine.of_run(run))
    return found.table(found.kept(keeps(trim.of(run), run.tables)) if trim else None)


def workflow_summary(
    tables: Tables, machine: Machine, begin: float, end: float, kept: NDArray[np.bool_], utilisation: float | None
) -> tuple[dict[str, Any], Flags]:
    """Of the workflows whose first job is `kept`; what their jobs left idle is that between two moments. And which
    jobs are not those of workflows."""
    found = _Workflows(tables, machine)
    idle = found.idle_between(begin, end)
    whole = machine.cluster.cores * (end - begin)
    summary: dict[str, Any] = {"workflow": summary_of_workflows(found.table(found.kept(kept)))}
    less = None if utilisation is None or whole <= 0 else utilisation - idle / whole
    return summary | {"utilisation_less_idle": less}, ~found.jobs.are()


def summary_of_workflows(table: pl.DataFrame) -> dict[str, Any]:
    """The numbers called `workflow.…` of rows of `workflow_table`."""
    done = table.filter("finished")
    used, allocated = float(table["used"].sum()), float(table["allocated"].sum())
    return {
        "number": len(table),
        "finished": len(done),
        **{name: distribution(done[name].drop_nulls().to_numpy().copy()) for name in MEASURED},
        "used_core_hours": used / 3600,
        "allocated_core_hours": allocated / 3600,
        "idle_share": 1 - used / allocated if allocated > 0 else None,
    }


def by_kind(table: pl.DataFrame) -> pl.DataFrame:
    """Rows of `workflow_table` together, kind by kind and, where they differ, handling by handling: `class`, number of
    `jobs` (workflows here), `core_hours` that they held, and the numbers called `workflow.…`; the most core-hours
    first."""
    import polars as pl

    from schedlab.analysis.study import numbers

    several = table["handling"].n_unique() > 1
    rows = []
    for (kind, handling), own in table.group_by("kind", "handling", maintain_order=True):
        summary = summary_of_workflows(own)
        rows.append(
            {
                "class": f"{kind}, {handling}" if several else str(kind),
                "jobs": summary["number"],
                "core_hours": summary["allocated_core_hours"],
                **{f"workflow.{name}": value for name, value in numbers(summary)},
            }
        )
    named = [f"workflow.{name}" for name, _ in numbers(summary_of_workflows(table))]
    schema = {"class": pl.String, "jobs": pl.Int64, **dict.fromkeys(["core_hours", *named], pl.Float64)}
    return pl.DataFrame(rows, schema).sort("core_hours", "class", descending=[True, False])


class _Workflows:
    def __init__(self, tables: Tables, machine: Machine) -> None:
        self.jobs = WorkflowJobs(tables, machine)
        self._stretches = self.jobs.stretches()
        self._tasks, self._attempts = self.jobs.tasks()
        self._cores = self.jobs.kinds.cores[self._tasks.which]

    def kept(self, jobs: NDArray[np.bool_]) -> Flags:
        """A workflow counts if its first job does, which is submitted when the workflow is."""
        first = self.jobs.attempts[0][self.jobs.members.first]
        return (first >= 0) & jobs[first]

    def idle_between(self, begin: float, end: float) -> float:
        """Core-seconds for which jobs of workflows had cores that no task used, of those that utilisation counts."""

        def inside(since: Floats, until: Floats) -> Floats:
            return np.clip(until, begin, end) - np.clip(since, begin, end)

        used = sum(float(np.nansum(self._cores * inside(since, until))) for since, until in self._attempts)
        stretches = self._stretches
        had = float((stretches.cores * inside(stretches.begin, stretches.end)).sum())
        return max(had - used, 0.0)

    def table(self, chosen: Flags | None = None) -> pl.DataFrame:
        import polars as pl

        jobs = self.jobs
        finished = jobs.finished()
        start, end = _extremes(self._stretches, len(jobs))
        critical = jobs.kinds.critical_path[jobs.kind]
        between = np.full(len(jobs), np.nan)
        between[finished] = waits_between(jobs, finished, start)
        turnaround = np.where(finished, end - jobs.submit, np.nan)
        used, allocated = self._core_seconds()
        names = [pl.Series([name[at] for name in jobs.kinds.names], dtype=pl.String) for at in (0, 1)]
        found = pl.DataFrame(
            {
                "workflow": np.arange(len(jobs)),
                "kind": names[0].gather(jobs.kind),
                "handling": names[1].gather(jobs.kind),
                "submit": jobs.submit,
                "start": start,
                "end": end,
                "finished": finished,
                "wait": start - jobs.submit,
                "runtime": np.where(finished, end - start, np.nan),
                "turnaround": turnaround,
                "critical_path": critical,
                "stretch": _ratio(turnaround, critical),
                "wait_share": _ratio(start - jobs.submit + between, turnaround),
                "intermediate_wait": between,
                "used": used,
                "allocated": allocated,
                "idle_share": 1 - _ratio(used, allocated),
            }
        )
        return (found if chosen is None else found.filter(pl.Series(chosen))).fill_nan(None)

    def _core_seconds(self) -> tuple[Floats, Floats]:
        """Used by tasks, and held by jobs. While a job is suspended its task does not run."""
        used = np.zeros(len(self.jobs))
        for since, until in self._attempts:
            used += self.jobs.sums(np.nan_to_num(self._cores * (until - since)), self._tasks)
        length = self._stretches.end - self._stretches.begin
        had, held = (
            np.asarray(np.bincount(self._stretches.owner, amount * length, len(self.jobs)), np.float64)
            for amount in (self._stretches.cores, self._stretches.held)
        )
        return np.minimum(used, had), held


def _extremes(stretches: Stretches, number: int) -> tuple[Floats, Floats]:
    """The first begin and the last end of each workflow; NaN where nothing started."""
    first, last = np.full(number, np.inf), np.full(number, -np.inf)
    np.minimum.at(first, stretches.owner, stretches.begin)
    np.maximum.at(last, stretches.owner, stretches.end)
    return np.where(np.isfinite(first), first, np.nan), np.where(np.isfinite(last), last, np.nan)


def _ratio(part: Floats, whole: Floats) -> Floats:
    found: Floats = np.full(len(whole), np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found
