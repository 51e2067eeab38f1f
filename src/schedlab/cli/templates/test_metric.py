"""Four jobs of 10 s on one core: they wait 0, 10, 20 and 30 s."""

import pytest
from mine import tail_wait

import schedlab as sl


def test_the_mean_of_the_longest_waits():
    jobs = sl.Workload.of(submit=[0, 0, 0, 0], runtime=[10, 10, 10, 10], count=[1, 1, 1, 1])
    run = sl.simulate(jobs, sl.Cluster.of_cores(1), "fcfs")
    assert tail_wait(run) == pytest.approx(30)
    assert tail_wait(run, share=0.5) == pytest.approx(25)
