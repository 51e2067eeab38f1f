"""What users ask for: other estimates of the same run times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.random import random_stream
from schedlab.model.units import format_duration
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.transform.derive import Changes, derive


def round_limits(workload: Workload, to: float) -> Workload:
    """Limits rounded up to multiples of `to` seconds, as people do who ask for quarters of an hour."""
    if not 0 < to < math.inf:
        raise InputError(f"limits cannot be rounded to {to:g} s", hint="a time above 0: 5m, 15m, 1h")

    def up(limit: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.ceil(limit / to) * to

    def step(batches: Iterator[JobBatch], changes: Changes) -> Iterator[JobBatch]:
        for batch in batches:
            limit = up(batch.limit)
            changes.filled["limit: rounded up"] += int((limit != batch.limit).sum())
            shapes = None if batch.shapes is None else replace(batch.shapes, limit=up(batch.shapes.limit))
            yield replace(batch, limit=limit, shapes=shapes)

    return derive(workload, f"limits rounded up to multiples of {format_duration(to)}", step, job_by_job=True)


def set_estimates(workload: Workload, *, factor: float = 1.0, spread: bool = False, seed: int = 0) -> Workload:
    """Limits = run time × `factor`, rounded up to seconds; exact with 1. Jobs without a run time keep what they have.

    With `spread` every job gets a factor of its own, uniform between 1 and `factor`: the f-model of Mu'alem and
    Feitelson (2001), whose f is `factor` − 1. Real estimates are neither: most of them are a few round numbers.
    """
    if not 1 <= factor < math.inf:
        raise InputError(f"the factor cannot be {factor:g}", hint="1 or more: a job that exceeds its limit is killed")

    def step(batches: Iterator[JobBatch], changes: Changes) -> Iterator[JobBatch]:
        draws = random_stream(seed, "transform", "estimates")
        for batch in batches:
            own = 1 + (factor - 1) * draws.random(len(batch)) if spread else np.full(len(batch), factor)
            changes.filled["limit: made from the run time"] += int((batch.runtime > 0).sum())
            shapes = batch.shapes
            if shapes is not None:
                each = np.repeat(own, np.diff(shapes.end, prepend=0))
                shapes = replace(shapes, limit=_limit(shapes.runtime, each, shapes.limit))
            yield replace(batch, limit=_limit(batch.runtime, own, batch.limit), shapes=shapes)

    how = f"a factor from 1 to {factor:g} (seed {seed})" if spread else f"{factor:g}"
    return derive(workload, f"limits are run times × {how}", step, forget="limit:", job_by_job=True)


def _limit(
    runtime: NDArray[np.float64], factor: NDArray[np.float64], before: NDArray[np.float64]
) -> NDArray[np.float64]:
    wanted = runtime * factor
    whole = np.ceil(np.round(wanted, 6))  # 100 s × 1.1 are 110 s, not a little more
    return np.where(runtime > 0, np.where(runtime == np.floor(runtime), whole, wanted), before)
