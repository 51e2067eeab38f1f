"""The log's own schedule as a run: its waits are the log's own column, and simulated runs can be set beside it."""

from __future__ import annotations

import csv
import gzip
import re
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from tests.fragile import Fragile, run_until_broken
from tests.system.test_cli import succeeds

import schedlab as sl
from schedlab.analysis.job_by_job import job_by_job
from schedlab.engine.checkpoint import Checkpoint
from schedlab.workload.transform.load import scale_load

ARCHIVE = {
    "KTH-SP2-1996-2.1-cln.swf.gz": 100,
    "HPC2N-2002-2.2-cln.swf.gz": 240,
    "LPC-EGEE-2004-1.2-cln.swf.gz": 140,
}


@pytest.mark.parametrize("name", ARCHIVE)
def test_waits_are_the_third_column_of_the_log(traces: Path, name: str) -> None:
    recorded = sl.simulate(traces / name, policy="recorded")
    jobs = recorded.jobs.drop_nulls("start")
    wait = dict(zip(jobs["job"].to_list(), (jobs["start"] - jobs["submit"]).to_list(), strict=True))
    told = {}
    with gzip.open(traces / name, "rt") as lines:
        for line in lines:
            if line.strip() and not line.startswith(";"):
                fields = line.split()
                told[int(fields[0])] = float(fields[2])
    assert len(wait) == recorded.summary["started"] > 0
    assert {job: told[job] for job in wait} == wait
    assert all(told[job] < 0 for job in recorded.jobs.filter(recorded.jobs["state"] == "rejected")["job"])
    assert recorded.cluster.cores >= ARCHIVE[name]  # some logs have a few more cores in use than their header says


def test_waits_of_an_sacct_dump(traces: Path) -> None:
    log = traces.parent / "cases" / "cedar" / "jobs.sacct"
    if not log.is_file():
        pytest.skip(f"needs {log.name} of the cases beside the traces")
    workload = sl.read_workload(log)
    recorded = sl.simulate(workload, "pool:64", "recorded")
    with log.open() as lines:
        rows = [row for row in csv.DictReader(lines, delimiter="|") if row["Start"] not in ("Unknown", "None")]
    started = recorded.jobs.drop_nulls("start")
    assert len(started) > 800
    assert workload.origin is not None
    starts = sorted(started["start"] + workload.origin.timestamp())
    told = sorted(datetime.fromisoformat(f"{row['Start']}+00:00").timestamp() for row in rows)
    assert set(starts) <= set(told)
    waits = recorded.jobs.sort("sequence")["start"] - recorded.jobs.sort("sequence")["submit"]
    np.testing.assert_array_equal(waits.to_numpy(), workload.jobs["wait"].to_numpy())


def test_a_job_without_a_start_and_one_that_its_user_withdraws() -> None:
    jobs = sl.Workload.of(
        submit=[0.0, 0.0, 5.0, 6.0],
        runtime=[10.0, 10.0, 10.0, 0.0],
        count=[2, 2, 2, 2],
        limit=[5.0, 10.0, 10.0, 10.0],
        wait=[3.0, np.nan, np.nan, 0.0],
        cancel=[np.inf, np.inf, 9.0, np.inf],
    )
    run = sl.simulate(jobs, "2x1", "recorded")
    assert run.jobs.sort("job")["state"].to_list() == ["completed", "rejected", "cancelled", "completed"]
    assert run.jobs.sort("job")["start"].to_list() == [3.0, None, None, 6.0]
    assert run.jobs.sort("job")["end"][0] == 13.0  # beyond its limit, as it was
    assert run.cluster.name == "pool:4"  # the last job has no length, and has to fit all the same


def test_a_log_that_tells_no_starts() -> None:
    jobs = sl.Workload.of(submit=[0.0], runtime=[1.0], count=[1])
    with pytest.raises(sl.InputError, match="does not say when jobs started"):
        sl.simulate(jobs, "2x1", "recorded")


def test_waits_of_another_load_are_not_those_of_the_log(traces: Path) -> None:
    log = sl.read_workload(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    with pytest.raises(sl.InputError, match="at its own load"):
        sl.simulate(scale_load(log, 0.9, 100), "pool:100", "recorded")


def test_a_log_without_jobs_and_a_wait_below_nothing() -> None:
    empty = sl.Workload.of(submit=[], runtime=[], count=[])
    assert sl.simulate(empty, "2x1", "recorded").summary["jobs"] == 0
    early = sl.Workload.of(submit=[5.0], runtime=[1.0], count=[1], wait=[-3.0])
    assert sl.simulate(early, "2x1", "recorded").jobs["start"].to_list() == [5.0]


class Late(Fragile):
    """After its first time it has nothing to save for many instants."""

    def due(self) -> bool:
        self.instants = getattr(self, "instants", 0) + 1
        return self.instants > 10_000


def test_taken_up_again(traces: Path, tmp_path: Path) -> None:
    scenario = {"workload": traces / "KTH-SP2-1996-2.1-cln.swf.gz", "cluster": "pool:104", "policy": "recorded"}
    whole = sl.simulate(**scenario)
    assert run_until_broken(sl.Scenario(**scenario, checkpoint=Late(tmp_path / "checkpoint", 2))) is None
    again = sl.simulate(**scenario, checkpoint=Checkpoint(tmp_path / "checkpoint"))
    assert again.jobs.equals(whole.jobs)


def test_a_published_schedule_is_reproduced_and_its_error_is_nothing(traces: Path) -> None:
    """The waits in this file were computed by another simulator, under EASY."""
    log = sl.read_workload(traces / "results" / "predictsim-KTH-SP2-EASY.swf.gz", clean="none")
    recorded, easy = (sl.simulate(log, "pool:100", policy, passes="event") for policy in ("recorded", "easy"))
    found = job_by_job(easy, recorded)
    assert found.jobs == 28_481
    assert (found.same, found.start_mean, found.start_deviation) == (1.0, 0.0, 0.0)
    assert (found.turnaround_error, found.makespan_error) == (0.0, 0.0)


def test_compare_prints_the_errors(traces: Path, tmp_path: Path) -> None:
    log = traces / "KTH-SP2-1996-2.1-cln.swf.gz"
    said = succeeds("run", log, "--policy", "easy", "--policy", "recorded", "--out", tmp_path / "r")
    assert "recorded ran on pool:104" in said
    told = succeeds("compare", tmp_path / "r" / "easy", tmp_path / "r" / "recorded", "--paired")
    assert "against recorded" in told  # though it is not the first
    row = told.split("MAPE of")[1]
    (shown,) = re.findall(r"^easy +\S+ +\S+ +([\d,]+) ", row, re.MULTILINE)
    runs = [sl.read_run(tmp_path / "r" / name) for name in ("easy", "recorded")]
    easy, real = (run.jobs.sort("job") for run in runs)
    turnaround = (real["end"] - real["submit"]).to_numpy()
    wrong = np.abs((easy["end"] - easy["submit"]).to_numpy() - turnaround) / turnaround
    assert float(shown.replace(",", "")) == pytest.approx(100 * wrong.mean(), abs=0.6)
    figure = tmp_path / "differences.png"
    succeeds("plot", tmp_path / "r", "--kind", "differences", "--out", figure)
    assert figure.stat().st_size > 10_000
