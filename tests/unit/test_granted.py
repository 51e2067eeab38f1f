"""Allocations as granted: what a decider may give, what is refused, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import schedlab as sl

GIB = 2**30
CLUSTER = sl.Cluster(
    (
        sl.NodeGroup("thin", 2, {"cores": 20, "memory": 64 * GIB}),
        sl.NodeGroup("gpu", 1, {"cores": 20, "memory": 64 * GIB, "gpus": 4}, prefix="g"),
    )
)


class Scripted(sl.Policy):
    """Does something with the waiting jobs once; then starts who is left anywhere."""

    def __init__(self, act: Callable[[Any, list[Any]], None]) -> None:
        self._act, self._done = act, False

    def decide(self, view: Any, events: Any) -> None:
        if not self._done:
            self._done = True
            self._act(view, list(view.queue))
            return
        for job in view.queue:
            view.start(job)


def run(act: Callable[[Any, list[Any]], None], *, own: bool = False, **columns: Any) -> sl.Run:
    number = len(columns["count"])
    requests = columns.pop("requests", [sl.Request({"cores": 1})])
    given = {"submit": [0] * number, "runtime": [10] * number, "limit": [20] * number, **columns}
    policy = Scripted(act)
    policy.own_amounts = own
    return sl.simulate(sl.Workload.of(requests=requests, **given), CLUSTER, policy, validate=True)


def test_a_job_holds_what_it_was_granted() -> None:
    seen: list[Any] = []

    def act(view: Any, jobs: list[Any]) -> None:
        amounts = [(0, {"cores": 17, "memory": 64 * GIB}), (2, {"cores": 1, "gpus": [0, 3]})]
        assert view.start(jobs[0], amounts)
        seen.append((jobs[0].granted, jobs[0].nodes, jobs[0].cores, view.free_cores))
        seen.append([view.cluster.free_of(resource).tolist() for resource in range(3)])
        view.wake_at(5)

    result = run(act, count=[18])
    granted = [(0, {"cores": 17, "memory": 64 * GIB}), (2, {"cores": 1, "gpus": [0, 3]})]
    assert seen[0] == (granted, [(0, 17), (2, 1)], 18, 42)
    assert seen[1] == [[3, 20, 19], [0, 64 * GIB, 64 * GIB], [0, 0, 2]]
    row = result.jobs.row(0, named=True)
    assert (row["nodes"], row["cores"], row["start"], row["end"]) == ("n1*17,g1", 18, 0, 10)
    used = result.timeline.select("time", "used_cores", "used_memory", "used_gpus").rows()
    assert used == [(0, 18, 64 * GIB, 2), (10, 0, 0, 0)]


def test_more_than_was_asked_for_is_the_jobs() -> None:
    result = run(lambda view, jobs: view.start(jobs[0], [(1, {"cores": 20, "memory": GIB})]), count=[3])
    assert result.jobs["cores"].to_list() == [20]
    assert result.jobs["nodes"].to_list() == ["n2*20"]


@pytest.mark.parametrize(
    ("amounts", "why"),
    [
        ([(0, {"cores": 21})], "node n1 has 20 of cores free, not 21"),
        ([(0, {"cores": 4, "memory": -1})], "less than nothing of memory"),
        ([(0, {"cores": 3}), (1, {"cores": 0})], "hold 3 of its 4 chunks"),
        ([(0, {"cores": 4, "licences": 1})], "no resource licences"),
        ([(0, {"cores": 4}), (1, 2)], "not both"),
        ([(2, {"cores": 4, "gpus": [4]})], "gpus 4 of node g1 does not exist"),
        ([(2, {"cores": 4, "gpus": [-1]})], "gpus -1 of node g1 does not exist"),
        ([(2, {"cores": 4, "gpus": [1, 1]})], "gpus 1 of node g1 is named twice"),
        ([(0, {"cores": 2}), (0, {"cores": 2})], "named twice"),
        ([(3, {"cores": 4})], "there is no such node"),
        ([(0, {"cores": 4.5})], "a whole number is expected"),
        ([(0, {"cores": "4"})], "a whole number is expected"),
    ],
)
def test_what_cannot_be_granted(amounts: Any, why: str) -> None:
    with pytest.raises(sl.DecisionError, match=why):
        run(lambda view, jobs: view.start(jobs[0], amounts), count=[4])


def test_a_device_is_given_once() -> None:
    def act(view: Any, jobs: list[Any]) -> None:
        view.start(jobs[0], [(2, {"cores": 1, "gpus": [0, 3]})])
        view.start(jobs[1], [(2, {"cores": 1, "gpus": [3]})])

    with pytest.raises(sl.DecisionError, match="cannot start job 2 at 0 s: gpus 3 of node g1 is in use"):
        run(act, count=[1, 1])


def test_less_is_granted_by_those_who_answer_for_it() -> None:
    def act(view: Any, jobs: list[Any]) -> None:
        assert view.start(jobs[0], [(0, {"cores": 2})])

    result = run(act, own=True, count=[400], requests=[sl.Request({"cores": 1, "memory": GIB})])
    row = result.jobs.row(0, named=True)
    assert (row["state"], row["cores"], row["count"], row["nodes"]) == ("completed", 2, 400, "n1")


def test_amounts_change_with_every_stay() -> None:
    """Suspended, resumed elsewhere with other amounts, requeued, and started by chunks again."""
    seen: list[Any] = []

    class Stays(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            job = (*view.queue, *view.running, *view.suspended)[0] if view.now < 14 else None
            match view.now:
                case 0:
                    view.start(job, [(2, {"cores": 9, "gpus": [1]})])
                case 2:
                    view.suspend(job)
                case 4:
                    view.resume(job, [(0, {"cores": 4}), (1, {"cores": 5, "memory": GIB})])
                case 6:
                    view.requeue(job)
                case 8:
                    view.start(job)
            if job is not None:
                seen.append((view.now, job.cores, job.granted, view.free_cores))
                view.wake_at(view.now + 2)

    workload = sl.Workload.of(submit=[0], runtime=[10], limit=[30], count=[4])
    result = sl.simulate(workload, CLUSTER, Stays(), validate=True)
    first, second = [(2, {"cores": 9, "gpus": [1]})], [(0, {"cores": 4}), (1, {"cores": 5, "memory": GIB})]
    assert seen[:5] == [(0, 9, first, 51), (2, 9, first, 60), (4, 9, second, 51), (6, 4, [], 60), (8, 4, [], 56)]
    assert result.pieces.select("begin", "end", "cores", "nodes").rows() == [
        *((0, 2, 9, "g1*9"), (4, 6, 9, "n1*4,n2*5"), (8, 18, 4, "n1*4"))
    ]


def test_a_malleable_job_may_be_granted_another_shape() -> None:
    class Grows(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            if view.now == 0:
                view.start(view.queue[0], [(2, {"cores": 2, "gpus": [0]})])
                view.wake_at(4)
            if view.now == 4:
                job = view.running[0]
                with pytest.raises(Exception, match="hold 3 of its 4 chunks"):
                    view.reshape(job, 1, [(2, {"cores": 3, "gpus": [0]})])
                assert job.granted == [(2, {"cores": 2, "gpus": [0]})]
                assert view.reshape(job, 1, [(2, {"cores": 5, "gpus": [0, 1]})])
                assert job.cores == 5 and view.free_cores == 55

    shapes = [[sl.Shape(count=4, runtime=10)]]
    workload = sl.Workload.of(submit=[0], runtime=[20], limit=[40], count=[2], shapes=shapes, malleable=[True])
    result = sl.simulate(workload, CLUSTER, Grows(), validate=True)
    assert result.pieces.select("begin", "end", "cores").rows() == [(0, 4, 2), (4, 12, 5)]


def test_whole_nodes_stay_whole() -> None:
    """A job that is to be alone takes its nodes from everybody, whatever it was granted of them."""
    requests = [sl.Request({"cores": 1}, exclusive=True), sl.Request({"cores": 1})]

    def act(view: Any, jobs: list[Any]) -> None:
        assert view.start(jobs[0], [(0, {"cores": 3})])
        assert view.free_cores == 40 and jobs[0].cores == 3
        with pytest.raises(Exception, match="node n1 has 0 of cores free, not 1"):
            view.start(jobs[1], [(0, {"cores": 1})])
        assert view.start(jobs[1], [(1, {"cores": 1})])
        with pytest.raises(Exception, match="node n2 cannot be shared"):
            view.start(jobs[2], [(1, {"cores": 1})])
        view.wake_at(1)

    run(act, count=[2, 1, 1], request=[0, 1, 0], requests=requests)


def test_grants_beside_reservations() -> None:
    """A grant that would delay who holds a reservation is not made; what it holds counts in plans."""

    def act(view: Any, jobs: list[Any]) -> None:
        wide, long, brief, other = jobs
        assert view.start(long, [(0, {"cores": 20}), (1, {"cores": 1})])
        assert view.reserve(wide) == 20
        assert not view.start(brief, [(1, {"cores": 10})])  # believed to be there until 30
        assert view.start(other, [(1, {"cores": 10})])
        assert brief.granted == [] and other.granted == [(1, {"cores": 10})]

    requests = [sl.Request({"cores": 20}, per_node_max=1)]
    result = run(
        act, count=[3, 1, 1, 1], limit=[20, 20, 30, 20], requests=[*requests, sl.Request()], request=[0, 1, 1, 1]
    )
    assert result.jobs["start"].to_list()[1:4:2] == [0, 0]
