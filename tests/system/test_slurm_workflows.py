"""Workflows on the real Slurm: their jobs wait in it, by its own dependencies."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.slurm_programs import slurm_programs
from tests.slurm_site import Site, impatient, rows

import schedlab as sl
from schedlab.generate.triggers.inject import AtTimes, inject
from schedlab.model.errors import InputError
from schedlab.model.workflow import Task, Workflow
from schedlab.slurm.decider import RealSlurm
from schedlab.workflow.handling import handled

# B and C wait for A, D for both; E for C, which is killed at its limit.
GRAPH = Workflow.of(
    "graph",
    [
        Task("A", 4, 100, 600),
        Task("B", 4, 200, 600, ("A",)),
        Task("C", 4, 600, 60, ("A",)),
        Task("D", 2, 50, 600, ("A", "B")),
        Task("E", 2, 50, 600, ("C",)),
    ],
)


@pytest.fixture(scope="module", autouse=True)
def _programs() -> None:
    slurm_programs()


def run(tmp_path: Path, handling: str) -> sl.Run:
    decider = RealSlurm(Site(tmp_path).conf, evidence=0)
    jobs = sl.Workload.of(submit=[0], runtime=[10], limit=[600])
    with impatient(600.0):
        return sl.simulate(inject(jobs, AtTimes([5]), handled(GRAPH, handling)), decider.setup.cluster(), decider)


def test_tasks_wait_by_dependencies_of_its_own(tmp_path: Path) -> None:
    found = run(tmp_path, "aware")
    _, a, b, c, d, e = rows(found, "submit", "start", "end", "state")
    assert [one[0] for one in (a, b, c, d, e)] == [5.0] * 5  # Slurm has them all from the beginning
    assert a[2] <= b[1] and b[2] <= d[1] and (a[3], b[3], d[3]) == ("completed",) * 3
    assert (c[3], e[1]) == ("killed", None)  # afterok of a job that failed never holds
    noted = found.config["workload"]["report"]["filled"]
    assert [count for what, count in noted.items() if "ACCRUE_ALWAYS" in what] == [5]


def test_a_task_may_follow_one_that_failed(tmp_path: Path) -> None:
    found = run(tmp_path, "chained(failure=continue)")
    *_, c, _, e = rows(found, "start", "end", "state")
    assert (c[2], e[2]) == ("killed", "completed") and c[1] <= e[0]
    assert not any("ACCRUE_ALWAYS" in what for what in found.config["workload"]["report"]["filled"])


def test_nobody_submits_tasks_when_they_are_ready(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="tasks of workflows cannot come when they are ready here"):
        run(tmp_path, "chained(ready)")
