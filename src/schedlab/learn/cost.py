"""What a job's place in the schedule costs, known to the environment (not to the agent) when the job starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.metrics import TAU
from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.model.workload import Workload

Cost = Callable[[Mapping[str, Any]], float]


def wait(job: Mapping[str, Any]) -> float:
    return float(job["start"] - job["eligible"])


def slowdown(job: Mapping[str, Any]) -> float:
    """0 for a job of length 0, which has none."""
    length = job["end"] - job["start"]
    return float((job["end"] - job["eligible"]) / length) if length > 0 else 0.0


def bounded_slowdown(job: Mapping[str, Any]) -> float:
    return max(1.0, float((job["end"] - job["eligible"]) / max(job["end"] - job["start"], TAU)))


COSTS: dict[str, Cost] = {"bounded_slowdown": bounded_slowdown, "wait": wait, "slowdown": slowdown}


def find_cost(reward: str | Cost) -> Cost:
    if callable(reward):
        return reward
    if not isinstance(reward, str) or reward not in COSTS:
        listing = f"one of {', '.join(COSTS)}, or a function of a job"
        raise InputError(f"there is no reward '{reward}'", hint=did_you_mean(str(reward), COSTS, listing))
    return COSTS[reward]


class Bill:
    """The costs of an episode, each as its share of the mean."""

    def __init__(self, jobs: Workload, cost: Cost) -> None:
        (batch,) = jobs.batches()
        per_chunk = np.array([request.chunk.get("cores", 0) for request in jobs.requests])
        length = np.minimum(batch.runtime, batch.limit)
        columns = {
            "job": batch.id.tolist(),
            **{name: _known(getattr(batch, name)) for name in ("user", "group", "queue", "partition")},
            "submit": batch.submit.tolist(),
            "eligible": batch.submit.tolist(),
            "cores": (batch.count * per_chunk[batch.request]).tolist(),
            "runtime": batch.runtime.tolist(),
            "limit": batch.limit.tolist(),
        }
        self._rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        self._lengths: list[float] = length.tolist()
        self._cost = cost
        self._counted = max(int((length > 0).sum()) if cost is slowdown else len(batch), 1)

    def of(self, sequence: int, start: float) -> float:
        """The share of a job that starts then."""
        job = self._rows[sequence] | {"start": start, "end": start + self._lengths[sequence]}
        return self._cost(job) / self._counted


def _known(numbers: NDArray[Any]) -> list[int | None]:
    return [number if number >= 0 else None for number in numbers.tolist()]
