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


def job_features(jobs: Columns, now: float, cores: int) -> Floats:
    """The first five features of jobs on a machine of `cores`: what an order knows too. A row for each job."""
    seen = np.empty((len(jobs.cores), 5), np.float32)
    seen[:, 0] = jobs.cores / cores
    seen[:, 1] = np.log1p(jobs.cores) / log1p(cores)
    seen[:, 2] = np.minimum(np.log1p(jobs.estimate) / LONGEST, 1.0)
    _age(seen, now - jobs.eligible, jobs.estimate)
    return seen


def _age(seen: Floats, wait: NDArray[np.float64], estimate: NDArray[np.float64]) -> None:
    """The features that change while a job waits."""
    seen[:, 3] = np.minimum(np.log1p(wait) / LONGEST, 1.0)
    seen[:, 4] = wait / (wait + estimate)


class Sight:
    """The observations of an episode. Remembers what does not change of a job: only waiting times are computed anew."""

    def __init__(self, episode: Episode, window: int, cores: int) -> None:
        self._episode, self._window, self._cores = episode, window, cores
        self._rows = np.zeros((episode.jobs, len(JOB_FEATURES)), np.float32)
        self._estimate, self._eligible = np.zeros(episode.jobs), np.zeros(episode.jobs)
        self._met = 0  # all visible jobs so far have a smaller sequence: who came first is seen first

    def observe(self) -> Observation:
        jobs = np.zeros((self._window, len(JOB_FEATURES)), np.float32)
        if not self._episode.over:
            jobs[: self._episode.visible] = self._visible()
        return {"jobs": jobs, "machine": self._machine()}

    def _visible(self) -> Floats:
        episode, seen = self._episode, self._episode.visible
        sequences = episode.queue.sequence[:seen]
        if sequences[-1] >= self._met:
            self._meet(sequences)
        rows: Floats = self._rows[sequences]
        _age(rows, episode.view.now - self._eligible[sequences], self._estimate[sequences])
        rows[:, 5] = episode.fits[:seen]
        return rows

    def _meet(self, sequences: NDArray[np.int64]) -> None:
        queue, seen = self._episode.queue, len(sequences)
        self._estimate[sequences] = queue.estimate[:seen]
        self._eligible[sequences] = queue.eligible[:seen]
        self._rows[sequences, :5] = job_features(queue, self._episode.view.now, self._cores)[:seen]
        self._rows[sequences, 6] = 1.0
        self._met = sequences[-1] + 1

    def _machine(self) -> Floats:
        episode, cores = self._episode, self._cores
        view, waiting, demand = episode.view, episode.waiting, int(episode.queue.cores.sum())
        free, now, running = view.free_cores, view.now, view.running
        # Lists: for the few dozen jobs that run, they take half the time of arrays.
        freed = [0, *accumulate(running.cores.tolist())]
        ends = running.estimated_end.tolist()
        seen = [free / cores, 0.0, 0.0, 0.0]
        if waiting:
            seen[1:] = waiting / (waiting + self._window), 1 - episode.visible / waiting, demand / (demand + cores)
        seen += [min((free + freed[bisect_right(ends, now + horizon)]) / cores, 1.0) for horizon in HORIZONS]
        return np.array(seen, np.float32)
