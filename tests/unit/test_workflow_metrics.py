"""What is measured of workflows: a diamond of four tasks (tests/workflow_runs.py), worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.workflow_graphs import FAILING
from tests.workflow_runs import DIAMOND, chained, pilot, simulated, workload
from typer.testing import CliRunner

import schedlab as sl
from schedlab.analysis.compare import METRICS, compare, summary_of
from schedlab.analysis.trim import Trim
from schedlab.analysis.workflows import by_kind, workflow_table
from schedlab.cli.main import app
from schedlab.generate.workflows import Arrivals, with_workflows
from schedlab.model.errors import InputError
from schedlab.model.workflow import Task, Workflow
from schedlab.model.workflow_record import WorkflowRecord
from schedlab.workflow.handling import handled
from schedlab.workflow.mix import Mix


def only(run: sl.Run) -> dict[str, Any]:
    [row] = workflow_table(run).iter_rows(named=True)
    return row


# Three cores, which another job has until 4. a: 4 to 14, b: 14 to 19, c waits for b's core: 19 to 26, d: 26 to 27.
def busy() -> sl.Run:
    return simulated([chained(DIAMOND)], [(0, 0)], [(0, 4, 3)])


def test_a_chained_workflow_on_a_busy_machine() -> None:
    assert only(busy()) == {
        "workflow": 0,
        "kind": "diamond",
        "handling": "chained",
        "submit": 0,
        "start": 4,
        "end": 27,
        "finished": True,
        "wait": 4,
        "runtime": 23,
        "turnaround": 27,
        "critical_path": 18,
        "stretch": 27 / 18,
        "wait_share": (4 + 5) / 27,
        "intermediate_wait": 5,  # between a and c; from the end of b to d, nobody waits for b
        "used": 47,
        "allocated": 47,
        "idle_share": 0,
    }


def test_a_pilot_has_idle_cores() -> None:
    """Four cores for 18 s, from 6 on."""
    run = simulated([pilot(DIAMOND)], [(0, 0)], [(0, 6, 4)], "pool:4")
    row = only(run)
    assert (row["wait"], row["runtime"], row["turnaround"]) == (6, 18, 24)
    assert (row["stretch"], row["wait_share"], row["intermediate_wait"]) == (24 / 18, 6 / 24, 0)
    assert (row["used"], row["allocated"], row["idle_share"]) == (47, 72, pytest.approx(25 / 72))
    assert run.summary["utilisation"] == 1
    assert run.summary["utilisation_less_idle"] == pytest.approx(1 - 25 / 96)


def test_one_that_did_not_finish_has_no_turnaround() -> None:
    """b is killed after 3 s of 5, so that d never runs; the second workflow is whole."""
    short = Workflow.of("short", [task if task.id != "b" else Task("b", 1, 5, 3, ("a",)) for task in DIAMOND.tasks])
    run = simulated([chained(short), chained(DIAMOND)], [(0, 0), (50, 1)], cluster="pool:4")
    first, second = workflow_table(run).iter_rows(named=True)
    assert (first["finished"], second["finished"]) == (False, True)
    assert (first["start"], first["end"], first["wait"], first["used"]) == (0, 17, 0, 20 + 3 + 21)
    for name in ("runtime", "turnaround", "stretch", "wait_share", "intermediate_wait"):
        assert first[name] is None and second[name] is not None
    found = run.summary["workflow"]
    assert (found["number"], found["finished"], found["turnaround"]["mean"]) == (2, 1, 18)
    assert found["used_core_hours"] == pytest.approx((44 + 47) / 3600)


def test_one_that_never_started() -> None:
    run = simulated([pilot(DIAMOND)], [(0, 0)], [(0, 6, 3)], "pool:3")  # it needs four cores
    row = only(run)
    assert (row["start"], row["end"], row["wait"], row["used"], row["allocated"]) == (None, None, None, 0, 0)
    assert run.summary["workflow"]["finished"] == 0 and run.summary["workflow"]["idle_share"] is None


@pytest.mark.parametrize("cluster", [sl.Cluster.uniform(2, cores=4), "mixed"])
def test_whole_nodes_are_held_in_full(cluster: Any) -> None:
    """Each of the four tasks has a node of four cores for itself: 4 × (10 + 5 + 7 + 1)."""
    if cluster == "mixed":
        groups = (sl.NodeGroup("a", 2, {"cores": 4}), sl.NodeGroup("b", 1, {"cores": 8}, prefix="m"))
        cluster = sl.Cluster(groups)
    row = only(simulated([chained(DIAMOND)], [(0, 0)], cluster=cluster, policy="easy:nodes=exclusive"))
    assert (row["used"], row["allocated"]) == (47, 92)
    assert row["idle_share"] == pytest.approx(45 / 92)


def test_the_chain_is_that_of_who_was_waited_for() -> None:
    """On one core: x 0 to 3, y 3 to 8, z after both. z waited for y, and y for 3 s since the first start."""
    join = Workflow.of("join", [Task("x", 1, 3, 3), Task("y", 1, 5, 5), Task("z", 1, 2, 2, ("x", "y"))])
    row = only(simulated([chained(join)], [(0, 0)], cluster="pool:1"))
    assert (row["turnaround"], row["intermediate_wait"], row["wait_share"]) == (10, 3, 0.3)


def test_who_starts_first_and_is_not_waited_for_makes_no_gap() -> None:
    """x leads to z alone, which waits for the long y: nobody has waited."""
    two = Workflow.of("two", [Task("x", 1, 1, 1), Task("y", 1, 50, 50), Task("z", 1, 2, 2, ("x", "y"))])
    row = only(simulated([chained(two)], [(0, 0)], cluster="pool:2"))
    assert (row["turnaround"], row["intermediate_wait"], row["wait_share"]) == (52, 0, 0)


def test_several_tasks_in_a_job() -> None:
    """b and c in one job of four cores for 7 s, which starts at 14: a gap of 4 s; one core is idle for 2 s of it."""
    row = only(simulated([handled(DIAMOND, "clustered(levels)")], [(0, 0)], [(0, 14, 1)], "pool:4"))
    assert (row["turnaround"], row["intermediate_wait"]) == (22, 4)
    assert (row["used"], row["allocated"]) == (47, 49)


def test_a_task_that_is_submitted_again() -> None:
    """a is killed at 3 and runs again from 5 to 10, and then b: its jobs have the ids 1, 3 and 2."""
    chain = Workflow.of("chain", [Task("a", 2, 5, 5), Task("b", 1, 4, 4, ("a",))])
    made = sl.Workload.of(
        id=[1, 3, 2], submit=[0, 5, 10], runtime=[5, 5, 4], limit=[3, 5, 4], count=[2, 2, 1], predecessors=[[], [], []]
    )
    made.workflows = WorkflowRecord([handled(chain, "chained(ready, retries=1)")])
    made.workflows.add(0, 0.0, 1)
    row = only(sl.simulate(made, "pool:2"))
    assert (row["finished"], row["start"], row["end"]) == (True, 0, 14)
    assert (row["used"], row["allocated"]) == (6 + 10 + 4, 20)


def test_tasks_that_are_submitted_when_they_are_ready() -> None:
    """Two cores, and a task that is killed after 4 s each time: A 1 to 6, B 6 to 10 and again 10 to 14, C never."""
    jobs = sl.Workload.of(submit=[0.0, 60.0], runtime=[1.0, 1.0], count=[2, 2])
    mix = Mix([FAILING], [1])
    made = with_workflows(jobs, Arrivals(mix=mix, times=[(0.0, 0)], handling="chained(ready, retries=1)"))
    row = only(sl.simulate(made, "pool:2"))
    assert (row["finished"], row["start"], row["end"], row["wait"]) == (False, 1, 14, 1)
    assert (row["used"], row["allocated"]) == (5 + 4 + 4, 13)


def test_jobs_of_nobody_are_the_others() -> None:
    """The second one has to wait until a has ended at 14."""
    run = simulated([chained(DIAMOND)], [(0, 0)], [(0, 4, 3), (1, 1, 3)])
    others = run.summary["others"]
    assert (others["started"], others["wait"]["mean"], others["turnaround"]["max"]) == (2, 6.5, 14)


def test_a_workflow_counts_by_its_submission() -> None:
    run = simulated([chained(DIAMOND)], [(0, 0), (100, 0), (200, 0)], cluster="pool:4")
    late = summary_of(run, trim=Trim(0.4, 0.0, "time"))
    assert (late["workflow"]["number"], late["workflow"]["turnaround"]["mean"]) == (2, 18)
    assert workflow_table(run, Trim(0.4, 0.0, "time"))["workflow"].to_list() == [1, 2]


def test_a_run_without_workflows_says_nothing_of_them() -> None:
    run = sl.simulate(sl.Workload.of(submit=[0], runtime=[3], count=[1]), "pool:2")
    assert not {"workflow", "others", "utilisation_less_idle"} & set(run.summary)
    with pytest.raises(InputError, match="there are no workflows in it"):
        workflow_table(run)


def test_every_name_is_a_number_of_the_summary() -> None:
    names = [key for key in METRICS if key.startswith(("workflow.", "others.")) or key == "utilisation_less_idle"]
    summary = busy().summary
    assert len(names) > 60
    assert [key for key in names if METRICS[key].of(summary) is None] == []
    found = compare([busy()], metrics=["workflow.stretch.median", "others.wait.mean"])
    assert found.values(METRICS["workflow.stretch.median"]) == [1.5]


def test_kind_by_kind() -> None:
    chain = Workflow.of("chain", [Task("a", 1, 5, 5), Task("b", 1, 5, 5, ("a",))])
    run = simulated([chained(DIAMOND), pilot(chain)], [(0, 0), (50, 1), (90, 1)], cluster="pool:4")
    found = by_kind(workflow_table(run))
    assert found["class"].to_list() == ["diamond, chained", "chain, pilot"]
    assert found["jobs"].to_list() == [1, 2]
    assert found["workflow.runtime.median"].to_list() == [18, 10]


def test_on_the_command_line(tmp_path: Path) -> None:
    busy().save(tmp_path / "chained")
    simulated([pilot(DIAMOND)], [(0, 0)], [(0, 4, 3)], "pool:4").save(tmp_path / "pilot")
    found = CliRunner().invoke(app, ["compare", str(tmp_path), "--by", "workflow", "-m", "workflow.stretch.median"])
    assert found.exit_code == 0
    assert "median run time of workflows by kind" in found.output and "diamond" in found.output
    assert "idle in" in found.output


def test_jobs_of_a_log_that_wait_for_each_other_are_workflows() -> None:
    """The same jobs as above, but nobody has said that they are a workflow; and two that belong to nobody."""
    jobs = workload([chained(DIAMOND)], [(0, 0)], [(0, 4, 3), (30, 1, 1)])
    jobs.workflows = None
    run = sl.simulate(jobs, "pool:3", "easy", dependencies="follow")
    assert only(run) == only(busy()) | {"kind": "chain of 4 jobs", "handling": "log"}
    assert "workflow" not in run.summary


def test_conditions_of_a_log() -> None:
    """On a core: 1 from 0 to 10, 3 to 30, 2 (eligible 5 s after the start of 1) to 33, 4 (after 2 or 3) to 34. 5 and 6
    are another chain, whose second job is killed at its limit."""
    before: list[list[sl.Predecessor]] = [[], [sl.Predecessor(1, "started", 5)], [], [], [], []]
    before[3] = [sl.Predecessor(2), sl.Predecessor(3)]
    before[5] = [sl.Predecessor(5, "completed")]
    jobs = sl.Workload.of(
        submit=[0, 0, 0, 0, 100, 100],
        runtime=[10, 3, 20, 1, 2, 9],
        limit=[10, 3, 20, 1, 2, 4],
        predecessors=before,
        any=[False, False, False, True, False, False],
    )
    table = workflow_table(sl.simulate(jobs, "pool:1", "fcfs", dependencies="follow"))
    rows = table.to_dicts()
    assert [row["kind"] for row in rows] == ["chain of 4 jobs", "chain of 2 jobs"]
    first, second = rows
    # 2 cannot start before 5 nor end before 8, so that 4 could end at 9; 3 ends at 20, whoever waits for it.
    assert (first["critical_path"], first["turnaround"], first["intermediate_wait"]) == (20, 34, 20)
    assert (second["critical_path"], second["finished"], second["turnaround"], second["used"]) == (11, False, None, 6)


def test_without_workflows_and_dependencies() -> None:
    run = sl.simulate(sl.Workload.of(submit=[0], runtime=[1]), "pool:1", "fcfs")
    with pytest.raises(InputError, match="there are no workflows in it"):
        workflow_table(run)


def test_workflows_that_have_not_come_are_not_in_a_run_that_is_ended() -> None:
    """Three come, at 10, 20 and 30; the workload is the same for the next run."""
    jobs = workload([chained(DIAMOND)], [(10, 0), (20, 0), (30, 0)])
    ended = [sl.simulate(jobs, "pool:4", "easy", until=until) for until in (5, 20, 100)]
    assert [run.tables.frame("workflows")["submit"].to_list() for run in ended[1:]] == [[10, 20], [10, 20, 30]]
    assert "workflow" not in ended[0].summary
    assert [run.summary["workflow"]["number"] for run in ended[1:]] == [2, 3]
