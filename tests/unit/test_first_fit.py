"""First-fit of single cores on machines whose index of free nodes has several words, and several words of words."""

from __future__ import annotations

import pytest

import schedlab as sl
from schedlab.model.nodeset import expand

NODES = 9000  # 141 words of 64 nodes, which three words tell of


@pytest.mark.parametrize("policy", ["fcfs", "easy"])
def test_jobs_get_the_first_cores_that_are_free(policy: str) -> None:
    """Two cores on each node. Job 1 has the first 4,100 nodes and a core of the next; 2 the rest of it and two more
    nodes; 3 the rest of the machine. When 1 has ended, 4 takes its nodes and 5 its single core. When 2 has ended, 6
    gets the other half of that node and one more; 7 waits for it, and gets the same."""
    counts = [8201, 5, 2 * NODES - 8206, 8200, 1, 3, 3]
    workload = sl.Workload.of(
        name="wide",
        id=range(1, 8),
        submit=[0, 1, 2, 3, 4, 5, 6],
        runtime=[100, 150, 1000, 1000, 1000, 10, 10],
        limit=[100, 150, 1000, 1000, 1000, 10, 10],
        count=counts,
    )
    run = sl.simulate(workload, sl.Cluster.uniform(NODES, cores=2), policy, validate=True)
    starts = run.jobs["start"].to_list()
    assert starts == [0, 1, 2, 100, 100, 151, 161]
    where = [dict(expand(text)) for text in run.jobs["nodes"].to_list()]
    names = sl.Cluster.uniform(NODES, cores=2).node_names()
    assert where[0] == dict.fromkeys(names[:4100], 2) | {names[4100]: 1}
    assert where[1] == {names[4100]: 1, names[4101]: 2, names[4102]: 2}
    assert where[2] == dict.fromkeys(names[4103:], 2)
    assert where[3] == dict.fromkeys(names[:4100], 2)
    assert where[4] == {names[4100]: 1}
    assert where[5] == {names[4100]: 1, names[4101]: 2}
    assert where[6] == {names[4100]: 1, names[4101]: 2}
