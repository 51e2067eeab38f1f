"""`--heatmap` of `schedlab run`, of studies and of `simulate`: the observer interference(heatmap); bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests import commands

import schedlab as sl
from schedlab.execution.interference import Interference
from schedlab.experiment.study import read_study
from schedlab.generate.base import generate
from schedlab.generate.store import read_model
from schedlab.heatmap.read import read_heatmap

EXAMPLES = Path(__file__).parents[2] / "examples"
TWO = {"names": ["a", "b"], "speedups": [[0.5, 0.8], [1.25, 1.0]], "runtimes": [100, 50], "processes": [4, 4]}


def succeeds(*words: str) -> None:
    done = commands.schedlab(*words)
    assert done.returncode == 0, done.stderr


def fails(*words: str) -> str:
    done = commands.schedlab(*words)
    assert done.returncode != 0
    return done.stderr


@pytest.fixture
def heatmap(tmp_path: Path) -> Path:
    file = tmp_path / "two.json"
    file.write_text(json.dumps(TWO))
    return file


def test_the_same_by_every_door(heatmap: Path, tmp_path: Path) -> None:
    """The command line, the option, the object and the observer give one schedule."""
    asked = ["--heatmap", str(heatmap), "--jobs", "30", "--seed", "3", "-c", "4x4", "-p", "cosched"]
    succeeds("run", *asked, "--out", str(tmp_path / "run"))
    run = sl.read_run(tmp_path / "run")
    jobs = generate(read_model(heatmap), jobs=30, seed=3)
    for given in (
        {"heatmap": heatmap},
        {"heatmap": read_heatmap(heatmap)},
        {"observers": [f"interference({str(heatmap)!r})"]},
        {"observers": [Interference(heatmap)]},
    ):
        assert sl.simulate(jobs, "4x4", "cosched", **given).jobs.equals(run.jobs)
    assert run.config["execution"][0]["heatmap"]["names"] == ["a", "b"]


def test_a_study_names_it_relative_to_itself(heatmap: Path) -> None:
    file = heatmap.parent / "study.toml"
    text = '[workload]\nmodel = "two.json"\njobs = 5\n[run]\ncluster = "4x4"\nheatmap = "{}"\n'
    file.write_text(text.format("two.json"))
    assert read_study(file).grid["heatmap"] == (str(heatmap),)
    file.write_text(text.format("other.json"))
    with pytest.raises(sl.InputError, match=r"toml:6: .*other\.json.*no such file"):
        read_study(file)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"speedups": [[0, 1], [1, 1]]}, [], "speed-up of a beside a = 0: expected a speed-up above 0"),
        ({"speedups": [[1, -1], [1, 1]]}, [], "speed-up of a beside b = -1: expected a speed-up above 0"),
        ({"speedups": [[1, float("nan")], [1, 1]]}, [], "speed-up of a beside b = nan: expected a number"),
        ({"speedups": [[1, 1]]}, [], "the matrix of speed-ups is 1 × 2, not 2 × 2"),
        ({}, ["-c", "pool:16"], "a pool has no nodes"),
        ({"processes": [4, 0]}, [], "b: nobody says how many processes it has"),
    ],
)
def test_one_message_each(heatmap: Path, change: dict[str, object], options: list[str], message: str) -> None:
    heatmap.write_text(json.dumps(TWO | change))
    asked = ["run", "--heatmap", str(heatmap), "--jobs", "5", "-p", "cosched", *(options or ["-c", "4x4"])]
    said = fails(*asked)
    assert message in said and said.count("error:") == 1


def test_jobs_that_the_heatmap_does_not_know() -> None:
    known = EXAMPLES / "bandwidth.toml"
    asked = ["run", str(EXAMPLES / "demo.swf"), "-c", "64x4", "-p", "cosched", "--quiet", "--heatmap", str(known)]
    said = fails(*asked)
    assert "there are jobs without an executable" in said and "random(1)" in said
    succeeds(*asked, "--applications", "random(1)")


def test_pairs_that_are_missing(heatmap: Path) -> None:
    heatmap.write_text(json.dumps(TWO | {"speedups": [[0.5, None], [1.25, 1.0]]}))
    observer = f"interference({str(heatmap)!r}, missing='refuse')"
    said = fails("run", str(heatmap), "--jobs", "5", "-c", "4x4", "--observe", observer)
    assert "1 pair of applications not measured: a beside b" in said


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ([], "which jobs?"),
        (["--jobs", "5"], "jobs of which model?"),
        (["lublin(processors=8)"], "is a model, not a log"),
        ([str(EXAMPLES / "demo.swf"), "--applications", "random"], "needs a heatmap"),
    ],
)
def test_which_jobs(asked: list[str], message: str) -> None:
    assert message in fails("run", *asked)


def test_the_five_commands_of_the_guide(tmp_path: Path) -> None:
    """From a heatmap to a figure (docs/coscheduling.md), with the numbers of the table below them."""
    guide = (EXAMPLES.parent / "docs" / "coscheduling.md").read_text()
    lines, table = re.findall(r"```\n(.*?)```", guide, re.DOTALL)[:2]
    (tmp_path / "examples").symlink_to(EXAMPLES)
    found = [commands.schedlab(*line.split()[1:], folder=tmp_path) for line in lines.splitlines()]
    assert [done.stderr for done in found if done.returncode] == []
    assert len(found) == 5
    assert {path.name for path in tmp_path.glob("*.png")} == {"applications.png", "halves.png"}
    run = next(done.stdout for done in found if "makespan" in done.stdout)
    shown = [row.split()[1:] for row in run.splitlines() if row.startswith(("easy", "cosched"))]
    assert shown == [row.split()[1:] for row in table.splitlines() if row.startswith(("easy", "cosched"))]
