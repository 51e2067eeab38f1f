"""One core, three jobs: from 20 on, two of them wait."""

from mine import LongestQueue

import schedlab as sl


def test_the_longest_queue():
    jobs = sl.Workload.of(submit=[0, 10, 20], runtime=[100, 100, 100], count=[1, 1, 1])
    watch = LongestQueue()
    sl.simulate(jobs, sl.Cluster.of_cores(1), "easy", observers=[watch])
    assert (watch.longest, watch.since) == (2, 20)
