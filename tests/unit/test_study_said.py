"""What a study says of itself in the terminal and in its report: how much counts, and how much is not shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.test_study_claims import terminal
from tests.unit.test_study_report import STUDY, checked, made, simulated, words

LOG = """; MaxProcs: 8
1 0 -1 100 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1
2 10 -1 100 8 -1 -1 8 100 -1 1 1 1 1 1 1 -1 -1
3 20 -1 50 2 -1 -1 2 60 -1 1 1 1 1 1 1 -1 -1
"""
OF_A_LOG = """repetitions = 4
baseline = { policy = "fcfs" }
[workload]
log = "log.swf"
[run]
policy = ["fcfs", "easy"]
"""
COPIES = "The 4 repetitions of each are the same schedule (nothing random in it): they count once."


def test_repetitions_of_the_same_schedule_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "log.swf").write_text(LOG)
    results = simulated(tmp_path, OF_A_LOG)
    seen = words(checked(results))
    assert COPIES in seen
    assert "One run of each counts: nobody knows how far chance matters." in seen
    assert "Means over the repetitions" not in seen
    assert COPIES in terminal(results, capsys)


def test_what_they_cost_counts_each(tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(LOG)
    results = simulated(tmp_path, 'metrics = ["wait.mean", "performance.total"]\n' + OF_A_LOG)
    assert results.copies.endswith("they count once, except for what they cost.")


def test_only_some_groups_have_nothing_random(tmp_path: Path) -> None:
    more = (f"{n} 30 -1 {9 * n} 8 -1 -1 8 {9 * n}" + " -1" * 9 + "\n" for n in range(4, 9))
    (tmp_path / "log.swf").write_text(LOG + "".join(more))
    results = simulated(tmp_path, OF_A_LOG.replace('"easy"', '"none:order=random({seed})"'))
    assert results.copies.startswith("The 4 repetitions of fcfs are the same schedule")


def test_repetitions_that_differ_are_no_copies(tmp_path: Path) -> None:
    assert made(tmp_path, STUDY, lambda run: 1.0 + run.repetition).copies == ""


def test_what_the_terminal_does_not_show_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """10 policies against the baseline in 5 metrics: 50 comparisons, of which 12 are printed."""
    (tmp_path / "log.swf").write_text(LOG)
    orders = ("easy", "skip", "sjf", "ljf", "smallest", "largest", "saf", "lxf", "wfp3", "unicef")
    metrics = 'metrics = ["wait.mean", "wait.max", "utilisation", "makespan", "turnaround.mean"]\n'
    policies = ", ".join(f'"{order}"' for order in orders)
    seen = terminal(simulated(tmp_path, metrics + OF_A_LOG.replace('"easy"', policies)), capsys)
    assert "and 38 more comparisons in the report" in seen
    assert "and 1 more metric in the report: mean turnaround" in seen


def test_comparisons_of_metrics_that_are_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One policy against the baseline in the usual six metrics, of which the terminal compares two."""
    (tmp_path / "log.swf").write_text(LOG)
    seen = terminal(simulated(tmp_path, OF_A_LOG), capsys)
    assert "and 4 more comparisons in the report" in seen
    assert "and 2 more metrics in the report: utilisation, makespan" in seen
