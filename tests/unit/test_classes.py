"""Metrics by class of jobs, on the five jobs of tests/batches.py."""

from __future__ import annotations

import pytest
from tests.batches import TWO_NODES, config, job_batch, time_batch

from schedlab.analysis.classes import by_class
from schedlab.analysis.trim import Trim
from schedlab.engine.store import MemoryWriter
from schedlab.model.errors import InputError
from schedlab.model.run import Run


@pytest.fixture
def run() -> Run:
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch())
        writer.write("timeline", time_batch())
        return writer.finish(config())


def test_by_size(run: Run) -> None:
    table = by_class(run.tables, "size")  # three jobs of 2 cores, one of 4: all in 2-4
    assert table["class"].to_list() == ["2-4"]
    assert table["jobs"].to_list() == [4]
    assert table["wait.mean"].to_list() == [40]
    assert table["bounded_slowdown.mean"].to_list() == [pytest.approx(3.075)]
    assert table["slowdown.mean"].to_list() == [pytest.approx(4.95)]  # 1, 1, 2.8, 15
    assert table["core_hours"].to_list() == [pytest.approx(610 / 3600)]


def test_by_runtime(run: Run) -> None:
    table = by_class(run.tables, "runtime")  # 5 and 50 s; twice 100 s
    assert table["class"].to_list() == ["under 1 min", "1-10 min"]
    assert table["jobs"].to_list() == [2, 2]
    assert table["wait.mean"].to_list() == [80, 0]
    assert table["wait.max"].to_list() == [90, 0]


def test_by_user(run: Run) -> None:
    table = by_class(run.tables, "user")  # jobs 1 and 3 are of user 1; 2 and 4 of user 0
    assert table["class"].to_list() == [1, 0]  # 400 core-seconds before 210
    assert table["wait.mean"].to_list() == [45, 35]


def test_an_unknown_user_is_null() -> None:
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch() | {"user": job_batch()["group"]})
        run = writer.finish(config())
    assert by_class(run.tables, "user")["class"].to_list() == [None]


def test_trimmed(run: Run) -> None:
    table = by_class(run.tables, "queue", trim=Trim(0.2, 0.4))  # jobs 2 and 3
    assert table["class"].to_list() == [1]
    assert table["wait.mean"].to_list() == [45]


@pytest.mark.parametrize(
    ("by", "values", "expected"),
    [
        ("size", [1, 2, 4, 5, 16, 17, 16384, 16385], ["1", "2-4", "5-16", "17-64", "4097-16384", "over 16384"]),
        (
            "runtime",
            [0, 59, 60, 599, 600, 3600, 90000],
            ["under 1 min", "1-10 min", "10-60 min", "1-4 h", "24 h and more"],
        ),
    ],
)
def test_edges_of_classes(by: str, values: list[int], expected: list[str]) -> None:
    jobs = [
        (
            i,
            i,
            0.0,
            0.0,
            float(value if by == "runtime" else 1),
            "completed",
            value if by == "size" else 1,
            False,
            {0: 1},
        )
        for i, value in enumerate(values)
    ]
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch(jobs))
        run = writer.finish(config())
    assert by_class(run.tables, by)["class"].to_list() == expected


def test_there_is_no_such_class(run: Run) -> None:
    with pytest.raises(InputError, match="did you mean 'queue'"):
        by_class(run.tables, "queues")
