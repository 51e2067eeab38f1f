"""A run over time: what jobs met by the time they were submitted, and how full the machine was, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.job_values import chosen_jobs, job_values
from schedlab.analysis.metrics import TAU
from schedlab.analysis.resources import resource_of, timeline_columns
from schedlab.analysis.trim import InPhase, Selection
from schedlab.model.errors import InputError
from schedlab.model.run import Run, Tables

if TYPE_CHECKING:
    import polars as pl

MINUTE = 60.0
_MOST_STEPS = 50_000_000  # a table of more would not fit in memory

Floats = NDArray[np.float64]


def job_series(
    run: Run, metric: str = "wait", *, step: float = MINUTE, tau: float = TAU, trim: Selection | None = None
) -> pl.DataFrame:
    """One row per step in which a job was submitted: `time` (its beginning), `jobs`, `mean`, `median`, `p95`.

    Steps are counted from second 0. Only jobs that started.
    """
    import polars as pl

    _check_step(step)
    values = job_values(run.tables, metric, tau=tau)
    chosen = chosen_jobs(run, trim) & ~np.isnan(values)
    value = pl.col("value")
    jobs = pl.DataFrame({"time": np.floor(run.tables.column("submit")[chosen] / step), "value": values[chosen]})
    found = jobs.group_by("time").agg(
        pl.len().cast(pl.Int64).alias("jobs"),
        value.mean().alias("mean"),
        value.median().alias("median"),
        value.quantile(0.95, "linear").alias("p95"),
    )
    return found.sort("time").with_columns(pl.col("time") * step)


def machine_series(
    run: Run, *, step: float = MINUTE, trim: Selection | None = None, resource: str = "cores"
) -> pl.DataFrame:
    """One row per step of the window: `time`, and the means in it of `utilisation`, `running`, `queued` (jobs).

    The utilisation is that of the cores, or of another resource.

    Steps are counted from the beginning of the window; the last one may be shorter.
    """
    import polars as pl

    _check_step(step)
    begin, end = window(run, trim)
    if (end - begin) / step > _MOST_STEPS:
        raise InputError(f"steps of {step:g} s are too short for {end - begin:g} s", hint="choose longer steps")
    edges = np.append(np.arange(begin, end, step), end) if end > begin else np.empty(0)
    measured = resource_of(run, resource)
    parts = timeline_columns("used", measured)
    means = time_means(run.tables, (*parts, "running", "queued"), edges)
    used = sum((means.pop(name) * size for name, size in parts.items()), np.zeros(max(len(edges) - 1, 0)))
    shares = used / max(measured.total(run.cluster), 1)
    return pl.DataFrame({"time": edges[:-1], "utilisation": shares, **means})


def utilisation(run: Run, begin: float, end: float, resource: str = "cores") -> float | None:
    """Core-seconds (or of another resource) used between two moments / (cores × time). None for no time or no cores."""
    measured = resource_of(run, resource)
    total = measured.total(run.cluster)
    if end <= begin or not total:
        return None
    parts = timeline_columns("used", measured)
    means = time_means(run.tables, tuple(parts), np.array([begin, end]))
    return float(sum(means[name][0] * size for name, size in parts.items())) / total


def window(run: Run, trim: Selection | None = None) -> tuple[float, float]:
    """From the first submission to the last end of the jobs that count; to the last submission if the cool-down is
    left out; or the phase. As in the summary."""
    if isinstance(trim, InPhase):
        phase = trim.of(run)
        return phase.begin, phase.end
    chosen = chosen_jobs(run, trim)
    if not chosen.any():
        return 0.0, 0.0
    submit = run.tables.column("submit")[chosen]
    last = submit if trim and trim.cool_down else run.tables.column("end")[chosen]
    return float(submit.min()), float(last.max())


def time_means(tables: Tables, names: Sequence[str], edges: Floats) -> dict[str, Floats]:
    """The mean of columns of the timeline between each two neighbouring edges (increasing).

    A row holds until the next one, the last one for ever; before the first everything is 0.
    """
    lengths = np.diff(edges)
    areas = {name: np.zeros(len(edges)) for name in names}  # under the column, from the first row to each edge
    total = dict.fromkeys(names, 0.0)
    before: dict[str, NDArray[Any]] | None = None
    for batch in tables.batches(("time", *names), "timeline"):
        if not len(batch["time"]):
            continue
        piece = batch if before is None else {key: np.concatenate([before[key], batch[key]]) for key in batch}
        before = {key: column[-1:] for key, column in piece.items()}
        time = piece["time"]
        first, last = np.searchsorted(edges, [time[0], time[-1]])
        for name in names:
            area = total[name] + np.concatenate([[0.0], np.cumsum(piece[name][:-1] * np.diff(time))])
            areas[name][first:last] = np.interp(edges[first:last], time, area)
            total[name] = float(area[-1])
    if before is not None:
        after = edges >= before["time"][0]
        for name in names:
            areas[name][after] = total[name] + before[name][0] * (edges[after] - before["time"][0])
    return {name: np.diff(area) / lengths for name, area in areas.items()}


def _check_step(step: float) -> None:
    if not step > 0:
        raise InputError(f"a step of {step:g} s is not possible", hint="give a time above 0")
