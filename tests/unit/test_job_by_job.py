"""Jobs against themselves under another policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import schedlab as sl
from schedlab.analysis.job_by_job import job_by_job
from schedlab.analysis.trim import Trim
from schedlab.cli.main import app
from schedlab.cli.table import errors_table, pairs_table


def test_by_hand() -> None:
    """One core; a long job first, then two short ones. Shortest first lets these pass the long one behind them."""
    jobs = sl.Workload.of(submit=[0.0, 1.0, 1.0], runtime=[10.0, 100.0, 10.0], count=[1, 1, 1])
    fcfs, sjf = (sl.simulate(jobs, sl.Cluster.of_cores(1), policy) for policy in ("fcfs", "sjf"))
    # fcfs: waits 0, 9, 109; sjf: 0, 19, 9.
    found = job_by_job(sjf, fcfs)
    assert found.jobs == 3
    assert (found.shorter, found.same, found.longer) == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert found.median == 0
    assert found.mean is not None
    assert found.mean.estimate == pytest.approx((0 + 10 - 100) / 3)
    # differences 0, 10, -100: variance 3700, error sqrt(3700 / 3); t of 2 degrees of freedom is 4.302653
    reach = 4.302653 * (3700 / 3) ** 0.5
    assert (found.mean.low, found.mean.high) == pytest.approx((-30 - reach, -30 + reach), abs=1e-3)
    assert found.mean.p is None
    assert job_by_job(fcfs, fcfs).same == 1


def test_other_workloads_cannot_be_paired() -> None:
    one, other = (
        sl.simulate(sl.Workload.of(submit=[at], runtime=[1.0], count=[1]), sl.Cluster.of_cores(1)) for at in (0.0, 5.0)
    )
    with pytest.raises(sl.InputError, match="was submitted"):
        job_by_job(one, other)


def test_the_makespan_is_that_of_the_jobs_that_count() -> None:
    """Without the last job, fcfs ends at 110 s and sjf, which lets it pass, at 120 s; with it both at 120 s."""
    jobs = sl.Workload.of(submit=[0.0, 1.0, 1.0], runtime=[10.0, 100.0, 10.0], count=[1, 1, 1])
    fcfs, sjf = (sl.simulate(jobs, sl.Cluster.of_cores(1), policy) for policy in ("fcfs", "sjf"))
    assert job_by_job(sjf, fcfs).makespan_error == 0
    assert job_by_job(sjf, fcfs, trim=Trim(0, 0.34)).makespan_error == pytest.approx(10 / 110)


def test_without_a_job_that_both_started_nothing_is_said() -> None:
    jobs = sl.Workload.of(submit=[0.0], runtime=[10.0], count=[2])
    run = sl.simulate(jobs, sl.Cluster.of_cores(1), "fcfs")  # refuses it
    found = job_by_job(run, run)
    assert (found.jobs, found.start_mean, found.start_deviation, found.makespan_error) == (0, None, None, None)
    assert (found.median, found.p95) == (None, None)
    for table, first in ((errors_table, 1), (pairs_table, 5)):
        assert [next(iter(column.cells)) for column in table(["fcfs"], [found]).columns[first:]] == ["- "] * 4


def test_the_interval_is_told_to_be_too_narrow(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0.0, 1.0, 1.0], runtime=[10.0, 100.0, 10.0], count=[1, 1, 1])
    for policy in ("fcfs", "sjf"):
        sl.simulate(jobs, "pool:1", policy, out=tmp_path / policy)
    said = CliRunner().invoke(app, ["compare", str(tmp_path), "--paired"]).output
    assert "the interval takes jobs as independent" in said and "too narrow" in said
    assert "independent" not in CliRunner().invoke(app, ["compare", str(tmp_path)]).output
