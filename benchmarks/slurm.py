"""The real Slurm in simulated time: how many times faster than life, and whether it repeats itself under load."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import subject
from benchmarks.measure import process
from benchmarks.report import Line
from benchmarks.settings import Settings

MICRO = Path(__file__).parents[1] / "examples" / "micro_cluster"
LARGE = """
ClusterName=large
SlurmctldHost=head
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=120,bf_window=2880,bf_resolution=300,bf_continue
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightJobSize=1000
PriorityWeightFairshare=10000
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations
NodeName=n[0001-1024] CPUs=32 RealMemory=128000
PartitionName=work Nodes=ALL Default=YES MaxTime=2-00:00:00
"""


def lines(settings: Settings) -> Iterator[Line]:
    folder = settings.folder / "slurm"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    process([*subject.schedlab(), "slurm", "doctor"])
    yield _speed(
        "500 jobs on 10 nodes x 12 cores, start-up included", MICRO / "slurm.conf", MICRO / "jobs.events", folder, 1500
    )
    (folder / "slurm.conf").write_text(LARGE)
    jobs = settings.jobs(3000)
    (folder / "large.events").write_text("\n".join(_large(jobs)) + "\n")
    title = f"{jobs:,} jobs on 1,024 nodes x 32 cores, to the end"
    yield _speed(title, folder / "slurm.conf", folder / "large.events", folder, 300)
    yield from _repeats(folder, settings)
    shutil.rmtree(folder)


def week(settings: Settings) -> Iterator[Line]:
    """A real site: the week of UB-HPC, 19,579 jobs on 217 nodes. Takes about an hour."""
    traces = Path(os.environ.get("SCHEDLAB_TRACES") or Path(__file__).parents[2] / "shared" / "traces") / "slurm"
    folder = settings.folder / "slurm-week"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    conf, jobs = traces / "ubccr-ubhpc-slurm.conf", traces / "ubccr-ubhpc-workload_week.events.gz"
    yield _speed("UB-HPC: 19,579 jobs on 217 nodes, to the end", conf, jobs, folder, None)


def _speed(title: str, conf: Path, jobs: Path, folder: Path, at_least: float | None) -> Line:
    """Simulated seconds, from the first submission to the last end, per second of the whole command."""
    import polars as pl

    out = folder / "run"
    begin = time.perf_counter()
    process(
        [*subject.schedlab(), "slurm", "replay", "--conf", conf, "--jobs", jobs, "--out", out, "--force", "--quiet"]
    )
    wall = time.perf_counter() - begin
    table = pl.read_parquet(out / "jobs.parquet")
    simulated = float(table["end"].max() - table["submit"].min())  # type: ignore[operator]
    counters = pl.read_parquet(out / "slurm" / "counters.parquet").tail(1)
    wait = float((table["start"] - table["submit"]).mean() or 0.0)  # type: ignore[arg-type]
    states = ", ".join(f"{count:,} {state}" for state, count in table["state"].value_counts(sort=True).rows())
    note = (
        f"{simulated:,.0f} s in {wall:.1f} s; {states}; mean wait {wait / 3600:.2f} h; "
        f"{counters['bf_cycle_counter'][0]:,} backfill cycles, {counters['bf_backfilled_jobs'][0]:,} jobs backfilled"
    )
    return Line("slurm", title, simulated / wall, "times real time", at_least=at_least, note=note)


def _large(jobs: int, seed: int = 1) -> list[str]:
    """Sizes and run times over orders of magnitude, and a load of 0.7."""
    random = np.random.default_rng(seed)
    nodes = np.minimum(2 ** random.integers(0, 8, jobs), 128)
    runtimes = np.clip(random.lognormal(np.log(900), 1.2, jobs), 60, 86_400).astype(int)
    span = float((nodes * runtimes).sum()) / 1024 / 0.7
    submits = np.sort(random.uniform(0, span, jobs)).astype(int)
    limits = np.ceil(runtimes * random.uniform(1.1, 4, jobs) / 60).astype(int)
    return [
        f"-dt {submits[job]} -e submit_batch_job | -J jobid_{job + 1} -sim-walltime {runtimes[job]} "
        f"--uid=user{job % 30} -A account{job % 7} -n {32 * nodes[job]} -t {min(limits[job], 2880)} job.sh"
        for job in range(jobs)
    ]


def _repeats(folder: Path, settings: Settings) -> Iterator[Line]:
    """Ten runs, two at a time, beside as many processes that only burn time as there are cores."""
    command = [*subject.schedlab(), "slurm", "replay", "--conf", MICRO / "slurm.conf", "--jobs", MICRO / "jobs.events"]
    command += ["--quiet", "--out"]
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
    hashes = set()
    count = 2 if settings.quick else 10
    try:
        for number in range(0, count, 2):
            outs = [folder / f"repeat{number + n}" for n in (0, 1)]
            running = [subprocess.Popen([*map(str, command), str(out)]) for out in outs]
            for one, out in zip(running, outs, strict=True):
                if one.wait():
                    raise RuntimeError(f"slurm replay ended with {one.returncode}")
                hashes.add(hashlib.sha256((out / "jobs.parquet").read_bytes()).hexdigest())
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    title = f"different results of {count} repeats, two at a time beside {len(hogs)} CPU hogs"
    yield Line("slurm", title, len(hashes) - 1, "", at_most=0)
