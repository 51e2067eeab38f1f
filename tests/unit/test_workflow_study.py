"""Workflows in study files and on the command line."""

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from schedlab.cli.main import app
from schedlab.experiment.inputs import Inputs
from schedlab.experiment.plan import plan
from schedlab.experiment.study import Study, parse_study, read_study
from schedlab.generate.arrivals import parse_arrivals
from schedlab.generate.triggers.templates import FIRST_ID
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.workload import Workload

STUDY = """
[workload]
log = "log.swf"
pressure = 1.0
fill = "1h"
experiment = "1d"
workflows = "two.json"
handling = ["pilot", "chained", "aware"]
period = ["0", "3h"]
share = [0, 0.1]
[run]
cluster = "16x4"
[[exclude]]
period = "3h"
share = 0.1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tasks = [
        {"id": "a", "cmd": "x", "cores": 2, "rtime": 100, "deps": []},
        {"id": "b", "cmd": "x", "cores": 4, "rtime": 50, "deps": ["a"]},
    ]
    (tmp_path / "two.json").write_text(json.dumps({"tasks": tasks}))
    (tmp_path / "study.toml").write_text(STUDY)
    rows = (f"{n} {100 * n} 0 {1000 + n} 4 -1 -1 4 3600 -1 1 1 1 1 1 1 -1 -1\n" for n in range(1, 1301))
    (tmp_path / "log.swf").write_text("".join(rows))  # 36 hours, about 64 cores
    return tmp_path


def mistakes(text: str, file: Path) -> str:
    with pytest.raises((InputError, InputErrors)) as caught:
        parse_study(text, str(file))
    return str(caught.value)


def made(study: Study) -> dict[tuple[str, str, float], Workload]:
    inputs = Inputs()
    return {
        (str(run.point["handling"]), str(run.point["period"]), float(run.point["share"])): inputs.of(
            run.point, run.seed
        )[0]
        for run in plan(study)
    }


def test_a_grid_of_none_periods_and_shares(folder: Path) -> None:
    study = read_study(folder / "study.toml")
    assert study.grid["workflows"] == (str(folder / "two.json"),)
    found = made(study)
    assert len(found) == 9
    plain = found["pilot", "0", 0.0]
    assert plain.workflows is None
    for period, share in (("3h", 0.0), ("0", 0.1)):
        records = [found[handling, period, share].workflows for handling in ("pilot", "chained", "aware")]
        assert records[0] is not None and len(records[0].submit) > 5
        assert all(one is not None and one.submit == records[0].submit for one in records)  # whatever the handling
    experiment = next(phase for phase in plain.phases if phase.name == "experiment")
    periodic = found["chained", "3h", 0.0].workflows
    assert periodic is not None
    begin = experiment.begin
    assert periodic.submit == [begin + number * 3 * 3600 for number in range(1, 8)]


def test_a_share_is_of_the_experiment_phase(folder: Path) -> None:
    found = made(read_study(folder / "study.toml"))
    with_share, plain = found["chained", "0", 0.1], found["chained", "0", 0.0]
    experiment = next(phase for phase in plain.phases if phase.name == "experiment")
    inside = (pl.col("submit") >= experiment.begin) & (pl.col("submit") < experiment.end)
    own = pl.col("id").is_between(FIRST_ID, 10**12 - 1)
    assert with_share.jobs.filter(own).select(inside.all()).item()
    before, after = (one.jobs.filter(~inside)["id"].to_list() for one in (plain, with_share))
    assert before == after  # fill, stabilisation and drain as they were
    work = pl.col("count") * pl.min_horizontal("runtime", "limit")
    shared = with_share.jobs.filter(inside)
    total = plain.jobs.filter(inside).select(work.sum()).item()
    assert shared.filter(own).select(work.sum()).item() / total == pytest.approx(0.1, abs=0.001)
    assert shared.select(work.sum()).item() / total == pytest.approx(1, abs=0.01)  # the pressure is what it was


def test_files_of_workflows_are_known_by_content(folder: Path) -> None:
    before = [run.identity for run in plan(read_study(folder / "study.toml"))]
    text = (folder / "two.json").read_text()
    (folder / "two.json").write_text(text.replace("100", "200"))
    after = [run.identity for run in plan(read_study(folder / "study.toml"))]
    assert not set(before) & set(after)


def test_what_does_not_go_together_is_refused(folder: Path) -> None:
    file = folder / "study.toml"
    assert "both say how many workflows come" in mistakes(STUDY.partition("[[exclude]]")[0], file)
    assert "handling: of which workflows?" in mistakes(STUDY.replace('workflows = "two.json"\n', ""), file)
    without = STUDY.replace('period = ["0", "3h"]\nshare = [0, 0.1]\n', "").partition("[[exclude]]")[0]
    assert "how often do workflows come?" in mistakes(without, file)
    assert "there is no handling 'pilots'" in mistakes(STUDY.replace('"pilot"', '"pilots"'), file)
    assert "expected a share from 0 to 1" in mistakes(STUDY.replace("0.1", "10"), file)


def test_a_study_of_workflows_alone(folder: Path) -> None:
    text = '[workload]\nworkflows = "two.json"\nhandling = ["pilot", "chained"]\n[run]\ncluster = "pool:8"\n'
    inputs = Inputs()
    found = [inputs.of(run.point, run.seed)[0] for run in plan(parse_study(text, str(folder / "s.toml")))]
    assert sorted(len(workload) for workload in found) == [1, 2]


def test_a_list_of_times_and_workflows(folder: Path) -> None:
    file = folder / "times.csv"
    file.write_text("time, workflow\n60, two.json\n5, chain(tasks=2)\n70, two.json\n")
    arrivals = parse_arrivals(str(file), "pilot")
    assert arrivals.mix.workflows[0].name == "two"
    assert arrivals.times == [(5.0, 1), (60.0, 0), (70.0, 0)]
    with pytest.raises(InputError, match="the file says when workflows come"):
        parse_arrivals(str(file), "pilot", period="1h")
    file.write_text("time,workflow\nsoon,two.json\n1,nothing.json\n")
    with pytest.raises(InputErrors) as caught:
        parse_arrivals(str(file))
    assert "times.csv:2: 'soon' is not a time" in str(caught.value) and "nothing.json" in str(caught.value)


def test_a_pattern_of_ones_own(folder: Path) -> None:
    (folder / "mine.py").write_text(
        "from schedlab.generate.triggers.inject import AtTimes, JobTemplate\n"
        "def twice(workload, runtime=5):\n    return AtTimes([7, 9]), JobTemplate(name='x', runtime=runtime)\n"
        "def wrong(workload):\n    return 3\n"
    )
    text = (
        '[workload]\nmodel = "lublin(processors=64)"\njobs = 5\ninject = "mine.py:twice(runtime=8)"\n'
        '[run]\ncluster = "8x8"\n'
    )
    (run,) = plan(parse_study(text, str(folder / "s.toml")))
    jobs = Inputs().of(run.point, run.seed)[0].jobs.filter(pl.col("id") >= FIRST_ID)
    assert jobs.select("submit", "runtime").rows() == [(7, 8), (9, 8)]
    (run,) = plan(parse_study(text.replace("twice(runtime=8)", "wrong"), str(folder / "s.toml")))
    with pytest.raises(InputError, match="gave int, not a trigger and what it puts in"):
        Inputs().of(run.point, run.seed)


def invoke(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_commands(folder: Path) -> None:
    log = folder / "short.swf"
    log.write_text(
        "; MaxProcs: 16\n" + "".join(f"{n} {100 * n} 0 50 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1\n" for n in range(1, 21))
    )
    workflow = folder / "two.json"
    out = folder / "run"
    said = invoke("run", log, "--workflows", workflow, "--handling", "chained", "--period", "500", "--out", out)
    assert "3 workflows put in" in said
    assert pl.read_parquet(out / "workflows.parquet")["submit"].to_list() == [600.0, 1100.0, 1600.0]
    alone = json.loads(invoke("run", workflow, "--handling", "pilot", "-c", "pool:8", "--json"))
    assert alone["runs"][0]["summary"]["makespan"] == 150
    document = json.loads(invoke("run", "--workflows", workflow, "-c", "pool:8", "--json"))
    assert document["runs"][0]["summary"]["jobs"] == 2
    made = folder / "made.swf"
    words = ("lublin(processors=64)", "--jobs", 50, "--workflows", workflow, "--share", "50%", "--out", made)
    assert "put in" in invoke("generate", *words)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--period", "1h"], "of which workflows?"),
        (["--workflows", "chain"], "how often do they come?"),
        (["--workflows", "chain", "--period", "1h", "--share", "5%"], "both say how many come"),
        (["--workflows", "chain", "--inject", "mine.py:f"], "does not go with --workflows"),
    ],
)
def test_options_that_miss_or_contradict_each_other(arguments: list[str], said: str) -> None:
    done = CliRunner().invoke(app, ["run", "no-such.swf", *arguments])
    assert said in str(done.exception) or said in done.output
