"""One core, busy until 100; then the order decides between a long job that came first and a short one."""

from pathlib import Path

import schedlab as sl

MINE = Path(__file__).with_name("mine.py")


def starts(order):
    jobs = sl.Workload.of(submit=[0, 10, 90], runtime=[100, 60, 40], limit=[100, 60, 40], count=[1, 1, 1])
    return sl.simulate(jobs, sl.Cluster.of_cores(1), f"none:order={MINE}:{order}").jobs["start"].to_list()


def test_the_smallest_area_goes_first():
    assert starts("by_area") == [0, 140, 100]


def test_waiting_makes_an_area_smaller():
    # At 100 the long job has waited 90 s, the short one 10 s: 60 / 2**9 is less than 40 / 2.
    assert starts(f"by_aged_area(hours={10 / 3600})") == [0, 100, 160]
