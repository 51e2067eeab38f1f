"""The metrics of five jobs whose numbers were computed by hand (the schedule is in tests/batches.py)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.batches import FIVE_JOBS, FIVE_TIMES, TWO_NODES, config, job_batch, time_batch

from schedlab.analysis.distribution import distribution
from schedlab.analysis.metrics import summarise
from schedlab.analysis.trim import Trim
from schedlab.engine.store import MemoryWriter, RunWriter
from schedlab.model.errors import InputError
from schedlab.model.run import Run

MakeRun = Callable[..., Run]


@pytest.fixture(params=["memory", "folder", "folder in pieces"])
def make_run(request: pytest.FixtureRequest, tmp_path: Path) -> MakeRun:
    def make(jobs: list[Any] = FIVE_JOBS, times: list[Any] = FIVE_TIMES, **options: Any) -> Run:
        memory = request.param == "memory"
        with MemoryWriter(TWO_NODES) if memory else RunWriter(tmp_path / "run", TWO_NODES) as writer:
            pieces = 1 if request.param == "folder in pieces" else 1000
            for begin in range(0, len(jobs), pieces):
                writer.write("jobs", job_batch(jobs[begin : begin + pieces]))
            for begin in range(0, len(times), pieces):
                writer.write("timeline", time_batch(times[begin : begin + pieces]))
            return writer.finish(config(**options))

    return make


def test_job_metrics(make_run: MakeRun) -> None:
    summary = make_run().summary
    # waits 0, 0, 90, 70
    assert summary["wait"]["mean"] == 40
    assert summary["wait"]["median"] == 35
    assert summary["wait"]["p75"] == 75
    assert summary["wait"]["max"] == 90
    # turnarounds 100, 100, 140, 75
    assert summary["turnaround"]["mean"] == 103.75
    # slowdowns 1, 1, 140/50, 75/5
    assert summary["slowdown"]["mean"] == pytest.approx(4.95)
    # the job of 5 s counts as one of 10 s: 1, 1, 2.8, 7.5
    assert summary["bounded_slowdown"]["mean"] == pytest.approx(3.075)
    assert summary["bounded_slowdown"]["max"] == 7.5
    # divided by cores, at least 1: 1, 1, 1, 75/(2×10)
    assert summary["processor_slowdown"]["mean"] == pytest.approx(1.6875)


def test_machine_metrics(make_run: MakeRun) -> None:
    summary = make_run().summary
    assert summary["jobs"] == 5
    assert summary["started"] == 4
    counts = {"completed": 3, "killed": 1, "cancelled": 0, "rejected": 1, "held": 0, "waiting": 0}
    assert summary["states"] == counts
    assert summary["makespan"] == 160
    assert summary["utilisation"] == 610 / 640  # 2×100 + 2×100 + 4×50 + 2×5
    assert summary["utilisation_queued"] == pytest.approx(350 / 360)  # from 20 to 110
    assert summary["queued_share"] == 90 / 160
    assert summary["queue_length"] == {"mean": 1.0, "max": 2}  # (1×10 + 2×70 + 1×10) / 160
    assert summary["throughput_per_hour"] == 90
    assert summary["backfilled_share"] == 0.25


def test_another_tau(make_run: MakeRun) -> None:
    run = make_run(tau=1.0)
    assert run.summary["tau"] == 1
    assert run.summary["bounded_slowdown"]["max"] == 15
    assert summarise(run.tables, 4)["bounded_slowdown"]["max"] == 7.5


def test_trimming_by_jobs(make_run: MakeRun) -> None:
    summary = summarise(make_run().tables, 4, trim=Trim(0.2, 0.2))  # without the first and the last of five
    assert summary["jobs"] == 3
    assert summary["wait"]["mean"] == pytest.approx(160 / 3)
    assert summary["states"]["rejected"] == 0
    assert summary["makespan"] == 150
    # the machine is looked at between the submissions of the jobs that stay: 10 to 30
    assert summary["utilisation"] == 1
    assert summary["queue_length"] == {"mean": 0.5, "max": 2}
    assert summary["throughput_per_hour"] == 0


def test_trimming_by_time(make_run: MakeRun) -> None:
    summary = summarise(make_run().tables, 4, trim=Trim(0.5, 0, "time"))  # submitted at 20 or later
    assert summary["jobs"] == 3
    assert summary["started"] == 2
    assert summary["wait"]["mean"] == 80
    assert summary["utilisation"] == (610 - 40 - 20) / (4 * 140)  # from 20 to 160
    assert summary["queue_length"]["max"] == 2


def test_no_job_started(make_run: MakeRun) -> None:
    summary = make_run([FIVE_JOBS[0]], FIVE_TIMES[:1]).summary
    assert summary["started"] == 0
    assert summary["wait"]["mean"] is None
    assert summary["utilisation"] is None
    assert summary["makespan"] == 0


def test_no_job_at_all(make_run: MakeRun) -> None:
    run = make_run([], [])
    assert run.summary["jobs"] == 0
    assert run.summary["wait"]["p95"] is None
    assert len(run.jobs) == 0
    assert len(run.timeline) == 0


def test_a_job_of_length_zero_has_no_slowdown_but_a_bounded_one(make_run: MakeRun) -> None:
    jobs = [(1, 0, 0.0, 30.0, 30.0, "completed", 1, False, {0: 1})]
    summary = make_run(jobs, [(0.0, 0, 1, 0, 1), (30.0, 0, 0, 0, 0)]).summary
    assert summary["slowdown"]["mean"] is None
    assert summary["bounded_slowdown"]["mean"] == 3


def test_percentiles_are_those_of_numpy() -> None:
    values = np.random.default_rng(7).exponential(100, 1001)
    found = distribution(values.copy())
    for name, share in {
        "p5": 0.05,
        "p25": 0.25,
        "median": 0.5,
        "p75": 0.75,
        "p90": 0.9,
        "p95": 0.95,
        "p99": 0.99,
    }.items():
        assert found[name] == pytest.approx(np.quantile(values, share), rel=1e-12)
    assert found["mean"] == pytest.approx(values.mean())
    assert found["max"] == values.max()


@pytest.mark.parametrize(
    ("text", "expected"), [("10%", (0.1, 0.1)), ("0.1", (0.1, 0.1)), ("5%,10%", (0.05, 0.1)), ("0,0.5", (0, 0.5))]
)
def test_trim_as_text(text: str, expected: tuple[float, float]) -> None:
    trim = Trim.parse(text)
    assert (trim.warm_up, trim.cool_down) == expected


@pytest.mark.parametrize("text", ["much", "60%", "-1%", "1%,2%,3%", "", "nan", "50%,50%"])
def test_trim_as_nonsense(text: str) -> None:
    with pytest.raises(InputError):
        Trim.parse(text)
