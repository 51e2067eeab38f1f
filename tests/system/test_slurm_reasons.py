"""The real Slurm's own pending reasons, in runs that say why jobs wait."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.slurm_programs import slurm_programs
from tests.slurm_site import Site, impatient
from typer.testing import CliRunner

import schedlab as sl
from schedlab.cli.main import app
from schedlab.engine.check import check

JOBS = (
    "0 1000 -n 32 -t 30",  # all four nodes
    "10 100 -n 32 -t 5",
    "20 100 -n 1 -t 60",  # it would delay the one before
    "30 100 -n 1 -t 5 --dependency=afterok:1",
    "50 100 -n 1 -t 20:00:00",  # longer than its partition allows
    "60 100 -n 32 -t 5 --array=1-2",
)


@pytest.fixture(scope="session", autouse=True)
def _programs() -> None:
    slurm_programs()


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[sl.Run, sl.Run, Path]:
    """The same jobs, with reasons and without."""
    folder = tmp_path_factory.mktemp("reasons")
    site = Site(folder)
    site.submit(*JOBS)
    out = folder / "told"
    with impatient(7200.0):
        return site.run(reasons=True, out=out), site.run(), out


def words_of(run: sl.Run, job: int) -> list[str]:
    return run.reasons.filter(pl.col("job") == job).sort("from")["words"].to_list()


def test_each_job_has_the_reason_that_squeue_would_show(runs: tuple[sl.Run, sl.Run, Path]) -> None:
    run, _, _ = runs
    assert "Resources" in words_of(run, 2)
    assert "Priority" in words_of(run, 3)
    assert "Dependency" in words_of(run, 4)
    assert words_of(run, 5)[-1] == "PartitionTimeLimit"
    for task in (6, 7):
        assert {"Priority", "Resources"} & set(words_of(run, task))
    assert check(run) == []


def test_a_dependency_names_the_job_that_is_awaited(runs: tuple[sl.Run, sl.Run, Path]) -> None:
    run, _, _ = runs
    told = run.reasons.filter(pl.col("words") == "Dependency")
    awaited = told.filter(pl.col("who").is_not_null())
    assert set(told["job"]) == {4} and awaited["who"].to_list() == [1]
    end = run.jobs.filter(pl.col("job") == 1)["end"].item()
    assert awaited["until"].item() == end  # Slurm says so a little longer, until it looks again
    assert end <= told["until"].max() <= end + 2


def test_asking_changes_nothing_that_is_decided(runs: tuple[sl.Run, sl.Run, Path]) -> None:
    told, untold, _ = runs
    assert told.jobs.equals(untold.jobs) and told.timeline.equals(untold.timeline)
    assert told.evidence("slurm/accounting.parquet") == untold.evidence("slurm/accounting.parquet")
    assert untold.reasons.is_empty()


def test_why_tells_slurms_words(runs: tuple[sl.Run, sl.Run, Path]) -> None:
    _, _, folder = runs
    found = CliRunner().invoke(app, ["why", str(folder), "4"])
    assert found.exit_code == 0 and "“Dependency”, says the policy (job 1)" in found.output
