"""What Python sees of a simulation: queue, running jobs, cluster, plan, history, reservations."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import schedlab as sl
from schedlab._core import Job, Jobs, View

ROOT = Path(__file__).parents[2]


class Looking(sl.Policy):
    """Starts what fits and calls a function of the view at some times."""

    def __init__(self, **looks: Any) -> None:
        self.looks = {float(time.removeprefix("at_")): look for time, look in looks.items()}

    def decide(self, view: Any, events: Any) -> None:
        for job in view.queue:
            view.start(job)
        if view.now in self.looks:
            self.looks[view.now](view)


def look(cluster: sl.Cluster | None = None, looks: dict[str, Any] | None = None, **columns: Any) -> sl.Run:
    return sl.simulate(
        sl.Workload.of(**columns), cluster or sl.Cluster.uniform(2, cores=4), Looking(**looks or {}), validate=True
    )


THREE: dict[str, Any] = {
    "submit": [0, 5, 6, 7],
    "runtime": [20, 30, 40, 50],
    "limit": [30, 30, 40, 60],
    "count": [6, 4, 8, 1],
    "user": [1, 2, 1, 3],
}


def test_columns_and_jobs_tell_the_same() -> None:
    def at_7(view: Any) -> None:
        queue, running = view.queue, view.running
        assert queue.id.tolist() == [job.id for job in queue] == [2, 3]
        assert queue.cores.tolist() == [4, 8] and queue.wait.tolist() == [2, 1] and queue.user.tolist() == [2, 1]
        assert [job.id for job in running] == [1, 4] and running.estimated_end.tolist() == [30, 67]
        assert running.start.tolist() == [0, 7]
        assert queue.head == queue[0] == queue[-2] and len(queue) == 2
        with pytest.raises(IndexError):
            queue[2]
        assert queue.cores is queue.cores  # gathered once
        for column in ("submit", "eligible", "limit", "estimate", "count", "group", "queue", "sequence", "request"):
            assert getattr(queue, column).tolist() == [getattr(job, column) for job in queue]

    look(looks={"at_7": at_7}, **THREE)


def test_sorting() -> None:
    def at_7(view: Any) -> None:
        queue = view.queue
        assert [job.id for job in queue.sorted(by="cores", reverse=True)] == [3, 2]
        assert [job.id for job in queue.sorted(by=-queue.limit)] == [3, 2]
        assert [job.id for job in queue.sorted(by=lambda job: -job.id)] == [3, 2]
        with pytest.raises(ValueError, match="as many keys"):
            queue.sorted(by=np.zeros(3))
        with pytest.raises(AttributeError):
            queue.sorted(by="runtime")

    look(looks={"at_7": at_7}, **THREE)


def test_a_run_time_is_nowhere_to_be_found() -> None:
    """Every attribute of everything that a policy gets hold of: none gives the true run time or the true end."""
    secret = {7919.0, 7919.0 + 3}  # the run time, and the end

    def numbers(thing: Any, depth: int, seen: set[int]) -> list[float]:
        if isinstance(thing, bool | str | bytes | type) or thing is None or id(thing) in seen or depth > 4:
            return []
        if isinstance(thing, int | float):
            return [thing]
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            return list(thing.ravel().tolist())
        if isinstance(thing, dict):
            return [n for value in thing.values() for n in numbers(value, depth + 1, seen)]
        if isinstance(thing, list | tuple | Jobs):
            return [n for value in thing for n in numbers(value, depth + 1, seen)]
        names = [name for name in dir(thing) if not name.startswith("__")]
        return [n for name in names for n in numbers(getattr(thing, name, None), depth + 1, seen)]

    def at_4(view: Any) -> None:
        found = numbers(view, 0, set()) + numbers(list(view.running), 0, set()) + numbers(view.history(1), 0, set())
        assert not secret & set(found)
        assert {20000.0, 3.0} <= set(found)  # the limit and the start are

    look(submit=[3, 4], runtime=[7919, 10], limit=[20000, 20], count=[1, 1], user=[1, 1], looks={"at_4.0": at_4})
    for kind in (Job, Jobs, View):
        assert not {"runtime", "work", "end"} & set(dir(kind))


def test_the_cluster() -> None:
    groups = (
        sl.NodeGroup("thin", 2, {"cores": 4, "memory": 8}, features=frozenset({"ib"})),
        sl.NodeGroup("fat", 1, {"cores": 8, "memory": 64}, prefix="f"),
    )
    cluster = sl.Cluster(groups, (sl.Partition("all", ("thin", "fat"), default=True),))

    def at_0(view: Any) -> None:
        nodes = view.cluster
        assert nodes.free.tolist() == [0, 2, 8] and nodes.total.tolist() == [4, 4, 8]
        assert nodes.free_of(1).tolist() == [8, 8, 64] and nodes.names == ["n1", "n2", "f1"]
        assert nodes.group.tolist() == [0, 0, 1] and nodes.group_names == ["thin", "fat"]
        assert nodes.features[0] == {"ib"} and nodes.partitions == {"all": ("thin", "fat")}
        view.close(2, "drained")
        assert nodes.up.tolist() == [True, True, False] and nodes.states == ["up", "up", "drained"]
        assert nodes.free.tolist() == [0, 2, 0] and view.free_cores == 2
        with pytest.raises(ValueError, match="read-only"):
            nodes.free[0] = 9
        assert [job.id for job in view.jobs_on(1)] == [1] and view.jobs_on(2) == []

    look(cluster, {"at_0": at_0}, submit=[0], runtime=[10], count=[6])


def test_the_plan() -> None:
    """6 of 8 cores until 30 (believed), then 4 of 8 for job 2, which has to wait."""

    def at_5(view: Any) -> None:
        plan, waits = view.plan, view.queue[0]
        assert plan.earliest_start(waits) == 30 and plan.earliest_start(2) == 5
        assert plan.earliest_start(8) == 30 and plan.earliest_start(9) == np.inf
        assert plan.fits(2, at=5, for_=100) and not plan.fits(3, at=5, for_=1)
        assert view.reserve(waits) == 30
        assert plan.earliest_start(8) == 60 and plan.earliest_start(4, for_=10) == 30
        assert not plan.fits(8, at=40) and plan.fits(4, at=40) and plan.fits(8, at=60)

    look(looks={"at_5": at_5}, **{name: values[:2] for name, values in THREE.items()})


def test_a_reservation_protects() -> None:
    def at_7(view: Any) -> None:
        assert view.reserve(view.queue[0]) == 30  # beside job 4, which has 1 core until 67

    run = look(
        looks={"at_7": at_7},
        submit=[0, 5, 6, 7, 8],
        runtime=[20, 30, 40, 50, 90],
        limit=[30, 30, 40, 60, 90],
        count=[6, 7, 8, 1, 1],
    )
    # Job 2 could start at 30 beside job 4, if job 5 (90 s) did not start: it is refused until job 2 runs, at 20.
    assert run.jobs["start"].to_list()[1] == 20
    assert run.jobs["start"].to_list()[4] >= 20


def test_history() -> None:
    def at_30(view: Any) -> None:
        mine = view.history(1)
        assert {name: column.tolist() for name, column in mine.items()} == {
            "id": [1, 2],
            "cores": [2, 1],
            "submit": [0, 0],
            "start": [0, 0],
            "end": [10, 20],
            "runtime": [10, 20],
            "limit": [15, 20],
        }
        assert view.history(1, last=1)["id"].tolist() == [2] and len(view.history(9)["id"]) == 0

    look(
        looks={"at_30": at_30},
        submit=[0, 0, 30],
        runtime=[10, 20, 5],
        limit=[15, 20, 5],
        count=[2, 1, 1],
        user=[1, 1, 1],
    )


def test_what_is_kept_after_the_run_is_an_error_not_a_crash() -> None:
    kept: list[Any] = []

    def at_7(view: Any) -> None:
        kept.extend([view, view.queue, view.queue[0], view.cluster, view.plan, view.cluster.free, iter(view.queue)])

    look(looks={"at_7": at_7}, **THREE)
    gc.collect()
    view, queue, job, cluster, plan, free, iterator = kept
    for action in (
        lambda: view.now,
        lambda: view.queue,
        lambda: queue[0],
        lambda: queue.cores,
        lambda: job.cores,
        lambda: view.start(job),
        lambda: cluster.free,
        lambda: cluster.states,
        lambda: plan.earliest_start(1),
        lambda: next(iterator),
    ):
        with pytest.raises(Exception, match="over"):
            action()
    assert free.tolist() is not None  # memory of the engine's, kept by the array


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda view, job: view.start(job, nodes=[(0, 1), (0, 1)]), "a node is named twice"),
        (lambda view, job: view.start(job, shape=1), "it has no such shape"),
        (lambda view, job: view.resume(job), "cannot resume job 1 at 5 s: it is not suspended"),
        (lambda view, job: view.suspend(job), "cannot suspend job 1 at 5 s: it is not running"),
        (lambda view, job: view.reshape(job, 0), "cannot reshape job 1 at 5 s: it is not running"),
        (lambda view, job: (view.start(job), view.reshape(job, 0)), "it is not malleable"),
        (lambda view, job: (view.start(job), view.reserve(job)), "cannot reserve for job 1 at 5 s: it is not waiting"),
        (lambda view, job: (view.start(job), view.requeue(job, saved=3)), "it has not done so much"),
        (lambda view, job: (view.start(job), view.set_rate(job, float("inf"))), "a rate is a number from 0 to 1e9"),
        (lambda view, job: view.close(7), "cannot close node 7 at 5 s: there is no such node"),
        (lambda view, job: view.open(1), "cannot open node 1 at 5 s: it is open"),
        (lambda view, job: view.close(1, "tired"), "a node can be down"),
    ],
)
def test_impossible_decisions(act: Any, message: str) -> None:
    def decide(view: Any, events: Any) -> None:
        act(view, view.queue[0])

    policy = type("Policy", (), {"decide": staticmethod(decide)})()
    with pytest.raises(sl.DecisionError, match=message):
        sl.simulate(
            sl.Workload.of(submit=[5], runtime=[50], count=[2]), sl.Cluster.uniform(2, cores=4), policy, validate=True
        )


def test_the_guide_of_the_issue() -> None:
    """Fifteen lines, as in the documentation."""

    class SmallestThatFits(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            for job in view.queue.sorted(by="cores"):
                if not view.start(job):
                    break
            view.reserve(view.queue.head)

    jobs, cluster = sl.read_workload(ROOT / "examples" / "demo.swf"), sl.Cluster.uniform(64, cores=4)
    run = sl.simulate(jobs, cluster, SmallestThatFits, validate=True)
    assert run.summary["states"]["waiting"] == 0 and run.policy.endswith("SmallestThatFits")


@pytest.mark.parametrize(("wants", "told"), [(True, [1]), (False, [])])
def test_a_policy_that_has_no_use_for_histories_gets_none(wants: bool, told: list[int]) -> None:
    found: list[int] = []

    class Looks(sl.Policy):
        wants_history = wants

        def decide(self, view: Any, events: Any) -> None:
            if view.now == 9:
                found[:] = view.history(5)["id"].tolist()
            for job in view.queue:
                view.start(job)

    sl.simulate(sl.Workload.of(submit=[0.0, 9.0], runtime=[1.0, 1.0], user=[5, 5]), "pool:1", Looks())
    assert found == told
