"""Runs that end at a time: jobs stay as they are, later ones are not in the run, `check` agrees."""

from __future__ import annotations

from pathlib import Path

import pytest

import schedlab as sl
from schedlab.model.errors import InputError
from schedlab.model.workload import Phase, Workload

JOBS = {"submit": [0, 1, 2, 50], "runtime": [10, 20, 30, 5], "count": [2, 2, 2, 1]}


def states(run: sl.Run) -> dict[int, tuple[str, float | None, float]]:
    return {job: (state, start, end) for job, state, start, end in run.jobs["job", "state", "start", "end"].iter_rows()}


def test_jobs_stay_as_they_are(tmp_path: Path) -> None:
    run = sl.simulate(Workload.of(**JOBS), "pool:2", "fcfs", until=25, out=tmp_path / "run")
    assert states(run) == {
        1: ("completed", 0, 10),
        2: ("running", 10, 25),
        3: ("waiting", None, 25),
    }
    assert run.config["until"] == 25
    assert not run.incomplete  # it is what was asked for
    assert not sl.check(run)


def test_what_happens_at_that_time_happens() -> None:
    assert states(sl.simulate(Workload.of(**JOBS), "pool:2", "fcfs", until="30s"))[3] == ("running", 30, 30)
    whole = sl.simulate(Workload.of(**JOBS), "pool:2", "fcfs")
    assert states(sl.simulate(Workload.of(**JOBS), "pool:2", "fcfs", until="1d")) == states(whole)


def test_the_end_of_the_phases() -> None:
    jobs = Workload.of(**JOBS)
    with pytest.raises(InputError, match="the workload has none"):
        sl.simulate(jobs, "pool:2", "fcfs", until="phases")
    jobs.phases = (Phase("experiment", 0.0, 12.0), Phase("drain", 12.0, 40.0))
    assert states(sl.simulate(jobs, "pool:2", "fcfs", until="phases"))[3] == ("running", 30, 40)


def test_before_the_first_job() -> None:
    late = Workload.of(submit=[100], runtime=[1])
    assert sl.simulate(late, "pool:2", "fcfs", until=5).jobs.is_empty()


def test_somebody_who_may_submit_more_does_not_keep_it_open() -> None:
    class Patient(sl.Observer):
        def more_may_come(self, view: sl.View) -> bool:
            return True

    run = sl.simulate(Workload.of(**JOBS), "pool:2", "fcfs", until=25, observers=[Patient()])
    assert states(run)[2] == ("running", 10, 25)
