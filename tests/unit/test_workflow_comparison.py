"""Workflows under several handlings: which may be compared, in runs and in studies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.unit.test_study_report import _planned
from tests.workflow_runs import DIAMOND, chained, pilot, simulated, workload
from typer.testing import CliRunner

import schedlab as sl
from schedlab.analysis.workflow_comparison import comparable, first_n, medians, paired
from schedlab.analysis.workflows import workflow_table
from schedlab.cli.main import app
from schedlab.experiment.coordinator import asked
from schedlab.experiment.execute import execute
from schedlab.experiment.first_workflows import over_first_workflows
from schedlab.experiment.keeping import verify
from schedlab.experiment.results import Results
from schedlab.experiment.study import parse_study
from schedlab.experiment.workflow_file import FILE, read_workflows, write_workflows
from schedlab.experiment.workflow_results import workflow_results
from schedlab.model.errors import InputError

# Seed 1: the pilot finishes 0, 1 and 3, chained 0, 2 and 3 and 4; seed 2: one of each.
ROWS = [
    *((1, "pilot", number, number in (0, 1, 3)) for number in range(5)),
    *((1, "chained", number, number in (0, 2, 3, 4)) for number in range(5)),
    *((2, handling, number, number == 1) for handling in ("pilot", "chained") for number in range(2)),
]


def table() -> pl.DataFrame:
    found = pl.DataFrame(ROWS, ["seed", "handling", "workflow", "finished"], orient="row")
    return found.with_columns(kind=pl.lit("diamond"), run=pl.col("handling") + pl.col("seed").cast(str))


def kept(found: pl.DataFrame) -> dict[tuple[int, str], list[int]]:
    return {key: own["workflow"].to_list() for key, own in found.group_by("seed", "handling", maintain_order=True)}  # type: ignore[misc]


def test_the_first_n_that_finished_in_each() -> None:
    found = kept(first_n(table()))
    assert found == {(1, "pilot"): [0, 1, 3], (1, "chained"): [0, 2, 3], (2, "pilot"): [1], (2, "chained"): [1]}


def test_the_same_ones_in_all() -> None:
    found = kept(paired(table()))
    assert found == {(1, "pilot"): [0, 3], (1, "chained"): [0, 3], (2, "pilot"): [1], (2, "chained"): [1]}


def test_a_policy_for_each_handling_is_a_part_of_it() -> None:
    policy = pl.when(pl.col("handling") == "pilot").then(pl.lit("easy")).otherwise(pl.lit("fcfs"))
    told = table().with_columns(policy.alias("parameters.policy"), pl.col("seed").alias("parameters.load"))
    assert kept(first_n(told)) == kept(first_n(table())) == kept(first_n(told, "policy"))
    assert kept(first_n(told, within=["seed", "parameters.policy"]))[1, "chained"] == [0, 2, 3, 4]


def test_where_one_finished_none_there_is_nothing_to_compare() -> None:
    none = table().with_columns(finished=pl.col("finished") & (pl.col("handling") != "pilot"))
    assert not len(first_n(none)) and not len(paired(none))


def test_of_runs_as_many_of_each() -> None:
    tables = [own.drop("run") for own in table().filter(pl.col("seed") == 1).partition_by("run", maintain_order=True)]
    assert [own["workflow"].to_list() for own in comparable(tables)] == [[0, 1, 3], [0, 2, 3]]
    assert comparable(tables[:1]) == tables[:1]


def test_on_the_command_line(tmp_path: Path) -> None:
    """On three cores the pilot never starts."""
    for name, kind, cluster in (("a", chained(DIAMOND), "pool:4"), ("b", pilot(DIAMOND), "pool:4")):
        came = [(0, 0), (100, 0)] if name == "a" else [(0, 0)]
        simulated([kind], came, cluster=cluster).save(tmp_path / name)
    simulated([pilot(DIAMOND)], [(0, 0)], [(0, 1, 1)], "pool:3").save(tmp_path / "c")
    one, two, three = (str(tmp_path / name) for name in "abc")
    found = CliRunner().invoke(app, ["compare", one, two, "--by", "workflow"])
    assert found.exit_code == 0 and "over the first 1 workflows that finished in each run" in found.output
    none = CliRunner().invoke(app, ["compare", one, three, "--by", "workflow"])
    assert none.exit_code == 0 and "over the first 0 workflows" in none.output


def test_columns_that_are_not_there() -> None:
    with pytest.raises(InputError, match=r"no column 'parameters\.policy'"):
        first_n(table(), "policy")
    with pytest.raises(InputError, match="no metric of workflows 'turnarounds'") as error:
        medians(table(), "turnarounds", ["handling"])
    assert "did you mean 'turnaround'?" in error.value.hint


def test_medians_of_one_run_and_of_several() -> None:
    values = [(1, 10.0), (1, 20.0), (1, 40.0), (2, 30.0)]
    found = pl.DataFrame([(f"r{run}", "a", value) for run, value in values], ["run", "kind", "wait"], orient="row")
    assert medians(found.filter(pl.col("run") == "r1"), "wait", ["kind"]).row(0) == ("a", 20, 15, 30, 1)
    kind, value, low, high, n = medians(found, "wait", ["kind"]).row(0)
    assert (kind, value, n) == ("a", 25, 2)
    assert high - 25 == pytest.approx(12.706 * 5, rel=1e-3) and 25 - low == pytest.approx(high - 25)


def test_the_table_of_a_study_is_over_the_first_n() -> None:
    """Of pilots two finished, of chained three (turnarounds 10, 20 and 90); under aware none did."""
    runs = pl.DataFrame(
        {
            "run": ["p", "c", "a", "other"],
            "repetition": [0, 0, 0, 0],
            "seed": [5, 5, 5, 5],
            "parameters.handling": ["pilot", "chained", "aware", "chained"],
            "parameters.share": [0.1, 0.1, 0.1, 0.2],
            "workflow.finished": [2.0, 3.0, 0.0, 9.0],
            "workflow.turnaround.mean": [50.0, 40.0, None, 70.0],
            "wait.mean": [1.0, 2.0, 3.0, 4.0],
        }
    )
    own = workflow_table(simulated([chained(DIAMOND)], [(0, 0), (30, 0), (60, 0)], cluster="pool:4"))
    own = own.with_columns(turnaround=pl.Series([10.0, 20.0, 90.0]))
    found = over_first_workflows(runs, {"c": own}.get)
    assert found["workflow.turnaround.mean"].to_list() == [50, 15, None, 70]
    assert found["workflow.finished"].to_list() == [2, 3, 0, 9]
    assert found["wait.mean"].to_list() == [1, 2, 3, 4]
    assert over_first_workflows(runs, lambda run: None).equals(runs)


STUDY = """
keep = "{}"
repetitions = 2
metrics = ["workflow.turnaround.median", "utilisation_less_idle"]
[workload]
model = "lublin(processors=4)"
jobs = 2
[run]
cluster = "pool:4"
policy = ["easy", "fcfs"]
"""


class Handlings:
    """Instead of a model: pilots under easy, tasks under fcfs; the second repetition has one workflow more."""

    def of(self, point: dict[str, Any], seed: int) -> tuple[sl.Workload, sl.Cluster]:
        self.first = getattr(self, "first", seed)
        kind = pilot(DIAMOND) if point["policy"] == "easy" else chained(DIAMOND)
        came = [(0, 0), (100, 0)] if seed == self.first else [(0, 0), (100, 0), (200, 0)]
        return workload([kind], came, [(0, 6, 4)]), sl.Cluster.of_cores(4)


@pytest.mark.parametrize("keep", ["summary", "tables"])
def test_the_workflows_of_a_study(tmp_path: Path, keep: str) -> None:
    folder = tmp_path / "study"
    study = parse_study(STUDY.format(keep), str(folder / "study.toml"))
    inputs: Any = Handlings()
    with _planned(folder, study) as (ledger, runs):
        for run in runs:
            ledger.done(run, execute(run, asked(study), folder, inputs)["seconds"]["all"])
    found = workflow_results(folder)
    assert len(found) == 2 * (2 + 3) and found["finished"].all()
    assert set(found["parameters.policy"]) == {"easy", "fcfs"} and found["seed"].n_unique() == 2
    first = found.filter((pl.col("workflow") == 0) & (pl.col("repetition") == 0)).sort("handling")
    chosen = ["handling", "submit", "start", "end", "wait", "runtime", "turnaround", "used", "allocated"]
    assert first.select(chosen).rows() == [
        ("chained", 0, 6, 24, 6, 18, 24, 47, 47),
        ("pilot", 0, 6, 24, 6, 18, 24, 47, 72),
    ]
    assert first["idle_share"].to_list() == pytest.approx([0, 25 / 72])
    assert first["wait_share"].to_list() == pytest.approx([0.25, 0.25])
    assert len(paired(found, "policy")) == len(found)
    assert [path.name for path in folder.glob(f"runs/*/{FILE}")] == [FILE] * (4 if keep == "summary" else 0)
    assert verify(folder) == []
    assert Results(folder).table["workflow.turnaround.median"].to_list() == [21, 21, 18, 18]
    picture = tmp_path / "workflows.png"
    drawn = CliRunner().invoke(app, ["plot", str(folder), "--kind", "workflows", "-o", str(picture)])
    assert drawn.exit_code == 0 and picture.stat().st_size > 10_000
    assert "10 workflows of 4 runs" in drawn.output


def test_a_file_keeps_what_the_table_says(tmp_path: Path) -> None:
    run = simulated([chained(DIAMOND), pilot(DIAMOND)], [(0.1, 0), (7, 1), (1e7, 0)], [(0, 4, 3)], "pool:3")
    assert write_workflows(run, None, tmp_path)
    told, known = workflow_table(run), read_workflows(tmp_path / FILE)
    assert known.columns == told.columns
    assert known.schema == told.schema
    for name in told.columns:
        if told[name].dtype == pl.Float64:
            assert known[name].to_list() == [None if x is None else pytest.approx(x, rel=1e-6) for x in told[name]]
        else:
            assert known[name].to_list() == told[name].to_list()


def test_a_study_without_workflows_has_no_file_of_them(tmp_path: Path) -> None:
    run = sl.simulate(sl.Workload.of(submit=[0], runtime=[1], count=[1]), "pool:1")
    assert not write_workflows(run, None, tmp_path / "run") and not (tmp_path / "run").exists()
