"""Fairness of five jobs of two users, by hand."""

from __future__ import annotations

from typing import Any

import pytest
from tests.batches import FIVE_JOBS, NAN, TWO_NODES, config, job_batch

from schedlab.analysis.fairness import fairness, jain_index, start_misses, users_table
from schedlab.analysis.trim import Trim
from schedlab.engine.store import MemoryWriter
from schedlab.model.run import Run


def finished(jobs: list[Any] = FIVE_JOBS) -> Run:
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch(jobs))
        return writer.finish(config())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 1, 1, 1], 1),
        ([1, 0, 0, 0], 0.25),
        ([1, 2, 3], 36 / 42),
        ([5], 1),
        ([0, 0], 1),
        ([], None),
        ([2, None, 2], 1),
    ],
)
def test_jain(values: list[float], expected: float | None) -> None:
    assert jain_index(values) == (None if expected is None else pytest.approx(expected))


def test_users() -> None:
    table = users_table(finished())  # user 1 has jobs 1 and 3, user 0 has 2 and 4; all wait 40 s on average
    assert table["user"].to_list() == [1, 0]
    assert table["wait.mean"].to_list() == [45, 35]
    assert table["wait_ratio"].to_list() == [1.125, 0.875]


def test_fairness() -> None:
    found = fairness(finished())
    assert found["users"] == 2
    assert found["jain_wait"] == pytest.approx(80**2 / (2 * (45**2 + 35**2)))
    assert found["jain_bounded_slowdown"] == pytest.approx(6.15**2 / (2 * (1.9**2 + 4.25**2)))
    assert found["largest_wait_ratio"] == 1.125


def test_unknown_users_are_not_a_user() -> None:
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch() | {"user": job_batch()["group"]})
        found = fairness(writer.finish(config()))
    assert found["users"] == 0
    assert found["jain_wait"] is None
    assert found["largest_wait_ratio"] is None


def test_nobody_waits() -> None:
    found = fairness(finished(FIVE_JOBS), trim=Trim(0, 0.6))  # jobs 1 and 2
    assert found["jain_wait"] == 1
    assert found["largest_wait_ratio"] is None


def test_starts_later_than_in_a_reference() -> None:
    reference = [
        (1, 0, 0.0, 0.0, 100.0, "completed", 2, False, {0: 2}),
        (2, 1, 10.0, 10.0, 110.0, "completed", 2, False, {1: 2}),
        (3, 2, 20.0, 60.0, 110.0, "completed", 4, False, {0: 2, 1: 2}),  # 50 s before 110
        (4, 3, 30.0, 160.0, 165.0, "completed", 2, False, {0: 2}),  # 60 s after 100
        (5, 4, 40.0, 165.0, 170.0, "completed", 2, False, {0: 2}),  # rejected in the run
    ]
    found = start_misses(finished(), finished(reference))
    assert (found.jobs, found.missed, found.never_started) == (4, 1, 1)
    assert found.share == 0.25
    assert found.mean_miss == 12.5
    assert found.mean_of_missed == 50


def test_the_start_counts_and_not_the_wait() -> None:
    with MemoryWriter(TWO_NODES) as writer:  # jobs became eligible later, and started at the same times
        batch = job_batch()
        writer.write("jobs", batch | {"eligible": batch["start"]})
        reference = writer.finish(config())
    assert start_misses(finished(), reference).missed == 0


def test_no_job_in_both() -> None:
    found = start_misses(finished(), finished([(5, 4, 40.0, NAN, 40.0, "rejected", 9, False, {})]))
    assert (found.jobs, found.missed, found.share, found.mean_of_missed) == (0, 0, None, None)
