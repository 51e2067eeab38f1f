"""The same job in two runs, the same repetition in two groups."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.batches import FIVE_JOBS, NAN, TWO_NODES, config, job_batch

from schedlab.analysis.job_values import job_values
from schedlab.analysis.pairing import paired_by_job, paired_by_seed
from schedlab.analysis.trim import Trim
from schedlab.engine.store import MemoryWriter
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.web.jobs import _differences
from schedlab.web.shown import extremes

# As FIVE_JOBS (waits 0, 0, 90, 70 and one rejected), but job 2 never starts, 3 waits 80 s, 4 waits 75 s, 6 is new.
OTHER_JOBS = [
    (1, 0, 0.0, 0.0, 100.0, "completed", 2, False, {0: 2}),
    (2, 1, 10.0, NAN, 50.0, "cancelled", 2, False, {}),
    (3, 2, 20.0, 100.0, 150.0, "completed", 4, False, {0: 2, 1: 2}),
    (4, 3, 30.0, 105.0, 110.0, "completed", 2, False, {0: 2}),
    (6, 5, 50.0, 150.0, 160.0, "completed", 2, False, {0: 2}),
]


def finished(jobs: list[Any]) -> Run:
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch(jobs))
        return writer.finish(config())


def test_waits_of_the_same_jobs() -> None:
    pairs = paired_by_job(finished(FIVE_JOBS), finished(OTHER_JOBS))
    assert pairs.job.tolist() == [1, 3, 4]
    assert pairs.one.tolist() == [0, 90, 70]
    assert pairs.other.tolist() == [0, 80, 75]
    assert pairs.difference.tolist() == [0, 10, -5]
    assert (pairs.only_one, pairs.only_other) == (1, 1)  # job 2; job 6


def test_only_some_jobs() -> None:
    pairs = paired_by_job(finished(FIVE_JOBS), finished(FIVE_JOBS), "bounded_slowdown", trim=Trim(0.2, 0.2))
    assert pairs.job.tolist() == [2, 3, 4]
    assert pairs.one.tolist() == [1, 2.8, 7.5]
    assert (pairs.only_one, pairs.only_other) == (0, 0)


def test_numbers_that_are_used_twice() -> None:
    """In one of the runs or in both: jobs are known by their places in the workload, and keep their own numbers."""
    twice = finished([(1, *row[1:]) for row in OTHER_JOBS])
    pairs = paired_by_job(twice, finished(OTHER_JOBS))
    assert pairs.place.tolist() == [0, 2, 3, 5]
    assert pairs.job.tolist() == [1, 1, 1, 1]
    assert pairs.difference.tolist() == [0, 0, 0, 0]
    one = finished(FIVE_JOBS)
    assert paired_by_job(one, twice).job.tolist() == [1, 3, 4]
    assert extremes(one, twice) == {
        "gained": [{"job": 4, "difference": -5.0}],
        "lost": [{"job": 3, "difference": 10.0}],
    }
    column = _differences(one, twice)
    assert column is not None
    by_job = dict(zip(one.tables.column("job").tolist(), column.tolist(), strict=True))
    assert by_job == pytest.approx({1: 0, 2: NAN, 3: 10, 4: -5, 5: NAN}, nan_ok=True)


def test_another_workload() -> None:
    later = [(job, at, submit + 1, *rest) for job, at, submit, *rest in FIVE_JOBS]
    with pytest.raises(InputError, match="job 1 was submitted at 0 s in one run and at 1 s in the other"):
        paired_by_job(finished(FIVE_JOBS), finished(later))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("start", [0, 10, 110, 100]),
        ("wait", [0, 0, 90, 70]),
        ("turnaround", [100, 100, 140, 75]),
        ("slowdown", [1, 1, 2.8, 15]),
        ("bounded_slowdown", [1, 1, 2.8, 7.5]),
        ("processor_slowdown", [1, 1, 1, 3.75]),
    ],
)
def test_metrics_of_jobs(metric: str, expected: list[float]) -> None:
    tables = finished(FIVE_JOBS).tables
    by_job = dict(zip(tables.column("job").tolist(), job_values(tables, metric).tolist(), strict=True))
    assert [by_job[job] for job in (1, 2, 3, 4)] == pytest.approx(expected)
    assert by_job[5] != by_job[5]  # rejected: NaN


def test_there_is_no_such_metric() -> None:
    with pytest.raises(InputError, match="did you mean 'slowdown'"):
        job_values(finished(FIVE_JOBS).tables, "slowdwon")


def table(*rows: tuple[str, int, int | None, float]) -> pl.DataFrame:
    schema = {"group": pl.String, "repetition": pl.Int64, "seed": pl.Int64, "wait.mean": pl.Float64}
    return pl.DataFrame(list(rows), schema, orient="row")


def test_the_same_seed() -> None:
    study = table(
        ("fcfs", 1, 11, 100.0),
        ("fcfs", 2, 12, 200.0),
        ("fcfs", 3, 13, 0.0),
        ("easy", 3, 13, 5.0),
        ("easy", 1, 11, 50.0),
        ("easy", 4, 14, 7.0),  # the baseline has no such repetition
    )
    found = paired_by_seed(study, "fcfs", ["wait.mean"]).sort("repetition")
    assert found.columns == ["group", "repetition", "seed", "metric", "value", "baseline", "difference", "ratio"]
    assert found.rows() == [
        ("easy", 1, 11, "wait.mean", 50.0, 100.0, -50.0, 0.5),
        ("easy", 3, 13, "wait.mean", 5.0, 0.0, 5.0, None),
    ]


def test_repetitions_without_seeds() -> None:
    study = table(("fcfs", 1, None, 4.0), ("easy", 1, None, 3.0))
    assert paired_by_seed(study, "fcfs", ["wait.mean"])["difference"].to_list() == [-1]


def test_two_runs_of_one_repetition() -> None:
    study = table(("fcfs", 1, 11, 4.0), ("fcfs", 1, 11, 5.0), ("easy", 1, 11, 3.0))
    with pytest.raises(InputError, match="'fcfs' has more than one run of repetition 1, seed 11"):
        paired_by_seed(study, "fcfs", ["wait.mean"])


def test_no_such_baseline() -> None:
    study = table(("fcfs", 1, 11, 4.0), ("easy", 1, 11, 3.0))
    with pytest.raises(InputError, match="did you mean 'fcfs'"):
        paired_by_seed(study, "fcfss", ["wait.mean"])
    with pytest.raises(InputError, match="nothing besides"):
        paired_by_seed(study.head(1), "fcfs", ["wait.mean"])
