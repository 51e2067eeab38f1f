"""What figures show of each job: its wait, turnaround, slowdown or bounded slowdown (docs/semantics.md, "Metrics")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.compare import compare
from schedlab.analysis.job_values import job_values
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.suggest import did_you_mean
from schedlab.plot.times import Floats, Span


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of each job that started; a job of length 0 has no slowdown."""

    label: str
    duration: bool  # in seconds; otherwise a ratio of at least 1


MEASURES = {
    "wait": Measure("wait", duration=True),
    "turnaround": Measure("turnaround time", duration=True),
    "slowdown": Measure("slowdown", duration=False),
    "bounded_slowdown": Measure("bounded slowdown", duration=False),
}


def measure_of(metric: str) -> Measure:
    if metric not in MEASURES:
        hint = did_you_mean(metric, MEASURES, f"metrics of jobs: {', '.join(MEASURES)}")
        raise InputError(f"there is no metric '{metric}' of jobs", hint=hint)
    return MEASURES[metric]


def measured(run: Run, metric: str, span: Span | None = None) -> Floats:
    """The values of the jobs that have one and were submitted in the span, in the order in which they left."""
    return measured_jobs(run, metric, span)[1]


def measured_jobs(run: Run, metric: str, span: Span | None = None) -> tuple[NDArray[np.bool_], Floats]:
    """Which jobs, in the order in which they left, have a value and were submitted in the span; their values."""
    measure_of(metric)
    values = job_values(run.tables, metric, tau=run.summary["tau"])
    chosen = np.asarray(~np.isnan(values))
    if span is not None:
        submit = run.tables.column("submit")
        chosen &= (submit >= span[0]) & (submit < span[1])
    return chosen, values[chosen]


def labels_of(runs: Sequence[Run], labels: Sequence[str] | None = None) -> list[str]:
    """The names of the runs: those given, or their policies."""
    if not runs:
        raise InputError("there is no run to draw")
    if labels is None:
        return [row.label for row in compare(runs).rows]
    if len(labels) != len(runs):
        raise InputError(f"labels: {len(labels)}, runs: {len(runs)}", hint="give one label for each run")
    return list(labels)


def owner_name(run: Run, by: str, number: int) -> str:
    """What the log calls the user (group, queue, partition) of that number; below 0 it does not say."""
    labels = run.workload.get("labels", {}).get(by, ())
    if number < 0:
        return "unknown"
    return str(labels[number]) if number < len(labels) else f"{by} {number}"
