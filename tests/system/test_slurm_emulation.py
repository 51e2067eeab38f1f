"""Where the real Slurm runs: full disks, machines without a network, runs that fail, phases, names, its log."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests import commands
from tests.slurm_programs import slurm_programs
from tests.slurm_site import Site, own_folder, rows

import schedlab as sl
from schedlab.slurm.decider import RealSlurm
from schedlab.slurm.errors import SlurmError
from schedlab.slurm.install import Finding, doctor
from schedlab.slurm.wire import client
from schedlab.slurm.words import is_of_the_place
from schedlab.slurm.workplace import Workplace

SCHEDLAB = Path(sys.executable).with_name("schedlab")
ACCOUNTING = """
AccountingStorageType=accounting_storage/slurmdbd
PriorityWeightFairshare=1000
"""


@pytest.fixture(scope="session", autouse=True)
def _programs() -> None:
    slurm_programs()


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with own_folder(monkeypatch) as folder:
        yield folder


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def command(*words: object, before: tuple[object, ...] = ()) -> subprocess.CompletedProcess[str]:
    """In namespaces of its own it is a program of its own."""
    if not before:
        return commands.schedlab(*words)
    return subprocess.run([str(word) for word in (*before, SCHEDLAB, *words)], capture_output=True, text=True)


def replay(site: Site, *words: object, before: tuple[object, ...] = ()) -> subprocess.CompletedProcess[str]:
    return command("slurm", "replay", "--conf", site.conf, "--jobs", site.jobs, *words, before=before)


def unshared(*options: str, script: str) -> tuple[str, ...]:
    """Words that run a command in namespaces of its own, after a script; skips where that is not allowed."""
    found = ("unshare", *([] if os.getuid() == 0 else ["--map-root-user"]), *options)
    whole = (*found, "sh", "-c", f'{script} && exec "$0" "$@"')
    if shutil.which("unshare") is None or subprocess.run([*whole, "true"], capture_output=True).returncode:
        pytest.skip("needs unshare(1) and the right to use it")
    return whole


# ---- where it runs ----


def test_a_disk_that_gets_full_ends_the_run(site: Site, tmp_path: Path, place: Path) -> None:
    site.submit(*(f"{n} 5000 -n 1 -t 100" for n in range(400)))
    small = unshared("--mount", script=f"mount -t tmpfs -o size=3m small {place}")
    said = replay(site, "--out", tmp_path / "run", "--evidence", 0, before=small)
    assert said.returncode == 1, said.stdout
    assert f"slurmctld's files are in {place}/" in said.stderr and "of 3.1 MB are free" in said.stderr
    assert "SCHEDLAB_TMP=DIR" in said.stderr


@pytest.mark.parametrize("code", [2019, 28, 5, 1001, 2090])
def test_an_answer_that_is_not_about_the_job_ends_the_run(
    site: Site, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    monkeypatch.setattr(client, "submitted", lambda *_: SimpleNamespace(job=0, error=code, message=""))
    site.submit("0 10 -n 1 -t 5")
    with pytest.raises(SlurmError, match=rf"cannot take jobs any more: .*\({code}\); slurmctld's files are in"):
        site.run()


@pytest.mark.parametrize("code", [2000, 2014, 2048, 2050, 2066, 11])
def test_other_answers_are_about_the_job(code: int) -> None:
    assert not is_of_the_place(code)  # 11: MaxJobCount


def test_files_that_cannot_be_written_at_the_start_name_the_folder(
    site: Site, monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    site.submit("0 10 -n 1 -t 5")
    monkeypatch.setattr("schedlab.slurm.settings.emulation.Emulation.write", full)
    decider = RealSlurm(site.conf)
    cluster, workload = sl.read_cluster(site.conf), sl.read_workload(site.jobs, requests="full")
    decider.setup.cluster = lambda: cluster  # type: ignore[method-assign]
    with pytest.raises(SlurmError, match=rf"cannot be set up: No space left on device; .* in {place}/"):
        sl.simulate(workload, cluster, decider)


def test_a_place_is_full_when_files_are_no_longer_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    with Workplace() as one:
        assert not one.is_full()
        monkeypatch.setattr("schedlab.slurm.workplace.LEAST", 1 << 60)
        assert one.is_full()


def test_it_runs_on_a_machine_without_any_network(site: Site, tmp_path: Path) -> None:
    site.configure(ACCOUNTING)
    site.submit("0 100 -n 8 -t 10", "5 50 -n 16 -t 10")
    assert replay(site, "--out", tmp_path / "here").returncode == 0
    for name, script in (("nothing", "true"), ("loopback", "ip link set lo up")):
        if name == "loopback" and shutil.which("ip") is None:
            continue
        said = replay(site, "--out", tmp_path / name, before=unshared("--net", script=script))
        assert said.returncode == 0, said.stderr
        assert (tmp_path / name / "jobs.parquet").read_bytes() == (tmp_path / "here" / "jobs.parquet").read_bytes()


def test_what_cannot_be_said_to_a_slurmdbd_is_not_in_the_log(site: Site) -> None:
    site.configure(ACCOUNTING)
    site.submit("0 9000 -n 8 -t 200", "5 50 -n 16 -t 10")
    log = gzip.decompress(site.run().evidence("slurm/slurmctld.log.gz")).decode()
    assert "PersistInit" not in log and "DBD_SEND_MULT_JOB_START" not in log and "persistent connection" not in log
    assert "_job_complete: JobId=2 done" in log  # the rest of it is there


def test_doctor_really_runs_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.examine(fetch=False)[-1] == Finding(True, "a job runs", "completed")
    monkeypatch.setattr(doctor, "TRIAL", doctor.TRIAL + "PriorityDecayHalfLife=soon\n")
    found = doctor.examine(fetch=False)[-1]
    assert not found.ok and "PriorityDecayHalfLife" in found.detail and found.cure


# ---- what is left when it fails ----


def test_a_failed_run_does_not_block_the_next_one(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.submit("0 10 -n 1 -t 5")
    with monkeypatch.context() as patch:
        patch.setattr(client, "submitted", lambda *_: SimpleNamespace(job=0, error=2019, message=""))
        with pytest.raises(SlurmError):
            site.run(out=tmp_path / "run")
    assert sl.read_run(tmp_path / "run").incomplete.startswith("slurmctld cannot take jobs any more")
    assert not site.run(out=tmp_path / "run").incomplete
    with pytest.raises(sl.InputError, match="already holds a run"):
        site.run(out=tmp_path / "run")


# ---- what it is called, and how to make one run of many again ----


def test_a_member_of_an_ensemble_can_be_repeated_alone(site: Site, tmp_path: Path) -> None:
    site.submit(*(f"{30 * n} 400 -n {1 + n % 16} -t 10" for n in range(20)))
    study = tmp_path / "study"
    said = replay(site, "--phases", 2, "--set", "SchedulerParameters+=bf_interval=60", "--evidence", 0, "--out", study)
    assert said.returncode == 0, said.stderr
    results = [json.loads(path.read_text()) for path in (study / "results").glob("*.json")]
    member = next(one for one in results if one["repetition"] == 1 and "set=" in one["point"]["policy"])
    run = sl.read_run(study / "runs" / member["identity"])
    assert run.policy == "changed" and run.config["decider"] == member["decider"]
    phase = member["decider"]["phase"]
    assert phase == 215.41 and f"phase={phase}" in member["decider"]["policy"]
    again = site.run(phase=phase, set=["SchedulerParameters+=bf_interval=60"], out=tmp_path / "again")
    assert rows(again, "start") == rows(run, "start")
    jobs = [folder / "jobs.parquet" for folder in (tmp_path / "again", study / "runs" / member["identity"])]
    assert jobs[0].read_bytes() == jobs[1].read_bytes()


def test_short_names_stand_for_the_settings_everywhere(site: Site, tmp_path: Path) -> None:
    site.submit(*(f"{30 * n} 400 -n {1 + n % 16} -t 10" for n in range(10)))
    study, change = tmp_path / "study", ("--set", "SchedulerParameters+=bf_interval=60", "--evidence", 0)
    said = replay(site, "--phases", 2, *change, "--label", "every minute", "--out", study)
    assert said.returncode == 0, said.stderr
    assert "\nevery minute " in said.stdout and "\nas it is " in said.stdout and "slurm-real(" not in said.stdout
    table, page = tmp_path / "table.csv", tmp_path / "report.html"
    assert command("experiment", "table", study, "--out", table).returncode == 0
    assert "every minute" in table.read_text() and "slurm-real(" not in table.read_text()
    assert command("experiment", "report", study, "--out", page).returncode == 0
    once = "every minute: slurm-real("  # where parameters are explained
    assert once in page.read_text()
    for name, words in (("changed", change), ("as it is", ())):
        said = replay(site, *words, "--out", tmp_path / name)
        assert f"\n{name} " in said.stdout and sl.read_run(tmp_path / name).policy == name
    said = command("compare", tmp_path / "changed", tmp_path / "as it is")
    assert "slurm-real(" not in said.stdout and "changed" in said.stdout and "as it is" in said.stdout


def test_without_accounts_it_is_said_what_holds(site: Site, tmp_path: Path) -> None:
    site.submit("0 10 -n 1 -t 5")
    site.configure(ACCOUNTING)
    accounts = tmp_path / "accounts.toml"
    accounts.write_text('[accounts.physics]\n[users.ann]\naccounts = ["physics"]\n')
    said = replay(site, "--out", tmp_path / "run")
    assert "equal shares for every account and user of the log, and no limits" in said.stdout
    assert "and no limits" in (tmp_path / "run" / "slurm" / "differences.txt").read_text()
    assert "equal shares" not in replay(site, "--accounts", accounts).stdout
    site.configure()
    assert "Slurm knows no fair-share, no QOS and no limits" in replay(site).stdout


# ---- jobs of logs ----


def test_every_job_asks_for_what_its_log_says(tmp_path: Path) -> None:
    """Requests that differ in memory alone are one to the engine, and must not be mixed up."""
    site = Site(tmp_path)
    site.configure(text=site.conf.read_text().replace("Nodes=n[1-4] PriorityTier=9", "Nodes=n[3-4] PriorityTier=9"))
    head = "JobID|User|Account|Partition|State|Submit|Start|End|Timelimit|NCPUS|NNodes|ReqMem"
    times = "COMPLETED|2024-01-01T00:0{}:00|2024-01-01T00:10:00|2024-01-01T00:12:00|00:30:00"
    asked = ("work|{}|8|1|1000M", "work|{}|8|1|2000M", "urgent|{}|8|1|1000M", "urgent|{}|8|1|3000M")
    lines = [f"{n}|ann|lab|{text.format(times.format(n))}" for n, text in enumerate(asked, 1)]
    log = tmp_path / "jobs.sacct"
    log.write_text("\n".join([head, *lines]) + "\n")
    decider = RealSlurm(site.conf, evidence=0)
    run = sl.simulate(sl.read_workload(log, requests="full"), decider.setup.cluster(), decider)
    assert [state for (state,) in rows(run, "state")] == ["completed"] * 4
