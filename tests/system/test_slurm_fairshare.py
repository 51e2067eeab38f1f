"""The example of the fair-share weight, with few jobs and two phases: it runs, is drawn, and is told user by user."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.slurm_programs import slurm_programs

from schedlab.experiment.results import Results

EXAMPLES = Path(__file__).parents[2] / "examples"
SCHEDLAB = Path(sys.executable).with_name("schedlab")
JOBS, PHASES = 60, 2


def called(*words: object, cwd: Path) -> str:
    done = subprocess.run(list(map(str, words)), cwd=cwd, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_study_with_few_jobs_and_two_phases(tmp_path: Path) -> None:
    slurm_programs()
    shutil.copytree(EXAMPLES / "micro_cluster", tmp_path / "micro_cluster")
    jobs = tmp_path / "micro_cluster" / "jobs.events"
    jobs.write_text("".join(jobs.read_text().splitlines(keepends=True)[:JOBS]))
    text = (EXAMPLES / "slurm_fairshare.toml").read_text()
    assert "repetitions = 30" in text
    (tmp_path / "study.toml").write_text(text.replace("repetitions = 30", f"repetitions = {PHASES}"))
    called(SCHEDLAB, "experiment", "run", "study.toml", cwd=tmp_path)

    results = Results(tmp_path / "study")
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
        assert re.search(rf"user{user}: +[\d.]+ -> +[\d.]+, +[+-][\d.]+ min \[[+-].*\].* of {PHASES} phases: ", told), (
            told
        )

    words = ("plot", "study", "--kind", "users", "--label", "before", "--label", "after", "-o", "users.svg")
    assert f"{2 * PHASES} runs in users.svg" in called(SCHEDLAB, *words, cwd=tmp_path)
    assert "</svg>" in (tmp_path / "users.svg").read_text()


def test_the_jobs_are_made_by_their_script(tmp_path: Path) -> None:
    called(sys.executable, EXAMPLES / "micro_cluster" / "make_jobs.py", "jobs.events", cwd=tmp_path)
    assert (tmp_path / "jobs.events").read_bytes() == (EXAMPLES / "micro_cluster" / "jobs.events").read_bytes()
