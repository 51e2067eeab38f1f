"""Runs side by side."""

from __future__ import annotations

from typing import Any

import pytest
from tests.batches import FIVE_JOBS, TWO_NODES, config, job_batch, time_batch

from schedlab.analysis.compare import METRICS, best, compare
from schedlab.analysis.trim import Trim
from schedlab.engine.store import MemoryWriter
from schedlab.model.cluster import Cluster
from schedlab.model.run import Run


def make(policy: str, later: float = 0, cluster: Cluster = TWO_NODES, **options: Any) -> Run:
    jobs = [(*row[:3], row[3] + later, row[4] + later, *row[5:]) for row in FIVE_JOBS]
    with MemoryWriter(cluster) as writer:
        writer.write_jobs(job_batch(jobs))
        writer.write_timeline(time_batch())
        return writer.finish(config(policy, **options))


def test_the_best_is_marked() -> None:
    table = compare([make("slow", 50), make("quick")])
    assert [row.label for row in table.rows] == ["slow", "quick"]
    assert table.best(METRICS["wait.mean"]) == {1}
    assert table.values(METRICS["wait.mean"]) == [90, 40]
    assert table.best(METRICS["utilisation"]) == {1}
    assert table.best(METRICS["states.killed"]) == frozenset()  # neither better nor worse
    assert table.differences == ()


@pytest.mark.parametrize(
    ("values", "better", "expected"),
    [
        ([3, 1, 2], "lower", {1}),
        ([3, 1, 2], "higher", {0}),
        ([1, None, 1, 2], "lower", {0, 2}),
        ([1, 1], "lower", set()),
        ([1], "lower", set()),
        ([None, None], "lower", set()),
        ([1, 2], None, set()),
    ],
)
def test_best(values: list[float | None], better: Any, expected: set[int]) -> None:
    assert best(values, better) == expected


def test_what_runs_differ_in_is_said() -> None:
    table = compare([make("easy"), make("easy", cluster=Cluster.of_cores(8), estimate="exact")])
    assert table.differences == ("cluster", "estimate")
    assert [row.label for row in table.rows] == ["easy #1", "easy #2"]
    assert table.rows[1].differences == {"cluster": "pool:8", "estimate": "exact"}


def test_trimmed_and_with_another_tau() -> None:
    run = make("easy")
    assert compare([run], trim=Trim(0.2, 0.2)).rows[0].summary["jobs"] == 3
    assert compare([run], tau=1).rows[0].summary["bounded_slowdown"]["max"] == 15
    assert compare([run]).rows[0].summary == run.summary
