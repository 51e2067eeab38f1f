"""Planning on nodes: what a pass costs under conservative backfilling, against the nodes and against the queue.

Requests are by node (cores and memory of a node, several chunks of one job on a node or one, whole nodes), so that
nothing is a matter of counting. Everybody comes at once, ends early and lets the others move.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import schedlab as sl
from benchmarks.measure import call
from benchmarks.report import Line
from benchmarks.settings import Settings

NODES = (500, 5000)
QUEUES = (500, 1000, 2000)
HOUR = 3600.0
CORES, MEMORY = 64, 256
REQUESTS = [
    sl.Request({"cores": 16, "memory": 64}),
    sl.Request({"cores": 4, "memory": 48}, per_node_max=2),
    sl.Request({"cores": 32, "memory": 16}, per_node_max=1),
    sl.Request({"cores": CORES}, exclusive=True),
]


def lines(settings: Settings) -> Iterator[Line]:
    for nodes in NODES:
        for queue in QUEUES[:1] if settings.quick else QUEUES:
            yield _pass(nodes, queue)
    traces = Path(os.environ.get("SCHEDLAB_TRACES") or Path(__file__).parents[2] / "shared" / "traces") / "slurm"
    if traces.exists():
        yield _week(traces, settings)


def _pass(nodes: int, queue: int) -> Line:
    cluster = sl.Cluster.uniform(nodes, CORES, memory=MEMORY)
    run = sl.simulate(jobs(nodes, queue), cluster, "conservative", performance=True)
    time, queued, seconds = (run.performance[name].to_numpy() for name in ("time", "queued", "decide_seconds"))
    measured = (time > 0) & (time < HOUR)
    return Line(
        "planning",
        f"time per pass with {queued[measured].mean():,.0f} jobs waiting, {nodes:,} nodes",
        float(seconds[measured].mean()) * 1000,
        "ms",
        note=f"mean of {measured.sum()} passes, on the wall; the longest {seconds[measured].max() * 1000:,.0f} ms, "
        f"the first, which plans everybody, {seconds[0] * 1000:,.0f} ms",
    )


def jobs(nodes: int, queue: int) -> sl.Workload:
    """As many as fill the machine, and about `queue` besides, who give up after an hour."""
    chance = np.random.default_rng(1)
    number = queue + 400
    limit = chance.choice([3600, 7200, 14_400, 43_200, 86_400], number)
    most = nodes // 25  # of each job: two to four hundred run at a time
    return sl.Workload.of(
        name="planning",
        requests=REQUESTS,
        submit=np.zeros(number),
        limit=limit,
        runtime=np.ceil(limit * chance.uniform(0.05, 1, number)),
        count=np.ceil(most ** chance.uniform(0, 1, number)).astype(int),
        request=chance.integers(0, len(REQUESTS), number),
        cancel=np.full(number, HOUR),
    )


def _week(traces: Path, settings: Settings) -> Line:
    log = sl.read_workload(traces / "ubccr-ubhpc-workload_week.events.gz")
    cluster = sl.read_cluster(traces / "ubccr-ubhpc-slurm.conf")
    spent, run = call(lambda: sl.simulate(log, cluster, "conservative"))
    what = f"a week of UB-HPC: {len(run.jobs):,} jobs, 217 nodes, memory, features, whole nodes"
    return Line("planning", what, spent.on(settings.clock), "s", at_most=60)
