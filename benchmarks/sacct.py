"""Reading a Slurm accounting dump: rows a second, and memory. `python -m benchmarks.sacct [ROWS]`."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.measure import call, process
from benchmarks.report import Line, show
from benchmarks.settings import ROOT, Settings
from benchmarks.workload import USERS, LogSpec, blocks
from schedlab.model.request import Request
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.options import ReadOptions
from schedlab.workload.sacct.read import read_sacct
from schedlab.workload.sacct.write import write_sacct

GIB = 2**30
MEMORY = (1, 2, 3, 4, 6, 8, 16, 32)  # GiB of a core


def lines(settings: Settings) -> Iterator[Line]:
    yield from measured(settings.jobs(5_000_000))


def measured(rows: int) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jobs.sacct"
        write_sacct(path, made(LogSpec(rows)))
        size = path.stat().st_size / 2**20
        spent, printed = process([sys.executable, "-m", "benchmarks.sacct", "read", path], PYTHONPATH=str(ROOT))
        seconds = json.loads(printed)["seconds"]
    what = f"a dump of {rows:,} rows and {size:,.0f} MB"
    yield Line("sacct", f"reading {what}", rows / seconds / 1e3, "thousand rows/s", at_least=300)
    yield Line("sacct", f"peak memory of reading {what}, streamed", spent.peak_mb, "MB", at_most=500)


def made(spec: LogSpec) -> Workload:
    """Jobs with users, accounts, partitions, nodes and memory, made anew in every pass."""
    requests = [Request({"cores": 1, "memory": amount * GIB}) for amount in MEMORY]
    labels = {
        "user": [f"user{number:04d}" for number in range(USERS + 1)],
        "group": [f"project{number:02d}" for number in range(40)],
        "queue": ["normal", "high"],
        "partition": ["general", "large", "debug"],
    }

    def batches() -> Iterator[JobBatch]:
        for number, block in enumerate(blocks(spec)):
            random = np.random.default_rng([spec.seed, number, 1])
            size = len(block["id"])
            yield JobBatch.of(
                **block,
                request=random.integers(0, len(MEMORY), size),
                group=block["user"] % 40,
                queue=random.integers(0, 2, size),
                partition=random.integers(0, 3, size),
                wait=random.integers(0, 20_000, size),
                status=random.choice([0, 1], size, p=[0.1, 0.9]),
            )

    return Workload("benchmark", batches, requests, origin=datetime(2024, 1, 1, tzinfo=UTC), labels=labels)


def _read(path: Path) -> None:
    """One pass over a dump, in memory that does not grow with it."""
    spent, workload = call(lambda: read_sacct(path, ReadOptions(in_memory=False)))
    assert workload.report.kept == workload.report.records
    print(json.dumps({"seconds": spent.wall}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["read"]:
        _read(Path(sys.argv[2]))
    else:
        show(list(measured(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)), "sacct")
