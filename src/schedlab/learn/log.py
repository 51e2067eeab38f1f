"""The jobs of a log that can be learnt from, and windows of consecutive ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.options import Detail
from schedlab.engine.requests import CountedRequests
from schedlab.engine.simulate import simulate
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.states import STATES
from schedlab.model.workload import JobBatch, Workload


class Log:
    """All jobs that the cluster can run, in submit order.

    What would keep a job from being started is left out: jobs that no empty cluster could hold, cancellations,
    dependencies, shapes other than the first. So every job of a window starts, whoever decides.
    """

    def __init__(self, workload: Workload, cluster: Cluster, placement: str, detail: Detail) -> None:
        counted = CountedRequests(cluster, detail)
        parts = []
        for batch in workload.batches():
            counted.add(workload.requests[len(counted) :])
            parts.append(counted.batch(batch).columns())
        whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}
        kept = _runnable(workload, cluster, placement, detail)
        if not len(kept):
            raise InputError("there is nothing to learn from: no job that the cluster can run", where=workload.name)
        self.name, self.requests = workload.name, counted.all
        self._columns: dict[str, NDArray[Any]] = {name: column[kept] for name, column in whole.items()}
        self._columns["cancel"] = np.full(len(kept), np.inf)

    def __len__(self) -> int:
        return len(self._columns["id"])

    def window(self, start: int, jobs: int) -> Workload:
        """So many consecutive jobs, with the times that they have in the log."""
        columns: dict[str, Any] = {name: column[start : start + jobs] for name, column in self._columns.items()}
        batch = JobBatch(**columns)
        return Workload(f"{self.name}[{start}:{start + jobs}]", lambda: iter((batch,)), self.requests)


def _runnable(workload: Workload, cluster: Cluster, placement: str, detail: Detail) -> NDArray[np.intp]:
    """The jobs that are not turned away at the door, found by letting them in."""
    tables = simulate(workload, cluster, f"none:place={placement}", requests=detail).tables
    turned_away = tables.column("state") == STATES.index("rejected")
    return np.sort(tables.column("sequence")[~turned_away]).astype(np.intp)
