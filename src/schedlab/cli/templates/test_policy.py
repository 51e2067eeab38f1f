"""Four jobs on four cores: the first takes all of them until 100."""

from mine import SmallestThatFits

import schedlab as sl


def starts(policy):
    jobs = sl.Workload.of(submit=[0, 10, 20, 30], runtime=[100, 50, 50, 50], count=[4, 3, 1, 2])
    run = sl.simulate(jobs, sl.Cluster.uniform(2, cores=2), policy, validate=True)
    assert sl.check(run) == []
    return run.jobs["start"].to_list()


def test_the_smallest_goes_first():
    assert starts(SmallestThatFits()) == [0, 150, 100, 100]


def test_nobody_overtakes_a_job_that_has_waited_long():
    assert starts(SmallestThatFits(patience=60)) == [0, 100, 100, 150]
