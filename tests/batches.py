"""Results as the engine hands them over, made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from schedlab.model.cluster import Cluster
from schedlab.model.request import SINGLE_CORE
from schedlab.model.states import STATES
from schedlab.model.workload import JobBatch

NAN = float("nan")

# Four cores. Job 1 and 2 fill them, 3 needs all four, 4 slips in before it (backfilled), 5 is larger than the machine.
# job, sequence, submit, start, end, state, cores, backfilled, nodes (of two cores each, one chunk per core)
FIVE_JOBS = [
    (5, 4, 40.0, NAN, 40.0, "rejected", 9, False, {}),
    (1, 0, 0.0, 0.0, 100.0, "completed", 2, False, {0: 2}),
    (4, 3, 30.0, 100.0, 105.0, "completed", 2, True, {0: 2}),
    (2, 1, 10.0, 10.0, 110.0, "killed", 2, False, {1: 2}),
    (3, 2, 20.0, 110.0, 160.0, "completed", 4, False, {0: 2, 1: 2}),
]
# time, running, queued, used_cores, queued_cores
FIVE_TIMES = [
    (0.0, 1, 0, 2, 0),
    (10.0, 2, 0, 4, 0),
    (20.0, 2, 1, 4, 4),
    (30.0, 2, 2, 4, 6),
    (100.0, 2, 1, 4, 4),
    (105.0, 1, 1, 2, 4),
    (110.0, 1, 0, 4, 0),
    (160.0, 0, 0, 0, 0),
]
TWO_NODES = Cluster.uniform(2, cores=2)


def after(jobs: JobBatch) -> list[int]:
    """The first predecessor of each job, -1 for none."""
    before = jobs.predecessors
    return [-1] * len(jobs) if before is None else before.first.tolist()


def think(jobs: JobBatch) -> list[float]:
    """How long each waits after its first predecessor."""
    before = jobs.predecessors
    return [0.0] * len(jobs) if before is None else [some[0].delay if some else 0.0 for some in before.lists()]


def job_batch(rows: list[tuple[Any, ...]] = FIVE_JOBS) -> dict[str, Any]:
    job, sequence, submit, start, end, state, cores, backfilled, nodes = zip(*rows, strict=True)
    n = len(rows)
    starts, ends, submits = np.array(start), np.array(end), np.array(submit)
    return {
        "sequence": np.array(sequence, np.int64),
        "id": np.array(job, np.int64),
        "user": np.array([number % 2 for number in job], np.int32),
        "group": np.full(n, -1, np.int32),
        "queue": np.full(n, 1, np.int32),
        "partition": np.full(n, -1, np.int32),
        "executable": np.full(n, -1, np.int32),
        "submit": submits,
        "eligible": submits.copy(),
        "start": starts,
        "end": ends,
        "state": np.array([STATES.index(name) for name in state], np.int8),
        "reason": np.array([1 if name == "rejected" else 0 for name in state], np.int8),
        "cores": np.array(cores, np.int64),
        "count": np.array(cores, np.int64),
        "request": np.zeros(n, np.int32),
        "runtime": np.nan_to_num(ends - starts),
        "limit": np.nan_to_num(ends - starts),
        "estimate": np.nan_to_num(ends - starts),
        "backfilled": np.array(backfilled, bool),
        "priority": np.where(np.isnan(starts), np.nan, submits),
        "allocated": np.cumsum([*map(len, nodes)]).astype(np.int32),
        "node": np.array([node for places in nodes for node in places], np.int32),
        "chunks": np.array([count for places in nodes for count in places.values()], np.int32),
    }


def time_batch(rows: list[tuple[Any, ...]] = FIVE_TIMES) -> dict[str, Any]:
    types = {"time": float, "running": np.int32, "queued": np.int32, "used_cores": np.int64, "queued_cores": np.int64}
    columns = zip(*rows, strict=True)
    return {name: np.array(column, kind) for (name, kind), column in zip(types.items(), columns, strict=True)}


def config(policy: str = "easy", **options: Any) -> dict[str, Any]:
    return {
        "policy": policy,
        "options": {"estimate": "limit", "overrun": "kill", "passes": "instant", "dependencies": "ignore", **options},
        "workload": {"name": "five", "sha256": "", "origin": None},
        "requests": [SINGLE_CORE],
    }
