"""Three nodes of four cores; the first job takes half of the first node."""

from pathlib import Path

import schedlab as sl

MINE = Path(__file__).with_name("mine.py")


def test_the_second_job_gets_a_node_of_its_own():
    jobs = sl.Workload.of(submit=[0, 1], runtime=[100, 100], count=[2, 4])
    run = sl.simulate(jobs, sl.Cluster.uniform(3, cores=4), f"easy:place={MINE}:emptiest_first", validate=True)
    assert run.jobs["nodes"].to_list() == ["n1*2", "n2*4"]
    assert sl.check(run) == []
