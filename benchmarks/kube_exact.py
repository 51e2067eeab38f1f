"""The real kube-scheduler in exact simulated time: how long it takes, and whether it is the same every time."""

from __future__ import annotations

import hashlib
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import Line
from benchmarks.settings import ROOT, Settings
from schedlab.bridge.kubernetes.decider import Kubernetes
from schedlab.engine.check import check
from schedlab.engine.simulate import simulate
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import Workload
from schedlab.workload.read import read_workload

CASES = Path(os.environ.get("SCHEDLAB_CASES") or ROOT.parent / "shared" / "cases") / "batkube"
BATKUBE = {  # file: nodes, cores of each
    "200_delay170.json": (16, 1),
    "spaced_200_delay170.json": (16, 1),
    "KIT_10h_80.json": (1, 6),
}
GAP = 0.35  # seconds between jobs, in the mean: with 918 core seconds a job, 82 % of 100 nodes of 32 cores
REPEATS = 50  # of which half are beside programs that use every core


@dataclass(frozen=True)
class Ran:
    seconds: float
    scheduler: float  # seconds of its CPU time
    memory: int  # of it, at most
    makespan: float
    wait: float
    schedule: str  # the same for the same schedule
    offences: int


def lines(settings: Settings) -> Iterator[Line]:
    """Speed."""
    jobs = settings.jobs(10_000)
    for count, nodes, gap, at_most in ((jobs, 100, GAP, 20.0), (300, 5000, GAP, None)):
        try:
            ran = run(_stream(count, gap), Cluster.uniform(nodes, 32))
        except InputError as error:
            yield Line("kube-exact", "not measured", 0.0, unit="", note=str(error).partition("\n")[0])
            return
        what = f"{count:,} jobs on {nodes:,} nodes in exact simulated time, start of the scheduler included"
        used = f"{ran.scheduler:.1f} s of CPU time and {ran.memory / 1e6:,.0f} MB of the scheduler"
        note = f"{used}; {_own_memory() / 1e6:,.0f} MB of ours; mean wait {ran.wait:.3f} s"
        yield Line("kube-exact", what, ran.seconds, unit="s", at_most=at_most, note=note)
        yield Line("kube-exact", "offences that check finds", ran.offences, unit="", at_most=0)


def repeats(settings: Settings) -> Iterator[Line]:
    """Batkube's workloads again and again, half of the times on a machine that is busy with something else."""
    times = settings.jobs(REPEATS)
    there = {name: size for name, size in BATKUBE.items() if (CASES / name).is_file()}
    for name in BATKUBE.keys() - there.keys():
        note = f"there is no {CASES / name}: set SCHEDLAB_CASES"
        yield Line("kube-repeats", f"{name}: not measured", 0.0, unit="", note=note)
    found: dict[str, list[Ran]] = {name: [] for name in there}
    for number in range(times):
        for name, (nodes, cores) in there.items():
            with hogs() if number % 2 else nullcontext():
                ran = run(read_workload(CASES / name, reader="batkube"), Cluster.uniform(nodes, cores))
            print(f"{name} {number + 1}: {ran}", file=sys.stderr, flush=True)
            found[name].append(ran)
    for name, runs in found.items():
        quickest, slowest = (choose(one.seconds for one in runs) for choose in (min, max))
        note = (
            f"makespan {runs[0].makespan:,.1f} s, mean wait {runs[0].wait:,.1f} s; {quickest:.1f} to {slowest:.1f} s "
            f"each, {times // 2} of {times} beside CPU hogs"
        )
        schedules = len({one.schedule for one in runs})
        yield Line("kube-repeats", f"{name}: schedules in {times} runs", schedules, unit="", at_most=1, note=note)
        offences = sum(one.offences for one in runs)
        yield Line("kube-repeats", "offences that check finds", offences, unit="", at_most=0)


def run(workload: Workload, cluster: Cluster) -> Ran:
    decider = Kubernetes()
    begin = time.perf_counter()
    made = simulate(workload, cluster, decider)
    seconds = time.perf_counter() - begin
    (used,) = decider.facts()["schedulers"]
    rows = made.jobs.sort("job").select("job", "start", "end", "nodes").rows()
    schedule = hashlib.sha256(repr(rows).encode()).hexdigest()[:12]
    summary = made.summary
    return Ran(
        seconds,
        used["cpu_seconds"],
        used["peak_memory"],
        summary["makespan"],
        summary["wait"]["mean"],
        schedule,
        len(check(made)),
    )


def _own_memory() -> int:
    """The most that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextmanager
def hogs() -> Iterator[None]:
    """A program for each core that computes something."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


def _stream(jobs: int, gap: float) -> Workload:
    draw = random.Random(1)
    sizes = (1, 2, 4, 8)
    now = 0.0
    submit, runtime, request = [], [], []
    for _ in range(jobs):
        now += draw.expovariate(1 / gap)
        submit.append(round(now, 3))
        request.append(draw.randrange(len(sizes)))
        runtime.append(round(draw.lognormvariate(5, 1), 3))
    kinds = [Request({"cores": cores}) for cores in sizes]
    return Workload.of(submit=submit, runtime=runtime, count=[1] * jobs, request=request, requests=kinds)
