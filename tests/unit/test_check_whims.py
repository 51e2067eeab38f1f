"""A policy that does anything to anybody at any time: whatever it is allowed to do, the judge believes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import schedlab as sl

CALM = 400.0  # from then on it lets jobs finish


class Whims:
    def __init__(self, seed: int, malleable: list[bool]) -> None:
        self._random = random.Random(seed)
        self._malleable = malleable
        self._changed: dict[int, float] = {}  # when a job last began or got another rate

    def decide(self, view: Any, events: Any) -> None:
        if view.now < CALM:
            view.wake_at(view.now + self._random.choice([0.3, 1, 3.7, 10]))
            for node in range(view.cluster.nodes):
                if self._random.random() < 0.05:
                    self._turn(view, node)
            for job in list(view.running):
                if self._random.random() < 0.1:
                    self._disturb(view, job)
        else:
            for node in np.flatnonzero(~view.cluster.up).tolist():
                view.open(node)
            for job in list(view.running):
                view.set_rate(job, 1)
        self._let_in(view)

    def _turn(self, view: Any, node: int) -> None:
        if view.cluster.up[node]:
            view.close(node, self._random.choice(["down", "off", "booting", "maintenance", "drained"]))
        else:
            view.open(node)

    def _disturb(self, view: Any, job: Any) -> None:
        whim = self._random.choice(
            ["kill", "complete", "requeue", "suspend", "set_rate", "set_rate", "reshape", "reshape"]
        )
        if whim == "set_rate":
            view.set_rate(job, self._random.choice([0, 0.1, 1 / 3, 1, 2]))
            self._changed[job.id] = view.now
        elif whim != "reshape":
            getattr(view, whim)(job)
        elif self._malleable[job.id - 1] and self._changed[job.id] < view.now:
            view.reshape(job, self._random.randrange(2), cost=self._random.choice([0, 2.5]))

    def _let_in(self, view: Any) -> None:
        for job in list(view.suspended):
            if self._random.random() < 0.03:
                view.kill(job)
            elif self._random.random() < 0.5 and view.resume(job, cost=self._random.choice([0, 1.5])):
                self._changed[job.id] = view.now
        for job in list(view.queue):
            if self._random.random() < 0.02:
                view.reject(job)
            elif self._random.random() < 0.7 and view.start(job):
                self._changed[job.id] = view.now


@pytest.mark.parametrize("seed", range(30))
def test_whims(seed: int) -> None:
    rng = np.random.default_rng(seed)
    jobs = int(rng.integers(12, 40))
    runtime, count = np.round(rng.exponential(40, jobs), 2), rng.integers(1, 9, jobs)
    malleable = (rng.random(jobs) < 0.5).tolist()
    shapes = [
        [sl.Shape(count=int(size) % 8 + 1, runtime=float(time) * 1.5 + 1, limit=900)] if bends else []
        for size, time, bends in zip(count, runtime, malleable, strict=True)
    ]
    workload = sl.Workload.of(
        submit=np.round(np.sort(rng.uniform(0, 200, jobs)), 1),
        runtime=runtime,
        limit=np.round(runtime * rng.choice([0.5, 1, 3, 10], jobs), 2),
        count=count,
        cancel=np.where(rng.random(jobs) < 0.1, rng.uniform(0, 300, jobs), np.inf),
        after=np.where(rng.random(jobs) < 0.2, rng.integers(1, jobs + 1, jobs), -1),
        think=np.round(rng.exponential(5, jobs)),
        shapes=shapes,
        malleable=malleable,
    )
    cluster = sl.Cluster.of_cores(12) if seed % 5 == 0 else sl.Cluster.uniform(4, cores=4)
    run = sl.simulate(workload, cluster, Whims(seed, malleable), dependencies="follow", validate=True)
    assert len(run.pieces) > 0
    assert sl.check(run) == []
