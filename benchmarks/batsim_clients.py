"""pybatsim 3.2.1 as it is, to the end: starts beside those of the native policy with the same rule.

Its schedulers give jobs neighbouring hosts. `schedFcfs` is `none:place=contiguous`. `easyBackfill` guards the first and
the last range of free hosts that it keeps for the head, and no range between: on two hosts, where there is none, it
is EASY; on more, jobs may delay the head. It thinks after every single event (`passes=event`).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import schedlab as sl
from benchmarks import subject
from benchmarks.batsim import TOOLS
from benchmarks.measure import call
from benchmarks.report import Line
from benchmarks.settings import Settings
from benchmarks.workload import LogSpec, columns
from schedlab.bridge.batsim.decider import Batsim


@dataclass(frozen=True)
class Case:
    scheduler: str
    jobs: int
    hosts: int
    load: float
    policy: str


# schedFcfs looks at all jobs that it has ever seen, at every event: 2,000 take it half a minute, 20,000 over an hour.
# Another interpreter with pybatsim in it, PyPy say, does that in a quarter of an hour: $PYBATSIM_PYTHON.
OTHER = os.environ.get("PYBATSIM_PYTHON", "")
CASES = {
    "easyBackfill": Case("easyBackfill", 20_000, 2, 0.75, "easy"),
    "schedFcfs": Case("schedFcfs", 20_000 if OTHER else 2_000, 8, 0.5, "none:place=contiguous"),
}


def lines(settings: Settings) -> Iterator[Line]:
    if not TOOLS.is_dir():
        raise RuntimeError(f"needs pybatsim in {TOOLS} (make test)")
    for case in CASES.values():
        jobs, cluster = workload(case, settings.jobs(case.jobs), settings.folder), f"{case.hosts}x1"
        spent, theirs = call(lambda case=case, jobs=jobs, cluster=cluster: decided(case, jobs, cluster))
        ours = sl.simulate(jobs, cluster, case.policy, passes="event")
        differ = int(np.sum(np.abs(subject.starts(theirs) - subject.starts(ours)) > 1e-5))
        what = f"jobs of {len(theirs.jobs):,} that pybatsim {case.scheduler} starts when {case.policy} does not"
        waits = f"mean wait {theirs.summary['wait']['mean']:.3f} and {ours.summary['wait']['mean']:.3f} s"
        yield Line(
            "batsim-clients",
            what,
            differ,
            "",
            at_most=0,
            note=f"{waits}; {spent.wall:.0f} s, ours {spent.cpu:.1f} s of CPU",
        )


def workload(case: Case, jobs: int, folder: Path) -> Path:
    """The benchmark's log with sizes folded into the few hosts, and submitted at a pace that gives the load."""
    found = columns(LogSpec(jobs, 480, 1, 0.75))
    sizes = 1 + (found["count"].astype(int) - 1) % case.hosts
    pace = float(np.sum(found["runtime"] * sizes) / np.ptp(found["submit"]) / case.hosts / case.load)
    rows = zip(found["submit"] * pace, sizes, found["runtime"], found["limit"], strict=True)
    lines = [
        {"id": number, "subtime": float(at), "res": int(size), "profile": f"d{run:g}", "walltime": float(limit)}
        for number, (at, size, run, limit) in enumerate(rows)
    ]
    profiles = {f"d{run:g}": {"type": "delay", "delay": float(run)} for run in set(found["runtime"].tolist())}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"pybatsim-{case.scheduler}-{jobs}.json"
    path.write_text(json.dumps({"nb_res": case.hosts, "jobs": lines, "profiles": profiles}))
    return path


def decided(case: Case, jobs: Path, cluster: str) -> sl.Run:
    command = [
        OTHER or sys.executable,
        "-m",
        "batsim.cmds.launcher",
        "-v",
        "error",
        "-t",
        "600000",
        "-s",
        "{socket}",
        case.scheduler,
    ]
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = "" if OTHER else str(TOOLS)
    try:
        with chdir(jobs.parent):  # some of its schedulers leave files where they run
            return sl.simulate(jobs, cluster, Batsim(command=command, deadline=600.0))
    finally:
        del os.environ["PYTHONPATH"]
        if before is not None:
            os.environ["PYTHONPATH"] = before
