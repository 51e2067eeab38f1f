"""A heatmap as tables and as a figure; the page about it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from tests.unit.test_plot import assert_readable, figure_drawn
from typer.testing import CliRunner

from schedlab.cli.main import app
from schedlab.heatmap.describe import describe_heatmap
from schedlab.model.errors import InputError
from schedlab.model.heatmap import Heatmap
from schedlab.plot.speedups import _scale, plot_speedups

ROOT = Path(__file__).parents[2]
THREE = Heatmap.from_cells(
    ["a", "b", "c"], [[1.0, 0.5, 2.0], [0.8, 1.2, None], [1.4, 0.9, 0.7]], runtimes=[60, None, 5]
)


def invoked(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def three(tmp_path: Path) -> Path:
    path = tmp_path / "three.json"
    path.write_text(json.dumps(THREE.to_dict()))
    return path


def test_a_description_by_hand() -> None:
    found = describe_heatmap(THREE)
    assert (found.applications, found.pairs, found.missing) == (3, 8, 1)
    assert (found.lowest, found.highest, found.slowed) == (0.5, 2.0, 4 / 8)
    assert found.mean == pytest.approx((1 + 0.5 + 2 + 0.8 + 1.2 + 1.4 + 0.9 + 0.7) / 8)
    pairs = [*found.best, *found.worst]  # b and c are not measured in both directions
    assert [(pair.a, pair.b) for pair in pairs] == [("a", "c"), ("b", "b"), ("a", "a"), ("c", "c"), ("a", "b")]
    assert [pair.mean for pair in pairs] == pytest.approx([1.7, 1.2, 1, 0.7, 0.65])
    a, b, c = found.averages
    assert (a.speedup, b.speedup, c.speedup) == pytest.approx((3.5 / 3, 1.0, 1.0))
    assert (a.of_partners, b.of_partners, c.of_partners) == pytest.approx((3.2 / 3, 2.6 / 3, 1.35))
    assert (a.missing, b.missing, b.runtime, a.runtime) == (0, 1, None, 60)


def test_a_heatmap_of_nothing_known() -> None:
    found = describe_heatmap(Heatmap.from_cells(["a"], [[None]]))
    assert (found.pairs, found.mean, found.best, found.averages[0].speedup) == (0, None, (), None)
    figure_drawn(plot_speedups(Heatmap.from_cells(["a"], [[None]])))


def test_inspect_a_heatmap_alone(three: Path) -> None:
    out = invoked("inspect", "--heatmap", three)
    assert out.exit_code == 0
    assert "8 of 9, 1 missing (11.1 %)" in out.stdout
    assert "a 2.000 beside c 1.400" in out.stdout
    assert json.loads(invoked("inspect", "--heatmap", three, "--json").stdout)["missing"] == 1


def test_inspect_the_jobs_of_a_log(three: Path, tmp_path: Path) -> None:
    """Two jobs of a and one of b: pairs a-a twice, a-b twice, b-a twice."""
    log = tmp_path / "jobs.csv"
    log.write_text("id,submit,runtime,cores,executable\n1,0,60,1,a\n2,0,60,1,b\n3,5,60,1,a\n")
    found = json.loads(invoked("inspect", log, "--heatmap", three, "--json").stdout)["workload"]
    assert found["jobs_by_application"] == {"a": 2, "b": 1, "c": 0}
    assert found["friendliness"] == pytest.approx((1.0 + 0.5 + 0.8) / 3)
    assert found["known_pairs"] == 1
    drawn = invoked("inspect", log, "--heatmap", three, "--applications", "random(1)")
    assert drawn.exit_code == 0 and "friendliness" in drawn.stdout


def test_what_does_not_go_together(three: Path, tmp_path: Path) -> None:
    for arguments, words in (
        ((), "which log?"),
        (("--heatmap", three, "--by", "user"), "--by and --heatmap do not go together"),
        (("--heatmap", tmp_path / "gone.json"), "gone.json"),
        (("--heatmap", three, "--out", tmp_path / "x.txt"), "is not the name of a figure"),
        ((ROOT / "examples" / "demo.swf", "--heatmap", three, "--applications", "rnd"), "there is no rule 'rnd'"),
    ):
        problem = invoked("inspect", *arguments).exception
        assert isinstance(problem, InputError) and words in str(problem)


def test_figures_by_both_commands(three: Path, tmp_path: Path) -> None:
    assert invoked("inspect", "--heatmap", three, "--out", tmp_path / "one.png").exit_code == 0
    assert (
        invoked("plot", three, "--kind", "speedups", "--width", "column", "--out", tmp_path / "two.svg").exit_code == 0
    )
    assert (tmp_path / "one.png").stat().st_size and (tmp_path / "two.svg").stat().st_size
    problem = invoked("plot", tmp_path, "--kind", "speedups", "--out", tmp_path / "three.png").exception
    assert isinstance(problem, InputError) and "--kind speedups shows one heatmap" in str(problem)


def test_colours_meet_at_one() -> None:
    scale = _scale(THREE.speedups)
    assert scale.norm(1.0) == pytest.approx(0.5)
    assert scale.norm(2.0) == pytest.approx(1 - scale.norm(0.5))
    red, _, blue = scale.to_rgba(0.5)[:3]
    assert red > blue
    red, _, blue = scale.to_rgba(2.0)[:3]
    assert blue > red


def test_cells_have_their_numbers_and_missing_ones_stripes() -> None:
    axes = plot_speedups(THREE)
    assert [text.get_text() for text in axes.texts] == ["1.00", "0.50", "2.00", "0.80", "1.20", "1.40", "0.90", "0.70"]
    assert axes.patch.get_hatch()
    whole = plot_speedups(THREE.part(["a"]))
    assert not whole.patch.get_hatch()
    assert axes.patch.get_facecolor() != to_rgba("white")


@pytest.mark.parametrize("width", ["column", "page"])
@pytest.mark.parametrize("size", [1, 2, 13, 33])
def test_no_text_is_on_another(size: int, width: Any) -> None:
    cells = np.exp(np.random.default_rng(size).normal(0, 0.2, (size, size)))
    cells[0, 0] = np.nan
    names = tuple(f"{number}.benchmark_{number}.1024" for number in range(size))
    heatmap = Heatmap(names, cells, np.full(size, np.nan), np.zeros(size, np.int64))
    assert_readable(figure_drawn(plot_speedups(heatmap, width=width, title="a title")))


def test_the_programs_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "coscheduling.md").read_text(), re.DOTALL):
        exec(block, {})
    assert (tmp_path / "three.png").exists()
