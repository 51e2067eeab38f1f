"""The engine on one pool of processors against `floor.cpp`, a loop written for exactly that case."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

import schedlab as sl
from benchmarks import once, subject
from benchmarks.measure import Spent, middle
from benchmarks.report import Line
from benchmarks.settings import Settings
from benchmarks.workload import Columns, LogSpec, columns

SOURCE = Path(__file__).with_name("floor.cpp")


class Floor:
    """The compiled loop, and the jobs it works on."""

    def __init__(self, jobs: Columns, processors: int, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.binary, self.jobs, self.output = folder / "floor", folder / "floor-jobs", folder / "floor-starts"
        self.processors = processors
        subprocess.run(["g++", "-std=c++20", "-O3", "-march=native", SOURCE, "-o", self.binary], check=True)
        with self.jobs.open("wb") as file:
            for name in ("submit", "runtime", "limit", "count"):
                file.write(jobs[name].astype(np.int64).tobytes())

    def time(self) -> Spent:
        """The loop alone, in a fresh process."""
        command: list[str | Path] = [self.binary, self.jobs, str(self.processors), self.output]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        wall, cpu = printed.split()
        return Spent(float(wall), float(cpu))

    def starts(self) -> NDArray[np.int64]:
        return np.fromfile(self.output, np.int64)


def lines(settings: Settings) -> Iterator[Line]:
    spec = LogSpec(settings.jobs(200_000))
    jobs = columns(spec)
    floor = Floor(jobs, spec.total_cores, settings.folder)
    in_memory, pool = subject.in_memory(jobs), sl.Cluster.of_cores(spec.total_cores)
    floor.time()
    schedule = sl.simulate(in_memory, pool, "easy")
    different = int(np.sum(subject.starts(schedule) != floor.starts()))
    if different:
        raise RuntimeError(f"{different} of {spec.jobs} starts differ between schedlab and the floor")
    loops, calls = [], []
    for _ in range(2 * settings.repeats):
        loops.append(floor.time())
        calls.append(once.simulate(spec, "easy", pool=True))
    loop, whole = middle(loops).on(settings.clock), middle([spent for spent, _ in calls]).on(settings.clock)
    native = median(share * spent.on(settings.clock) for spent, share in calls)
    what = f"on a pool of {spec.total_cores} processors, easy, {spec.jobs:,} jobs"
    yield Line(
        "floor",
        f"engine against the loop {what}",
        native / loop,
        at_most=3,
        note=f"{native:.4f} s : {loop:.4f} s, all starts equal",
    )
    yield Line(
        "floor",
        f"simulate() against the loop {what}",
        whole / loop,
        note=f"{whole:.4f} s : {loop:.4f} s; with tables of results",
    )
