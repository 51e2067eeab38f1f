"""The key that the core's evaluator of orders gives to a job: a simulation of one job that waits for another."""

from __future__ import annotations

from typing import Any

import schedlab as sl
from schedlab.engine.simulate import Simulation


def native_key(order: str, job: dict[str, Any], request: sl.Request, start: float) -> float:
    """Of a job (columns of a workload) with that request, the second of two, when it starts."""
    columns = {name: [-1, value] for name, value in job.items()} | {
        "submit": [0, job["submit"]],
        "runtime": [start, job["runtime"]],
        "limit": [start, job["limit"]],
        "count": [job["count"], job["count"]],
    }
    workload = sl.Workload.of(requests=[request], request=[0, 0], **columns)
    cluster = sl.Cluster((sl.NodeGroup("n", job["count"], dict(request.chunk)),))
    run = Simulation(sl.Scenario(workload, cluster, f"none:order={order}", estimate="exact", requests="full")).run()
    assert run.tables.column("start").tolist() == [0, start]
    return float(run.tables.column("priority")[1])
