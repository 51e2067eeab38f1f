"""Jobs against themselves under another policy."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import schedlab as sl
from schedlab.analysis.job_by_job import job_by_job
from schedlab.cli.main import app


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


def test_the_interval_is_told_to_be_too_narrow(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0.0, 1.0, 1.0], runtime=[10.0, 100.0, 10.0], count=[1, 1, 1])
    for policy in ("fcfs", "sjf"):
        sl.simulate(jobs, "pool:1", policy, out=tmp_path / policy)
    said = CliRunner().invoke(app, ["compare", str(tmp_path), "--paired"]).output
    assert "the interval takes jobs as independent" in said and "too narrow" in said
    assert "independent" not in CliRunner().invoke(app, ["compare", str(tmp_path)]).output
