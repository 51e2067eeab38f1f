"""`schedlab inspect --by`: who brings the jobs and the work of a log."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.test_plot import LONG_NAMES, assert_readable, figure_drawn
from typer.testing import CliRunner

from schedlab.analysis.shares import shares_by_class
from schedlab.cli.main import app
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload
from schedlab.plot.shares import plot_shares
from schedlab.workload.describe import describe
from schedlab.workload.read import read_workload

DEMO = Path(__file__).parents[2] / "examples" / "demo.swf"


def four_jobs() -> Workload:
    """1, 4, 16 and 1 core-hours."""
    hour = 3600
    return Workload.of(
        submit=[0, 1, 2, 3],
        runtime=[hour, 2 * hour, 4 * hour, 30],
        count=[1, 2, 4, 120],
        user=[0, 1, 1, -1],
        labels={"user": ["ann", "bob"]},
    )


@pytest.mark.parametrize(
    ("by", "classes", "jobs", "hours"),
    [
        ("size", ["1", "2-4", "65-256"], [1, 2, 1], [1, 20, 1]),
        ("runtime", ["under 1 min", "1-4 h", "4-12 h"], [1, 2, 1], [1, 5, 16]),
        ("user", ["bob", "ann", None], [2, 1, 1], [20, 1, 1]),
        ("group", [None], [4], [22]),
    ],
)
def test_jobs_and_core_hours(by: str, classes: list[Any], jobs: list[int], hours: list[float]) -> None:
    found = shares_by_class(four_jobs(), by)
    if by == "user":  # ann and the unknown have as much
        assert sorted(found["class"], key=str) == sorted(classes, key=str) and found["class"][0] == "bob"
    else:
        assert found["class"].to_list() == classes
    assert found["jobs"].to_list() == jobs
    assert found["core_hours"].to_list() == pytest.approx(hours)
    assert found["jobs_share"].to_list() == pytest.approx([number / 4 for number in jobs])
    assert found["core_hours_upto"].to_list() == pytest.approx(np.cumsum(hours) / 22)


def test_batches_do_not_matter() -> None:
    jobs = four_jobs()
    whole = next(jobs.batches())
    apart = four_jobs()
    apart.source = lambda: iter([whole.take(np.array([row])) for row in range(len(whole))])
    for by in ("size", "user"):
        assert shares_by_class(apart, by).equals(shares_by_class(jobs, by))


def test_memory_does_not_grow_with_the_numbers_of_users() -> None:
    """Site numbers of users go up to billions."""
    jobs = Workload.of(submit=[0, 1, 2], runtime=[3600, 3600, 7200], user=[20_000_000, -1, 20_000_000])
    shares_by_class(four_jobs(), "user")  # imports what it needs
    tracemalloc.start()
    try:
        found = shares_by_class(jobs, "user")
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
    assert found["class"].to_list() == ["20000000", None]
    assert (found["jobs"].to_list(), found["core_hours"].to_list()) == ([2, 1], [3.0, 1.0])


def test_unknown_classes_are_refused() -> None:
    with pytest.raises(InputError, match="there is no class of jobs 'usr'") as error:
        shares_by_class(four_jobs(), "usr")
    assert "did you mean 'user'?" in error.value.hint


def test_the_figure_adds_up() -> None:
    axes = plot_shares(shares_by_class(four_jobs(), "size"), by="size", title="four jobs")
    assert [bar.get_width() for bar in axes.patches[:3]] == pytest.approx([25, 50, 25])  # type: ignore[attr-defined]
    assert np.asarray(axes.get_lines()[1].get_xdata()).tolist() == pytest.approx([100 / 22, 2100 / 22, 100])
    assert [text.get_text() for text in axes.get_yticklabels()] == ["1", "2-4", "65-256"]


@pytest.mark.parametrize("width", ["column", "page"])
def test_many_owners_share_a_row(width: Any) -> None:
    jobs = Workload.of(submit=range(40), runtime=range(40, 0, -1), user=range(40), labels={"user": LONG_NAMES * 4})
    figure = figure_drawn(plot_shares(shares_by_class(jobs, "user"), by="user", width=width))
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert len(names) == 16 and names[-1] == "25 others"
    assert_readable(figure)
    figure_drawn(plot_shares(shares_by_class(jobs, "user").clear(), width=width))


def test_on_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "users.svg"
    found = CliRunner().invoke(app, ["inspect", str(DEMO), "--by", "user", "--out", str(out)])
    assert found.exit_code == 0 and out.stat().st_size > 5000
    assert "core-hours" in found.output and "up to here %" in found.output
    document = json.loads(CliRunner().invoke(app, ["inspect", str(DEMO), "--by", "size", "--json"]).stdout)
    assert sum(row["jobs"] for row in document["classes"]) == 2000
    assert sum(row["core_hours"] for row in document["classes"]) == pytest.approx(describe(DEMO).work / 3600)
    wrong = CliRunner().invoke(app, ["inspect", str(DEMO), "--out", str(tmp_path / "a.png")])
    assert isinstance(wrong.exception, InputError) and "--by user" in wrong.exception.hint
    page = CliRunner().invoke(app, ["inspect", str(DEMO), "--by", "user", "--out", str(tmp_path / "a.html")])
    assert isinstance(page.exception, InputError)


def test_a_log_of_the_archive(traces: Path) -> None:
    jobs = read_workload(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    for by in ("size", "runtime", "user"):
        found = shares_by_class(jobs, by)
        assert sum(found["jobs"]) == len(jobs)
        assert sum(found["core_hours"]) == pytest.approx(describe(jobs).work / 3600)
