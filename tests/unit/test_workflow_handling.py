"""Workflows as jobs: one, one for each task, or one for several."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.workflow_graphs import BRANCHES, DIAMOND

from schedlab.model.errors import InputError, InputErrors
from schedlab.model.predecessors import COMPLETED, ENDED
from schedlab.model.workflow import Submission, Task, Workflow, WorkflowJob
from schedlab.workflow.handling import handled
from schedlab.workflow.handling_text import parse_handling


def test_a_pilot_has_the_width_and_the_critical_path():
    pilot = handled(DIAMOND, "pilot")
    assert pilot.jobs == (WorkflowJob("diamond", 5, 40.0, 65.0),)  # 20 + 30 + 15 until the limits
    assert (pilot.job_of, pilot.begin) == ((0, 0, 0, 0), (0.0, 10.0, 10.0, 30.0))
    assert (pilot.handling, pilot.whole, pilot.ready) == ("pilot", False, False)


def test_chained_is_a_job_for_each_task():
    chained = handled(DIAMOND, "chained")
    assert chained.jobs == (
        WorkflowJob("diamond:A", 1, 10, 20),
        WorkflowJob("diamond:B", 2, 20, 30, (0,)),
        WorkflowJob("diamond:C", 3, 5, 10, (0,)),
        WorkflowJob("diamond:D", 1, 10, 15, (1, 2)),
    )
    assert (chained.job_of, chained.begin) == ((0, 1, 2, 3), (0.0,) * 4)
    assert (chained.condition, chained.whole, chained.ready, chained.ids) == (COMPLETED, False, False, 4)


def test_aware_are_the_same_jobs_ranked_as_one():
    aware = handled(DIAMOND, "aware")
    assert aware.jobs == handled(DIAMOND, "chained").jobs and aware.whole


def test_chained_when_ready_may_try_again():
    ready = handled(DIAMOND, "chained( ready , retries=2, failure=continue)")
    assert (ready.handling, ready.ready, ready.retries) == ("chained(ready,retries=2,failure=continue)", True, 2)
    assert (ready.condition, ready.ids) == (ENDED, 12)
    assert ready.jobs == handled(DIAMOND, "chained").jobs


def test_levels_are_jobs_as_wide_as_all_of_their_tasks():
    levels = handled(DIAMOND, "clustered(levels)")
    assert levels.jobs == (
        WorkflowJob("diamond:level 0", 1, 10, 20),
        WorkflowJob("diamond:level 1", 5, 20, 30, (0,)),
        WorkflowJob("diamond:level 2", 1, 10, 15, (1,)),
    )
    assert (levels.job_of, levels.begin) == ((0, 1, 1, 2), (0.0,) * 4)


def test_branches_are_jobs_as_long_as_all_of_their_tasks():
    branches = handled(BRANCHES, "clustered(branches)")
    names = {job.name: job for job in branches.jobs}
    assert names["branches:A..C"] == WorkflowJob("branches:A..C", 4, 16, 20)
    place = {task: branches.job_of[BRANCHES.position[task]] for task in "ABCDE"}
    assert place["A"] == place["B"] == place["C"] and len(set(place.values())) == 3
    assert set(names["branches:E"].after) == {place["C"], place["D"]}
    assert [branches.begin[BRANCHES.position[task]] for task in "ABCDE"] == [0, 5, 15, 0, 0]


def test_fewer_cores_make_tasks_wait_inside_the_job():
    pytest.importorskip("schedlab.workflow.list_schedulers")
    pilot = handled(DIAMOND, "pilot(cores=3)")  # B and C one after the other, whichever is first
    assert [(job.cores, job.runtime, job.limit) for job in pilot.jobs] == [(3, 45.0, 75.0)]
    levels = handled(DIAMOND, "clustered(levels,cores=3)")
    assert [(job.cores, job.runtime, job.limit) for job in levels.jobs] == [(1, 10, 20), (3, 25, 40), (1, 10, 15)]
    assert sorted(levels.begin) in ([0, 0, 0, 5], [0, 0, 0, 20])


def test_more_cores_than_it_needs_are_not_taken():
    assert handled(DIAMOND, "pilot(cores=100)").jobs == handled(DIAMOND, "pilot").jobs


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pilots", "there is no handling 'pilots'"),
        ("pilot(cores=0)", "cores = 0: expected a whole number of at least 1"),
        ("pilot(core=4)", "pilot has no argument 'core'"),
        ("clustered", "clustered by what?"),
        ("clustered(levels, branches)", "clustered by what?"),
        ("clustered(branches, cores=4)", "branches have no cores to say"),
        ("chained(retries=2)", "retries need ready"),
        ("chained(failure=never)", "failure = 'never': expected fail or continue"),
        ("chained(3)", "'chained(3)' is not a handling"),
        ("pilot(", "'pilot(' is not a handling"),
    ],
)
def test_what_is_no_handling_is_refused(text, said):
    with pytest.raises((InputError, InputErrors)) as caught:
        parse_handling(text, "here")
    assert said in str(caught.value)


def test_a_task_that_is_wider_than_the_cores_is_refused():
    with pytest.raises(InputError, match="diamond has a task of 3 cores"):
        handled(DIAMOND, "pilot(cores=2)")


@st.composite
def workflows(draw) -> Workflow:
    size = draw(st.integers(1, 8))
    tasks = []
    for place in range(size):
        after = draw(st.lists(st.integers(0, place - 1), unique=True, max_size=3)) if place else []
        runtime = draw(st.integers(0, 20))
        limit = runtime + draw(st.integers(0, 5))
        tasks.append(Task(str(place), draw(st.integers(1, 4)), runtime, limit, tuple(map(str, after))))
    return Workflow.of("any", tasks)


def work(submission: Submission) -> float:
    return sum(job.cores * job.runtime for job in submission.jobs)


@settings(max_examples=60)
@given(workflows())
def test_no_handling_loses_work_or_breaks_an_order(workflow):
    total = sum(task.cores * task.runtime for task in workflow.tasks)
    assert work(handled(workflow, "chained")) == work(handled(workflow, "aware")) == workflow.work == total
    for text in ("pilot", "chained", "aware", "clustered(levels)", "clustered(branches)"):
        submission = handled(workflow, text)
        assert work(submission) >= total
        _fits(submission)


def _fits(submission: Submission) -> None:
    """If each job starts as soon as it may, every task has its cores, and none runs before those it comes after."""
    starts: list[float] = []
    for place, job in enumerate(submission.jobs):
        assert all(before < place for before in job.after)
        starts.append(max((starts[before] + submission.jobs[before].runtime for before in job.after), default=0.0))
    tasks = submission.workflow.tasks
    begin = [starts[job] + seconds for job, seconds in zip(submission.job_of, submission.begin, strict=True)]
    end = [when + task.runtime for when, task in zip(begin, tasks, strict=True)]
    for place, before in enumerate(submission.workflow.after):
        assert all(end[one] <= begin[place] for one in before)
        job = submission.job_of[place]
        assert end[place] <= starts[job] + submission.jobs[job].runtime
    for when in begin:
        used = np.zeros(len(submission.jobs))
        for place, task in enumerate(tasks):
            if begin[place] <= when < end[place]:
                used[submission.job_of[place]] += task.cores
        assert all(used <= [job.cores for job in submission.jobs])
