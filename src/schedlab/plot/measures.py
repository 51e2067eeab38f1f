"""What figures show of each job: its wait, turnaround or bounded slowdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.compare import compare
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.suggest import did_you_mean
from schedlab.plot.times import Floats, Span


@dataclass(frozen=True, slots=True)
class Measure:
    """A number that every job has which started."""

    label: str
    duration: bool  # in seconds; otherwise a ratio of at least 1


MEASURES = {
    "wait": Measure("wait", duration=True),
    "turnaround": Measure("turnaround time", duration=True),
    "slowdown": Measure("bounded slowdown", duration=False),
}


def measure_of(metric: str) -> Measure:
    if metric not in MEASURES:
        hint = did_you_mean(metric, MEASURES, f"metrics of jobs: {', '.join(MEASURES)}")
        raise InputError(f"there is no metric '{metric}' of jobs", hint=hint)
    return MEASURES[metric]


def chosen_jobs(run: Run, span: Span | None = None) -> NDArray[np.bool_]:
    """Which jobs, in the order in which they left, started and were submitted in the span."""
    started = np.asarray(~np.isnan(run.tables.column("start")))
    if span is None:
        return started
    submit = run.tables.column("submit")
    return np.asarray(started & (submit >= span[0]) & (submit < span[1]))


def measured(run: Run, metric: str, span: Span | None = None) -> Floats:
    """The values of the chosen jobs, in the order in which they left."""
    measure_of(metric)
    chosen = chosen_jobs(run, span)
    start, end, eligible = (run.tables.column(name)[chosen] for name in ("start", "end", "eligible"))
    if metric == "wait":
        return np.asarray(start - eligible)
    if metric == "turnaround":
        return np.asarray(end - eligible)
    bounded = (end - eligible) / np.maximum(end - start, run.summary["tau"])
    return np.asarray(np.maximum(bounded, 1.0))


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
