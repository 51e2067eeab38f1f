"""What is said of a replay through the real Slurm: of its settings, its files, its jobs."""

from __future__ import annotations

import hashlib
import json
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.commands import schedlab as command
from tests.unit.test_study_report import STUDY, checked, made, waits, words

from schedlab import Cluster, Workload, simulate
from schedlab.cli.experiment_output import print_summary
from schedlab.cli.slurm import _print, _print_settings
from schedlab.cluster.slurm.read import read_settings
from schedlab.experiment.results import Results
from schedlab.report.study import study_page
from schedlab.slurm.setup import Setup
from schedlab.slurm.study import ensemble_text

MICRO = Path(__file__).parents[2] / "examples" / "micro_cluster"
CONF = """
ClusterName=small
SlurmctldHost=head
AuthType=auth/munge
SlurmctldTimeout=60
JobSubmitPlugins=lua
Prolog=/etc/prolog
SelectType=select/cons_tres
PriorityType=priority/multifactor
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=db
NodeName=n[1-4] CPUs=8
PartitionName=work Nodes=n[1-4] Default=YES
"""


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    (tmp_path / "slurm.conf").write_text(CONF)
    programs = SimpleNamespace(plugin_folder=Path("/usr/lib/slurm"), has_plugin=lambda *_: True)
    return Setup(programs, read_settings(tmp_path / "slurm.conf"), None)  # type: ignore[arg-type]


def test_what_can_change_the_result_is_told_and_the_plumbing_counted(
    setup: Setup, capsys: pytest.CaptureFixture[str]
) -> None:
    prolog, submit, accounts = setup.differences()
    assert submit.startswith("JobSubmitPlugins: lua -> left out (") and "can decide what starts when" in submit
    assert prolog.startswith("Prolog:") and "is missing" in prolog
    assert accounts.startswith("no accounts given: equal shares")
    setup.remarks.append("user eve is added")
    assert setup.differences()[-1] == "user eve is added"
    _print_settings(setup, "changed", ["PriorityWeightAge=5", "KillWait=1"])
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "changed: PriorityWeightAge=5, KillWait=1"
    assert last.startswith(f"  and {setup.replaced()} settings of hosts, ports and files replaced: slurm/differences")
    notes = setup.notes["differences.txt"].decode()
    assert "AuthType" in notes and "AccountingStorageHost" in notes and notes.startswith("Prolog:")


def test_warnings_say_refused_or_never_started(capsys: pytest.CaptureFixture[str]) -> None:
    run = simulate(Workload.of(submit=[0], runtime=[1]), Cluster.uniform(1, 4))
    refused = {"never started: BadConstraints": ["5", "7_4"], "Invalid license specification (2048)": ["3"]}
    decider = SimpleNamespace(
        setup=SimpleNamespace(described=lambda: "Slurm", remarks=[]), left_out=set, refused=lambda: refused
    )
    _print(run, decider, None)  # type: ignore[arg-type]
    said = " ".join(capsys.readouterr().err.split())
    assert "Slurm never started 2 jobs (5, 7_4): BadConstraints" in said
    assert "Slurm refused 1 job (3): Invalid license specification (2048)" in said


def test_missing_files_are_named_all_at_once_before_anything_else(tmp_path: Path) -> None:
    said = command(
        *("slurm", "replay", "--conf", MICRO / "slurm.conf", "--jobs", tmp_path / "none.sacct"),
        *("--accounts", tmp_path / "none.cfg", "--phases", 2, "--out", tmp_path / "out"),
    )
    assert said.returncode != 0 and not said.stdout
    assert said.stderr.count("no such file") == 2
    assert "none.sacct" in said.stderr and "none.cfg" in said.stderr


LUA, ADDED = "JobSubmitPlugins: lua -> left out (it can decide what starts when)", "user eve is added"
LIMIT = "PartitionName=normal:MaxTime=4:00:00"


def ensemble(folder: Path, edits: list[str]) -> Results:
    """With made-up results of three phases, which say of themselves what the decider would."""
    options = {"set": edits, "accounts": None, "qos": None}
    text = ensemble_text(MICRO / "slurm.conf", MICRO / "jobs.events", options, [], 3, {})
    results = made(folder, 'metrics = ["wait.mean"]\n' + text, lambda run: 1000.0 + run.repetition)
    for run in results.planned:
        path = folder / "results" / f"{run.identity}.json"
        own = edits if "set=" in run.point["policy"] else []
        facts = {"set": own, "differences": [LUA, *([ADDED] if own else [])]}
        path.write_text(json.dumps(json.loads(path.read_text()) | {"decider": facts}))
    return Results(folder)


def test_the_report_says_what_of_the_settings_is_different(tmp_path: Path) -> None:
    page = unescape(words(checked(ensemble(tmp_path, [LIMIT]))))
    _, _, section = page.partition("What of the slurm.conf is different here")
    assert LUA in section and f": {LUA}" not in section
    assert f"changed: {ADDED}" in section
    assert "What of the slurm.conf" not in words(checked(made(tmp_path / "other", STUDY, waits)))


def test_what_was_changed_is_said_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = ensemble(tmp_path, [LIMIT, "KillWait=1"])
    said = f"changed: {LIMIT}, KillWait=1"
    print_summary(results, 1.0)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("jobs.events: 6 runs planned")
    assert lines.index(said) < next(at for at, line in enumerate(lines) if "mean wait" in line)
    page = words(checked(results))
    assert page.index(f"{said}.") < page.index("6 of 6 runs are finished") < page.index("What it says")
    assert "<title>jobs.events" in study_page(results)
    for seen in (" ".join(" ".join(lines).split()), page):
        assert "The intervals cover only the phase of Slurm's loops, on this one log, jobs.events." in unescape(seen)


def test_without_a_change_it_is_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = ensemble(tmp_path, [])
    assert results.table["group"].unique().to_list() == ["as it is"]
    print_summary(results, 1.0)
    assert "changed" not in capsys.readouterr().out


def test_hashes_are_of_all_files_that_were_read(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "slurm.conf").write_text(f"{CONF}Include limits.conf\n")
    for name in ("limits.conf", "gres.conf", "topology.conf", "accounts.cfg", "qos.txt", "jobs.events"):
        (site / name).write_text("# nothing\n")
    options = {"set": [LIMIT], "accounts": site / "accounts.cfg", "qos": site / "qos.txt"}
    text = ensemble_text(site / "slurm.conf", site / "jobs.events", options, [], 3, {})
    page = words(checked(made(tmp_path / "study", 'metrics = ["wait.mean"]\n' + text, lambda run: 1000.0)))
    _, _, section = page.partition("Hashes")
    for path in site.iterdir():
        (line,) = [line for line in section.split("sha256 ") if f" {path.name} " in line]
        assert section.partition(f"{line}sha256 ")[2].startswith(hashlib.sha256(path.read_bytes()).hexdigest())
