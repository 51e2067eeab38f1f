"""A run over time, on the five jobs of tests/batches.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.batches import FIVE_TIMES, TWO_NODES, config, job_batch, time_batch

from schedlab.analysis.series import job_series, machine_series, time_means, utilisation, window
from schedlab.analysis.trim import InPhase, Trim
from schedlab.engine.store import MemoryWriter, RunWriter
from schedlab.model.errors import InputError
from schedlab.model.run import Run


@pytest.fixture(params=["memory", "folder in pieces"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    memory = request.param == "memory"
    with MemoryWriter(TWO_NODES) if memory else RunWriter(tmp_path / "run", TWO_NODES) as writer:
        writer.write("jobs", job_batch())
        pieces = len(FIVE_TIMES) if memory else 1
        for begin in range(0, len(FIVE_TIMES), pieces):
            writer.write("timeline", time_batch(FIVE_TIMES[begin : begin + pieces]))
        about: dict[str, Any] = config()
        about["workload"]["phases"] = [{"name": "experiment", "begin": 20.0, "end": 110.0}]
        return writer.finish(about)


def test_waits_by_time_of_submission(run: Run) -> None:
    found = job_series(run, step=20)  # submitted at 0 and 10; at 20 and 30
    assert found.rows() == [(0.0, 2, 0.0, 0.0, 0.0), (20.0, 2, 80.0, 80.0, 89.0)]
    assert found.columns == ["time", "jobs", "mean", "median", "p95"]


def test_waits_of_some_jobs_minute_by_minute(run: Run) -> None:
    assert job_series(run, trim=Trim(0.2, 0.4)).rows() == [(0.0, 2, 45.0, 45.0, 85.5)]  # jobs 2 and 3
    assert len(job_series(run, trim=Trim(0.8, 0))) == 0  # the one that was rejected


def test_the_machine_step_by_step(run: Run) -> None:
    found = machine_series(run, step=50)
    assert found["time"].to_list() == [0, 50, 100, 150]
    # 2×10 + 4×40, 4×50, 4×5 + 2×5 + 4×40 core-seconds of 200, and 4×10 of 40
    assert found["utilisation"].to_list() == pytest.approx([0.9, 1, 0.95, 1])
    assert found["queued"].to_list() == pytest.approx([1, 2, 0.2, 0])
    assert found["running"].to_list() == pytest.approx([1.8, 2, 1.1, 1])


def test_one_phase(run: Run) -> None:
    found = machine_series(run, step=50, trim=InPhase("experiment"))
    assert found["time"].to_list() == [20, 70]
    assert found["utilisation"].to_list() == pytest.approx([1, 150 / 160])  # 4×30 + 4×5 + 2×5 until 110
    assert window(run, InPhase("experiment")) == (20, 110)
    with pytest.raises(InputError, match="did you mean 'experiment'"):
        machine_series(run, trim=InPhase("experimnt"))


def test_windows(run: Run) -> None:
    assert window(run) == (0, 160)
    assert window(run, Trim(0.2, 0.2)) == (10, 30)
    assert window(run, Trim(0.8, 0)) == (0, 0)
    assert len(machine_series(run, trim=Trim(0.8, 0))) == 0


def test_utilisation_of_a_window(run: Run) -> None:
    assert utilisation(run, 0, 160) == pytest.approx(610 / 640)
    assert utilisation(run, 0, 160) == pytest.approx(run.summary["utilisation"])
    assert utilisation(run, -100, 5) == pytest.approx(10 / 420)
    assert utilisation(run, 150, 200) == pytest.approx(40 / 200)
    assert utilisation(run, 300, 400) == 0
    assert utilisation(run, 5, 5) is None


def test_two_rows_at_one_time(run: Run) -> None:
    class Twice:
        def batches(self, names: Any, table: str) -> Any:
            yield {"time": np.array([0.0, 10.0, 10.0]), "queued": np.array([1, 5, 2])}
            yield {"time": np.array([10.0, 20.0]), "queued": np.array([3, 0])}

    edges = np.array([0.0, 10.0, 15.0, 30.0])
    assert time_means(Twice(), ("queued",), edges)["queued"].tolist() == [1, 3, 1]  # type: ignore[arg-type]


@pytest.mark.parametrize("step", [0, -1, float("nan")])
def test_steps_that_are_none(run: Run, step: float) -> None:
    with pytest.raises(InputError, match="step"):
        machine_series(run, step=step)
    with pytest.raises(InputError, match="step"):
        job_series(run, step=step)


def test_too_many_steps(run: Run) -> None:
    with pytest.raises(InputError, match="too short"):
        machine_series(run, step=1e-6)
