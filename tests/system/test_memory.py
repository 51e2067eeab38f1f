"""Memory follows the jobs in the system, not the log. `python -m benchmarks scale` measures the same at full size."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from benchmarks.measure import process
from benchmarks.workload import LogSpec, write_log

FEW, MANY = 250_000, 800_000  # jobs; both are more than are kept while a log is read
MOST = 30  # bytes a job: what is kept of each takes hundreds, pieces of freed memory a few
COMMAND = [sys.executable, "-c", "from schedlab.cli.start import main; main()"]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("logs")
    return [write_log(LogSpec(jobs), folder) for jobs in (FEW, MANY)]


def grows(logs: list[Path], *words: str | Path) -> float:
    """Bytes of memory a job; LOG stands for the log."""
    few, many = (process([*COMMAND, *(log if word == "LOG" else word for word in words)])[0].peak_mb for log in logs)
    return (many - few) * 2**20 / (MANY - FEW)


@pytest.mark.parametrize("policy", ["easy", "reject"])
def test_of_a_run_that_is_written(logs: list[Path], tmp_path: Path, policy: str) -> None:
    run = ("run", "LOG", "--cluster", "120x4", "--policy", policy, "--force", "--out", tmp_path / "run")
    assert grows(logs, *run) < MOST
    shutil.rmtree(tmp_path / "run")


def test_of_a_run_of_which_only_the_summary_is_wanted(logs: list[Path]) -> None:
    assert grows(logs, "run", "LOG", "--cluster", "120x4") < MOST


def test_of_looking_into_a_log(logs: list[Path]) -> None:
    assert grows(logs, "inspect", "LOG") < MOST


def test_of_writing_a_log_in_another_format(logs: list[Path], tmp_path: Path) -> None:
    assert grows(logs, "convert", "LOG", tmp_path / "jobs.csv", "--force") < MOST
