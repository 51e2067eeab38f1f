"""What the agent sees, as numbers between 0 and 1."""

from __future__ import annotations

from math import log1p
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Observation = dict[str, Any]  # of Floats

JOB_FEATURES = ("cores", "size", "estimate", "wait", "expansion", "fits", "present")
HORIZONS = [300.0, 900.0, 3600.0, 14_400.0, 43_200.0, 86_400.0]  # 5 and 15 minutes; 1, 4, 12 and 24 hours
MACHINE_FEATURES = ("free", "waiting", "hidden", "demand", *(f"free in {horizon:g} s" for horizon in HORIZONS))
LONGEST = 30 * 86_400.0  # on the logarithmic scale of times, 30 days are 1


class Columns(Protocol):
    """Jobs with columns: a queue, or what an order gets."""

    @property
    def cores(self) -> NDArray[Any]: ...
    @property
    def estimate(self) -> NDArray[Any]: ...
    @property
    def eligible(self) -> NDArray[Any]: ...


def job_features(jobs: Columns, now: float, cores: int, most: int | None = None) -> Floats:
    """The first five features of the first `most` jobs on a machine of `cores`; a row for each job."""
    wait = now - jobs.eligible[:most]
    raw = np.empty((3, len(wait)))
    raw[0], raw[1], raw[2] = jobs.cores[:most], jobs.estimate[:most], wait
    logs = np.log1p(raw)
    logs[0] /= log1p(cores)
    logs[1:] /= log1p(LONGEST)
    seen = np.empty((len(wait), 5), np.float32)
    seen[:, 0] = raw[0] / cores
    seen[:, 1:4] = np.minimum(logs, 1.0, out=logs).T
    seen[:, 4] = wait / (wait + raw[1])
    return seen


def blank(window: int) -> tuple[Floats, Floats]:
    """The arrays of an observation, to be filled by the core."""
    return np.empty((window, len(JOB_FEATURES)), np.float32), np.empty(len(MACHINE_FEATURES), np.float32)
