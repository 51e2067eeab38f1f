"""Schedulers of Batsim as they are in the package index: pybatsim decides here, batsim-py starts us for a `batsim`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from benchmarks import batsim_clients
from tests import batsim_tools
from tests.batsim_talk import write_workload

import schedlab as sl
from schedlab.bridge.batsim.decider import Batsim
from schedlab.model.run import Run

pytestmark = batsim_tools.there

# Sixty jobs of 1 to 8 hosts; nothing in them is by chance.
MIXED = [
    {"id": n, "subtime": 7 * n, "res": 1 + 5 * n % 8, "profile": f"d{11 * n % 17}", "walltime": 200} for n in range(60)
]
DELAYS = {f"d{n}": {"type": "delay", "delay": 10 + 7.5 * n} for n in range(17)}


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in batsim_tools.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)  # some schedulers of pybatsim leave files where they run


def under_pybatsim(name: str, workload: Path, hosts: int) -> Run:
    """As `schedlab run WORKLOAD --policy "batsim(command='pybatsim …')"` does it."""
    command = [sys.executable, "-m", "batsim.cmds.launcher", "-v", "error", "-t", "60000", "-s", "{socket}", name]
    return sl.simulate(workload, f"{hosts}x1", Batsim(command=command, deadline=60.0))


def starts(run: Run) -> dict[int, float]:
    return dict(zip(run.jobs["job"], run.jobs["start"], strict=True))


def test_its_filler_is_ours(tools: None, tmp_path: Path) -> None:
    """It starts whoever finds neighbouring hosts, the first such hosts."""
    workload = write_workload(tmp_path, MIXED, DELAYS)
    theirs, ours = under_pybatsim("schedFiller", workload, 8), sl.simulate(workload, "8x1", "skip:place=contiguous")
    assert starts(theirs) == pytest.approx(starts(ours), abs=1e-6)
    assert max(starts(ours).values()) > MIXED[-1]["subtime"]  # there was something to decide


def test_its_fcfs_is_ours(tools: None, tmp_path: Path) -> None:
    """Jobs of one host, because it wants neighbouring ones and chooses them otherwise than any placement of ours.

    The first of them start at time 0, which it would take for a mistake.
    """
    jobs = [job | {"res": 1, "subtime": max(job["subtime"] - 100, 0)} for job in MIXED]
    workload = write_workload(tmp_path, jobs, DELAYS)
    theirs, ours = under_pybatsim("schedFcfs", workload, 3), sl.simulate(workload, "3x1", "fcfs")
    assert starts(theirs) == pytest.approx(starts(ours), abs=1e-6)
    assert starts(theirs)[0] == 0.0


def test_its_easy_backfilling_is_ours(tools: None, tmp_path: Path) -> None:
    """Job 3 ends before job 2 can start, and goes ahead; job 4 would delay it, and waits."""
    jobs: list[dict[str, Any]] = [
        {"id": 1, "subtime": 0, "res": 3, "profile": "ten", "walltime": 11},
        {"id": 2, "subtime": 1, "res": 4, "profile": "ten", "walltime": 11},
        {"id": 3, "subtime": 2, "res": 1, "profile": "five", "walltime": 6},
        {"id": 4, "subtime": 3, "res": 1, "profile": "twenty", "walltime": 21},
    ]
    profiles = {name: {"type": "delay", "delay": delay} for name, delay in (("ten", 10), ("five", 5), ("twenty", 20))}
    workload = write_workload(tmp_path, jobs, profiles)
    by_hand = {1: 0.0, 2: 10.0, 3: 2.0, 4: 20.0}
    assert starts(under_pybatsim("easyBackfill", workload, 4)) == pytest.approx(by_hand, abs=1e-6)
    assert starts(sl.simulate(workload, "4x1", "easy")) == by_hand


@pytest.mark.slow
def test_its_easy_backfilling_is_ours_on_20_000_jobs(tools: None, tmp_path: Path) -> None:
    """On two hosts: with more, it leaves free hosts between those that it guards for the head to anybody."""
    case = batsim_clients.CASES["easyBackfill"]
    jobs = batsim_clients.workload(case, 20_000, tmp_path)
    theirs, ours = under_pybatsim(case.scheduler, jobs, case.hosts), sl.simulate(jobs, "2x1", "easy", passes="event")
    assert len(ours.jobs) == 20_000
    assert starts(theirs) == pytest.approx(starts(ours), abs=1e-5)
    assert starts(sl.simulate(jobs, "2x1", "fcfs")) != starts(ours)  # many go ahead


@pytest.mark.parametrize("name", ["fillerSched", "easyBackfill", "schedEasySjfBackfill"])
def test_its_other_schedulers_run_to_the_end(tools: None, tmp_path: Path, name: str) -> None:
    """What they do is their business; `sl.simulate` of tests looks whether it is feasible."""
    run = under_pybatsim(name, write_workload(tmp_path, MIXED[:20], DELAYS), 8)
    assert run.summary["states"]["completed"] == 20


# First come, first served; hosts that nobody has are switched off and on again.
BATSIM_PY = """
import sys
from batsim_py import SimulatorHandler
from batsim_py.monitors import ConsumedEnergyMonitor, JobMonitor

