"""The report on ScSF's case study, of studies of the same form that take a second."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest
from tests.unit.test_study_report import _planned

from schedlab.analysis.workflow_comparison import first_n
from schedlab.experiment.coordinator import asked
from schedlab.experiment.execute import execute
from schedlab.experiment.inputs import Inputs
from schedlab.experiment.study import read_study
from schedlab.experiment.workflow_results import workflow_results

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "workflows"
WORKFLOWS = """
[narrowing]
tasks = [{ id = "a", cores = 8, runtime = 1800 }, { id = "b", cores = 2, runtime = 3600, after = ["a"] }]
[overrunning]
tasks = [{ id = "a", cores = 2, runtime = 600 }, { id = "b", cores = 4, runtime = 900, limit = 600, after = ["a"] }]
"""
STUDY = """
name = "{name}"
repetitions = {repetitions}
keep = "summary"
phase = "experiment"
[workload]
model = "lublin(processors=32)"
pressure = 1.0
fill = "30min"
stabilisation = "1h"
experiment = "12h"
drain = "1h"
workflows = [
    {{ name = "narrowing", workflows = "two.toml:narrowing" }},
    {{ name = "overrunning", workflows = "two.toml:overrunning" }},
]
{often}
handling = ["pilot", "chained", "aware"]
[run]
cluster = "8x4"
policy = "easy:nodes=exclusive"
until = "phases"
"""
SETS = {"set0": (1, 'period = "2h"'), "set1": (1, 'period = ["0", "3h"]'), "set2": (2, "share = [0.1, 0.5]")}


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return __import__("report")


@pytest.fixture
def sets(tmp_path: Path) -> list[Path]:
    (tmp_path / "two.toml").write_text(WORKFLOWS)
    inputs = Inputs()
    for name, (repetitions, often) in SETS.items():
        file = tmp_path / f"{name}.toml"
        file.write_text(STUDY.format(name=name, repetitions=repetitions, often=often))
        study = read_study(file)
        with _planned(tmp_path / name, study) as (ledger, runs):
            for run in runs:
                ledger.done(run, execute(run, asked(study), tmp_path / name, inputs)["seconds"]["all"])
    return [tmp_path / name for name in SETS]


def rows(text: str) -> list[list[str]]:
    """The cells of the tables."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]


def test_the_report_says_what_the_runs_say(report: Any, sets: list[Path], tmp_path: Path) -> None:
    page = tmp_path / "page" / "scsf.md"
    report.main([*map(str, sets), "-o", str(page), "--took", "90s"])
    text = page.read_text()
    assert "42 runs (6 + 12 + 24)" in text and "took 1m 30s" in text and "not finished" not in text
    for picture in re.findall(r"\((images/[^)]*)\)", text):
        assert 5_000 < (page.parent / picture).stat().st_size < 100_000

    second = text[text.index("## Set 2") : text.index("## Set 1")]
    found = [row for row in rows(second) if row[:2] == ["narrowing", "50 %"]]
    runtime, turnaround, machine = found
    assert runtime[2] == "1.50"  # a pilot runs for its critical path
    counted = first_n(workflow_results(sets[2])).filter(kind="narrowing", handling="chained")
    medians = counted.filter(pl.col("parameters.share") == 0.5).group_by("run").agg(pl.median("runtime", "turnaround"))
    assert [runtime[3], turnaround[3]] == [
        f"{medians['runtime'].mean() / 3600:.2f}",  # type: ignore[operator]
        f"{medians['turnaround'].mean() / 3600:.1f}",  # type: ignore[operator]
    ]
    assert [row[2] for row in rows(second) if row[:2] == ["overrunning", "50 %"]][:2] == ["–", "–"]  # killed
    assert "None of overrunning at 10 %, overrunning at 50 % ever does." in second
    assert float(machine[2]) > float(machine[5]) and machine[3] == machine[6]  # pilots waste, chained workflows do not
    assert "3h" in {row[1] for row in rows(text[text.index("## Set 1") :])}


def test_pages_link_to_the_report_and_its_figures_are_small() -> None:
    page = ROOT / "docs" / "scsf.md"
    pictures = re.findall(r"\((images/[^)]*)\)", page.read_text())
    assert len(pictures) == 6
    assert all((page.parent / picture).stat().st_size < 100_000 for picture in pictures)
    assert all("(scsf.md" in (ROOT / "docs" / name).read_text() for name in ("workflows.md", "experiments.md"))
