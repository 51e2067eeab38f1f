"""Observers and policies that do and undo the same for ever in one instant are told so."""

from __future__ import annotations

from typing import Any

import pytest

import schedlab as sl
from schedlab._core import DecisionError
from schedlab.model.errors import SchedlabError

JOBS: dict[str, Any] = {"submit": [0, 5], "runtime": [10, 10], "limit": [10, 10], "count": [4, 4]}
FOR_EVER = r"passes at 5 s in which no job came or left.*job 2"


class HoldsAndReleases(sl.Observer):
    nodes = 1  # its job waits for the other one

    def after(self, view: Any) -> None:
        if view.now == 5:
            for job in list(view.held):
                view.release(job)
            for job in list(view.queue):
                view.hold(job)


class Requeues(sl.Observer):
    nodes = 2

    def after(self, view: Any) -> None:
        for job in list(view.running):
            if job.id == 2 and job.start == view.now:
                view.requeue(job)


def simulated(observer: Any, policy: Any = "easy", **options: Any) -> sl.Run:
    cluster = sl.Cluster.uniform(observer.nodes, cores=4)
    return sl.simulate(sl.Workload.of(**JOBS), cluster, policy, observers=[observer], **options)


@pytest.mark.parametrize("passes", ["instant", "event"])
@pytest.mark.parametrize("observer", [HoldsAndReleases, Requeues])
def test_what_is_done_and_undone(observer: type[sl.Observer], passes: Any) -> None:
    with pytest.raises(SchedlabError, match=FOR_EVER) as caught:
        simulated(observer(), passes=passes)
    assert len(caught.value.run.jobs) == 2 and caught.value.run.jobs["start"][0] == 0  # type: ignore[attr-defined]


def test_in_a_policy_of_ones_own_and_step_by_step() -> None:
    class Policy(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            for job in list(view.queue):
                view.start(job)

    with pytest.raises(SchedlabError, match=FOR_EVER):
        simulated(HoldsAndReleases(), Policy())
    stepper = sl.Stepper(sl.Workload.of(**JOBS), sl.Cluster.uniform(2, cores=4), "easy", observers=[Requeues()])
    with pytest.raises(DecisionError, match=FOR_EVER):
        while stepper.advance():
            stepper.decide()


@pytest.mark.parametrize("passes", ["instant", "event"])
def test_an_instant_with_many_passes_may_end(passes: Any) -> None:
    """More passes than would be taken for endless: a chain of jobs of no length, each of which waits for another."""
    jobs = 12_000
    predecessors = [[] if number == 0 else [number] for number in range(jobs)]
    workload = sl.Workload.of(
        submit=[0] * jobs, runtime=[0] * jobs, limit=[1] * jobs, count=[1] * jobs, predecessors=predecessors
    )
    run = sl.simulate(workload, sl.Cluster.uniform(1, cores=1), "easy", passes=passes, dependencies="follow")
    assert run.jobs["state"].to_list() == ["completed"] * jobs and run.jobs["end"].max() == 0


@pytest.mark.parametrize("passes", ["instant", "event"])
def test_wake_ups_of_one_time_are_no_endless_instant(passes: Any) -> None:
    class Wakes(sl.Observer):
        nodes = 2

        def begin(self, view: Any) -> None:
            for _ in range(10_100):
                view.wake_at(3.0)

    assert simulated(Wakes(), passes=passes).jobs["end"].to_list() == [10, 15]
