"""Workloads made in memory."""

from __future__ import annotations

import numpy as np
import pytest

import schedlab as sl


def test_jobs_are_sorted_by_submit_time_then_number() -> None:
    jobs = sl.Workload.of(id=[4, 9, 2], submit=[5, 0, 5], runtime=[1, 2, 3], count=[1, 1, 1]).jobs
    assert jobs["id"].to_list() == [9, 2, 4]
    assert jobs["limit"].to_list() == [2.0, 3.0, 1.0]  # the runtime where no limit is given


def test_all_nonsense_is_named_at_once() -> None:
    with pytest.raises(sl.InputError) as error:
        sl.Workload.of(id=[7, 8], submit=[0, np.nan], runtime=[-1, 5], count=[1, 0])
    text = str(error.value)
    assert "job 8: submit is nan, expected a time" in text
    assert "job 7: runtime is -1.0, expected a duration" in text
    assert "job 8: count is 0, expected at least 1 chunk" in text


def test_unknown_columns_are_refused() -> None:
    with pytest.raises(sl.InputError, match="jobs have no column 'procs'"):
        sl.Workload.of(submit=[0], runtime=[1], procs=[1])


def test_a_workload_can_be_simulated_again() -> None:
    jobs = sl.Workload.of(submit=[0, 0], runtime=[10, 10], count=[3, 2])
    runs = [sl.simulate(jobs, sl.Cluster.of_cores(4), "fcfs") for _ in range(2)]
    assert [run.jobs["start"].to_list() for run in runs] == [[0.0, 10.0]] * 2
