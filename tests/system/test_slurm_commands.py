"""The commands of the real Slurm: what they print, and what a study of a change says first."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from tests import commands
from tests.slurm_programs import slurm_programs
from tests.slurm_site import Site, own_folder

import schedlab as sl
from schedlab.analysis.verdict import judgement
from schedlab.experiment.results import Results
from schedlab.report.study import study_page


@pytest.fixture(scope="session", autouse=True)
def _programs() -> None:
    slurm_programs()


@pytest.fixture(autouse=True)
def _nothing_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_folder(monkeypatch):
        yield


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def command(*words: object) -> subprocess.CompletedProcess[str]:
    return commands.schedlab(*words)


def test_doctor_says_what_there_is() -> None:
    said = command("slurm", "doctor", "--json")
    findings = json.loads(said.stdout)
    assert said.returncode == 0 and all(finding["ok"] for finding in findings), said.stdout
    assert any("22.05" in finding["detail"] for finding in findings)


def test_replay_prints_differences_results_and_refusals(site: Site, tmp_path: Path) -> None:
    site.configure("AuthType=auth/munge\n")
    site.submit("0 100 -n 8 -t 10", "5 50 -n 16 -t 10", "10 10 -n 1 -t 5 --licenses=nosuch:1")
    said = command("slurm", "replay", "--conf", site.conf, "--jobs", site.jobs, "--out", tmp_path / "run")
    assert said.returncode == 0, said.stderr
    assert "no accounts: Slurm knows no fair-share" in said.stdout
    assert re.search(r"and \d+ settings of hosts, ports and files replaced", said.stdout)
    assert "3 jobs through Slurm 22.05.8" in said.stdout
    assert "Slurm refused 1 job (3): Invalid license specification (2048)" in said.stderr
    run = sl.read_run(tmp_path / "run", verify=True)
    assert run.policy == "as it is" and run.config["decider"]["policy"] == f"slurm-real(conf='{site.conf}')"
    assert {"slurm/slurm.conf", "slurm/slurmctld.log.gz", "slurm/accounting.parquet"} <= set(run.config["files"])
    assert re.search(r"AuthType: +auth/munge -> auth/none", run.evidence("slurm/differences.txt").decode())
    assert run.config["decider"]["differences"] == [
        "no accounts: Slurm knows no fair-share, no QOS and no limits of users and accounts"
    ]
    assert command("check", tmp_path / "run").stdout.strip().endswith("feasible")
    assert command("compare", tmp_path / "run").returncode == 0


def test_an_ensemble_compares_a_change_with_what_is(site: Site, tmp_path: Path) -> None:
    site.submit(*(f"{30 * n} 400 -n {1 + n % 16} -t 10" for n in range(20)))
    replay = ("slurm", "replay", "--conf", site.conf, "--jobs", site.jobs, "--phases", 3, "--out", tmp_path / "study")
    said = command(*replay, "--evidence", 0, "--set", "SchedulerParameters+=bf_interval=60")
    assert said.returncode == 0, said.stderr
    results = [json.loads(path.read_text()) for path in (tmp_path / "study" / "results").glob("*.json")]
    assert len(results) == 6 and len({result["point"]["policy"] for result in results}) == 2
    again = command(*replay, "--evidence", 0, "--set", "SchedulerParameters+=bf_interval=60")
    assert "6 of them done before" in again.stdout


INVALID = "Requested time limit is invalid (missing or exceeds some limit) (2051)"


def test_a_change_that_makes_slurm_refuse_jobs_is_told_first(site: Site, tmp_path: Path) -> None:
    """Every second job asks for 20 minutes, which are too long then: 10 of 20."""
    site.configure("EnforcePartLimits=ALL\n")
    site.submit(*(f"{30 * n} 400 -n {1 + n % 16} -t {10 + 10 * (n % 2)}" for n in range(20)))
    said = command(
        *("slurm", "replay", "--conf", site.conf, "--jobs", site.jobs, "--phases", 2, "--out", tmp_path / "study"),
        *("--evidence", 0, "--set", "PartitionName=work:MaxTime=15:00"),
    )
    assert said.returncode == 0, said.stderr
    words = " ".join(said.stdout.split())
    assert words.index("10 more jobs are refused") < words.index("mean wait")
    assert f"(10 against 0 of 20): {INVALID}" in words and "over the 10 jobs that both ran" in words


def short_jobs(log: Path, jobs: int) -> str:
    """The lines of those of its first jobs that ran for less than two hours, and of their steps.

    (The ids of these have a dot. What is simulated takes as long as the last job needs to its end.)
    """
    heading, *lines = log.read_text().splitlines(keepends=True)
    start, end = (heading.split("|").index(name) for name in ("Start", "End"))
    firsts = [number for number, line in enumerate(lines) if "." not in line.partition("|")[0]]
    kept = [heading]
    for first, following in pairwise(firsts[: jobs + 1]):
        times = [lines[first].split("|")[place] for place in (start, end)]
        if "Unknown" in times or since(*times) < timedelta(hours=2):
            kept += lines[first:following]
    return "".join(kept)


def since(start: str, end: str) -> timedelta:
    return datetime.fromisoformat(end) - datetime.fromisoformat(start)


@pytest.mark.slow
def test_many_jobs_refused_is_what_a_study_says_first(traces: Path, tmp_path: Path) -> None:
    """19 of 51 jobs of a made-up site ask for more than four hours; another one is withdrawn."""
    cedar = traces.parent / "cases" / "cedar"
    if not cedar.is_dir():
        pytest.skip(f"needs the accounting of a small site; there is no {cedar}")
    (tmp_path / "jobs.sacct").write_text(short_jobs(cedar / "small.sacct", 60))
    said = command(
        *("slurm", "replay", "--conf", cedar / "slurm.conf", "--jobs", tmp_path / "jobs.sacct"),
        *("--accounts", cedar / "accounts.cfg", "--qos", cedar / "qos.txt", "--phases", 2, "--evidence", 0),
        *("--set", "PartitionName=cpu:MaxTime=4:00:00", "--out", tmp_path / "study"),
    )
    assert said.returncode == 0, said.stderr
    first, *_ = [line for line in said.stdout.splitlines() if line.startswith("- ")]
    assert first.startswith("- 19 more jobs are refused under ")
    assert first.endswith(f"(19 against 0 of 51): {INVALID}")
    results = Results(tmp_path / "study")
    assert "over the 31 jobs that both ran" in results.verdicts(["wait.mean"])[0]
    assert [judgement(row) for row in results.comparisons(["utilisation"]).iter_rows(named=True)] == [""]
    page = study_page(results)
    assert page.index("19 more jobs are refused") < page.index("the mean wait")
    assert "compared on the same jobs" not in page
