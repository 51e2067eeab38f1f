"""What a log of Slurm's accounting says, the real Slurm gets."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.slurm_programs import slurm_programs

import schedlab as sl
from schedlab.slurm.decider import RealSlurm

CONF = """
ClusterName=small
SlurmctldHost=head
SchedulerParameters=bf_interval=30,default_queue_depth=100
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
Licenses=matlab:2
NodeName=n1 CPUs=8 RealMemory=16000 Feature=old
NodeName=n2 CPUs=8 RealMemory=16000 Feature=new
NodeName=g1 CPUs=8 RealMemory=16000 Gres=gpu:a100:2
NodeName=g2 CPUs=8 RealMemory=16000 Gres=gpu:v100:2
PartitionName=cpu Nodes=n[1-2] Default=YES DefMemPerCPU=1000
PartitionName=gpu Nodes=g[1-2] DefMemPerCPU=1000
"""
GRES = "NodeName=g1 Name=gpu Type=a100 Count=2\nNodeName=g2 Name=gpu Type=v100 Count=2\n"
COLUMNS = ("JobID", "JobIDRaw", "User", "Account", "Partition", "QOS", "State")
COLUMNS += ("Submit", "Eligible", "Start", "End", "Timelimit", "ReqCPUS", "NNodes")
USUAL = {"User": "ann", "Account": "a", "Partition": "cpu", "QOS": "normal", "State": "COMPLETED"}
USUAL |= {"Timelimit": "00:10:00", "ReqCPUS": "1", "NNodes": "1"}
ZERO = 1_704_067_200  # 2024-01-01


@pytest.fixture(scope="session", autouse=True)
def _programs() -> None:
    slurm_programs()


def dump(path: Path, *jobs: dict[str, Any]) -> Path:
    """A dump of these jobs, numbered from 101; `Submit` in seconds, each runs `runs` seconds as soon as it may."""
    said = dict.fromkeys(name for job in jobs for name in job if name not in (*COLUMNS, "runs", "Constraints"))
    names = [*COLUMNS, *said, "Constraints"]  # the last one may hold |
    lines = ["|".join(names)]
    for number, job in enumerate(jobs, 101):
        begin = ZERO + int(job.get("Submit", 0))
        times = {"Submit": begin, "Eligible": begin, "Start": begin, "End": begin + job.get("runs", 100)}
        told = USUAL | {"JobID": number, "JobIDRaw": number} | job
        told |= {name: time for name, time in times.items() if name not in job or name == "Submit"}
        lines.append("|".join(str(told.get(name, "")) for name in names))
    path.write_text("\n".join(lines) + "\n")
    return path


def replay(folder: Path, *jobs: dict[str, Any], **options: Any) -> sl.Run:
    (folder / "slurm.conf").write_text(CONF)
    (folder / "gres.conf").write_text(GRES)
    decider = RealSlurm(folder / "slurm.conf", **{"evidence": 0, **options})
    workload = sl.read_workload(dump(folder / "jobs.sacct", *jobs), clean="none")
    return sl.simulate(workload, decider.setup.cluster(), decider)


def places(run: sl.Run) -> dict[int, str | None]:
    return dict(run.jobs.select("job", "nodes").rows())


def refused(run: sl.Run) -> dict[int, str]:
    table = pl.read_parquet(io.BytesIO(run.evidence("slurm/refused.parquet")))
    return dict(table.select("job", "reason").rows())


def test_every_job_asks_for_its_own(tmp_path: Path) -> None:
    """The engine counts all of them as CPUs of a partition; Slurm has to hear what each of them said."""
    small, large = {"ReqTRES": "cpu=1,mem=2000M,node=1"}, {"ReqCPUS": "4", "ReqTRES": "cpu=4,mem=12000M,node=1"}
    run = replay(tmp_path, small, large, small, large, large)
    assert run.jobs.sort("job")["cores"].to_list() == [1, 4, 1, 4, 4]
    starts = dict(run.jobs.select("job", "start").rows())
    assert starts[105] >= 100 > max(starts[job] for job in (101, 102, 103, 104))  # of 12 GB a node has room for one
