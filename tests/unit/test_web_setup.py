"""Forms: what is typed, the command and the study file that it stands for, and what is refused."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from schedlab.experiment.study import parse_study
from schedlab.model.errors import InputError, InputErrors
from schedlab.web.checks import check_policy, check_setup, check_sweep, read_machine
from schedlab.web.choices import choices, policy_parts, policy_text
from schedlab.web.settings import Settings, allowed
from schedlab.web.setup import Setup, Sweep, as_document, read_form, task_of
from schedlab.web.space import NotThereError, Space
from schedlab.web.start import start_study

LOG = "; MaxProcs: 8\n" + "".join(
    f"{n} {60 * n} -1 {100 + 37 * n % 400} {1 + 5 * n % 7} -1 -1 {1 + 5 * n % 7} 900 -1 1 {n % 3 + 1} 1 -1 1 -1 -1 -1\n"
    for n in range(1, 41)
)


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Space:
    (tmp_path / "small.swf").write_text(LOG)
    monkeypatch.chdir(tmp_path)
    return Space(tmp_path.resolve(), "0123456789ab")


def schedlab(*arguments: str, folder: Path) -> str:
    code = "from schedlab.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_command_leaves_out_what_is_at_its_default() -> None:
    assert Setup(log="a.swf").command() == "schedlab run a.swf --policy easy"
    full = Setup(
        model="lublin(processors=64)",
        jobs=50,
        seed=3,
        load=0.9,
        cluster="16x4",
        policies=("easy", "sjf"),
        estimate="limit*0.5",
        observers=("power(idle=60)",),
        overrun="run",
        reasons=True,
    )
    assert full.arguments("out") == [
        *("run", "lublin(processors=64)", "--jobs", "50", "--seed", "3", "--load", "0.9", "--cluster", "16x4"),
        *("--policy", "easy", "--policy", "sjf", "--estimate", "limit*0.5", "--overrun", "run"),
        *("--observe", "power(idle=60)", "--reasons", "--out", "out"),
    ]
    assert shlex.split(full.command()) == ["schedlab", *full.arguments()]


def test_a_form_survives_json() -> None:
    for form in (Setup(log="a.swf", load=0.5, policies=("easy", "fcfs")), Sweep(vary="load", values=("0.5", "1"))):
        assert read_form(type(form), json.loads(json.dumps(as_document(form)))) == form


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"arguments": ["--out", "/tmp"]}, "there is no such field"),
        ({"policies": "easy"}, "expected a list"),
        ({"jobs": True}, "expected a whole number"),
        ({"log": "a\nb"}, "expected a text of one line"),
        ({"overrun": "explode"}, "is not one of"),
        ([], "expected the fields of a form"),
    ],
)
def test_only_typed_fields(document: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_form(Setup, document)


def test_mistakes_are_said_at_once_in_the_words_of_the_command_line(space: Space) -> None:
    setup = Setup(log="nowhere.swf", cluster="8y1", policies=("easy:ordr=sjf",), estimate="lmit")
    with pytest.raises(InputErrors) as caught:
        check_setup(setup, space, Settings())
    said = str(caught.value)
    for part in ("nowhere.swf: there is no such file", "8y1", "there is no key 'ordr'", "there is no such estimate"):
        assert part in said


@pytest.mark.parametrize(
    "text",
    [
        "mine.py:Clever",
        "os:system('true')",
        "easy:order=mine.py:key",
        "power-cap(watts=5, policy='mine.py:Clever')",
        "slurm-real(conf='slurm.conf')",
        "batsim(command='touch here')",
    ],
)
def test_no_code_and_no_programs_unless_named_at_start(space: Space, text: str) -> None:
    (space.folder / "mine.py").write_text("raise SystemExit('imported')\n")
    with pytest.raises(InputError, match=r"named when|was not told|there is no policy"):
        check_policy(text, space, Settings())
    assert not (space.folder / "here").exists()


def test_files_outside_the_folder_are_refused(space: Space) -> None:
    for text in ("failures(trace='/etc/passwd')", "failures(trace='../x')", "failures(trace='\\x2e\\x2e/x')"):
        with pytest.raises(InputError, match="not a path inside"):
            check_setup(Setup(log="small.swf", observers=(text,)), space, Settings())
    with pytest.raises(InputError, match="not a path inside"):
        check_setup(Setup(log="../small.swf"), space, Settings())
    (space.folder / "slurm.conf").write_text("Include /etc/hostname\nNodeName=n1 CPUs=4\n")
    with pytest.raises(InputError, match="not a path inside"):
        read_machine("slurm.conf", space)


def test_a_named_file_may_be_used(space: Space) -> None:
    mine = space.folder / "mine.py"
    mine.write_text("def key(jobs):\n    return jobs.cores\n")
    assert check_policy("easy:order=mine.py:key", space, Settings(python=(mine,))).order.plugin is not None


def test_the_file_of_a_study_that_starts_programs_is_out_of_reach(space: Space) -> None:
    """It has the rights of the server: what stands there is what was looked at, also when it is started again."""
    _, programs = allowed(["batsim(command='batsched -s {socket}')"], space.folder)
    task = start_study(
        Sweep(setup=Setup(log="small.swf", policies=programs), name="mine"), space, Settings(programs=programs)
    )
    assert task.program
    file = task.arguments[2]
    assert "batsched" in (space.folder / file).read_text()
    with pytest.raises(NotThereError):
        space.path(file)
    plain = start_study(Sweep(setup=Setup(log="small.swf"), name="mine"), space, Settings(programs=programs))
    assert not plain.program
    assert space.own_path(plain.arguments[2]).is_file()


def test_the_command_and_the_study_file_give_the_same_results(space: Space) -> None:
    setup = Setup(
        log="small.swf",
        cluster="2x4",
        policies=("fcfs", "easy:order=sjf"),
        load=0.8,
        estimate="limit*0.5",
        observers=("power(idle=60,per_core=15)", "sharing(rate=0.8)"),
        overrun="run",
    )
    schedlab(*setup.arguments("out"), folder=space.folder)
    file = space.folder / "study.toml"
    file.write_text(Sweep(setup=setup).text())
    schedlab("experiment", "run", "study.toml", folder=space.folder)
    from_study = {}
    for path in (space.folder / "study" / "results").glob("*.json"):
        result = json.loads(path.read_text())
        from_study[result["point"]["policy"]] = result["summary"]
    own = {}
    for path in (space.folder / "out").glob("*/run.json"):
        run = json.loads(path.read_text())
        own[run["policy"]] = run["summary"]
    assert set(own) == {"fcfs", "easy:order=sjf"}
    assert from_study == own


def test_a_study_reads_back_as_it_was_meant(space: Space) -> None:
    sweep = Sweep(
        setup=Setup(model='lublin(processors=64,jobs="both")', jobs=100, cluster="16x4", policies=("fcfs", "easy")),
        name='A "study"',
        repetitions=3,
        seed=7,
        baseline="fcfs",
        vary="load",
        values=("0.6", "0.8"),
    )
    study = parse_study(sweep.text(), str(space.folder / "s.toml"))
    assert (study.name, study.repetitions, study.seed, study.baseline) == ('A "study"', 3, 7, {"policy": "fcfs"})
    assert study.grid["policy"] == ("fcfs", "easy") and study.grid["load"] == (0.6, 0.8)
    assert len(list(study.points())) == 4


def test_seeds_of_repetitions_are_for_studies(space: Space) -> None:
    setup = Setup(
        log="small.swf", observers=("failures(mtbf=1e6, seed={seed})",), policies=("none:order=random({seed})",)
    )
    check_sweep(Sweep(setup=setup, repetitions=2), space, Settings())
    with pytest.raises(InputErrors, match="seed"):
        check_setup(setup, space, Settings())


def test_what_is_started_has_a_folder_of_its_own(space: Space) -> None:
    first = task_of({"log": "small.swf", "policies": ["easy", "fcfs"]}, space, Settings())
    assert first.out == "spaces/0123456789ab/small" and first.kind == "run"
    assert first.arguments[:2] == ("run", "small.swf") and first.arguments[-2:] == ("--out", first.out)
    assert task_of({"log": "small.swf"}, space, Settings()).out == "spaces/0123456789ab/small-2"
    study = task_of({"setup": {"log": "small.swf"}, "name": "My study"}, space, Settings())
    assert study.kind == "study" and study.out == "spaces/0123456789ab/My-study"
    text = (space.folder / study.arguments[2]).read_text()
    assert 'log = "../../small.swf"' in text


def test_choices_are_those_of_schedlab_policies(space: Space) -> None:
    listed = json.loads(schedlab("policies", "--json", folder=space.folder))
    found = choices()["kinds"]
    for kind in ("backfill", "order", "placement", "estimate", "observer"):
        assert [each["name"] for each in found[kind]] == [each["name"] for each in listed if each["kind"] == kind]
    assert any(each["name"] == "lublin" for each in found["model"])
    maintenance = next(each for each in found["observer"] if each["name"] == "maintenance")
    needed = [(each["name"], each["kind"]) for each in maintenance["arguments"] if each["needed"]]
    assert needed == [("nodes", "text"), ("start", "text"), ("duration", "text")]


@pytest.mark.parametrize("text", ["easy", "sjf", "conservative:order=saf,place=best-fit", "easy:scan=sjf,depth=10"])
def test_a_policy_is_taken_apart_and_put_together(space: Space, text: str) -> None:
    parts = policy_parts(check_policy(text, space, Settings()))
    known = {"none": ("order", "place", "nodes"), "conservative": ("order", "place", "nodes")}
    keys = {name: value for name, value in parts["keys"].items() if name in known.get(parts["backfill"], parts["keys"])}
    again = policy_text(parts["backfill"], keys)
    assert check_policy(again, space, Settings()).text == check_policy(text, space, Settings()).text
