"""What a transformation has to know about a workload beforehand."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from schedlab.model.workload import LABELLED, JobBatch, Workload


@dataclass
class Survey:
    """The ends of a workload, and the numbers that occur in it."""

    jobs: int = 0
    first: float = 0.0  # submittal
    last: float = 0.0
    lowest: int = 0  # job number
    highest: int = 0
    numbers: dict[str, NDArray[np.int32]] = field(
        default_factory=lambda: {column: np.empty(0, np.int32) for column in LABELLED}
    )

    def add(self, batch: JobBatch) -> None:
        if not len(batch):
            return
        if not self.jobs:
            self.first = float(batch.submit[0])
            self.lowest = int(batch.id[0])
        self.jobs += len(batch)
        self.last = float(batch.submit[-1])
        self.lowest = min(self.lowest, int(batch.id.min()))
        self.highest = max(self.highest, int(batch.id.max()))
        for column in LABELLED:
            numbers = getattr(batch, column)
            self.numbers[column] = np.union1d(self.numbers[column], numbers[numbers >= 0]).astype(np.int32)


def survey(workload: Workload) -> Survey:
    """One pass over the jobs."""
    found = Survey()
    for batch in workload.batches():
        found.add(batch)
    return found


def first_submit(workload: Workload) -> float:
    """The beginning of the first batch; 0 if there is no job."""
    return next((float(batch.submit[0]) for batch in workload.batches() if len(batch)), 0.0)


def beyond(number: int) -> int:
    """A round number above this one, to be added to numbers that would clash: they remain readable."""
    return int(10 ** len(str(max(number, 0))))
