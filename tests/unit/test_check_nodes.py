"""The judge on nodes that are not always there."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.planned_runs import NODES, Plan, found, job, read, simulated, start, write

import schedlab as sl
from schedlab.engine.check.files import read_files
from schedlab.engine.check.offences import Offences


@pytest.mark.parametrize(
    ("changes", "good"),
    [
        ([], True),
        ([(9, "down")], False),
        ([(9, "booting"), (9.5, "up")], True),
        ([(9, "down"), (10, "up")], True),
        ([(10, "down")], True),  # it may have started before, in the same instant
        ([(9, "down"), (10, "up"), (10, "drained")], True),
        ([(9, "down"), (10, "off")], False),
        ([(9, "maintenance"), (10.5, "up")], False),
        ([(11, "down")], True),
    ],
)
@pytest.mark.parametrize("resumed", [False, True])
def test_nobody_begins_on_a_closed_node(
    tmp_path: Path, changes: list[tuple[float, str]], good: bool, resumed: bool
) -> None:
    """Job 1 starts on the second node at 10 s, or resumes there."""
    plan: Plan = {
        0.0: start(1, [(0, 4)]),
        5.0: lambda view: view.suspend(job(view, 1)),
        10.0: lambda view: view.resume(job(view, 1), nodes=[(1, 4)]),
    }
    if not resumed:
        plan = {10.0: start(1, [(1, 4)])}
    plan[20.0] = lambda view: view.close(0)  # so that there is a table
    folder = simulated(plan, submit=[0], runtime=[50], count=[4]).save(tmp_path / "run")
    last = read(folder, "nodes")
    write(folder, "nodes", [{"time": float(time), "node": "n2", "state": state} for time, state in changes] + last)
    assert found(folder) == (set() if good else {("closed node", 1)})


@pytest.mark.parametrize(
    ("node", "good"),
    [
        ("n1", False),  # it takes two chunks more there
        ("n2", False),  # it is new there
        ("n3", True),  # it has no less there than before
    ],
)
def test_a_job_that_grows_needs_nodes_that_are_up(tmp_path: Path, node: str, good: bool) -> None:
    plan: Plan = {
        0.0: start(1, [(0, 2), (2, 2)]),
        5.0: lambda view: view.reshape(job(view, 1), 1, [(0, 4), (1, 2), (2, 2)]),
    }
    plan[6.0] = lambda view: view.close(0)
    given: dict[str, Any] = {"submit": [0], "runtime": [20], "count": [4], "malleable": [True]}
    folder = simulated(plan, shapes=[[sl.Shape(count=8, runtime=10)]], **given).save(tmp_path / "run")
    assert sl.check(folder) == []
    write(folder, "nodes", [{"time": 4.0, "node": node, "state": "drained"}])
    assert found(folder) == (set() if good else {("closed node", 1)})


class Failures(sl.Observer):
    """The first node fails between 5 and 8 s; whoever is there starts anew."""

    def begin(self, view: Any) -> None:
        view.wake_at(5.0)
        view.wake_at(8.0)

    def before(self, view: Any) -> None:
        if view.now == 5.0:
            for victim in view.jobs_on(0):
                view.requeue(victim)
            view.close(0, "down")
        if view.now == 8.0:
            view.open(0)


def test_failures_under_a_native_policy(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0, 0, 1, 6], runtime=[20, 10, 10, 3], count=[6, 4, 4, 2])
    run = sl.simulate(jobs, NODES, "easy", observers=[Failures()], validate=True)
    assert run.nodes.rows() == [(5.0, "n1", "down"), (8.0, "n1", "up")]
    assert "requeued" in run.pieces["how"].to_list()
    assert sl.check(run) == sl.check(run.save(tmp_path / "run")) == []


def test_a_run_in_memory_is_read_as_its_folder(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0, 0, 1, 6], runtime=[20, 10, 10, 3], count=[6, 4, 4, 2])
    run = sl.simulate(jobs, NODES, "easy", observers=[Failures()], reasons=True)
    told = []
    with ExitStack() as opened:
        for one in (run, run.save(tmp_path / "run")):
            found = read_files(one, Offences(), opened)
            assert found is not None and found.jobs.parts(10) == found.timeline.parts(100) == 1
            tables = {"jobs": found.jobs.read(0), "timeline": found.timeline.read(0), **found.rare}
            told.append({name: table.to_pylist() for name, table in tables.items()})
    in_memory, in_files = told
    assert in_memory == in_files
    assert in_memory.keys() == {"jobs", "timeline", "pieces", "nodes", "reasons"}
