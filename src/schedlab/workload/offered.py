"""Offered load: the work that jobs bring, against what a machine can do while they come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.model.request import Request
from schedlab.model.resources import Resource, resources_named
from schedlab.model.workload import JobBatch, Workload


def offered_load(work: float, total: float, span: float) -> float | None:
    """Σ amount × run time / (what the machine has × time from the first to the last submission).

    Amount and machine in cores, or of another resource. None without a machine, or where all jobs come at once.
    """
    return work / (total * span) if total > 0 and span > 0 else None


@dataclass(slots=True)
class Offered:
    """What the jobs of a workload bring, added up batch by batch."""

    jobs: int = 0
    work: float = 0.0  # core-seconds
    first: float = 0.0  # submission
    last: float = 0.0

    def add(self, batch: JobBatch, requests: Sequence[Request]) -> None:
        if not len(batch):
            return
        if not self.jobs:
            self.first = float(batch.submit[0])
        self.jobs += len(batch)
        self.last = float(batch.submit[-1])
        cores = resources_named(name for request in requests for name in request.chunk)[0]
        self.work += float((amounts(cores, requests, batch) * batch.runtime).sum())

    @property
    def span(self) -> float:
        return self.last - self.first

    def load(self, cores: int) -> float | None:
        return offered_load(self.work, cores, self.span)


def offered(workload: Workload) -> Offered:
    """One pass over the jobs."""
    found = Offered()
    for batch in workload.batches():
        found.add(batch, workload.requests)
    return found


def amounts(resource: Resource, requests: Sequence[Request], batch: JobBatch) -> NDArray[np.float64]:
    """How much of it each job asks for, in all."""
    chunk = np.array([resource.asked(request.chunk) for request in requests])
    return np.asarray(batch.count * chunk[batch.request])
