"""Jobs on parts of sockets: what they get of a node, and how many nodes they need."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import schedlab as sl
from schedlab.engine.layout import PARTS, Layout, Part
from schedlab.model.request import SINGLE_CORE
from schedlab.model.workload import JobBatch


def group(*sizes: int, nodes: int = 4, **resources: int) -> sl.NodeGroup:
    return sl.NodeGroup(
        "n", nodes, {"cores": sum(sizes), **resources}, sockets=len(sizes), socket_cores=tuple(sizes), width=1
    )


def machine(*sizes: int, nodes: int = 4, **resources: int) -> sl.Cluster:
    return sl.Cluster((group(*sizes, nodes=nodes, **resources),))


def laid_out(
    cluster: sl.Cluster, counts: list[int], request: sl.Request = SINGLE_CORE, fraction: str = "1/2"
) -> list[tuple[sl.Request, int]]:
    """The request and the chunks of each of some jobs."""
    requests = [request]
    layout = Layout(cluster, Fraction(fraction))
    batch, new = layout.batch(JobBatch.of(submit=[0] * len(counts), runtime=[1] * len(counts), count=counts), requests)
    assert requests[1:] == new
    return [
        (requests[number], count) for number, count in zip(batch.request.tolist(), batch.count.tolist(), strict=True)
    ]


def by_hand(sizes: tuple[int, ...], fraction: Fraction) -> int:
    """How many jobs a node takes: placed one after the other, on sockets that are counted one by one."""
    left, jobs = list(sizes), 0
    each = [int(size * fraction) for size in sizes]
    while all(free >= part for free, part in zip(left, each, strict=True)):
        left = [free - part for free, part in zip(left, each, strict=True)]
        jobs += 1
    return jobs


@pytest.mark.parametrize("fraction", ["1/2", "1/3", "1/4", "2/3"])
@pytest.mark.parametrize("sizes", [(10, 10), (3, 3), (4, 5), (7, 7, 8), (1, 8), (20,), (2, 6), (5, 3, 3)])
def test_parts_are_of_every_socket(sizes: tuple[int, ...], fraction: str) -> None:
    if not any(int(size * Fraction(fraction)) for size in sizes):
        pytest.skip("not even a core")
    part = Part.of(group(*sizes), Fraction(fraction))
    assert part.cores == sum(int(size * Fraction(fraction)) for size in sizes)
    assert part.jobs == by_hand(sizes, Fraction(fraction))


@pytest.mark.parametrize(("sizes", "fraction"), [((3, 3), "1/2"), ((7, 7, 8), "1/4"), ((4, 5), "1/3")])
def test_a_node_takes_as_many_jobs_as_its_sockets_do(sizes: tuple[int, ...], fraction: str) -> None:
    cluster = machine(*sizes, nodes=1)
    jobs = sl.Workload.of(submit=[0] * 9, runtime=[10] * 9, count=[1] * 9)
    run = sl.simulate(jobs, cluster, f"cosched:fraction={fraction}", validate=True)
    together = int((run.jobs["start"] == 0).sum())
    assert together == by_hand(sizes, Fraction(fraction))


def test_sockets_that_are_not_said_are_as_even_as_they_can_be() -> None:
    assert sl.NodeGroup("n", 1, {"cores": 7}, sockets=2).socket_sizes == (4, 3)
    assert Part.of(sl.NodeGroup("n", 1, {"cores": 7}, sockets=2), Fraction(1, 2)) == Part(3, 2)


def test_half_of_twice_as_many_nodes() -> None:
    cluster = machine(10, 10, nodes=60)
    for count, (request, nodes) in zip(counts := [256, 10, 7, 1], laid_out(cluster, counts), strict=True):
        assert request.chunk == {"cores": 10} and request.per_node_max == 1 and request.spread
        assert nodes == -(-count // 10)


def test_what_else_a_job_asks_for_goes_with_its_processes() -> None:
    cluster = machine(4, 4, nodes=4, memory=32)
    each = sl.Request({"cores": 1, "memory": 3})
    (large, nodes), (small, one) = laid_out(cluster, [10, 2], each)
    assert large.chunk == {"cores": 4, "memory": 12} and nodes == 3
    assert small.chunk == {"cores": 4, "memory": 6} and one == 1
    (scarce, many), *_ = laid_out(cluster, [6], sl.Request({"cores": 1, "memory": 20}))  # room for one a node
    assert scarce.exclusive and many == 6  # six parts of four nodes do not exist


@pytest.mark.parametrize(
    ("request_", "count"),
    [
        (sl.Request({"cores": 1}, exclusive=True), 3),  # it refuses company
        (sl.Request({"cores": 5}), 2),  # a chunk is larger than half a node
        (sl.Request({"cores": 1}, per_node_min=5), 10),  # it wants more on a node than half of it has
        (SINGLE_CORE, 20),  # it would need 5 nodes of 4
    ],
)
def test_who_cannot_share_has_whole_nodes(request_: sl.Request, count: int) -> None:
    ((request, chunks),) = laid_out(machine(4, 4), [count], request_)
    assert request.exclusive and not request.spread and chunks == count


def test_a_job_of_more_than_half_the_machine_runs_alone() -> None:
    jobs = sl.Workload.of(submit=[0, 1], runtime=[10, 10], count=[30, 2])
    run = sl.simulate(jobs, machine(4, 4), "cosched", validate=True)
    assert run.jobs.sort("sequence")["start"].to_list() == [0, 10]


def test_nodes_of_two_kinds_give_the_smaller_part() -> None:
    cluster = sl.Cluster((group(4, 4), sl.NodeGroup("big", 2, {"cores": 32}, prefix="b", sockets=2)))
    ((request, nodes),) = laid_out(cluster, [12])
    assert request.chunk["cores"] == 4 and nodes == 3


def test_parts_count_where_cores_do_not_say_it() -> None:
    assert PARTS not in Layout(machine(10, 10), Fraction(1, 2)).cluster.resource_names
    assert PARTS in Layout(machine(7, 7, 8), Fraction(1, 4)).cluster.resource_names


def test_nothing_to_share() -> None:
    jobs = sl.Workload.of(submit=[0], runtime=[10], count=[1])
    with pytest.raises(sl.InputError, match="has a core to give"):
        sl.simulate(jobs, machine(1, nodes=1), "cosched")
    with pytest.raises(sl.InputError, match="a pool has no nodes to share"):
        sl.simulate(jobs, "pool:8", "cosched")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cosched:fraction=2", "is not a part of a socket"),
        ("cosched:fraction=half", "is not a part of a socket"),
        ("cosched:threshold=-1", "is not a speed-up"),
        ("cosched:threshold=0.9,place=random", "does not look at who is where"),
        ("cosched:backfill=esay", "there is no backfill"),
        ("cosched:backfill=none,depth=3", "none has no key 'depth'"),
    ],
)
def test_mistakes_are_named(text: str, said: str) -> None:
    with pytest.raises(sl.InputError, match=said) as caught:
        sl.simulate(sl.Workload.of(submit=[0], runtime=[1], count=[1]), "4x4", text)
    assert caught.value.hint


def test_pairs_need_a_heatmap() -> None:
    jobs = sl.Workload.of(submit=[0], runtime=[1], count=[1])
    for policy in ("cosched:place=best-pair", "cosched:threshold=0.9"):
        with pytest.raises(sl.InputError, match="needs a heatmap"):
            sl.simulate(jobs, "4x4", policy)


class WholeNodes:
    """Slow and obvious: what whole nodes would have promised, second by second (times are whole)."""

    def __init__(self, nodes: int, cores: int) -> None:
        self.free, self.cores = np.full(4000, nodes), cores

    def promise(self, cores: int, estimate: int, now: int) -> int:
        nodes = -(-cores // self.cores)
        start = next(t for t in range(now, 4000) if (self.free[t : t + estimate] >= nodes).all())
        self.free[start : start + estimate] -= nodes
        return start


def test_the_fair_order_is_that_of_whole_nodes() -> None:
    """Everybody comes while one job has the whole machine; one at a time fits: they start in the order of promises."""
    chance = np.random.default_rng(5)
    number = 40
    runtime = np.concatenate([[100], chance.integers(5, 40, number)])
    count = np.concatenate([[64], chance.integers(33, 65, number)])  # whole nodes, more than half of them
    submit = np.concatenate([[0], np.sort(chance.integers(1, 99, number))])
    jobs = sl.Workload.of(submit=submit, runtime=runtime, limit=runtime, count=count)
    twin = WholeNodes(8, 8)
    promised = [twin.promise(*one) for one in zip(count.tolist(), runtime.tolist(), submit.tolist(), strict=True)]
    run = sl.simulate(jobs, "8x8", "cosched:order=fair,backfill=none", validate=True)
    start = run.jobs.sort("sequence")["start"].to_numpy()
    assert np.argsort(start, kind="stable").tolist() == np.argsort(promised, kind="stable").tolist()
    assert run.jobs.sort("sequence")["priority"].to_list() == promised


def test_a_window_lets_filler_choose() -> None:
    jobs = sl.Workload.of(submit=[0, 1, 2, 3], runtime=[100, 10, 10, 10], count=[64, 8, 60, 30])
    starts = {
        order: sl.simulate(jobs, "8x8", f"cosched:backfill=none,order={order}").jobs.sort("sequence")["start"].to_list()
        for order in ("fair", "fair(10000)", "filler")
    }
    assert starts["fair(10000)"] == starts["filler"] != starts["fair"]
