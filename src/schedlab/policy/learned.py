"""Estimators that learn from the jobs that have ended: `user-mean` and `nearest(k)`."""

from __future__ import annotations

from math import log2
from typing import Protocol

import numpy as np

from schedlab.model.errors import InputError
from schedlab.policy.estimator import Estimator


class Asked(Protocol):
    """What these estimators look at in a job."""

    @property
    def limit(self) -> float: ...
    @property
    def cores(self) -> int: ...
    @property
    def user(self) -> int: ...


class UserMean(Estimator):
    """Mean runtime of the user's ended jobs, at most the limit; the limit while there is none."""

    def __init__(self) -> None:
        self._ended: dict[int, tuple[float, int]] = {}  # user -> sum of runtimes, jobs

    def estimate(self, job: Asked) -> float:
        total, jobs = self._ended.get(job.user, (0.0, 0))
        return min(total / jobs, job.limit) if jobs else job.limit

    def ended(self, job: Asked, runtime: float) -> None:
        total, jobs = self._ended.get(job.user, (0.0, 0))
        self._ended[job.user] = total + runtime, jobs + 1


class Nearest(Estimator):
    """Mean runtime of the k ended jobs most alike, at most the limit; the limit while there is none.

    The distance of two jobs is Euclid's over log2(cores) and log2(limit); of equally near jobs the last to end count.
    """

    def __init__(self, k: int = 5, history: int = 5000) -> None:
        for name, value in (("k", k), ("history", history)):
            if not isinstance(value, int) or value < 1:
                raise InputError(f"{name} is {value!r}, expected a whole number above 0", hint="write nearest(5)")
        self._k, self._history = k, history
        # The last `history` jobs in the order of their ends, in room for twice as many: moved to the front when it is
        # full, so that they are always one piece.
        self._jobs = np.empty((3, 2 * history))  # log2 cores, log2 limit, runtime
        self._end = 0

    def estimate(self, job: Asked) -> float:
        cores, limits, runtimes = self._jobs[:, max(self._end - self._history, 0) : self._end]
        if not len(runtimes):
            return job.limit
        own_cores, own_limit = _place(job)
        distance = (cores - own_cores) ** 2 + (limits - own_limit) ** 2
        k = min(self._k, len(distance))
        farthest = np.partition(distance, k - 1)[k - 1]
        nearer = np.flatnonzero(distance < farthest)
        as_near = np.flatnonzero(distance == farthest)[len(nearer) - k :]
        return min(float(runtimes[np.concatenate([nearer, as_near])].mean()), job.limit)

    def ended(self, job: Asked, runtime: float) -> None:
        if self._end == 2 * self._history:
            self._jobs[:, : self._history] = self._jobs[:, self._history :]
            self._end = self._history
        self._jobs[:, self._end] = *_place(job), runtime
        self._end += 1


def _place(job: Asked) -> tuple[float, float]:
    return log2(max(job.cores, 1)), log2(max(job.limit, 1.0))
