"""The environment of `schedlab.learn` once more, in Python alone, the way simulators of papers on learning are written.

One pool of processors, lists of job objects, a heap of ends; EASY or no backfilling; the same choices, rewards and
observations. Nothing is slower than it has to be without a native part.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from math import log1p

import numpy as np

from benchmarks.workload import Columns
from schedlab.learn.observation import HORIZONS, JOB_FEATURES, LONGEST, MACHINE_FEATURES

TAU = 10.0
Observation = dict[str, np.ndarray]


@dataclass(slots=True, eq=False)
class Job:
    submit: float
    runtime: float
    limit: float
    cores: int


class PythonEnv:
    def __init__(self, jobs: Columns, cores: int, window: int, episode: int) -> None:
        self._log = [
            Job(submit, min(runtime, limit), limit, count)
            for submit, runtime, limit, count in zip(
                *(jobs[name].tolist() for name in ("submit", "runtime", "limit", "count")), strict=True
            )
        ]
        self._cores, self._window, self._episode = cores, window, episode

    def reset(self, start: int) -> Observation:
        self._future = self._log[start : start + self._episode][::-1]  # the next one is last
        self._queue: list[Job] = []
        self._running: list[tuple[float, int, Job]] = []  # estimated end, number, job
        self._ends: list[tuple[float, int, tuple[float, int, Job]]] = []
        self._free, self._started = self._cores, 0
        self._to_next_choice()
        return self._observe()

    def step(self, action: int) -> tuple[Observation, float, bool]:
        self._reward = 0.0
        job = self._queue[min(action, len(self._queue) - 1, self._window - 1)]
        if job.cores <= self._free:
            self._start(job)
            if not self._is_a_choice():
                self._to_next_choice()
        else:
            self._backfill(job)
            self._to_next_choice()
        return self._observe(), self._reward, self._started == self._episode

    def _start(self, job: Job) -> None:
        self._queue.remove(job)
        self._free -= job.cores
        self._started += 1
        running = (self._now + job.limit, self._started, job)
        heapq.heappush(self._ends, (self._now + job.runtime, self._started, running))
        self._running.append(running)
        wait = self._now - job.submit
        self._reward -= max(1.0, (wait + job.runtime) / max(job.runtime, TAU)) / self._episode

    def _backfill(self, head: Job) -> None:
        free, shadow = self._free, 0.0
        self._running.sort()
        for end, _, job in self._running:
            if free >= head.cores and end > shadow:
                break
            free, shadow = free + job.cores, end
        extra = free - head.cores
        for job in [job for job in self._queue if job.cores <= self._free and job is not head]:
            if job.cores > self._free:
                continue
            if self._now + job.limit <= shadow:
                self._start(job)
            elif job.cores <= extra:
                extra -= job.cores
                self._start(job)

    def _is_a_choice(self) -> bool:
        return any(job.cores <= self._free for job in self._queue)

    def _to_next_choice(self) -> None:
        while self._started < self._episode:
            self._now = min(
                self._ends[0][0] if self._ends else np.inf, self._future[-1].submit if self._future else np.inf
            )
            while self._ends and self._ends[0][0] <= self._now:
                running = heapq.heappop(self._ends)[2]
                self._running.remove(running)
                self._free += running[2].cores
            while self._future and self._future[-1].submit <= self._now:
                self._queue.append(self._future.pop())
            if self._is_a_choice():
                return

    def _observe(self) -> Observation:
        jobs = np.zeros((self._window, len(JOB_FEATURES)), np.float32)
        visible = self._queue[: self._window]
        if visible:
            jobs[: len(visible)] = [self._features(job) for job in visible]
        return {"jobs": jobs, "machine": np.array(self._machine(len(visible)), np.float32)}

    def _features(self, job: Job) -> tuple[float, ...]:
        wait = self._now - job.submit
        return (
            job.cores / self._cores,
            log1p(job.cores) / log1p(self._cores),
            min(log1p(job.limit) / log1p(LONGEST), 1.0),
            min(log1p(wait) / log1p(LONGEST), 1.0),
            wait / (wait + job.limit),
            float(job.cores <= self._free),
            1.0,
        )

    def _machine(self, visible: int) -> list[float]:
        seen = [self._free / self._cores, 0.0, 0.0, 0.0]
        if waiting := len(self._queue):
            demand = sum(job.cores for job in self._queue)
            seen[1:] = waiting / (waiting + self._window), 1 - visible / waiting, demand / (demand + self._cores)
        ends = [(end - self._now, job.cores) for end, _, job in self._running]
        seen += [(self._free + sum(cores for end, cores in ends if end <= time)) / self._cores for time in HORIZONS]
        assert len(seen) == len(MACHINE_FEATURES)
        return seen
