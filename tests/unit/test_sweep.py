"""A metric over a parameter of a study: what is on the axes, lines and panels, and in the figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from tests.studies import run
from tests.unit.test_plot import LONG_NAMES, assert_readable, figure_drawn
from tests.unit.test_study_report import made, simulated, words
from typer.testing import CliRunner

from schedlab.cli.main import app
from schedlab.experiment.plan import Part, PlannedRun
from schedlab.experiment.results import Results
from schedlab.experiment.sweep import axes_of, axis_of, sweep_table, swept
from schedlab.model.errors import InputError
from schedlab.plot.sweep import plot_sweep
from schedlab.report.study import study_page

DEMO = Path(__file__).parents[2] / "examples" / "demo.swf"
LOADS = f"""
    repetitions = 3
    metrics = ["wait.mean", "utilisation"]
    [workload]
    log = "{DEMO}"
    load = [0.9, 0.5, 0.7]
    [run]
    cluster = "64x4"
    policy = ["fcfs", "easy"]
"""


def study(folder: Path, run: str, workload: str = "") -> Results:
    """Of one repetition; a run waits 10 s and a second for each letter of its parameters."""
    text = f'metrics = ["wait.mean"]\n[workload]\nlog = "{DEMO}"\n{workload}\n[run]\n{run}\n'
    return made(folder, text, lambda run: 10.0 + len(str(run.point)))


def wait_of(run: PlannedRun) -> float:
    """FCFS waits 1000 s × load, EASY a tenth of that; repetitions differ by 10 s from one to the next."""
    return float(run.point["load"]) * (1000 if run.point["policy"] == "fcfs" else 100) + 10 * run.repetition


def test_the_table_of_a_sweep(tmp_path: Path) -> None:
    results = made(tmp_path, LOADS, wait_of)
    assert axes_of(results) == ["load", "policy"]
    assert swept(results) == ["load"]
    table = sweep_table(results, axis_of(results), "wait.mean").sort("line", "x")
    assert table["line"].to_list() == ["easy"] * 3 + ["fcfs"] * 3
    assert table["x"].to_list() == [0.5, 0.7, 0.9] * 2
    assert table["value"].to_list() == pytest.approx([60, 80, 100, 510, 710, 910])
    half = 4.302653 * 10 / 3**0.5  # Student's t for 95 % and three repetitions of standard deviation 10
    assert (table["high"] - table["value"]).to_list() == pytest.approx([half] * 6, rel=1e-6)
    assert (table["value"] - table["low"]).to_list() == pytest.approx([half] * 6, rel=1e-6)
    assert set(table["panel"]) == {""} and set(table["n"]) == {3}


@pytest.mark.parametrize(
    ("run", "name", "places", "unit"),
    [
        ('cluster = ["pool:64", "16x8", "pool:256"]', "cluster", [64.0, 128.0, 256.0], "cores"),
        ('estimate = ["limit*0.5", "limit*1", "exact", "limit*2.5"]', "estimate", [0.5, 1.0, None, 2.5], "limit*…"),
        (
            'policy = ["easy:depth=5", "fcfs", "easy:depth=50", "easy:depth=500"]',
            "policy.depth",
            [5, None, 50, 500],
            "",
        ),
        (
            'policy = ["easy:order=random(1)", "easy:order=random(2)", "easy:order=random(4)"]',
            "policy.order",
            [1, 2, 4],
            "random(…)",
        ),
        (
            'observe = ["none", "failures(mtbf=1e6)", "failures(mtbf=2e6)", "failures(mtbf=4e6)"]',
            "observe.mtbf",
            [None, 1e6, 2e6, 4e6],
            "",
        ),
    ],
)
def test_what_can_be_swept(tmp_path: Path, run: str, name: str, places: list[float | None], unit: str) -> None:
    cluster = "" if "cluster" in run else '\ncluster = "pool:256"'
    results = study(tmp_path, run + cluster)
    assert name in axes_of(results)
    axis = axis_of(results, name)
    assert (axis.numeric, axis.unit) == (True, unit)
    found = sweep_table(results, axis, "wait.mean")["x"].to_list()
    key: Any = lambda place: (place is None, place)  # noqa: E731
    assert sorted(found, key=key) == sorted(places, key=key)
    assert swept(results) == [name]


def test_durations_and_shares(tmp_path: Path) -> None:
    results = study(
        tmp_path, 'cluster = "pool:256"', 'thin = ["25%", "50%", "100%"]\nround_limits = ["1h", "2h", "1d"]'
    )
    assert axis_of(results, "thin").places == {"25%": 0.25, "50%": 0.5, "100%": 1.0}
    hours = axis_of(results, "round_limits")
    assert (hours.unit, hours.places) == ("s", {"1h": 3600.0, "2h": 7200.0, "1d": 86_400.0})


def test_lines_of_a_swept_argument(tmp_path: Path) -> None:
    """What is left of the policy is the line; one without the argument is a level."""
    results = study(
        tmp_path, 'cluster = "pool:64"\npolicy = ["fcfs", "easy:depth=5,order=sjf", "easy:depth=50,order=sjf"]'
    )
    table = sweep_table(results, axis_of(results, "policy.depth"), "wait.mean")
    assert sorted(set(table["line"])) == ["easy:order=sjf", "fcfs"]
    assert table.filter(pl.col("x").is_null())["line"].to_list() == ["fcfs"]


def test_what_else_varies_makes_panels(tmp_path: Path) -> None:
    results = study(
        tmp_path, 'cluster = "pool:64"\npolicy = ["fcfs", "easy"]', "load = [0.5, 0.7, 0.9]\nthin = [0.5, 1.0]"
    )
    table = sweep_table(results, axis_of(results, "load"), "wait.mean")
    assert sorted(set(table["panel"])) == ["thin 0.5", "thin 1.0"]
    by_policy = sweep_table(results, axis_of(results, "policy"), "wait.mean")
    assert sorted(set(by_policy["line"])) == ["load 0.5", "load 0.7", "load 0.9"]


@pytest.mark.parametrize(
    ("name", "said", "hint"),
    [
        ("lod", "'lod' does not vary in this study", "did you mean 'load'?"),
        ("jobs", "'jobs' does not vary", "what varies: load, policy"),
        ("seed", "repetitions make the intervals", "what varies: load, policy"),
    ],
)
def test_what_does_not_vary_is_refused(tmp_path: Path, name: str, said: str, hint: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        axis_of(made(tmp_path, LOADS, wait_of), name)
    assert hint in error.value.hint


def drawn(table: pl.DataFrame, **options: Any) -> Figure:
    figure = figure_drawn(plot_sweep(table, **options))
    assert_readable(figure)
    return figure


def rows(*given: tuple[Any, ...], kind: Any = pl.Float64) -> pl.DataFrame:
    numbers = dict.fromkeys(("value", "low", "high"), pl.Float64)
    return pl.DataFrame(list(given), {"x": kind, "line": pl.String, "panel": pl.String, **numbers}, orient="row")


LINES = rows(
    (0.9, "easy", "", 7200.0, 3600.0, 10_800.0),
    (0.5, "easy", "", 3600.0, None, None),
    (0.5, "fcfs", "", 14_400.0, 10_800.0, 18_000.0),
    (0.9, "fcfs", "", 28_800.0, 25_200.0, 36_000.0),
)


def test_lines_with_bands() -> None:
    axes = drawn(LINES, x="load", label="mean wait", unit="s").axes[0]
    easy, fcfs = axes.get_lines()
    np.testing.assert_allclose(np.asarray(easy.get_data()), [[0.5, 0.9], [1, 2]])
    np.testing.assert_allclose(np.asarray(fcfs.get_data()), [[0.5, 0.9], [4, 8]])
    band = axes.collections[1].get_paths()[0].vertices
    assert (band[:, 1].min(), band[:, 1].max()) == (3, 10)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("load", "mean wait (hours)")
    assert axes.get_xticks().tolist() == [0.5, 0.9]


def test_axes_that_grow_by_factors() -> None:
    table = rows(*((x, "easy", "", 10.0 * x, 5.0 * x, 20.0 * x) for x in (1.0, 10.0, 100.0, 1000.0)))
    axes = drawn(table, x="mtbf", label="lost core hours").axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("mtbf (logarithmic)", "lost core hours (logarithmic)")
    even = rows(*((float(x), "easy", "", 10.0 + x, None, None) for x in range(1, 21)))
    axes = drawn(even, width="column").axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")


def test_words_have_points_with_whiskers() -> None:
    table = rows(
        ("exact", "easy", "", 2.0, 1.0, 3.0),
        ("limit", "easy", "", 4.0, 3.0, 5.0),
        ("exact", "fcfs", "", 6.0, None, None),
        kind=pl.String,
    )
    axes = drawn(table, x="estimate", label="mean slowdown").axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["exact", "limit"]
    points = [np.asarray(line.get_data()) for line in axes.get_lines() if line.get_marker() in "os"]
    np.testing.assert_allclose(points[0], [[-0.15, 0.85], [2, 4]])
    np.testing.assert_allclose(points[1], [[0.15], [6]])


def test_levels_panels_and_names() -> None:
    table = pl.concat(
        [LINES, LINES.with_columns(panel=pl.lit("thin 0.5")), rows((None, "easy", "", 1800.0, None, None))]
    )
    figure = drawn(table, x="load", label="mean wait", unit="s", without="observe none", labels=["EASY", "FCFS"])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["", "thin 0.5"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["EASY", "FCFS", "observe none", "95 % CI"]
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    level = figure.axes[0].get_lines()[0]
    assert np.asarray(level.get_ydata()).tolist() == [0.5, 0.5]
    with pytest.raises(InputError, match="labels: 1, lines: 2"):
        plot_sweep(table, labels=["EASY"])
    with pytest.raises(InputError, match="no column 'line'"):
        plot_sweep(table.drop("line"))
    with pytest.raises(InputError, match="no value to draw"):
        plot_sweep(table.clear())


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("kind", [pl.Float64, pl.String])
def test_twelve_long_names(width: Any, kind: Any) -> None:
    places = (1.0, 1.05, 2.0, 40.0) if kind == pl.Float64 else LONG_NAMES[:3]
    given = [(x, line, "", 10.0 + at, 9.0, 25.0) for x in places for at, line in enumerate(LONG_NAMES)]
    figure = drawn(rows(*given, kind=kind), x="load", label="mean per-processor bounded slowdown", width=width)
    assert figure.get_figwidth() == (3.4 if width == "column" else 7.0)


def test_reports_draw_what_is_swept(tmp_path: Path) -> None:
    page = study_page(made(tmp_path / "loads", LOADS, wait_of))
    assert "<h3>Over load</h3>" in page
    assert all(f'aria-label="{name} over load"' in page for name in ("mean wait", "utilisation"))
    two = study_page(made(tmp_path / "two", LOADS.replace("[0.9, 0.5, 0.7]", "[0.9, 0.5]"), wait_of))
    assert "Over load" not in words(two)


def test_unfinished_studies_without_a_place_on_the_axis(tmp_path: Path) -> None:
    """The first part has run `exact` alone, which is none of the factors of the limit."""
    text = f"""
        repetitions = 1
        keep = "summary"
        metrics = ["wait.mean"]
        [workload]
        log = "{DEMO}"
        [run]
        cluster = "64x4"
        estimate = ["exact", "limit*0.5", "limit", "limit*2", "limit*4"]
    """
    run(text, tmp_path / "study", part=Part.parse("1/5"))
    results = Results(tmp_path / "study")
    assert sweep_table(results, axis_of(results), "wait.mean")["x"].to_list() == [None]
    assert "Over estimate" not in words(study_page(results))
    command = ["plot", str(tmp_path / "study"), "--kind", "sweep", "-o", str(tmp_path / "sweep.svg")]
    said = CliRunner().invoke(app, command)
    assert isinstance(said.exception, InputError) and "no value has a place on the axis estimate" in str(said.exception)


def test_on_the_command_line(tmp_path: Path) -> None:
    simulated(tmp_path / "study", LOADS.replace("repetitions = 3", 'keep = "summary"'))
    out = tmp_path / "sweep.svg"
    command = ["plot", str(tmp_path / "study"), "--kind", "sweep", "-o", str(out)]
    found = CliRunner().invoke(app, [*command, "--x", "load", "--metric", "wait.weighted"])
    assert found.exit_code == 0 and "6 runs in" in found.output
    assert out.stat().st_size > 5000
    wrong = CliRunner().invoke(app, [*command, "--force", "--metric", "wait.p98"])
    assert isinstance(wrong.exception, InputError) and "did you mean 'wait.p99'?" in wrong.exception.hint
    lonely = CliRunner().invoke(app, ["plot", str(tmp_path / "study"), "--kind", "box", "--x", "load", "-o", str(out)])
    assert isinstance(lonely.exception, InputError) and "--x means nothing for --kind box" in str(lonely.exception)
