"""Corners of the core in which it once crashed, hung, or made another schedule than is said in the semantics."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import schedlab as sl
from schedlab.engine import simulate as engine
from schedlab.model.run import Run

W = sl.Workload.of


class At(sl.Observer):
    """Does something to the view at some times."""

    def __init__(self, **acts: Callable[[Any], object]) -> None:
        self._acts = {float(name[1:]): act for name, act in acts.items()}

    def begin(self, view: Any) -> None:
        for time in self._acts:
            view.wake_at(time)

    def woken(self, view: Any) -> None:
        if view.now in self._acts:
            self._acts[view.now](view)


def simulated(workload: sl.Workload, cluster: str, policy: Any, **options: Any) -> Run:
    return engine.simulate(workload, cluster, policy, validate=True, **options)


def starts(run: Run) -> list[float]:
    return [start for _, start in sorted(zip(run.jobs["job"].to_list(), run.jobs["start"].to_list(), strict=True))]


def job(view: Any, id: int) -> Any:
    return next(one for jobs in (view.queue, view.running, view.suspended) for one in jobs if one.id == id)


# ---- what Python gives ----


class Places(sl.Policy):
    def __init__(self, chunks: object) -> None:
        self.chunks = chunks

    def decide(self, view: Any, events: Any) -> None:
        for one in view.queue:
            view.start(one, nodes=[(0, self.chunks)])


def test_a_number_of_chunks_may_be_numpys() -> None:
    run = simulated(W(submit=[0.0], runtime=[10.0], count=[1]), "2x1", Places(np.int64(1)))
    assert starts(run) == [0]


@pytest.mark.parametrize("chunks", [[1], "1", 1.5, None])
def test_a_number_of_chunks_that_is_none(chunks: object) -> None:
    with pytest.raises(sl.DecisionError, match="a whole number is expected"):
        simulated(W(submit=[0.0], runtime=[10.0], count=[1]), "2x1", Places(chunks))


class Keeps(sl.Policy):
    def decide(self, view: Any, events: Any) -> None:
        self.view = view
        for one in view.queue:
            self.job = one
            view.start(one)
        if len(view.running):
            self.some, self.empty = view.running, view.queue


def test_nothing_can_be_asked_when_the_run_is_over() -> None:
    """Every attribute of the view, of a job and of several jobs: an answer or an error, never a crash."""
    policy = Keeps()
    simulated(W(submit=[0.0], runtime=[10.0], count=[1]), "pool:2", policy)
    refused = []
    for thing in (policy.view, policy.job, policy.some, policy.empty):
        for name in dir(thing):
            if name.startswith("__"):
                continue
            try:
                getattr(thing, name)
            except sl.DecisionError:
                refused.append(name)
            except AttributeError:  # what policies may not know
                pass
    assert {"gives_reasons", "wait", "now", "queue"} <= set(refused)
    with pytest.raises(sl.DecisionError):
        list(policy.some)
    with pytest.raises(sl.DecisionError):
        policy.view.request_number(None)


def test_two_native_policies_cannot_decide_in_one_run() -> None:
    class Both(sl.Policy):
        def __init__(self) -> None:
            self.natives = sl.Native("fcfs"), sl.Native("easy")

        def decide(self, view: Any, events: Any) -> None:
            for native in self.natives:
                native.decide(view)

    jobs = W(submit=[0.0, 1.0], runtime=[10.0, 9.0], count=[1, 2], cancel=[1e9, 5.0])
    with pytest.raises(sl.DecisionError, match=r"another sl\.Native has decided in this run"):
        simulated(jobs, "pool:2", Both())


@pytest.mark.parametrize("native", ["fcfs", "easy", "conservative"])
def test_a_policy_that_builds_on_a_native_one_may_requeue(native: str) -> None:
    class Again(sl.Policy):
        def __init__(self) -> None:
            self.native, self.done = sl.Native(native), False

        def decide(self, view: Any, events: Any) -> None:
            self.native.decide(view)
            if not self.done and view.now >= 5:
                self.done = True
                view.requeue(view.running[0])

    jobs = W(submit=[0.0, 5.0], runtime=[10.0, 10.0], count=[1, 1])
    run = simulated(jobs, "pool:1", Again())
    # Conservative keeps the reservation that job 2 has when job 1 comes back.
    assert starts(run) == ([15, 5] if native == "conservative" else [5, 15])
    assert run.summary["states"]["completed"] == 2


# ---- what observers do to running jobs ----


@pytest.mark.parametrize("then", ["withdraw", "hold"])
def test_conservative_hears_that_a_requeued_job_has_left_again(then: str) -> None:
    def act(view: Any) -> None:
        one = job(view, 1)
        view.requeue(one)
        getattr(view, then)(one)

    run = simulated(W(submit=[0.0], runtime=[10.0], count=[1]), "pool:1", "conservative", observers=[At(t5=act)])
    assert run.summary["states"]["completed"] == 0


def test_conservative_plans_without_a_suspended_job() -> None:
    suspends = At(t10=lambda view: view.suspend(job(view, 1)))
    jobs = W(submit=[0.0, 20.0], runtime=[100.0, 5.0], count=[1, 1])
    for policy in ("easy", "conservative"):
        assert starts(simulated(jobs, "pool:1", policy, observers=[suspends])) == [0, 20], policy


@pytest.mark.parametrize("policy", ["easy", "conservative"])
def test_nobody_is_planned_where_a_resumed_job_is(policy: str) -> None:
    """Job 3 is the head, and starts when job 1 leaves: whoever would delay it waits."""
    comes_back = At(t1=lambda view: view.suspend(job(view, 2)), t10=lambda view: view.resume(job(view, 2)))
    jobs = W(submit=[0.0, 0.0, 5.0, 6.0, 20.0], runtime=[100.0, 1000.0, 10.0, 1000.0, 500.0], count=[2, 1, 3, 2, 1])
    assert starts(simulated(jobs, "pool:4", policy, observers=[comes_back]))[2] == 100


def test_a_resumed_job_is_not_believed_to_have_ended() -> None:
    acts = At(
        t0=lambda view: None,
        t1=lambda view: view.set_rate(job(view, 1), 0.5),
        t150=lambda view: view.suspend(job(view, 1)),
        t160=lambda view: view.resume(job(view, 1)),
    )
    jobs = W(submit=[0.0], runtime=[100.0], limit=[1000.0], count=[1])
    run = simulated(jobs, "pool:1", "easy", observers=[acts], estimate="exact", beliefs="rates")
    assert run.jobs["end"].to_list() == [160 + 100 - 1 - 0.5 * 149]  # a stay begins at rate 1


def test_a_killed_job_is_learnt_from() -> None:
    class Tells:
        def __init__(self) -> None:
            self.heard: list[tuple[int, float]] = []

        def estimate(self, job: Any) -> float:
            return float(job.limit)

        def ended(self, job: Any, runtime: float) -> None:
            self.heard.append((job.id, runtime))

    tells = Tells()
    acts = At(
        t5=lambda view: view.kill(job(view, 1)),
        t7=lambda view: view.suspend(job(view, 2)),
        t9=lambda view: view.kill(job(view, 2)),
    )
    jobs = W(submit=[0.0, 0.0, 0.0], runtime=[100.0, 100.0, 20.0], count=[1, 1, 1])
    simulated(jobs, "pool:3", "fcfs", observers=[acts], estimate=tells)
    assert tells.heard == [(1, 5), (2, 7), (3, 20)]


def test_no_more_is_saved_of_an_endless_job_than_it_has_done() -> None:
    jobs = W(submit=[0.0], runtime=[inf], count=[1])
    for saved, cost, why in ((1000.0, 0.0, "not done so much"), (0.0, inf, "cannot be without end")):
        act = At(t10=lambda view, saved=saved, cost=cost: view.requeue(job(view, 1), saved=saved, cost=cost))
        with pytest.raises(sl.DecisionError, match=why):
            simulated(jobs, "pool:1", "fcfs", observers=[act], until=100)


def test_a_node_that_is_off_from_the_beginning_costs_nothing_for_ever() -> None:
    class Off(sl.Observer):
        def begin(self, view: Any) -> None:
            view.close(1, "off")

    jobs = W(submit=[0.0], runtime=[10.0], count=[1])
    run = simulated(jobs, "2x1", "fcfs", observers=["power(100, 200)", Off()])
    assert 0 < run.summary["observed"]["energy_kwh"] < 1


def test_the_queue_is_in_the_order_of_first_eligibility() -> None:
    seen: list[list[int]] = []

    class Looks(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            seen.append([one.id for one in view.queue])
            for one in view.queue:
                view.start(one)

    jobs = W(submit=[0.0, 1.0, 2.0], runtime=[10.0, 10.0, 10.0], count=[1, 1, 1])
    run = simulated(jobs, "pool:1", Looks(), observers=[At(t3=lambda view: view.requeue(job(view, 1)))])
    assert [1, 2, 3] in seen
    assert starts(run) == [3, 13, 23]


# ---- jobs of several shapes ----


@pytest.mark.parametrize(("begin", "interval"), [(5000000.03, 0.1), (1e7 + 0.7, 0.3), (0.0, 0.1)])
def test_points_of_a_malleable_job_go_on(begin: float, interval: float) -> None:
    points: list[float] = []

    class Looks(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            points.extend(view.now for kind, _ in events if kind == "point")
            for one in view.queue:
                view.start(one)
            if len(points) == 3 and view.running and view.running[0].shape == 0:
                view.reshape(view.running[0], 1)  # which it may, for it is at a point

    shapes = [[sl.Shape(count=1, runtime=3.0)]]
    jobs = W(submit=[begin], runtime=[2.0], count=[2], shapes=shapes, malleable=[True], interval=[interval])
    run = simulated(jobs, "pool:2", Looks())
    (end,) = run.jobs["end"].to_list()
    assert end == pytest.approx(begin + 3 * interval + (2 - 3 * interval) * 1.5, abs=1e-6)
    assert points[:3] == pytest.approx([begin + k * interval for k in (1, 2, 3)], abs=1e-6)
    assert len(points) == int((end - begin) / interval + 1e-6) - (abs((end - begin) / interval % 1) < 1e-6)


def test_a_job_without_end_may_take_a_shape_that_has_one() -> None:
    class Last(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            for one in view.queue:
                view.start(one, shape=len(one.shapes) - 1)

    shapes = [[sl.Shape(count=1, runtime=10.0)], [], []]
    jobs = W(submit=[0.0, 1.0, 2.0], runtime=[inf, 5.0, 5.0], count=[2, 1, 1], shapes=shapes)
    run = simulated(jobs, "pool:4", Last())
    assert sorted(run.jobs["end"].to_list()) == [6, 7, 10]


# ---- keys, ids, submissions ----


def test_jobs_that_come_between_two_looks_at_keys_have_theirs(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def oldest(jobs, now):\n    return jobs.submit + 1.0\n")
    jobs = W(submit=[0.0, 1.0, 2.0], runtime=[10.0, 1.0, 1.0], count=[1, 1, 1])
    for backfill in ("none", "easy", "conservative"):
        policy = f"{backfill}:order={tmp_path / 'mine.py'}:oldest,keys_every=1000"
        assert starts(simulated(jobs, "pool:1", policy)) == [0, 10, 11], backfill


def test_a_run_does_not_go_on_for_a_job_that_was_withdrawn_before_it_came() -> None:
    woken: list[float] = []

    class Withdraws(sl.Observer):
        def begin(self, view: Any) -> None:
            view.wake_at(1)
            view.wake_at(100)

        def woken(self, view: Any) -> None:
            woken.append(view.now)
            if view.now == 1:
                view.withdraw(view.submit(1.0, at=5.0))

    simulated(W(submit=[0.0], runtime=[1.0], count=[1]), "pool:1", "fcfs", observers=[Withdraws()])
    assert woken == [1]


def test_a_refused_submission_takes_no_ids() -> None:
    ids: list[int] = []

    def act(view: Any) -> None:
        ids.append(view.submit(1.0).id)
        with pytest.raises(sl.DecisionError):
            view.submit_many([1.0, 1.0], id=[-1, 1])
        ids.append(view.submit(1.0).id)

    simulated(W(submit=[0.0], runtime=[10.0], count=[1]), "pool:1", "fcfs", observers=[At(t1=act)])
    assert ids[1] == ids[0] + 1


def test_of_two_jobs_with_one_id_the_first_is_meant() -> None:
    jobs = W(id=[7, 7], submit=[0.0, 0.0], runtime=[50.0, 1.0], count=[1, 1])
    acts = At(
        t0=lambda view: view.submit(1.0, id=99),
        t5=lambda view: view.submit(1.0, id=100, predecessors=[7]),
    )
    run = engine.simulate.__wrapped__(jobs, "pool:4", "fcfs", observers=[acts])  # check wants each id once
    assert dict(zip(run.jobs["job"].to_list(), run.jobs["start"].to_list(), strict=True))[100] == 50


def test_a_gate_that_refuses_very_many() -> None:
    """One after the other moves up to the first place of a plan, and is refused there."""

    class Never(sl.Observer):
        def allows(self, view: Any, job: Any, nodes: Any) -> bool:
            return bool(view.now >= 100)

    number = 20_000
    jobs = W(submit=[0.0] * number, runtime=[1.0] * number, count=[1] * number)
    run = engine.simulate(
        jobs, f"pool:{number}", "conservative", observers=[Never(), At(t100=lambda view: view.touch())]
    )
    assert set(run.jobs["start"].to_list()) == {100.0}
