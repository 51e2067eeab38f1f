"""What a change of a rate costs: the same for a job on 256 nodes and on 25,600; and a model that sees neighbours."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

import schedlab as sl
from benchmarks.measure import interleaved
from benchmarks.report import Line
from benchmarks.settings import Settings
from schedlab._core import View

FEW, MANY = 256, 25_600


class Changing(sl.Observer):
    """Changes the rate of the job that runs, so and so many times at each of some instants."""

    def __init__(self, instants: int, changes: int) -> None:
        self._instants, self._changes, self.seconds = instants, changes, 0.0

    def before(self, view: View) -> None:
        if self._instants == 0 or not len(view.running):
            return
        self._instants -= 1
        job = view.running[0]
        begin = time.perf_counter()
        for change in range(self._changes):
            view.set_rate(job, 0.5 if change % 2 else 0.75)
        self.seconds += time.perf_counter() - begin
        view.wake_at(view.now + 1)


def lines(settings: Settings) -> Iterator[Line]:
    yield from _changes(settings)
    yield from _sharing(settings)


def _changes(settings: Settings) -> Iterator[Line]:
    calls = [partial(_seconds_a_change, nodes, settings.jobs(100)) for nodes in (FEW, MANY)]
    few, many = (min(found) for found in interleaved(settings.repeats, *calls))
    yield Line(
        "rates",
        f"a change of the rate of a job on {MANY:,} nodes against one on {FEW}",
        many / few,
        at_most=1.25,
        note=f"{many * 1e9:.0f} ns : {few * 1e9:.0f} ns, from Python",
    )


def _seconds_a_change(nodes: int, instants: int) -> float:
    jobs = sl.Workload.of(submit=[0, 1], runtime=[1e7, 1], limit=[1e9, 1e9], count=[nodes, 1])
    observer = Changing(instants, 1000)
    run = sl.simulate(jobs, sl.Cluster.uniform(nodes), "easy", observers=[observer])
    assert len(run.rates) >= 999 * instants and len(run.pieces) == 1
    return observer.seconds / (1000 * instants)


def _sharing(settings: Settings) -> Iterator[Line]:
    """Neighbours in the core: jobs that come and go on shared nodes, with a model that looks at them and without."""
    number = settings.jobs(100_000)
    jobs = sl.Workload.of(
        submit=[2.0 * i for i in range(number)],
        runtime=[300.0 + i % 700 for i in range(number)],
        limit=[4000.0] * number,
        count=[1 + i % 3 for i in range(number)],
    )
    cluster = sl.Cluster.uniform(512, cores=2)
    with_it, without = (
        min(found)
        for found in interleaved(
            settings.repeats,
            partial(_engine_seconds, jobs, cluster, ["sharing(0.8)"]),
            partial(_engine_seconds, jobs, cluster, []),
        )
    )
    yield Line(
        "rates",
        f"FCFS with a model of shared nodes in the core against one without, {number:,} jobs",
        with_it / without,
        note=f"{with_it:.3f} s : {without:.3f} s",
    )


def _engine_seconds(jobs: sl.Workload, cluster: sl.Cluster, observers: list[str]) -> float:
    run = sl.simulate(jobs, cluster, "fcfs", observers=observers)
    return float(run.config["timing"]["engine"])
