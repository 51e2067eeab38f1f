"""schedlab as the subject of measurements."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

import schedlab as sl
from benchmarks.measure import Spent, call, process
from benchmarks.workload import Columns


def in_memory(jobs: Columns) -> sl.Workload:
    return sl.Workload.of(name="benchmark", requests=None, **jobs)


def simulate(jobs: sl.Workload, cluster: sl.Cluster, policy: str) -> tuple[Spent, sl.Run]:
    """`simulate()` as a user calls it, from jobs in memory to a `Run` in memory."""
    return call(lambda: sl.simulate(jobs, cluster, policy))


def starts(run: sl.Run) -> NDArray[np.float64]:
    """Start times in the order of the workload."""
    table = run.jobs
    found = np.empty(len(table))
    found[table["sequence"].to_numpy()] = table["start"].to_numpy()
    return found


def command(log: Path, cluster: str, policy: str, scratch: Path, jobs: int) -> Spent:
    """The whole `schedlab run`: start-up, reading, simulating, writing. Checks that every job is in its results."""
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=scratch))
    try:
        spent, _ = process([*schedlab(), "run", log, "--cluster", cluster, "--policy", policy, "--out", folder / "out"])
        (table,) = folder.rglob("jobs.parquet")
        written = pq.read_metadata(table).num_rows
        if written != jobs:
            raise RuntimeError(f"{jobs} jobs in the log, {written} in the results of schedlab")
        return spent
    finally:
        shutil.rmtree(folder)


def schedlab() -> list[str | Path]:
    """The command as installed; in a source tree that is only on the path, what the command would call."""
    script = Path(sys.executable).with_name("schedlab")
    return [script] if script.exists() else [sys.executable, "-c", "from schedlab.cli.main import main; main()"]
