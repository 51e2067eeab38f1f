"""Conservative backfilling with hundreds of jobs waiting that end early: what moves many reservations at once.

A queue is deep for the core from 1,024 reservations on, here from far fewer. Each job's start is compared with a plan
made by brute force (at each early end, every reservation is tried again at every step of the plan), and, in more
circumstances, with what comes out if no queue is deep, which is compared with the oracle elsewhere.
"""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

import schedlab as sl
from schedlab._core import set_deep_queue

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


@pytest.fixture(autouse=True)
def deep() -> Iterator[None]:
    before = set_deep_queue(16)
    yield
    set_deep_queue(before)


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


def some_jobs(random: Random, cores: int) -> dict[str, list[float]]:
    """That come in bursts, most of them end early, some leave the queue before."""
    number = random.choice((60, 300, 600))
    widest = random.choice((1, cores // 2, cores))
    lengths = random.choice(([600], [1, 60, 600, 3600], list(range(1, 1000)), [10.1, 300.7, 4000.3]))
    bursts = [0, *(random.uniform(0, 50_000) for _ in range(random.randrange(4)))]
    jobs: dict[str, list[float]] = {"submit": [], "count": [], "limit": [], "runtime": [], "cancel": []}
    for _ in range(number):
        limit = float(random.choice(lengths))
        submit = float(int(random.choice(bursts)))
        jobs["submit"].append(submit)
        jobs["count"].append(random.randint(1, widest))
        jobs["limit"].append(limit)
        jobs["runtime"].append(float(int(limit * random.choice((1, random.random(), random.random())))))
        jobs["cancel"].append(submit + random.randrange(20_000) if random.random() < 0.05 else float("inf"))
    return jobs


@pytest.mark.parametrize("machine", ["pool:32", "8x4", "32x1"])
@pytest.mark.parametrize("seed", range(25))
def test_deep_queues_have_the_schedules_of_others(machine: str, seed: int) -> None:
    random = Random(seed)
    jobs = some_jobs(random, 32)
    policy = random.choice(
        (
            "conservative",
            "conservative:order=sjf",
            "conservative:order=lxf",
            "conservative:order=random",
            "conservative",
        )
    )
    options: dict[str, Any] = random.choice(
        ({}, {}, {"passes": "event"}, {"estimate": "limit*3"}, {"estimate": "last-two"}, {"estimate": "exact"})
    )
    found = []
    for reservations in (1 << 40, 4, 40):
        set_deep_queue(reservations)
        run = sl.simulate(sl.Workload.of(**jobs), sl.read_cluster(machine), policy, **options)
        found.append(run.jobs.select("sequence", "start", "end", "state", "nodes", "backfilled"))
    assert found[1].equals(found[0])
    assert found[2].equals(found[0])
