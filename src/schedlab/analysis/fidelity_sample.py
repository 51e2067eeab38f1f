"""The columns of a workload that a comparison looks at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.fidelity_distances import Numbers, ranks
from schedlab.analysis.week import WEEK, hour_of_week
from schedlab.model.workload import Workload


@dataclass(frozen=True)
class Sample:
    """All jobs in submit order. Times between submissions are one fewer than jobs."""

    name: str
    values: dict[str, Numbers]
    span: float
    user_jobs: NDArray[np.int64]  # of each known user
    week: Numbers  # shares of the jobs in the hours of the week
    largest: int  # job, in cores

    @cached_property
    def ranks(self) -> dict[str, Numbers]:
        return {name: ranks(values) for name, values in self.values.items() if name != "area"}

    def __len__(self) -> int:
        return len(self.values["runtime"])


def read_sample(workload: Workload) -> Sample:
    names = ("submit", "runtime", "limit", "user")
    batches = [
        {"cores": workload.cores(batch), **{name: getattr(batch, name) for name in names}}
        for batch in workload.batches()
    ] or [{name: np.empty(0) for name in ("cores", *names)}]
    size, submit, runtime, limit, user = (
        np.concatenate([batch.pop(name) for batch in batches]) for name in ("cores", *names)
    )
    size = size.astype(np.float64)
    asked = np.where(limit > 0, limit, np.maximum(runtime, 1.0))
    return Sample(
        name=workload.name,
        values={
            "runtime": runtime,
            "limit": asked,
            "accuracy": runtime / asked,
            "count": size,
            "interarrival": np.diff(submit),
            "area": size * runtime,
        },
        span=float(submit[-1] - submit[0]) if len(submit) else 0.0,
        user_jobs=np.unique(user[user >= 0], return_counts=True)[1],
        week=np.bincount(hour_of_week(submit, workload.origin), minlength=WEEK) / max(len(submit), 1),
        largest=int(size.max(initial=0)),
    )
