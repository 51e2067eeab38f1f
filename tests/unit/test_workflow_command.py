"""`schedlab workflow`: show, plan and convert."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.commands import schedlab
from typer.testing import CliRunner

from schedlab.cli.main import app
from schedlab.workflow.read import read_workflow

EXAMPLES = Path(__file__).parents[2] / "examples" / "workflows"


def lines(*words: object) -> list[list[str]]:
    done = schedlab("workflow", *words)
    assert done.returncode == 0, done.stderr
    return [line.split() for line in done.stdout.splitlines() if line.strip()]


def test_show_one_by_level_and_name() -> None:
    shown = lines("show", "fork-join(width=3,cores=2)")
    assert ["tasks", "5"] in shown
    assert ["cores", "width", "6", "at", "once"] in shown
    assert ["time", "critical", "path", "3h"] in shown
    assert shown[-3:] == [
        ["0", "fork", "1", "2", "1h", "1h", "2.0"],
        ["1", "part", "3", "6", "1h", "1h", "6.0"],
        ["2", "join", "1", "2", "1h", "1h", "2.0"],
    ]


def test_show_several_in_a_line_each(tmp_path: Path) -> None:
    shown = lines("show", EXAMPLES / "scsf.toml", "diamond")
    assert len(shown) == 1 + 24 + 1
    assert ["widelong", "2", "1", "2", "480", "4h", "58m", "5h", "663.2"] in shown
    found = json.loads(schedlab("workflow", "show", EXAMPLES / "scsf.toml", "--json").stdout)
    assert (found[0]["name"], found[0]["width"], found[0]["largest"]["name"]) == ("montage", 960, "S1")


def test_plan() -> None:
    words = ("plan", "fork-join(width=4)", "--cores", 2)
    shown = lines(*words)
    assert shown[0] == ["fork-join(width=4):", "6", "tasks,", "width", "4,", "on", "2", "cores"]
    assert [row[:2] for row in shown[2:5]] == [["heft", "4h"], ["min-min", "4h"], ["critical-path", "4h"]]
    found = json.loads(schedlab("workflow", *words, "--method", "heft", "--json").stdout)
    assert found["plans"] == [{"method": "heft", "makespan": 14400.0, "idle": 0.25}]
    assert found["bound"] == 10800.0
    refused = schedlab("workflow", "plan", "diamond(cores=3)", "--cores", 2)
    assert (refused.returncode, "2 cores are too few for 4 tasks" in refused.stderr) == (2, True)


def test_convert_into_stages(tmp_path: Path) -> None:
    out = tmp_path / "out.toml"
    lines("convert", "fork-join(width=30)", "--stages", "--cap", 10, "--name", "part:8", "-o", out)
    assert [(task.name, task.cores, task.runtime) for task in read_workflow(out).tasks] == [
        ("fork", 1, 3600.0),
        ("part", 8, 4 * 3600.0),
        ("join", 1, 3600.0),
    ]
    again = schedlab("workflow", "convert", "diamond", "-o", out)
    assert (again.returncode, "is already there" in again.stderr) == (2, True)
    for words, message in (
        (("diamond", "--cap", 3, "-o", tmp_path / "x.toml"), "add --stages"),
        (("diamond", "-o", tmp_path / "x.json"), "written as TOML"),
    ):
        refused = schedlab("workflow", "convert", *words)
        assert (refused.returncode, message in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("handling", "said"),
    [
        ("pilot", "its widest job has 10 cores, the cluster 4; --handling 'pilot(cores=4)' plans its tasks on fewer"),
        ("clustered(levels)", "--handling 'clustered(levels,cores=4)' plans its tasks on fewer"),
        ("chained(ready)", "1 job, and more of workflows as they get ready, on 1x4 (1 node, 4 cores)"),
    ],
)
def test_run_says_what_is_too_wide_and_what_comes_later(handling: str, said: str) -> None:
    found = CliRunner().invoke(app, ["run", "fork-join(width=10)", "--handling", handling, "-c", "1x4"])
    assert found.exit_code == 0 and said in found.output


def test_a_script_is_run_as_a_workflow(tmp_path: Path) -> None:
    script = tmp_path / "two.sh"
    script.write_text("a=$(sbatch -t 1 -n 2 a.sh)\nsbatch -d afterok:$a -t 2 b.sh\n")
    found = CliRunner().invoke(app, ["run", str(script), "--handling", "chained", "-c", "1x4", "--json"])
    assert json.loads(found.output)["runs"][0]["summary"]["makespan"] == 180
    refused = CliRunner().invoke(app, ["run", str(script), "-c", "1x4"])
    assert refused.exit_code and "is a script that submits jobs, not a log of jobs" in str(refused.exception)
