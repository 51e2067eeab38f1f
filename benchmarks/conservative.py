"""Conservative backfilling against the number of jobs that wait.

A naive implementation moves every reservation past every other when a job ends early: quadratic in the queue.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import schedlab as sl
from benchmarks import subject
from benchmarks.measure import middle
from benchmarks.report import Line
from benchmarks.settings import Settings
from benchmarks.workload import Columns, LogSpec, columns

QUEUES = (250, 500, 1000, 2000, 4000)
DEEP = (1_000, 5_000, 20_000, 120_000)  # all of them at once
TURNOVERS = 3  # each job of the first queue is followed by so many others


def lines(settings: Settings) -> Iterator[Line]:
    cluster = sl.Cluster.uniform(120, cores=4)
    waiting, per_job = [], []
    for queue in QUEUES[:3] if settings.quick else QUEUES:
        jobs = backlog(queue, cluster)
        workload = subject.in_memory(jobs)
        runs = [subject.simulate(workload, cluster, "conservative") for _ in range(min(settings.repeats, 3))]
        waiting.append(mean_queue(jobs, runs[0][1]))
        per_job.append(middle([spent for spent, _ in runs]).on(settings.clock) / len(jobs["submit"]))
        yield Line(
            "conservative", f"time per job with {waiting[-1]:,.0f} jobs waiting, 120 × 4 cores", per_job[-1] * 1e6, "µs"
        )
    yield Line(
        "conservative",
        "time per job grows as the queue to the power of",
        _exponent(waiting, per_job),
        "",
        at_most=1.75,
        note=f"least squares ({_exponent(waiting[-2:], per_job[-2:]):.2f} between the last two); quadratic would be 2",
    )


def deep_lines(settings: Settings) -> Iterator[Line]:
    """Everybody comes at once, ends early and lets the others move: up to 120,000 wait. EASY beside."""
    cluster = sl.Cluster.of_cores(480)
    queues = DEEP[:3] if settings.quick else DEEP
    spent = []
    for queue in queues:
        jobs = at_once(queue, 480)
        seconds = [subject.simulate(jobs, cluster, policy)[0].on(settings.clock) for policy in ("conservative", "easy")]
        spent.append(seconds[0])
        last = queue == DEEP[-1]
        what = f"{queue:,} jobs at once that end early, 480 cores"
        yield Line("deep", what, seconds[0], "s", at_most=120 if last else None, note=f"EASY takes {seconds[1]:.2f} s")
    last_step = _exponent([float(queue) for queue in queues[-2:]], spent[-2:])
    note = f"{queues[0]:,} to {queues[-1]:,} jobs, least squares; {last_step:.2f} between the last two"
    exponent = _exponent([float(queue) for queue in queues], spent)
    yield Line("deep", "time grows as the jobs to the power of", exponent, "", at_most=1.5, note=note)


def at_once(queue: int, cores: int) -> sl.Workload:
    """Of up to half the machine, for up to ten hours; they run a random part of that."""
    chance = np.random.default_rng(1)
    limit = chance.integers(60, 36_000, queue).astype(float)
    return sl.Workload.of(
        name="deep",
        submit=np.zeros(queue),
        count=chance.integers(1, cores // 2 + 1, queue),
        limit=limit,
        runtime=np.maximum(np.ceil(limit * chance.uniform(0, 1, queue)), 1),
    )


def backlog(queue: int, cluster: sl.Cluster) -> Columns:
    """Jobs of which always about `queue` wait: so many are there at the start, then one more whenever one starts.

    A submission changes the starts after it, so this is approached in rounds, with EASY (which starts jobs at
    nearly the same rate as conservative) in place of the policy to be measured.
    """
    jobs = columns(LogSpec((TURNOVERS + 1) * queue + 1000))
    jobs["submit"] = np.zeros(len(jobs["submit"]))
    for _ in range(4):
        starts = np.sort(subject.starts(sl.simulate(subject.in_memory(jobs), cluster, "easy")))
        jobs["submit"][queue:] = starts[:-queue]
    return jobs


def mean_queue(jobs: Columns, run: sl.Run) -> float:
    """Over time, from the first to the last submission."""
    starts, last = subject.starts(run), float(jobs["submit"].max())
    return float(np.sum(np.minimum(starts, last) - jobs["submit"]) / last)


def _exponent(waiting: list[float], per_job: list[float]) -> float:
    return float(np.polyfit(np.log(waiting), np.log(per_job), 1)[0])
