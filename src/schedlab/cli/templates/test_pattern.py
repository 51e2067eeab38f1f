"""Two days with a job in each night."""

from mine import every_night

import schedlab as sl
from schedlab.generate.triggers.inject import inject


def test_two_nights():
    jobs = sl.Workload.of(submit=[0, 100_000], runtime=[10, 10])
    trigger, what = every_night(jobs)
    found = inject(jobs, trigger, what)
    assert found.jobs["submit"].to_list() == [0, 3600, 90_000, 100_000]
