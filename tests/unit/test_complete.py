"""A decision says that a job's work is done: it leaves as completed, whatever its run time was."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.planned_runs import Plan, all_of, job, simulated, start

import schedlab as sl


class Says(sl.Observer):
    """Completes jobs at given times, and submits one without an end at 0 if it has a limit for it."""

    def __init__(self, times: dict[float, int], endless: float | None = None, user: int = -1) -> None:
        self.times, self.endless, self.user = times, endless, user

    def begin(self, view: Any) -> None:
        if self.endless is not None:
            view.submit(math.inf, 4, limit=self.endless, at=0.0, id=99, user=self.user)
        for time in self.times:
            view.wake_at(time)

    def woken(self, view: Any) -> None:
        view.complete(next(job for job in view.running if job.id == self.times[view.now]))


def test_it_leaves_as_completed_and_others_have_its_nodes() -> None:
    jobs = sl.Workload.of(submit=[0, 0], runtime=[100, 10], count=[4, 4])
    run = sl.simulate(jobs, "2x2", "easy", observers=[Says({40.0: 1})])
    assert run.jobs.select("start", "end", "state").rows() == [(0, 40, "completed"), (40, 50, "completed")]
    assert run.jobs["reason"].to_list() == [None, None]
    told = run.pieces.select("job", "begin", "end", "how", "reason", "work", "done", "whole").rows()
    assert told == [(1, 0, 40, "completed", "by a decision", 100, 40, 100)]


def test_what_was_done_is_counted_at_its_rates() -> None:
    plan: Plan = {
        0.0: start(1),
        10.0: lambda view: view.set_rate(job(view, 1), 0.5),
        30.0: lambda view: view.complete(job(view, 1)),
    }
    run = simulated(plan, submit=[0], runtime=[100], count=[4])
    assert run.pieces.select("work", "done").rows() == [(100, 20)]


def test_only_a_running_job_can_be_complete() -> None:
    with pytest.raises(sl.DecisionError, match="cannot complete job 1 at 0 s: it is not running"):
        simulated({0.0: lambda view: view.complete(job(view, 1))}, submit=[0], runtime=[5], count=[1])
    plan: Plan = {
        0.0: start(1),
        1.0: all_of(lambda view: view.suspend(job(view, 1)), lambda view: view.complete(job(view, 1))),
    }
    with pytest.raises(sl.DecisionError, match="cannot complete job 1 at 1 s: it is not running"):
        simulated(plan, submit=[0], runtime=[5], count=[1])


def test_those_who_wait_for_its_completion_may_start() -> None:
    jobs = sl.Workload.of(
        submit=[0, 0], runtime=[100, 10], count=[1, 1], predecessors=[[], [sl.Predecessor(1, "completed", 5.0)]]
    )
    run = sl.simulate(jobs, "2x2", "fcfs", dependencies="follow", observers=[Says({40.0: 1})])
    assert run.jobs["start"].to_list() == [0, 45]


@pytest.mark.parametrize(("overrun", "ends", "state"), [("run", 60, "completed"), ("kill", 50, "killed")])
def test_a_job_without_an_end_ends_when_it_is_said_or_at_its_limit(overrun: str, ends: float, state: str) -> None:
    """Its estimate is its limit, 50 s: the head, 8 cores, is promised 50, and 3 cores for 20 s do not delay it."""
    jobs = sl.Workload.of(submit=[1, 2], runtime=[30, 20], count=[8, 3])
    says = Says({60.0: 99} if overrun == "run" else {}, endless=50.0)
    run = sl.simulate(jobs, sl.Cluster.uniform(2, 4, memory=1), "easy", overrun=overrun, observers=[says])
    rows = {number: rest for number, *rest in run.jobs.select("job", "start", "end", "state").rows()}
    assert rows == {99: [0, ends, state], 1: [ends, ends + 30, "completed"], 2: [2, 22, "completed"]}
    if overrun == "run":
        assert run.pieces.select("work", "done", "whole").rows() == [(math.inf, 60, math.inf)]
        assert run.summary["resources"]["cores"]["load"] is None


def test_one_that_nobody_ends_runs_for_ever() -> None:
    jobs = sl.Workload.of(submit=[1], runtime=[30], count=[8])
    run = sl.simulate(jobs, "2x4", "easy", overrun="run", observers=[Says({}, endless=50.0)])
    assert dict(run.jobs.select("job", "state").rows()) == {99: "running", 1: "waiting"}


def test_estimators_and_histories_learn_how_long_it_ran() -> None:
    seen: list[float] = []

    class Looks(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            seen[:] = view.history(3)["runtime"].tolist()
            for each in list(view.queue):
                view.start(each)

    jobs = sl.Workload.of(submit=[0, 0, 50], runtime=[100, 100, 100], count=[1, 1, 1], user=[3, 3, 3])
    run = sl.simulate(jobs, "2x2", Looks(), estimate="last-two", observers=[Says({30.0: 1, 41.0: 2})])
    assert seen == [30, 41, 100]
    assert run.jobs["estimate"].to_list() == [100, 100, 35]


def test_conservative_moves_up_who_waits() -> None:
    """Job 2 is promised 100, job 3 (4 cores, 50 s) 120; when job 1 is done at 40, they move to 40 and 60."""
    jobs = sl.Workload.of(submit=[0, 1, 2], runtime=[100, 20, 50], count=[4, 4, 4])
    run = sl.simulate(jobs, "pool:4", "conservative", observers=[Says({40.0: 1})])
    assert run.jobs["start"].to_list() == [0, 40, 60]


@pytest.mark.parametrize("cluster", ["pool:8", "2x4"])
def test_conservative_plans_for_whom_there_was_no_start(cluster: str) -> None:
    """From 50 on job 99 (4 of 8 cores) is believed never to end: jobs 1 (8 cores, 30 s) and 3 (6, 10 s) have no start,
    job 2 (3, 20 s) runs beside it until 72, when job 4 (4, 5 s) is to start. It is done at 60: job 4 moves there, job 1
    gets 72 and job 3 what comes after it."""
    jobs = sl.Workload.of(submit=[1, 52, 53, 54], runtime=[30, 20, 10, 5], limit=[30, 20, 10, 5], count=[8, 3, 6, 4])
    cluster = sl.Cluster.uniform(2, 4, memory=1) if cluster == "2x4" else cluster
    run = sl.simulate(jobs, cluster, "conservative", overrun="run", observers=[Says({60.0: 99}, endless=50.0)])
    assert dict(run.jobs.select("job", "start").rows()) == {99: 0, 1: 72, 2: 52, 3: 102, 4: 60}


def test_a_job_left_behind_ends_with_the_last_thing_that_happened() -> None:
    """Job 1 was believed to end at 50 and is done at 40: nothing happens at 50, when job 2 is still held."""

    class Holds(Says):
        def before(self, view: Any) -> None:
            for each in list(view.queue):
                if each.id == 2:
                    view.hold(each)

    jobs = sl.Workload.of(submit=[0, 0], runtime=[100, 10], limit=[100, 10], count=[1, 1])
    run = sl.simulate(jobs, "pool:4", "easy", estimate="limit*0.5", observers=[Holds({40.0: 1})])
    assert run.jobs.select("end", "state").rows() == [(40, "completed"), (40, "held")]
