"""One number for each job of a run: its start, wait, turnaround or slowdown, as docs/semantics.md defines them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.beside import OF_SPEEDUPS, speedups_of
from schedlab.analysis.metrics import TAU
from schedlab.analysis.trim import TOLD, Selection
from schedlab.model.errors import InputError
from schedlab.model.run import Run, Tables
from schedlab.model.suggest import did_you_mean

JobMetric = Literal["start", "wait", "turnaround", "slowdown", "bounded_slowdown", "processor_slowdown", "speedup"]
JOB_METRICS: tuple[str, ...] = get_args(JobMetric)


_COLUMNS: dict[str, tuple[str, ...]] = {
    "start": ("start",),
    "wait": ("eligible", "start"),
    **dict.fromkeys(("turnaround", "slowdown", "bounded_slowdown"), ("eligible", "start", "end")),
    "processor_slowdown": ("eligible", "start", "end", "cores"),
    "speedup": OF_SPEEDUPS,
}


def columns_of(metric: str) -> tuple[str, ...]:
    """What of the table of jobs it is made of."""
    if metric not in JOB_METRICS:
        hint = did_you_mean(metric, JOB_METRICS, f"metrics of jobs: {', '.join(JOB_METRICS)}")
        raise InputError(f"there is no metric of jobs '{metric}'", hint=hint)
    return _COLUMNS[metric]


def job_values(tables: Tables, metric: str, *, tau: float = TAU) -> NDArray[np.float64]:
    """In the order of the table; NaN for jobs that did not start (speed-up: complete), for ratios also of length 0."""
    return values_of({name: tables.column(name) for name in columns_of(metric)}, metric, tau=tau)


def values_of(columns: Mapping[str, NDArray[Any]], metric: str, *, tau: float = TAU) -> NDArray[np.float64]:
    """The same of the jobs of which these are the columns."""
    if metric == "speedup":
        return speedups_of(columns)
    start: NDArray[Any] = columns["start"]
    if metric == "start":
        return start
    if metric == "wait":
        return np.asarray(start - columns["eligible"])
    end = columns["end"]
    turnaround, runtime = end - columns["eligible"], end - start
    turnaround[np.isnan(start)] = np.nan
    if metric == "turnaround":
        return np.asarray(turnaround)
    if metric == "slowdown":
        found: NDArray[np.float64] = np.full(len(start), np.nan)
        np.divide(turnaround, runtime, out=found, where=runtime > 0)
        return found
    length = np.maximum(runtime, tau)
    if metric == "processor_slowdown":
        length *= np.maximum(columns["cores"], 1)
    return np.asarray(np.maximum(turnaround / length, 1.0))


def chosen_jobs(run: Run, trim: Selection | None) -> NDArray[np.bool_]:
    """Which jobs of the table count: those that started and are not left out."""
    counts = None if trim is None else trim.of(run).chooser(run.tables)
    rows = [np.empty(0, bool)]
    for batch in run.tables.batches((*TOLD, "start"), "jobs"):
        started = ~np.isnan(batch["start"])
        rows.append(started if counts is None else started & counts(batch))
    return np.concatenate(rows)
