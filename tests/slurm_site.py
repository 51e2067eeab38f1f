"""A small site for tests with the real Slurm: a slurm.conf, jobs, and what became of them."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import schedlab as sl
from schedlab.slurm import decider as slurm_decider
from schedlab.slurm.decider import RealSlurm

CONF = """
ClusterName=small
SlurmctldHost=head
SchedulerParameters=bf_interval=30,default_queue_depth=100
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightJobSize=1000
PriorityWeightPartition=100000
NodeName=n[1-4] CPUs=8 RealMemory=16000 Feature=fast
PartitionName=work Nodes=n[1-4] Default=YES MaxTime=10:00:00 PriorityTier=1
PartitionName=urgent Nodes=n[1-4] PriorityTier=9
"""


class Site:
    """A folder with a slurm.conf and jobs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.conf, self.jobs = folder, folder / "slurm.conf", folder / "jobs.events"
        self.configure()

    def configure(self, more: str = "", text: str = CONF) -> None:
        self.conf.write_text(text + more)

    def submit(self, *jobs: str) -> None:
        """`seconds run-time options` of each job."""
        lines = []
        for number, job in enumerate(jobs, 1):
            submit, runtime, options = job.split(" ", 2)
            lines.append(
                f"-dt {submit} -e submit_batch_job | -J jobid_{number} -sim-walltime {runtime} --uid=ann {options} x.sh"
            )
        self.jobs.write_text("\n".join(lines) + "\n")

    def run(self, *, observers: Any = (), out: Path | None = None, reasons: bool = False, **options: Any) -> sl.Run:
        decider = RealSlurm(self.conf, **{"evidence": 0, **options})
        workload = sl.read_workload(self.jobs, requests="full", clean="none")
        return sl.simulate(workload, decider.setup.cluster(), decider, observers=observers, out=out, reasons=reasons)


@contextmanager
def impatient(seconds: float) -> Iterator[None]:
    """Jobs are given up after so many seconds with an idle machine: a day of it takes that to simulate."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slurm_decider, "PATIENCE", seconds)
        yield


def rows(run: sl.Run, *columns: str) -> list[tuple[Any, ...]]:
    return run.jobs.sort("job").select(columns).rows()


def accounting(run: sl.Run) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(run.evidence("slurm/accounting.parquet"))).sort("job")


@contextmanager
def own_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for slurmctld's own, with a path short enough for sockets; nothing may be left in it."""
    folder = Path(tempfile.mkdtemp(prefix="schedlab-test-"))
    monkeypatch.setenv("SCHEDLAB_TMP", str(folder))
    yield folder
    assert not list(folder.iterdir()), "a folder of slurmctld is still there"
    folder.rmdir()
