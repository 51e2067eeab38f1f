"""Workflows injected into a workload: their jobs, their record, and those that come when they are ready."""

import polars as pl
import pytest
from tests.fragile import BrokenOffError, Fragile
from tests.workflow_graphs import BRANCHES, DIAMOND, FAILING

from schedlab import PolicyError, Run, Scenario, simulate
from schedlab.engine import simulate as engine
from schedlab.engine.checkpoint import Checkpoint
from schedlab.generate.triggers.inject import FIRST_ID, AtTimes, InTurn, JobTemplate, Periodic, inject
from schedlab.model.predecessors import COMPLETED, ENDED, Predecessor
from schedlab.model.workload import JobBatch, Workload
from schedlab.workflow.handling import handled

SMALL = JobTemplate(name="small", runtime=1)


def base() -> Workload:
    return Workload.of(submit=[0, 50, 100], runtime=[1, 1, 1], user=[3, -1, 3], executable=[5, 5, -1])


def rows(workload: Workload) -> list[tuple[int, float, float, float, int]]:
    return workload.jobs.filter(pl.col("id") >= FIRST_ID).select("id", "submit", "runtime", "limit", "count").rows()


def timeline(run) -> dict[int, tuple[float, float, float, str]]:
    """Of each job of a workflow, counted from the first: submitted, started, ended, how."""
    jobs = run.jobs.filter(pl.col("job") >= FIRST_ID).select("job", "submit", "start", "end", "state")
    return {job - FIRST_ID: tuple(rest) for job, *rest in jobs.rows()}


def test_the_jobs_of_a_workflow_come_together():
    workload = inject(base(), AtTimes([50, 60]), [handled(DIAMOND, "chained"), handled(BRANCHES, "pilot")])
    assert rows(workload) == [
        (FIRST_ID, 50, 10, 20, 1),
        (FIRST_ID + 1, 50, 20, 30, 2),
        (FIRST_ID + 2, 50, 5, 10, 3),
        (FIRST_ID + 3, 50, 10, 15, 1),
        (FIRST_ID + 4, 60, 17, 21, 4),
    ]
    jobs = workload.jobs.filter(pl.col("id") >= FIRST_ID)
    assert [workload.labels["user"][n] for n in jobs["user"]] == ["workflow"] * 5
    names = [workload.labels["executable"][n] for n in jobs["executable"]]
    assert names == ["diamond:A", "diamond:B", "diamond:C", "diamond:D", "branches"]
    (batch,) = [batch for batch in workload.batches() if batch.predecessors is not None]
    before = dict(zip(batch.id.tolist(), batch.predecessors.lists(), strict=True))
    assert before[FIRST_ID + 3] == [Predecessor(FIRST_ID + place, COMPLETED) for place in (1, 2)]
    assert before[FIRST_ID] == before[FIRST_ID + 4] == []


def test_the_record_says_which_jobs_belong_together():
    kinds = [handled(DIAMOND, "chained(ready,retries=1)"), SMALL, handled(BRANCHES, "clustered(levels)")]
    workload = inject(base(), Periodic(every=25), InTurn(kinds))
    for _ in range(2):  # every pass fills it anew
        list(workload.batches())
        record = workload.workflows
        assert record.complete and record.kinds == [kinds[0], kinds[2]]
        assert (record.kind, record.submit) == ([0, 1, 0], [0.0, 50.0, 75.0])  # the small job at 25; nothing after 100
        assert record.first == [FIRST_ID, FIRST_ID + 9, FIRST_ID + 13]  # 2 attempts of 4 jobs, a job, 4 levels


def test_jobs_of_an_aware_workflow_are_ranked_as_one():
    workload = inject(base(), AtTimes([50]), [handled(DIAMOND, "aware")])
    batch = JobBatch.joined(list(workload.batches()))
    assert batch.ranks.cores.tolist() == [0, 0, 5, 5, 5, 5, 0]
    assert batch.ranks.limit.tolist() == [0, 0, 65, 65, 65, 65, 0]


def test_tasks_after_a_failed_one_wait_for_its_end_only_if_told():
    for failure, condition in (("fail", COMPLETED), ("continue", ENDED)):
        workload = inject(base(), AtTimes([50]), [handled(DIAMOND, f"chained(failure={failure})")])
        batch = JobBatch.joined(list(workload.batches()))
        assert set(batch.predecessors.condition.tolist()) == {condition}


@pytest.mark.parametrize("handling", ["chained", "chained(ready)", "aware"])
def test_a_workflow_on_an_empty_machine_takes_its_critical_path(handling):
    workload = inject(base(), AtTimes([10]), handled(DIAMOND, handling))
    run = simulate(workload, "pool:10", "easy", validate=True)
    found = timeline(run)
    assert [found[place][1:3] for place in range(4)] == [(10, 20), (20, 40), (20, 25), (40, 50)]
    submitted = [10, 20, 20, 40] if "ready" in handling else [10] * 4
    assert [found[place][0] for place in range(4)] == submitted


def test_a_failed_task_is_tried_again_and_then_ends_the_workflow():
    workload = inject(base(), AtTimes([0]), handled(FAILING, "chained(ready,retries=2)"))
    found = timeline(simulate(workload, "pool:10", "easy", validate=True))
    assert found == {
        0: (0, 0, 5, "completed"),
        1: (5, 5, 9, "killed"),
        4: (9, 9, 13, "killed"),
        7: (13, 13, 17, "killed"),
    }


def test_a_failed_task_may_be_passed_over():
    workload = inject(base(), AtTimes([0]), handled(FAILING, "chained(ready,failure=continue)"))
    found = timeline(simulate(workload, "pool:10", "easy", validate=True))
    assert found[2] == (9, 9, 11, "completed")


def test_a_manager_knows_every_workflow_also_where_the_log_is_read_piece_by_piece():
    kinds = [handled(DIAMOND, "chained(ready)"), handled(BRANCHES, "chained(ready)")]
    workload = inject(base(), Periodic(every=20), InTurn(kinds))
    run = simulate(workload, "pool:50", "easy", validate=True)
    found = timeline(run)
    assert len(found) == 3 * 4 + 3 * 5
    assert found[4 + 4][0] == 20 + 16  # E of the second one, after A, B and C
    users = run.jobs.filter(pl.col("job") >= FIRST_ID)["user"].unique().to_list()
    assert [workload.labels["user"][n] for n in users] == ["workflow"]


def test_a_run_that_was_broken_off_goes_on_with_its_workflows(tmp_path):
    kinds = [handled(DIAMOND, "chained(ready)"), handled(FAILING, "chained(ready,retries=1)")]
    workload = inject(base(), Periodic(every=7), InTurn(kinds))
    list(workload.batches())

    def run(checkpoint) -> Run | None:
        simulation = engine.Simulation(Scenario(workload, "pool:5", "easy", checkpoint=checkpoint))
        simulation.core.set_ticks(1, 0.0)
        try:
            return simulation.run()
        except PolicyError as error:
            assert isinstance(error.__cause__, BrokenOffError)
            return None

    whole = run(None)
    assert run(Fragile(tmp_path, 5)) is None
    found = run(Checkpoint(tmp_path, every=1e9))
    assert found.jobs.equals(whole.jobs) and found.table("workflows").equals(whole.table("workflows"))
