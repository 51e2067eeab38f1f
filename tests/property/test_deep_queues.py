"""Conservative backfilling with hundreds of jobs waiting that end early: what moves many reservations at once.

A queue is deep for the core from 256 reservations on. There the oracle is slow, so each job's start is compared with a
plan made by brute force: at each early end, every reservation is tried again at every step of the plan.
"""

from __future__ import annotations

import bisect
import heapq
from random import Random

import pytest

import schedlab as sl

Job = tuple[int, float, float]  # cores, limit, run time


def brute_force(jobs: list[Job], cores: int, order: list[int]) -> list[float]:
    """The starts of jobs that all come at time 0 and run on a pool."""
    starts = [0.0] * len(jobs)
    ends: dict[int, float] = {}  # of who runs, as planned
    waiting: list[int] = []

    def earliest(job: int, now: float) -> float:
        claims = [(now, end, jobs[who][0]) for who, end in ends.items()]
        claims += [(starts[who], starts[who] + jobs[who][1], jobs[who][0]) for who in waiting if who != job]
        changes: dict[float, int] = {now: 0}
        for begin, end, width in claims:
            if end > begin:
                changes[begin] = changes.get(begin, 0) - width
                changes[end] = changes.get(end, 0) + width
        times, free, left = sorted(changes), [], cores
        for time in times:
            left += changes[time]
            free.append(left)
        width, limit, _ = jobs[job]
        i = 0
        while True:
            last = max(bisect.bisect_left(times, times[i] + limit), i + 1)
            blocked = next((k for k in range(last - 1, i - 1, -1) if free[k] < width), None)
            if blocked is None:
                return times[i]
            i = blocked + 1

    for job in order:
        starts[job] = earliest(job, 0.0)
        waiting.append(job)
    waiting.sort(key=lambda who: (starts[who], who))
    running: list[tuple[float, int]] = []
    now = 0.0
    while waiting or running:
        now = min([*(starts[who] for who in waiting[:1]), *(end for end, _ in running[:1])])
        early = False
        while running and running[0][0] <= now:
            early |= ends.pop(heapq.heappop(running)[1]) > now
        if early:
            for job in waiting:
                starts[job] = earliest(job, now)
            waiting.sort(key=lambda who: (starts[who], who))
        while waiting and starts[waiting[0]] <= now:
            job = waiting.pop(0)
            _width, limit, runtime = jobs[job]
            ends[job] = now + limit
            heapq.heappush(running, (now + runtime, job))
    return starts


@pytest.mark.parametrize("order", ["fcfs", "sjf"])
@pytest.mark.parametrize("whole", [True, False], ids=["seconds", "fractions"])
@pytest.mark.parametrize("seed", range(2))
def test_deep_queues_move_as_by_brute_force(order: str, whole: bool, seed: int) -> None:
    random = Random(seed)
    cores, number = random.choice((4, 16, 100)), 300
    widest = random.choice((cores, cores // 2))
    lengths = random.choice(([600], [1, 60, 600, 3600], list(range(1, 1000))))
    jobs: list[Job] = []
    for _ in range(number):
        limit = float(random.choice(lengths))
        runtime = max(limit * random.choice((1, random.random())), 1.0)
        jobs.append((random.randint(1, widest), limit, float(int(runtime)) if whole else runtime))
    counts, limits, runtimes = (list(column) for column in zip(*jobs, strict=True))
    workload = sl.Workload.of(submit=[0.0] * number, count=counts, limit=limits, runtime=runtimes)
    run = sl.simulate(workload, sl.Cluster.of_cores(cores), f"conservative:order={order}")
    queue = sorted(range(number), key=lambda job: (jobs[job][1], job)) if order == "sjf" else list(range(number))
    found = dict(zip(run.jobs["sequence"].to_list(), run.jobs["start"].to_list(), strict=True))
    assert [found[job] for job in range(number)] == brute_force(jobs, cores, queue)
