"""What the agent sees, as numbers between 0 and 1."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from math import log1p
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from schedlab.learn.episode import Episode

Floats = NDArray[np.float32]
Observation = dict[str, Any]  # of Floats

JOB_FEATURES = ("cores", "size", "estimate", "wait", "expansion", "fits", "present")
HORIZONS = (300.0, 900.0, 3600.0, 14_400.0, 43_200.0, 86_400.0)  # 5 and 15 minutes; 1, 4, 12 and 24 hours
MACHINE_FEATURES = ("free", "waiting", "hidden", "demand", *(f"free in {horizon:g} s" for horizon in HORIZONS))
LONGEST = log1p(30 * 86_400.0)  # on the logarithmic scale of times, 30 days are 1


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
    logs[1:] /= LONGEST
    seen = np.empty((len(wait), 5), np.float32)
    seen[:, 0] = raw[0] / cores
    seen[:, 1:4] = np.minimum(logs, 1.0, out=logs).T
    seen[:, 4] = wait / (wait + raw[1])
    return seen


def observe(episode: Episode, window: int, cores: int) -> Observation:
    jobs, seen = np.zeros((window, len(JOB_FEATURES)), np.float32), episode.visible
    if seen:
        jobs[:seen, :5] = job_features(episode.queue, episode.view.now, cores, seen)
        jobs[:seen, 5] = episode.fits[:seen]
        jobs[:seen, 6] = 1.0
    return {"jobs": jobs, "machine": _machine(episode, window, cores)}


def _machine(episode: Episode, window: int, cores: int) -> Floats:
    view, waiting, demand = episode.view, episode.waiting, int(episode.queue.cores.sum())
    free, now, running = view.free_cores, view.now, view.running
    # Lists: for the few dozen jobs that run, they take half the time of arrays.
    freed = [0, *accumulate(running.cores.tolist())]
    ends = running.estimated_end.tolist()
    seen = [free / cores, 0.0, 0.0, 0.0]
    if waiting:
        seen[1:] = waiting / (waiting + window), 1 - episode.visible / waiting, demand / (demand + cores)
    seen += [(free + freed[bisect_right(ends, now + horizon)]) / cores for horizon in HORIZONS]
    return np.minimum(np.array(seen, np.float32), 1.0)
