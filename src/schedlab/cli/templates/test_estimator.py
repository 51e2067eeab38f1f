"""Three jobs of one user, one after the other: what is believed of each comes from those before."""

from pathlib import Path

import schedlab as sl

MINE = Path(__file__).with_name("mine.py")


def estimates(estimator):
    jobs = sl.Workload.of(
        submit=[0, 100, 200], runtime=[30, 20, 10], limit=[60, 60, 60], count=[1, 1, 1], user=[7, 7, 7]
    )
    run = sl.simulate(jobs, sl.Cluster.of_cores(1), "easy", estimate=f"{MINE}:{estimator}")
    return run.jobs["estimate"].to_list()


def test_the_median_of_what_has_ended():
    assert estimates("UserMedian") == [60, 30, 25]


def test_the_window_forgets():
    assert estimates("UserMedian(window=1)") == [60, 30, 20]
