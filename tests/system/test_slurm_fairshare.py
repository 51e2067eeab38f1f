"""The examples of docs/slurm-fairshare.md, with few jobs and two phases: they run, are drawn, are told user by user."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from examples import slurm_fairshare
from tests import commands
from tests.slurm_programs import slurm_programs

from schedlab.experiment.results import Results

EXAMPLES = Path(__file__).parents[2] / "examples"
JOBS, PHASES = 30, 2


def called(*words: object, cwd: Path) -> str:
    done = subprocess.run(list(map(str, words)), cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def command(*words: object, cwd: Path) -> str:
    done = commands.schedlab(*words, folder=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def small_study(name: str, folder: Path) -> Results:
    slurm_programs()
    shutil.copytree(EXAMPLES / "micro_cluster", folder / "micro_cluster")
    for jobs in (folder / "micro_cluster").glob("*.events"):
        jobs.write_text("".join(jobs.read_text().splitlines(keepends=True)[:JOBS]))
    text = (EXAMPLES / name).read_text()
    assert "repetitions = 30" in text
    (folder / "study.toml").write_text(text.replace("repetitions = 30", f"repetitions = {PHASES}"))
    command("experiment", "run", "study.toml", cwd=folder)
    return Results(folder / "study")


def test_the_study_with_few_jobs_and_two_phases(tmp_path: Path) -> None:
    results = small_study("slurm_fairshare.toml", tmp_path)
    assert len(results.results) == 2 * PHASES
    weights, starts = [], set()
    for result in results.results:
        run = results.run(result["identity"])
        weights += re.findall(r"(?mi)^PriorityWeightFairshare=(\d+)", run.evidence("slurm/slurm.conf").decode())
        assert run.summary["jobs"] == run.summary["started"] == JOBS
        starts.add(tuple(run.jobs.sort("job")["start"]))
    assert sorted(weights) == ["50000"] * PHASES + ["60000"] * PHASES
    assert len(starts) >= PHASES  # each phase is another run

    told = called(sys.executable, EXAMPLES / "slurm_fairshare.py", "study", cwd=tmp_path)
    for user in range(1, 6):
        line = rf"user{user} \(\d+ jobs\): +[\d.]+ -> +[\d.]+, +[+-][\d.]+ min \[[+-].*\].* of {PHASES} phases: "
        assert re.search(line, told), told
    assert "the same jobs" not in told

    words = ("plot", "study", "--kind", "users", "--label", "before", "--label", "after", "-o", "users.svg")
    assert f"{2 * PHASES} runs in users.svg" in command(*words, cwd=tmp_path)
    assert "</svg>" in (tmp_path / "users.svg").read_text()


def test_the_study_of_given_jobs_with_few_jobs_and_two_phases(tmp_path: Path) -> None:
    results = small_study("slurm_given_jobs.toml", tmp_path)
    assert [Path(result["point"]["log"]).name for result in results.results] == PHASES * [
        "jobs.events",
        "jobs_given.events",
    ]
    before, after = (slurm_fairshare.owners_of(runs[0]) for runs in slurm_fairshare.groups_of(results))
    given = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert set(given) == {("user4", "user3")}

    told = called(sys.executable, EXAMPLES / "slurm_fairshare.py", "study", cwd=tmp_path)
    every, same = told.split("the same jobs before and after\n")
    assert f"user4 ({before.count('user4')}, then {after.count('user4')} jobs): " in every
    assert f"user4 ({after.count('user4')} jobs): " in same
    assert f"user4's given to user3 ({len(given)} jobs): " in same


@pytest.mark.parametrize(("file", "words"), [("jobs.events", []), ("jobs_given.events", ["--give", "0.7"])])
def test_the_jobs_are_made_by_their_script(tmp_path: Path, file: str, words: list[str]) -> None:
    called(sys.executable, EXAMPLES / "micro_cluster" / "make_jobs.py", file, *words, cwd=tmp_path)
    assert (tmp_path / file).read_bytes() == (EXAMPLES / "micro_cluster" / file).read_bytes()


def test_user_3_submits_70_percent_of_the_jobs_of_user_4_and_nothing_else_changes() -> None:
    old, new = ((EXAMPLES / "micro_cluster" / f"{name}.events").read_text() for name in ("jobs", "jobs_given"))
    changed = [(a, b) for a, b in zip(old.splitlines(), new.splitlines(), strict=True) if a != b]
    assert len(changed) == round(0.7 * old.count("--uid=user4")) == 37
    for a, b in changed:
        assert a.replace("--uid=user4 -A account2", "--uid=user3 -A account1") == b
