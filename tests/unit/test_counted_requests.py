"""What of a request counts on a machine, by hand."""

from __future__ import annotations

import pytest

import schedlab as sl
from schedlab.engine.requests import CountedRequests

BIG = sl.Request({"cores": 2, "memory": 5, "gpus": 1}, per_node_max=1, features=frozenset({"fast"}), partition="big")
FAST = sl.NodeGroup("fast", 1, {"cores": 4, "gpus": 1}, features=frozenset({"fast"}))
BARE = sl.Request({"cores": 2, "gpus": 1}, per_node_max=1)


@pytest.mark.parametrize(
    ("cluster", "detail", "counted", "left_out"),
    [
        (sl.Cluster.uniform(1, 4), "auto", BARE, {"memory", "features", "partition"}),
        (sl.Cluster.uniform(1, 4, memory=8), "cores", BARE, {"memory", "features", "partition"}),
        (sl.Cluster.uniform(1, 4), "full", BIG, set()),
        (
            sl.Cluster.uniform(1, 4, memory=8),
            "auto",
            sl.Request({"cores": 2, "memory": 5, "gpus": 1}, per_node_max=1),
            {"features", "partition"},
        ),
        (
            sl.Cluster((FAST,), (sl.Partition("all", ("fast",)),)),
            "auto",
            sl.Request({"cores": 2, "gpus": 1}, per_node_max=1, features=frozenset({"fast"}), partition="big"),
            {"memory"},
        ),
        (sl.Cluster.of_cores(4), "auto", sl.Request({"cores": 2, "gpus": 1}), {"memory", "features", "partition"}),
    ],
)
def test_what_counts(cluster: sl.Cluster, detail: str, counted: sl.Request, left_out: set[str]) -> None:
    requests = CountedRequests(cluster, detail)
    assert requests.add([BIG]) == [counted]
    requests.batch(sl.JobBatch.of(submit=[0, 1, 2], runtime=[1, 1, 1], count=[1, 1, 1]))
    assert requests.left_out == dict.fromkeys(left_out, 3)


def test_requests_that_count_the_same_are_one() -> None:
    """Memory of different sizes is nothing to a machine of cores: its jobs have the same request."""
    requests = CountedRequests(sl.Cluster.uniform(1, 4), "auto")
    asked = [sl.Request(), sl.Request({"cores": 1, "memory": 7}), sl.Request({"cores": 2})]
    assert requests.add(asked) == [sl.Request(), sl.Request({"cores": 2})]
    batch = sl.JobBatch.of(submit=[0, 1, 2, 3], runtime=[1] * 4, request=[0, 1, 2, 1])
    assert requests.batch(batch).request.tolist() == [0, 0, 1, 0]
    assert requests.add([sl.Request({"cores": 2, "memory": 9})]) == []
    assert requests.batch(sl.JobBatch.of(submit=[4], runtime=[1], request=[3])).request.tolist() == [1]
    assert requests.left_out == {"memory": 3}
