"""Runs in which the tasks of a workflow did not keep their order: `check` finds each."""

from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from tests.workflow_graphs import DIAMOND, FAILING

import schedlab as sl
from schedlab.generate.triggers.inject import FIRST_ID, AtTimes, inject
from schedlab.workflow.handling import handled


def run(folder: Path, handling: str, workflow=DIAMOND) -> Path:
    jobs = sl.Workload.of(submit=[0, 50], runtime=[1, 1])
    found = sl.simulate(inject(jobs, AtTimes([0, 10]), handled(workflow, handling)), "pool:20", "easy", out=folder)
    assert sl.check(found) == []
    return folder


def changed(folder: Path, table: str, key: tuple[str, object], **values: object) -> list[str]:
    """What `check` says of workflows after some rows of a table were changed."""
    path = folder / f"{table}.parquet"
    where = pl.col(key[0]) == key[1]
    frame = pl.read_parquet(path).with_columns(
        pl.when(where)
        .then(pl.lit(value))
        .otherwise(pl.col(name).cast(pl.String) if isinstance(value, str) else name)
        .alias(name)
        for name, value in values.items()
    )
    pq.write_table(frame.to_arrow().cast(pq.read_schema(path)), path)
    return [str(offence) for offence in sl.check(folder) if offence.kind == "workflow"]


@pytest.mark.parametrize("handling", ["chained", "aware", "chained(ready)", "chained(ready,retries=2)"])
def test_a_task_that_begins_too_early(tmp_path: Path, handling: str) -> None:
    folder = run(tmp_path / "run", handling)
    place = FIRST_ID + 3  # D of the first one, which starts when B has ended, at 30
    (found,) = changed(folder, "jobs", ("job", place), start=29.0, end=39.0)
    assert found == f"workflow: job {place} at 29: job {FIRST_ID + 1}, before it, was not done"


def test_a_task_after_one_that_failed(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", "chained")
    found = changed(folder, "jobs", ("job", FIRST_ID + 2), state="killed")
    assert found == [f"workflow: job {FIRST_ID + 3} at 30: job {FIRST_ID + 2}, before it, was not done"]


def test_a_task_may_follow_one_that_failed_if_it_goes_on(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", "chained(failure=continue)", FAILING)
    jobs = pl.read_parquet(folder / "jobs.parquet").filter(pl.col("job") == FIRST_ID + 2)
    assert jobs["start"].to_list() == [9.0]
    found = changed(folder, "workflows", ("workflow", 0), handling="chained")
    assert found == ["workflow: the tasks of failing, chained, are not told"]


def test_a_retry_counts_as_the_job(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", "chained(ready,retries=1,failure=continue)", FAILING)
    again = FIRST_ID + 3 + 1
    (found,) = changed(folder, "jobs", ("job", FIRST_ID + 2), start=12.0, end=14.0)  # the second attempt ends at 13
    assert found == f"workflow: job {FIRST_ID + 2} at 12: job {FIRST_ID + 1}, before it, was not done"
    assert again in pl.read_parquet(folder / "jobs.parquet")["job"].to_list()


@pytest.mark.parametrize(
    ("handling", "table", "key", "values", "said"),
    [
        ("chained", "workflows", ("workflow", 1), {"first": FIRST_ID + 5}, "a job of diamond, chained is not there"),
        ("chained", "workflows", ("workflow", 1), {"submit": 9.0}, "its workflow came at 9"),
        ("chained(ready)", "workflows", ("workflow", 1), {"submit": 21.0}, "its workflow came at 21"),
        ("pilot", "tasks", ("task", "D"), {"begin": 29.0}, "task D begins before task B is over, in the same job"),
        ("clustered(levels)", "tasks", ("task", "C"), {"job": 0}, "task C begins before task A is over"),
        ("clustered(levels)", "tasks", ("task", "C"), {"job": 7}, "a task runs in a job that it does not have"),
        ("pilot", "tasks", ("task", "B"), {"after": "9"}, "a task comes after one that is not there"),
        ("chained", "workflows", ("workflow", 1), {"jobs": 3}, "diamond, chained has 4 jobs, and 3"),
    ],
)
def test_tables_that_contradict_each_other(tmp_path: Path, handling, table, key, values, said) -> None:
    folder = run(tmp_path / "run", handling)
    assert any(said in found for found in changed(folder, table, key, **values))


def test_tasks_that_are_not_told(tmp_path: Path) -> None:
    folder = run(tmp_path / "run", "chained")
    (folder / "tasks.parquet").unlink()
    assert any("tasks.parquet" in str(offence) for offence in sl.check(folder))
