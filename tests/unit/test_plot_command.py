"""`schedlab plot`: what it draws and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from tests.unit.test_plot import five_jobs
from typer.testing import CliRunner

from schedlab.cli.plot import plot
from schedlab.model.errors import InputError

app = typer.Typer()
app.command()(plot)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for policy in ("easy", "fcfs"):
        five_jobs(policy, "2026-03-02T00:00:00+00:00").save(tmp_path / "results" / policy)
    return tmp_path / "results"


def call(*arguments: object) -> None:
    """Run the command and let its errors through, as the program does to print them."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=True)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    "options",
    [
        ["--kind", "gantt", "--colour", "user", "--from", "10s", "--to", "2m"],
        ["--kind", "violin", "--metric", "slowdown"],
        ["--kind", "ecdf", "--metric", "bounded_slowdown", "--width", "column", "--label", "A", "--label", "B"],
        ["--kind", "classes", "--statistic", "median"],
        ["--kind", "queue", "--from", "2026-03-02T00:01", "--title", "Queue"],
        [],
    ],
)
def test_figures(options: list[str], results: Path, tmp_path: Path) -> None:
    call(results, *options, "-o", tmp_path / "figure.svg")
    assert "</svg>" in (tmp_path / "figure.svg").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "figure.gif"], "names end in"),
        (["-k", "gant", "-o", "figure.png"], "did you mean 'gantt'"),
        (["-k", "box", "--colour", "user", "-o", "figure.png"], r"--colour means nothing for --kind box\n.*gantt"),
        (["-k", "comparison", "--from", "1d", "-o", "figure.png"], "--from, --to means nothing"),
        (
            ["-k", "box", "--metric", "length", "-o", "figure.png"],
            "jobs: wait, turnaround, slowdown, bounded_slowdown",
        ),
        (["-k", "gantt", "--from", "1d", "-o", "figure.png"], "nothing happened between .*\n.*2m 40s"),
        (["-k", "gantt", "--from", "50s", "--to", "40s", "-o", "figure.png"], "--to is not after --from"),
        (["-k", "gantt", "--from", "2026-13-01", "-o", "figure.png"], "--from: '2026-13-01' is not a time"),
        (["-k", "gantt", "--to", "soon", "-o", "figure.png"], "--to: 'soon' is not a duration"),
        (["-k", "ecdf", "--label", "A", "-o", "figure.png"], "one label for each run"),
        ([], "where to"),
    ],
)
def test_mistakes(
    options: list[str], message: str, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        call(results, *options)
    assert not list(tmp_path.glob("figure*"))


def test_a_file_that_is_there_stays(results: Path, tmp_path: Path) -> None:
    figure = tmp_path / "figure.png"
    figure.write_text("mine")
    with pytest.raises(InputError, match="is already there"):
        call(results, "-k", "queue", "-o", figure)
    assert figure.read_text() == "mine"
    call(results, "-k", "queue", "-o", figure, "--force")
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_dates_need_an_origin(tmp_path: Path) -> None:
    five_jobs().save(tmp_path / "run")
    with pytest.raises(InputError, match="the run has no dates"):
        call(tmp_path / "run", "-k", "queue", "--from", "2026-03-02", "-o", tmp_path / "figure.png")


def test_the_list_of_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    from schedlab.cli.output import console
    from schedlab.plot.catalogue import KINDS

    console.cache_clear()
    plot(list_kinds=True)
    console.cache_clear()
    printed = capsys.readouterr().out
    assert all(kind in printed for kind in KINDS)
    assert "--colour" in printed
