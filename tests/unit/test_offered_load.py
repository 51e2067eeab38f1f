"""A log at a load that is named: one definition of load, and every door that scales to it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.test_study_report import simulated
from typer.testing import CliRunner

from schedlab.cli.main import app
from schedlab.engine.store import read_run
from schedlab.experiment.study import parse_study
from schedlab.model.errors import InputError, SchedlabError
from schedlab.model.request import Request
from schedlab.model.workload import Workload
from schedlab.workload.describe import describe
from schedlab.workload.offered import offered
from schedlab.workload.read import read_workload
from schedlab.workload.transform import scale_load
from schedlab.workload.transform.steps import Steps

DEMO = Path(__file__).parents[2] / "examples" / "demo.swf"


def three_jobs() -> Workload:
    """200 core-seconds each, within 100 seconds."""
    return Workload.of(submit=[0, 50, 100], runtime=[100, 100, 50], count=[2, 2, 4])


def test_the_load_and_what_it_is_scaled_to() -> None:
    assert offered(three_jobs()).load(4) == 600 / (4 * 100)
    scaled = scale_load(three_jobs(), 0.75, 4)
    assert scaled.jobs["submit"].to_list() == [0, 100, 200]
    assert scaled.jobs["runtime"].to_list() == [100, 100, 50]
    assert offered(scaled).load(4) == describe(scaled, processors=4).offered_load == 0.75
    assert scaled.name == "jobs at load 0.75"
    assert scaled.header["Note"] == "times between submittals × 2: offered load 0.75 instead of 1.5 on 4 cores"


def test_thousandths_of_cores_are_work_too() -> None:
    jobs = Workload.of(submit=[0, 100], runtime=[100, 100], requests=[Request({"cpu_milli": 500})])
    assert offered(jobs).load(1) == describe(jobs, processors=1).offered_load == 1.0


@pytest.mark.parametrize(
    "jobs", [Workload.of(submit=[5, 5], runtime=[1, 1]), Workload.of(submit=[0, 9], runtime=[0, 0])]
)
def test_what_has_no_load_is_refused(jobs: Workload) -> None:
    with pytest.raises(InputError, match="has no offered load"):
        scale_load(jobs, 0.9, 4)
    with pytest.raises(InputError, match="the load cannot be 0"):
        scale_load(jobs, 0, 4)


def test_sizes_are_scaled_before_the_load() -> None:
    """On half the machine with jobs of half the size; rounding up makes none larger here."""
    scaled = Steps(machine=2, machine_from=4, load=0.75).apply(three_jobs())
    assert scaled.jobs["count"].to_list() == [1, 1, 2]
    assert offered(scaled).load(2) == 0.75
    with pytest.raises(InputError, match="load and stretch"):
        Steps(stretch=2.0, load=0.5).apply(three_jobs())
    with pytest.raises(InputError, match="how large its machine is"):
        Steps(load=0.5).apply(three_jobs())


def test_run_says_what_was_done(tmp_path: Path) -> None:
    command = ["run", str(DEMO), "-c", "64x4", "--load", "0.6", "--out", str(tmp_path / "run")]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 0
    assert "demo at load 0.6: 2,000 jobs on 64x4" in found.output
    assert "offered load 0.6 instead of 0.8545 on 256 cores (now 0.6000)" in found.output
    tables = read_run(tmp_path / "run").tables
    submit, work = tables.column("submit"), tables.column("cores") @ tables.column("runtime")
    assert work / (256 * (submit.max() - submit.min())) == pytest.approx(0.6, rel=1e-6)
    document = json.loads(CliRunner().invoke(app, ["run", str(DEMO), "--load", "0.6", "--json"]).stdout)
    assert document["workload"]["offered_load"] == pytest.approx(0.6, rel=1e-6)


def test_transform_writes_a_log_of_that_load(tmp_path: Path) -> None:
    out = tmp_path / "busy.swf"
    found = CliRunner().invoke(app, ["transform", str(DEMO), "--load", "1.2", "-o", str(out)])
    assert found.exit_code == 0
    assert "offered load 0.855" in found.output and "offered load 1.200" in found.output
    assert offered(read_workload(out)).load(256) == pytest.approx(1.2, rel=1e-6)


def test_a_study_over_loads(tmp_path: Path) -> None:
    text = f'[workload]\nlog = "{DEMO}"\nload = [0.5, 0.7, 0.9]\n[run]\ncluster = ["64x4", "32x4"]\n'
    found = simulated(tmp_path / "study", text)
    for result in found.results:
        run = found.run(result["identity"])
        submit, work = run.tables.column("submit"), run.tables.column("cores") @ run.tables.column("runtime")
        load = work / (run.cluster.cores * (submit.max() - submit.min()))
        assert load == pytest.approx(result["point"]["load"], rel=1e-6)


def test_mistakes_in_a_study() -> None:
    text = f'[workload]\nlog = "{DEMO}"\nload = [0.5, 0]\nstretch = 2\npressure = 1.0\n[run]\ncluster = "64x4"\n'
    with pytest.raises(SchedlabError) as error:
        parse_study(text, "study.toml")
    said = str(error.value)
    assert "load = 0: expected a number above 0" in said
    assert "load and stretch both" in said and "load and pressure both" in said


@pytest.mark.parametrize("log", ["KTH-SP2-1996-2.1-cln", "SDSC-SP2-1998-4.2-cln", "CTC-SP2-1996-3.1-cln"])
def test_logs_of_the_archive(traces: Path, log: str) -> None:
    jobs = read_workload(traces / f"{log}.swf.gz")
    found = describe(jobs)
    scaled = scale_load(jobs, 0.9, found.processors)
    assert describe(scaled).offered_load == pytest.approx(0.9, rel=1e-6)
    assert len(scaled) == len(jobs)
