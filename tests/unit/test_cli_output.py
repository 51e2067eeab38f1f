"""Numbers, tables and progress as the command line shows them."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from schedlab.analysis.compare import Comparison, Row
from schedlab.analysis.metrics import summarise
from schedlab.analysis.written import column
from schedlab.cli import output, progress, table
from schedlab.cli.progress import ReadingBar, SimulationBar
from schedlab.cli.table import comparison_table, footnote, marked
from schedlab.engine.store import MemoryTables
from schedlab.model.cluster import Cluster


@pytest.mark.parametrize(
    ("values", "unit", "expected"),
    [
        ([30, 90], "time", ("s", ["30.00", "90.00"])),
        ([60, 600], "time", ("min", ["1.00", "10.00"])),
        ([3600, 7200, None], "time", ("h", ["1.00", "2.00", "–"])),
        ([86_400 * 1265], "time", ("d", ["1,265"])),
        ([0, 0], "time", ("s", ["0", "0"])),
        ([0.5916, 1], "share", ("%", ["59.2", "100.0"])),
        ([12.345, 123.456], "number", ("", ["12.3", "123.5"])),
        ([4680, 5400, 7_974_000], "time", ("h", ["1.30", "1.50", "2,215.00"])),
        ([14817, 0], "count", ("", ["14,817", "0"])),
        ([], "time", ("s", [])),
    ],
)
def test_a_column_has_one_unit(values: list[float | None], unit: Any, expected: tuple[str, list[str]]) -> None:
    assert column(values, unit) == expected


def test_the_best_is_starred_with_what_looks_the_same() -> None:
    assert [text.plain for text in marked(["1.0", "2.0", "1.0"], frozenset({0}))] == ["1.0*", "2.0 ", "1.0*"]
    assert [text.plain for text in marked(["1.0", "1.0"], frozenset({0}))] == ["1.0 ", "1.0 "]


def comparison(*policies: str) -> Comparison:
    empty = summarise(MemoryTables(Cluster.of_cores(1)), 1)
    rows = []
    for number, policy in enumerate(policies, 1):
        wait = dict.fromkeys(empty["wait"], 3600.0 * number)
        states = empty["states"] | {"killed": 7, "rejected": number}
        rows.append(Row(policy, empty | {"wait": wait, "states": states}))
    return Comparison(tuple(rows))


@pytest.mark.parametrize(("width", "columns"), [(200, 15), (90, 9), (40, 5)])
def test_a_narrow_terminal_gets_fewer_columns(monkeypatch: pytest.MonkeyPatch, width: int, columns: int) -> None:
    monkeypatch.setattr(table, "console", lambda: Console(width=width))
    found = comparison_table(comparison("easy", "fcfs"))
    assert len(found.columns) == columns  # the policy, metrics, and one for the rejected, in which they differ
    assert "killed: 7 jobs" in footnote(comparison("easy", "fcfs"))


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    text = io.StringIO()
    console = Console(file=text, force_terminal=True, width=120, color_system=None)
    monkeypatch.setattr(output, "messages", lambda: console)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    return text


def test_progress_shows_date_jobs_and_speed(terminal: io.StringIO) -> None:
    with SimulationBar("easy:order=[sjf]", 200, datetime(2002, 7, 28, tzinfo=UTC)) as bar:
        bar(86_400.0 * 3, 150)
        assert bar._progress is not None
        bar._progress.refresh()
    shown = terminal.getvalue()
    assert "easy:order=[sjf]" in shown
    assert "75%" in shown
    assert "2002-07-31 00:00  150 jobs" in shown
    assert "/s" in shown


@pytest.mark.parametrize(
    ("origin", "now", "expected"),
    [(None, 86_400.0 * 3, "day 3.0"), (datetime(2002, 7, 28, tzinfo=UTC), 1e12, "in the far future")],
)
def test_progress_where_there_is_no_date(
    terminal: io.StringIO, origin: datetime | None, now: float, expected: str
) -> None:
    with SimulationBar("easy", 200, origin) as bar:
        bar(now, 150)
        assert bar._progress is not None
        bar._progress.refresh()
    assert f"{expected}  150 jobs" in terminal.getvalue()


def test_what_is_quick_shows_no_progress(terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 60.0)
    with ReadingBar("log.swf") as bar:
        bar(10, 100)
    assert terminal.getvalue() == ""
