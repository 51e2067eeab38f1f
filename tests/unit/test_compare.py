"""Runs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from tests.batches import FIVE_JOBS, TWO_NODES, config, job_batch, time_batch
from typer.testing import CliRunner

from schedlab.analysis.classes import by_class
from schedlab.analysis.compare import METRICS, best, compare
from schedlab.analysis.trim import Trim
from schedlab.cli.compare import open_runs
from schedlab.cli.main import app
from schedlab.cli.table import class_table, comparison_table, footnote
from schedlab.engine.store import MemoryWriter
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.run import Run


def make(
    policy: str,
    later: float = 0,
    cluster: Cluster = TWO_NODES,
    workload: Mapping[str, Any] | None = None,
    **options: Any,
) -> Run:
    described = config(policy, **options)
    described["workload"] |= workload or {}
    jobs = [(*row[:3], row[3] + later, row[4] + later, *row[5:]) for row in FIVE_JOBS]
    with MemoryWriter(cluster) as writer:
        writer.write("jobs", job_batch(jobs))
        writer.write("timeline", time_batch())
        return writer.finish(described)


def test_the_best_is_marked() -> None:
    table = compare([make("slow", 50), make("quick")])
    assert [row.label for row in table.rows] == ["slow", "quick"]
    assert table.best(METRICS["wait.mean"]) == {1}
    assert table.values(METRICS["wait.mean"]) == [90, 40]
    assert table.best(METRICS["utilisation"]) == {1}
    assert table.best(METRICS["states.killed"]) == frozenset()  # neither better nor worse
    assert table.differences == ()


def test_both_slowdowns_are_there_under_their_names() -> None:
    """Job 4 waits 70 s and runs 5 s: a slowdown of 15, and of 7.5 if it counts as 10 s long."""
    table = compare([make("slow", 50), make("quick")])
    assert table.values(METRICS["slowdown.mean"])[1] == pytest.approx((1 + 1 + 2.8 + 15) / 4)
    assert table.values(METRICS["bounded_slowdown.mean"])[1] == pytest.approx((1 + 1 + 2.8 + 7.5) / 4)
    assert [METRICS[f"{name}.mean"].label for name in ("slowdown", "bounded_slowdown")] == [
        "mean slowdown",
        "mean bounded slowdown",
    ]
    assert table.best(METRICS["slowdown.mean"]) == {1}


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


def test_none_is_best_where_the_jobs_differ() -> None:
    runs = [make("slow", 50), make("quick", workload={"name": "other jobs"})]
    table = compare(runs)
    assert table.differences == ("workload",)
    assert table.best(METRICS["wait.mean"]) == frozenset()
    assert footnote(table).startswith("not the same jobs, so no run is marked as best; ")
    assert "* best" not in footnote(table)
    classes = [by_class(run.tables, "size") for run in runs]
    assert "*" not in shown(comparison_table(table)) + shown(
        class_table("size", table, classes, METRICS["wait.mean"], 9)
    )
    same = compare([make("slow", 50), make("quick")])
    assert footnote(same).startswith("* best")
    assert "*" in shown(class_table("size", same, classes, METRICS["wait.mean"], 9))


def test_classes_of_different_logs_have_counts_of_their_own() -> None:
    """Twice as many jobs of four cores in the second log; the same log twice has one pair of columns."""
    runs = [make("easy"), make("fcfs", workload={"name": "other jobs"})]
    classes = [by_class(run.tables, "size") for run in runs]
    classes[1] = classes[1].with_columns(classes[1]["jobs"] * 2, classes[1]["core_hours"] * 2)
    text = shown(class_table("size", compare(runs), classes, METRICS["wait.mean"], 9))
    assert text.count("jobs") == 2
    first = next(line.split() for line in text.splitlines() if line.startswith(str(classes[0]["class"][0])))
    number = len(str(classes[0]["class"][0]).split())
    assert [first[number], first[number + 3]] == [str(table["jobs"][0]) for table in classes]
    same = [make("easy"), make("fcfs", 50)]
    text = shown(class_table("size", compare(same), classes[:1] * 2, METRICS["wait.mean"], 9))
    assert text.count("jobs") == 1


def shown(table: Any) -> str:
    console = Console(width=300, file=StringIO())
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    run = make("easy", workload={"phases": [{"name": "experiment", "begin": 10.0, "end": 30.0}]})
    for name in ("one", "two"):
        run.save(tmp_path / name)
    return [str(tmp_path / name) for name in ("one", "two")]


@pytest.mark.parametrize(
    ("option", "heading"),
    [
        ((), "five on 2x2\n"),
        (("--phase", "experiment"), "five on 2x2 (phase experiment)\n"),
        (("--trim", "20%"), "five on 2x2 (without the first 20 % and the last 20 % of the jobs)\n"),
    ],
)
def test_the_title_says_which_jobs_count(folders: list[str], option: tuple[str, ...], heading: str) -> None:
    assert CliRunner().invoke(app, ["compare", *folders, *option]).output.startswith(heading)


def test_the_folder_of_a_study_is_not_a_run(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").touch()
    report = f"schedlab experiment report {tmp_path} --out report.html compares its runs"
    with pytest.raises(InputError) as error:
        open_runs([tmp_path])
    assert error.value.hint == report
    (tmp_path / "runs").mkdir()
    with pytest.raises(InputError) as error:
        open_runs([tmp_path])
    assert error.value.hint == f"{report}, or name {tmp_path}/runs/*"


def test_trimmed_and_with_another_tau() -> None:
    run = make("easy")
    assert compare([run], trim=Trim(0.2, 0.2)).rows[0].summary["jobs"] == 3
    assert compare([run], tau=1).rows[0].summary["bounded_slowdown"]["max"] == 15
    assert compare([run]).rows[0].summary == run.summary
