"""What figures show of each job (its wait, turnaround or slowdown: docs/semantics.md, "Metrics"), or of each moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.compare import compare
from schedlab.analysis.distribution import Distribution, distribution, weighted_distribution
from schedlab.analysis.job_values import job_values
from schedlab.analysis.resources import resource_of, timeline_columns
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.suggest import did_you_mean
from schedlab.plot.times import Floats, Span, span_of, timeline


@dataclass(frozen=True, slots=True)
class Measure:
    """A number of each job that started (a job of length 0 has no slowdown), or of the queue at each moment."""

    label: str
    duration: bool  # in seconds; otherwise a ratio of at least 1, or an amount
    over_time: bool = False  # an amount, each of which counts as long as it lasts
    around_one: bool = False  # a ratio that may be above or below 1, not far from it


@dataclass(frozen=True, slots=True)
class Sample:
    """Values, and how much each of them counts: seconds, or each as much as the others."""

    values: Floats
    weights: Floats | None = None

    def distribution(self) -> Distribution:
        if self.weights is None:
            return distribution(self.values.copy())
        return weighted_distribution(self.values, self.weights)

    def quantiles(self, *names: str) -> list[float]:
        found = self.distribution()
        return [float(found[name] or 0.0) for name in names]


MEASURES = {
    "wait": Measure("wait", duration=True),
    "turnaround": Measure("turnaround time", duration=True),
    "slowdown": Measure("slowdown", duration=False),
    "bounded_slowdown": Measure("bounded slowdown", duration=False),
    "processor_slowdown": Measure("per-processor bounded slowdown", duration=False),
    "speedup": Measure("speed-up against whole nodes", duration=False, around_one=True),
    "queue_length": Measure("jobs waiting", duration=False, over_time=True),
}
GIB = 2.0**30


def measure_of(metric: str, resource: str | None = None) -> Measure:
    """The measure of that name; of the queue also by what waiting jobs ask for."""
    if metric not in MEASURES:
        of_jobs = ", ".join(name for name, measure in MEASURES.items() if not measure.over_time)
        hint = did_you_mean(metric, MEASURES, f"metrics of jobs: {of_jobs}; of the queue: queue_length")
        raise InputError(f"there is no metric '{metric}' of jobs", hint=hint)
    found = MEASURES[metric]
    if resource is None:
        return found
    if not found.over_time:
        raise InputError(f"a resource means nothing for the {found.label} of jobs", hint="it is for queue_length")
    return replace(found, label=f"{'GiB of memory' if resource == 'memory' else resource} waited for")


def sample_of(run: Run, metric: str, span: Span | None = None, resource: str | None = None) -> Sample:
    """The values of the jobs, or of the queue with the seconds for which each lasted."""
    if not measure_of(metric, resource).over_time:
        return Sample(measured(run, metric, span))
    columns = {"queued": 1.0} if resource is None else timeline_columns("queued", resource_of(run, resource))
    if resource == "memory":
        columns = {name: size / GIB for name, size in columns.items()}
    begin, end = span or span_of([run])
    times = timeline(run, "queued")[0]
    values = sum((size * timeline(run, name)[1] for name, size in columns.items()), np.zeros(len(times)))
    seconds = np.diff(np.clip(np.append(times, max(end, times[-1])), begin, end))
    return Sample(values[seconds > 0], seconds[seconds > 0])


def measured(run: Run, metric: str, span: Span | None = None) -> Floats:
    """The values of the jobs that have one and were submitted in the span, in the order in which they left."""
    return measured_jobs(run, metric, span)[1]


def measured_jobs(run: Run, metric: str, span: Span | None = None) -> tuple[NDArray[np.bool_], Floats]:
    """Which jobs, in the order in which they left, have a value and were submitted in the span; their values."""
    if measure_of(metric).over_time:
        hint = "box, violin and ecdf draw it"
        raise InputError(f"{metric} is of the queue, not of jobs", hint=hint)
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