simulator = SimulatorHandler()
jobs, energy = JobMonitor(simulator), ConsumedEnergyMonitor(simulator)
simulator.start(platform=sys.argv[1], workload=sys.argv[2])
while simulator.is_running:
    while simulator.queue:
        job, hosts = simulator.queue[0], simulator.platform.get_not_allocated_hosts()
        if len(hosts) < job.res:
            break
        simulator.allocate(job.id, [host.id for host in hosts[: job.res]])
    if simulator.platform and simulator.is_submitter_finished:
        idle = [host.id for host in simulator.platform.hosts if host.is_idle]
        if idle:
            simulator.switch_off(idle)
    simulator.proceed_time()
for job, start, end in zip(jobs.info["job_id"], jobs.info["starting_time"], jobs.info["finish_time"]):
    print(job, start, end)
print(energy.info["energy"][-1])
"""
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="AS0" routing="None">
    <host id="master_host" speed="1Gf"><prop id="role" value="master"/></host>
    HOSTS
  </zone>
</platform>
"""
HOST = """<host id="a{}" speed="1Gf, 1f, 0.5f, 0.25f" pstate="0">
      <prop id="watt_per_state" value="100:200, 10:10, 50:50, 120:120"/>
      <prop id="sleep_pstates" value="1:2:3"/>
    </host>
    """


def test_batsim_py_starts_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the wrapper of two lines that docs/batsim.md shows."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "batsim").write_text(f'#!/bin/sh\nexec {Path(sys.executable).parent}/schedlab batsim "$@"\n')
    (programs / "batsim").chmod(0o755)
    platform, program = tmp_path / "platform.xml", tmp_path / "rl.py"
    platform.write_text(PLATFORM.replace("HOSTS", "".join(HOST.format(n) for n in range(2))))
    program.write_text(BATSIM_PY)
    jobs = [{"id": 1, "res": 2}, {"id": 2, "subtime": 3, "res": 1}]
    environment = batsim_tools.environment(programs) | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, program, platform, write_workload(tmp_path, jobs)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    *found, joules = done.stdout.splitlines()
    assert found == ["1 0.0 10.0", "2 10.0 20.0"]
    # It counts whole seconds itself: two idle hosts of 100 W draw at least that much until 20 s.
    assert float(joules) >= 2 * 100 * 10
    rows = (tmp_path / "batsim_jobs.csv").read_text().splitlines()
    assert [row.split(",")[8] for row in rows[1:]] == ["0.000000", "10.000000"]
    # The second host sleeps from 12 s on, which it takes 2 s to reach; the first one when job 2 has left it.
    assert "10,1,-2" in (tmp_path / "batsim_pstate_changes.csv").read_text().splitlines()
    assert "12,1,1" in (tmp_path / "batsim_pstate_changes.csv").read_text().splitlines()
