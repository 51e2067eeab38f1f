"""What reading a log met is on the screen and in the run, whatever the command; jobs are called as in their log."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.slurm_programs import slurm_programs
from typer.testing import CliRunner

from schedlab.cli.main import app

CONF = """
ClusterName=small
SlurmctldHost=head
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
NodeName=n1 CPUs=8 RealMemory=16000 Feature=old Gres=gpu:a100:2
NodeName=n2 CPUs=8 RealMemory=16000 Feature=new Gres=gpu:a100:2
PartitionName=cpu Nodes=n[1-2] Default=YES
"""
HEADER = "JobID|User|State|Submit|Start|End|Timelimit|ReqTRES|Constraints"
ROWS = (
    "7_1|ann|COMPLETED|{0}|{0}|{1}|00:10:00|cpu=1,node=1|old|new",  # alternatives
    "7_2|ann|COMPLETED|{0}|{0}|{1}|UNLIMITED|cpu=1,node=1|",  # no limit
    "7_4|bob|COMPLETED|{0}|{0}|{1}|00:10:00|cpu=1,node=1,gres/gpu=1,gres/gpu:h100=1|",  # of which there is none
    "9|bob|RUNNING|{0}|{0}|Unknown|00:10:00|cpu=1,node=1|",
    "7_3|ann|COMPLETED|{0}|{0}|{1}|00:10:00|cpu=64,node=1|",  # no such node
)
STUDY = """
name = "notes"
[workload]
log = "jobs.sacct"
[run]
cluster = "slurm.conf"
policy = "easy"
"""
LEFT_OUT = "left out: 1 still running when the dump was made"
CONSTRAINTS = "noted: 1 constraints with alternatives or counts: not used"
PERFECT = "noted: limit: run time for 1 job without a requested time: 25 % of the jobs get perfect estimates"
TYPES = "not counted: gpu:h100 (small has none), which 1 job asks for"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slurm.conf").write_text(CONF)
    times = 1_704_067_200, 1_704_067_300
    (tmp_path / "jobs.sacct").write_text("\n".join([HEADER, *(row.format(*times) for row in ROWS)]) + "\n")
    return tmp_path


def says(*arguments: Any) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_run_and_compare(site: Path) -> None:
    said = says("run", "jobs.sacct", "-c", "slurm.conf", "-o", "run")
    compared = says("compare", "run")
    for note in (LEFT_OUT, CONSTRAINTS, PERFECT, TYPES):
        assert note in said and note in compared
    report = json.loads((site / "run" / "run.json").read_text())["workload"]["report"]
    assert report["for_slurm"] == {"constraints with alternatives or counts: not used": 1}
    assert "job 7_3 asks for 64 cores a node, no node of the default partition cpu has more than 8" in said


def test_what_differs_between_runs_is_said_of_the_run(site: Path) -> None:
    says("run", "jobs.sacct", "-c", "slurm.conf", "-o", "one")
    says("run", "jobs.sacct", "-c", "slurm.conf", "-p", "fcfs", "-o", "other", "--missing-limit", "1h")
    said = says("compare", "one", "other")
    assert f"\n{LEFT_OUT}\n" in said and f"\neasy: {PERFECT}" in said
    assert "\nfcfs: noted: 1 limit: given number\n" in said


def test_inspect(site: Path) -> None:
    said = says("inspect", "jobs.sacct", "-c", "slurm.conf")
    assert "1 constraints with alternatives or counts: not used" in said
    assert "1 still running when the dump was made" in said and "get perfect estimates" in said
    assert "gpu:h100" in said and "the machine has none" in said


def test_a_study(site: Path) -> None:
    (site / "study.toml").write_text(STUDY)
    said = says("experiment", "run", "study.toml", "--out", "study", "--workers", "1")
    for note in (LEFT_OUT, CONSTRAINTS, PERFECT, TYPES):
        assert note in said
    says("experiment", "report", "study", "--out", "report.html")
    page = (site / "report.html").read_text()
    assert "constraints with alternatives or counts: not used" in page and "gpu:h100" in page


def test_replay(site: Path) -> None:
    """Slurm is told of the alternatives, takes nothing else than it is asked for, and names jobs as the log does."""
    slurm_programs()
    said = says("slurm", "replay", "--conf", "slurm.conf", "--jobs", "jobs.sacct")
    assert LEFT_OUT in said and PERFECT in said
    assert CONSTRAINTS not in said and TYPES not in said
    assert "Slurm refused 1 job (7_4): Requested node configuration is not available" in " ".join(said.split())


def test_check_names_jobs_as_their_log_does(site: Path) -> None:
    import pyarrow.parquet as pq

    says("run", "jobs.sacct", "-c", "slurm.conf", "-o", "run")
    path = site / "run" / "jobs.parquet"
    table = pq.read_table(path)
    place = table.schema.get_field_index("start")
    early = table.column("start").to_pylist()
    early[0] = -5.0
    pq.write_table(table.set_column(place, table.schema.field(place), [early]), path)
    done = CliRunner().invoke(app, ["check", "run"])
    assert done.exit_code == 1
    assert f"job {table.column('name')[0]} " in done.output
    shutil.rmtree(site / "run")
