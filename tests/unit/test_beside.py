"""Metrics of jobs side by side, computed by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests import commands

import schedlab as sl
from schedlab.analysis.beside import improvement
from schedlab.analysis.compare import compare
from schedlab.analysis.unusable import unusable
from schedlab.engine.store import read_run
from schedlab.experiment.results import Results
from schedlab.experiment.study import read_study
from schedlab.model.heatmap import Heatmap

# a beside b takes 1 / 0.8 as long, b beside a 1 / 1.25.
TWO = Heatmap.from_cells(["a", "b"], [[0.5, 0.8], [1.25, 1.0]], runtimes=[100, 50], processes=[4, 4])

EXAMPLES = Path(__file__).parents[2] / "examples"


def jobs(**columns: Any) -> sl.Workload:
    return sl.Workload.of(**columns, labels={"executable": ["a", "b"]})


PAIR = {"submit": [0, 0], "runtime": [100, 50], "count": [4, 4], "executable": [0, 1]}


def simulated(policy: str, out: Path | None = None, **columns: Any) -> sl.Run:
    return sl.simulate(jobs(**(columns or PAIR)), "2x4", policy, heatmap=TWO, overrun="run", out=out)


def test_speedups_and_improvement_from_the_folders(tmp_path: Path) -> None:
    """Side by side on both nodes b ends at 40 s; a has 68 of 100 left and goes on at 0.8, alone, until 125."""
    for policy in ("cosched", "easy:nodes=exclusive"):
        simulated(policy, tmp_path / policy)
    shared, compact = (read_run(tmp_path / policy) for policy in ("cosched", "easy:nodes=exclusive"))
    assert shared.summary["makespan"] == pytest.approx(125)
    assert shared.summary["speedup"]["mean"] == pytest.approx((0.8 + 1.25) / 2)
    assert shared.summary["speedup"]["max"] == pytest.approx(1.25)
    assert (shared.summary["slowed_share"], compact.summary["slowed_share"]) == (0.5, 0.0)
    assert compact.summary["speedup"]["mean"] == 1.0
    comparison = compare([shared, compact])  # the run on whole nodes is the measure, wherever it stands
    first, second = (row.summary["improvement"] for row in comparison.rows)
    assert first == pytest.approx({"faster": 100 / 125 - 1, "shorter": 1 - 125 / 100})
    assert second == {"faster": 0.0, "shorter": 0.0}
    assert [metric.key for metric in comparison.metrics][:2] == ["speedup.mean", "slowed_share"]


def test_jobs_that_did_not_complete_have_no_speedup() -> None:
    run = sl.simulate(jobs(**PAIR, limit=[110, 110]), "2x4", "cosched", heatmap=TWO)
    assert run.summary["states"]["killed"] == 1
    assert run.summary["speedup"]["mean"] == pytest.approx(1.25) and run.summary["slowed_share"] == 0.0


def test_runs_without_a_heatmap_say_nothing_of_it() -> None:
    run = sl.simulate(jobs(**PAIR), "2x4", "easy")
    assert not {"speedup", "slowed_share", "utilisation_until_empty"} & set(run.summary)
    assert "improvement" not in compare([run, run]).rows[0].summary


def test_until_nobody_waits_and_what_is_of_no_use() -> None:
    """One job has a node for 10 s; the next needs both; a third, from 5 s on, would fit and has to stay behind it.

    Somebody waits for 20 s, that is 160 core-seconds, of which 40 and 80 are in use. Of the 4 free cores nobody can
    make use for 5 s, and one of two for another 5 s.
    """
    columns = {"submit": [0, 0, 5], "runtime": [10, 10, 40], "count": [4, 8, 4], "executable": [0, 0, 0]}
    run = simulated("none:order=fcfs,nodes=exclusive", **columns)
    assert run.summary["makespan"] == 60
    assert run.summary["utilisation_until_empty"] == pytest.approx(120 / 160)
    assert unusable(run) == pytest.approx((5 * 4 + 5 * 4 / 2) / 160)


def test_halves_that_are_of_no_use() -> None:
    """Jobs of 2 processes have half a node, jobs of 4 half of both: for 10 s one half is free, and two are needed."""
    columns = {"submit": [0, 0, 0], "runtime": [10, 10, 10], "count": [4, 2, 4], "executable": [1, 1, 1]}
    run = simulated("cosched:backfill=none", **columns)
    assert run.jobs.sort("job")["start"].to_list() == [0, 0, 10]
    assert run.jobs["end"].to_list() == [10, 10, 18]  # alone, at 1.25
    assert unusable(run) == pytest.approx(2 / 8)


@pytest.mark.parametrize(("makespan", "of_twin"), [(None, 5.0), (5.0, None), (0.0, 5.0)])
def test_nothing_to_compare(makespan: float | None, of_twin: float | None) -> None:
    assert improvement(makespan, of_twin) == {"faster": None, "shorter": None}


def test_a_study_measures_against_its_baseline(tmp_path: Path) -> None:
    (tmp_path / "two.json").write_text(json.dumps(TWO.to_dict()))
    (tmp_path / "study.toml").write_text("""
        repetitions = 2
        metrics = ["improvement.faster", "improvement.shorter", "speedup.mean", "slowed_share", "unusable"]
        baseline = { policy = "easy:nodes=exclusive" }
        [workload]
        model = "two.json"
        jobs = 20
        [run]
        cluster = "4x4"
        heatmap = "two.json"
        policy = ["easy:nodes=exclusive", "cosched"]
    """)
    done = commands.schedlab("experiment", "run", "study.toml", "--out", "out", "--quiet", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    table = Results(tmp_path / "out").table
    for _, runs in table.group_by("repetition"):
        rows = {row["policy"]: row for row in runs.to_dicts()}
        base, shared = rows["easy:nodes=exclusive"], rows["cosched"]
        assert base["improvement.faster"] == base["improvement.shorter"] == 0
        assert shared["improvement.faster"] == pytest.approx(base["makespan"] / shared["makespan"] - 1)
        assert shared["improvement.shorter"] == pytest.approx(1 - shared["makespan"] / base["makespan"])
    drawn = commands.schedlab("plot", "out", "--kind", "improvement", "-o", "gain.png", folder=tmp_path)
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "gain.png").is_file()


def test_the_study_of_the_examples_is_one() -> None:
    study = read_study(EXAMPLES / "coscheduling" / "study.toml")
    assert study.grid["heatmap"] == study.grid["model"] and study.baseline == {"policy": "easy:nodes=exclusive"}
