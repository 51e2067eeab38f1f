"""Many runs in one table, a row each, and what the repetitions of a group say together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.analysis.distribution import Distribution, distribution
from schedlab.analysis.interval import LEVEL, known, student_interval
from schedlab.analysis.job_values import chosen_jobs, job_values
from schedlab.analysis.metrics import TAU
from schedlab.analysis.trim import Selection
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.suggest import did_you_mean

if TYPE_CHECKING:
    import polars as pl

IDENTITY = ("run", "group", "policy", "repetition", "seed")
PARAMETER = "parameters."  # begins the name of a column of what the study varies
_TIMED = "performance."  # begins the name of one that differs from one execution of a run to the next
_SETTINGS = ("tau", "trim")  # how the summary was made, not what it found
_COUNTED = ("states.", "reasons.", "requeues.")  # a summary leaves out those that are 0


@dataclass(frozen=True, slots=True)
class StudyRun:
    """One run of a study: which it is, and its summary. Runs of the same group are repetitions of each other."""

    run: str
    group: str
    policy: str
    summary: Mapping[str, Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    repetition: int | None = None
    seed: int | None = None


def study_table(rows: Iterable[StudyRun]) -> pl.DataFrame:
    """One row per run: who it is, `parameters.load` …, and every number of its summary: `wait.mean` …

    What a run does not have is null; the states and reasons of jobs are 0 then.
    """
    import polars as pl

    runs = list(rows)
    identity: dict[str, pl.Series] = {
        name: pl.Series(name, [getattr(run, name) for run in runs], pl.Int64 if name in IDENTITY[3:] else pl.String)
        for name in IDENTITY
    }
    parameters = dict.fromkeys(name for run in runs for name in run.parameters)
    for name in parameters:
        values = [run.parameters.get(name) for run in runs]
        identity[PARAMETER + name] = pl.Series(PARAMETER + name, _column(values))
    found = [dict(numbers(run.summary)) for run in runs]
    metrics = dict.fromkeys(key for own in found for key in own)
    columns = [
        pl.Series(key, [own.get(key, 0.0 if key.startswith(_COUNTED) else None) for own in found], pl.Float64)
        for key in metrics
    ]
    return pl.DataFrame([*identity.values(), *columns])


def metric_columns(table: pl.DataFrame) -> list[str]:
    return [name for name in table.columns if name not in IDENTITY and not name.startswith(PARAMETER)]


def is_timed(metric: str) -> bool:
    """Whether it is about the execution of a run, not about its schedule."""
    return metric.startswith(_TIMED)


def schedule_columns(table: pl.DataFrame) -> list[str]:
    """Metrics in which the same run agrees with itself, whenever it is executed."""
    return [name for name in metric_columns(table) if not is_timed(name)]


def chosen_metrics(table: pl.DataFrame, metrics: Sequence[str] | None) -> list[str]:
    """Those asked for, which have to be there; all of them if nobody asks."""
    there = metric_columns(table)
    for name in metrics or ():
        if name not in there:
            raise InputError(f"no run has the metric '{name}'", hint=did_you_mean(name, there))
    return there if metrics is None else list(metrics)


def merge_repetitions(
    table: pl.DataFrame, metrics: Sequence[str] | None = None, *, level: float = LEVEL
) -> pl.DataFrame:
    """One row per group and metric: mean over the repetitions, its interval, and the spread of the repetitions.

    Repetitions that agree in every metric are the same run twice and count once, except for what they cost. `low` and
    `high` are null for one.
    """
    import polars as pl

    of_schedule, chosen = schedule_columns(table), chosen_metrics(table, metrics)
    rows: list[tuple[Any, ...]] = []
    for (group,), runs in table.group_by("group", maintain_order=True):
        different = runs.unique(of_schedule, keep="first", maintain_order=True)
        of = {metric: runs if is_timed(metric) else different for metric in chosen}
        rows.extend((group, metric, *_merged(of[metric][metric], level)) for metric in chosen)
    names = ("n", "mean", "low", "high", "deviation", "min", "max")
    schema = {"group": pl.String, "metric": pl.String, **dict.fromkeys(names, pl.Float64)}
    return pl.DataFrame(rows, schema | {"n": pl.Int64}, orient="row")


def copies(table: pl.DataFrame) -> dict[str, int]:
    """The groups whose repetitions are all the same schedule, with their number."""
    of_schedule = schedule_columns(table)
    return {
        str(group): len(runs)
        for (group,), runs in table.group_by("group", maintain_order=True)
        if len(runs) > 1 and runs.n_unique(of_schedule) == 1
    }


def pooled_distribution(
    runs: Iterable[Run], metric: str = "wait", *, tau: float = TAU, trim: Selection | None = None
) -> Distribution:
    """Mean, percentiles and largest over the jobs of all runs together. Takes 8 bytes a job."""
    values = [known(job_values(run.tables, metric, tau=tau)[chosen_jobs(run, trim)]) for run in runs]
    return distribution(np.concatenate(values) if values else np.empty(0))


def _merged(values: pl.Series, level: float) -> tuple[Any, ...]:
    known_ones = values.drop_nulls().to_numpy()
    n = len(known_ones)
    if not n:
        return 0, *[None] * 6
    interval = student_interval(known_ones, level)
    limits = (interval.low, interval.high) if interval else (None, None)
    deviation = float(known_ones.std(ddof=1)) if n > 1 else None
    extremes = float(known_ones.min()), float(known_ones.max())
    return n, float(known_ones.mean()), *limits, deviation, *extremes


def numbers(summary: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float | None]]:
    """Every number of a summary under its name: `wait.mean` …"""
    for key, value in summary.items():
        name = f"{prefix}{key}"
        if name in _SETTINGS or isinstance(value, bool):
            continue
        if isinstance(value, Mapping):
            yield from numbers(value, f"{name}.")
        elif value is None or isinstance(value, int | float):
            yield name, value


def _column(values: list[Any]) -> list[Any]:
    """As they are if all are numbers or all are texts; else as text, so that a column has one type."""
    given = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in given):
        return [None if value is None else float(value) for value in values]
    return [None if value is None else str(value) for value in values]
