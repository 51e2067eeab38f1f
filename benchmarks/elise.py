"""Days of makespan simulated in an hour, against ELiSE's own tables, and what an event costs when jobs share nodes.

ELiSE's paper (JSSPP 2025) gives, for 1,000 and 10,000 jobs of NAS benchmarks on nodes of 32 cores, how many days of
makespan its loop simulates in an hour on a Ryzen 5 1600 (table 3), and the same for the log SDSC-SP2 on 128 nodes of 64
cores (table 4). It does not say when jobs arrive. Here all come at once: the makespan is as short as it can be, and the
queue as long.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import schedlab as sl
from benchmarks.report import Line
from benchmarks.settings import Settings
from schedlab.execution.interference import Interference
from schedlab.generate.base import generate
from schedlab.generate.pool.model import Pool
from schedlab.heatmap.read import read_heatmap

CORES = 32
TABLE_3 = {  # (nodes, jobs): days of makespan in an hour, FCFS and EASY
    (8, 1_000): (838.74, 295.04),
    (8, 10_000): (45.84, 20.07),
    (800, 1_000): (14.31, 12.77),
    (800, 10_000): (0.58, 0.63),
    (80_000, 1_000): (12.56, 10.34),
    (80_000, 10_000): (0.83, 0.59),
}
TABLE_4 = (116.87, 117.77)
PLAIN = ("none:nodes=exclusive", "easy-strict:nodes=exclusive")  # its FCFS and its EASY: compact, no extra nodes
COSCHED = ("cosched:backfill=none", "cosched:backfill=easy-strict")
LEAST = 1000.0
LOAD = 6  # jobs for each node, where the cost of an event is compared


def lines(settings: Settings) -> Iterator[Line]:
    traces = Path(os.environ.get("SCHEDLAB_TRACES") or Path(__file__).parents[2] / "shared" / "traces")
    path = traces / "heatmaps" / "lm-remake-g5k.nancy.grvingt-NAS.json.gz"
    if not path.exists():
        return
    heatmap = read_heatmap(path)
    pool = Pool.from_heatmap(path)
    model = Interference(heatmap)
    for (nodes, jobs), published in TABLE_3.items():
        workload = _in_memory(generate(pool, seed=1, jobs=jobs))
        for name, policy, theirs in zip(("FCFS", "EASY"), PLAIN, published, strict=True):
            yield _days("table 3", workload, f"{nodes}x{CORES}", policy, name, jobs, theirs, settings)
        for policy in COSCHED:
            yield _days("co-scheduled", workload, f"{nodes}x{CORES}", policy, policy, jobs, None, settings, model)
    log = traces / "SDSC-SP2-1998-4.2-cln.swf.gz"
    if log.exists():
        workload = sl.read_workload(log)
        for name, policy, theirs in zip(("FCFS", "EASY"), PLAIN, TABLE_4, strict=True):
            yield _days("table 4, SDSC-SP2", workload, "128x64", policy, name, None, theirs, settings)
    yield from _events(pool, model, settings)


def _in_memory(workload: sl.Workload) -> sl.Workload:
    """Drawn beforehand: that is no part of the loop."""
    drawn = list(workload.batches())
    return replace(workload, source=lambda: iter(drawn))


def _days(
    table: str,
    workload: sl.Workload,
    cluster: str,
    policy: str,
    name: str,
    jobs: int | None,
    theirs: float | None,
    settings: Settings,
    model: Interference | None = None,
) -> Line:
    observers = [] if model is None else [model]
    runs = [sl.simulate(workload, cluster, policy, observers=observers) for _ in range(settings.repeats)]
    seconds = min(run.config["timing"]["engine"] for run in runs)
    days = runs[0].summary["makespan"] / 86_400 / (seconds / 3600)
    of = f"{jobs:,} jobs on {cluster}" if jobs else f"on {cluster}"
    loop = f"loop {seconds * 1e3:,.2f} ms, makespan {runs[0].summary['makespan']:,.0f} s"
    if theirs is None:
        return Line("elise", f"{table}: {name}, {of}, days of makespan in an hour", days, "days", note=loop)
    note = f"{days:,.0f} days of makespan in an hour, ELiSE's {theirs:g}; {loop}"
    return Line("elise", f"{table}: {name}, {of}, against ELiSE's loop", days / theirs, at_least=LEAST, note=note)


def _events(pool: Pool, model: Interference, settings: Settings) -> Iterator[Line]:
    """As many jobs for each node on few nodes and on many, all at once; a pass looks at no more than 100 of them."""
    few, many = (200, 20_000) if not settings.quick else (200, 2_000)
    for policy in ("cosched:backfill=none", "cosched:backfill=easy,depth=100", "cosched:place=best-pair,depth=100"):
        cost = {}
        for nodes in (few, many):
            jobs = LOAD * nodes
            workload = _in_memory(generate(pool, seed=1, jobs=jobs))
            runs = [
                sl.simulate(workload, f"{nodes}x{CORES}", policy, observers=[model]) for _ in range(settings.repeats)
            ]
            cost[nodes] = min(run.config["timing"]["engine"] for run in runs) / (2 * jobs)
        note = f"{cost[few] * 1e6:.2f} µs on {few} nodes, {cost[many] * 1e6:.2f} µs on {many:,}"
        yield Line(
            "elise", f"{policy}: an event with 100 times the nodes", cost[many] / cost[few], at_most=3, note=note
        )
