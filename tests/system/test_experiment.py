"""`schedlab experiment` as a user meets it: interrupted, broken, moved, changed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests import commands
from tests.chaos import children, compare

from schedlab.experiment.coordinator import opened

STUDY = """
name = "small"
repetitions = 2
baseline = { policy = "fcfs" }
[workload]
model = "lublin(processors=64)"
jobs = 300
[run]
cluster = "pool:64"
policy = ["fcfs", "easy"]
"""


def schedlab(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return commands.schedlab(*words, folder=cwd)


def results(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((folder / "results").glob("*.json"))]


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_what_is_done_is_not_done_again(study: Path) -> None:
    folder = study.with_suffix("")
    first = schedlab("experiment", "run", study, cwd=study.parent)
    assert first.returncode == 0, first.stderr
    assert "4 runs planned, 4 done" in first.stdout
    assert "easy" in first.stdout
    before = {path: path.stat().st_mtime_ns for path in (folder / "results").iterdir()}
    again = schedlab("experiment", "run", study, cwd=study.parent)
    assert "4 runs, 4 of them done before" in again.stdout
    assert {path: path.stat().st_mtime_ns for path in (folder / "results").iterdir()} == before
    study.write_text(STUDY.replace('["fcfs", "easy"]', '["fcfs", "easy", "sjf"]'))
    more = schedlab("experiment", "run", study, cwd=study.parent)
    assert "6 runs, 4 of them done before" in more.stdout
    assert all((folder / "results" / path.name).stat().st_mtime_ns == mark for path, mark in before.items())
    for run in sorted((folder / "runs").iterdir()):
        judged = schedlab("check", run, cwd=study.parent)
        assert judged.returncode == 0, judged.stdout


def test_the_plan_and_its_cost(study: Path) -> None:
    shown = schedlab("experiment", "run", study, "--dry-run", cwd=study.parent)
    assert "small: 4 runs, 0 of them done" in shown.stdout
    assert "s a run (measured on 4 runs)" in shown.stdout
    assert not study.with_suffix("").exists()


def test_mistakes_come_with_their_lines(study: Path) -> None:
    study.write_text(STUDY.replace("jobs = 300", "jobs = 0").replace('"easy"', '"esay"'))
    failed = schedlab("experiment", "run", study, cwd=study.parent)
    assert failed.returncode == 2
    assert "study.toml:7" in failed.stderr
    assert "study.toml:10" in failed.stderr
    assert not study.with_suffix("").exists()


def test_a_run_that_fails_does_not_stop_the_others(study: Path) -> None:
    (study.parent / "mine.py").write_text(
        "import schedlab as sl\n\n\nclass Broken(sl.Policy):\n    def decide(self, view, events):\n        1 / 0\n"
    )
    study.write_text(STUDY.replace('["fcfs", "easy"]', '["fcfs", "mine.py:Broken"]'))
    done = schedlab("experiment", "run", study, cwd=study.parent)
    assert done.returncode == 1
    assert "2 done, 2 failed" in done.stdout
    status = json.loads(schedlab("experiment", "status", "study", "--json", cwd=study.parent).stdout)
    assert len(status["failed"]) == 2
    assert "ZeroDivisionError" in status["failed"][0]["traceback"]
    assert "mine.py" in status["failed"][0]["traceback"]
    stopped = schedlab("experiment", "run", study, "--fail-fast", cwd=study.parent)
    assert stopped.returncode == 1
    assert "mine.py" in stopped.stderr


def test_a_lost_ledger_is_made_again(study: Path) -> None:
    folder = study.with_suffix("")
    schedlab("experiment", "run", study, cwd=study.parent)
    (folder / "ledger.sqlite").write_bytes(b"not a database at all, but long enough to be looked at" * 100)
    (folder / "ledger.sqlite-wal").unlink(missing_ok=True)
    broken = schedlab("experiment", "run", study, cwd=study.parent)
    assert broken.returncode == 2
    assert "it is made again from the results" in broken.stderr
    (folder / "ledger.sqlite").unlink()
    (folder / "ledger.sqlite-shm").unlink(missing_ok=True)
    again = schedlab("experiment", "run", study, cwd=study.parent)
    assert "4 runs, 4 of them done before" in again.stdout
    assert list((folder / "backups").glob("ledger-*.sqlite"))


def test_damage_is_found_and_repaired(study: Path) -> None:
    folder = study.with_suffix("")
    schedlab("experiment", "run", study, cwd=study.parent)
    one, two, *_ = sorted(path for path in (folder / "runs").iterdir())
    (one / "jobs.parquet").write_bytes(b"damaged")
    (two / "timeline.parquet").unlink()
    found = schedlab("experiment", "verify", "study", cwd=study.parent)
    assert found.returncode == 1
    assert f"{one.name}: jobs.parquet has changed" in found.stderr
    assert f"{two.name}: timeline.parquet is missing" in found.stderr
    assert schedlab("experiment", "verify", "study", "--discard", cwd=study.parent).returncode == 0
    assert "4 runs, 2 of them done before" in schedlab("experiment", "run", study, cwd=study.parent).stdout
    assert schedlab("experiment", "verify", "study", cwd=study.parent).returncode == 0


def test_a_study_moves_as_one_file(study: Path) -> None:
    schedlab("experiment", "run", study, cwd=study.parent)
    packed = schedlab("experiment", "export", "study", "--out", "study.tar.zst", cwd=study.parent)
    assert "4 runs in study.tar.zst" in packed.stdout
    assert "4 new runs" in schedlab("experiment", "import", "study.tar.zst", "elsewhere", cwd=study.parent).stdout
    assert "0 new runs" in schedlab("experiment", "import", "study.tar.zst", "elsewhere", cwd=study.parent).stdout
    assert results(study.parent / "elsewhere") == results(study.with_suffix(""))
    assert "4 finished runs, 0 offences" in schedlab("experiment", "verify", "elsewhere", cwd=study.parent).stdout
    again = schedlab("experiment", "run", study, "--out", "elsewhere", cwd=study.parent)
    assert "4 runs, 4 of them done before" in again.stdout
    (study.parent / "junk.tar").write_bytes(b"x" * 10_000)
    refused = schedlab("experiment", "import", "junk.tar", "third", cwd=study.parent)
    assert refused.returncode == 2
    assert "is not the archive of a study" in refused.stderr


def test_own_metrics_and_tables(study: Path) -> None:
    (study.parent / "mine.py").write_text("def longest(run):\n    return run.jobs['runtime'].max()\n")
    study.write_text('metrics = ["wait.mean", "mine.py:longest"]\n' + STUDY)
    done = schedlab("experiment", "run", study, cwd=study.parent)
    assert done.returncode == 0, done.stderr
    assert "longest" in done.stdout
    assert schedlab("experiment", "table", "study", "-o", "t.csv", cwd=study.parent).returncode == 0
    header, *rows = (study.parent / "t.csv").read_text().splitlines()
    assert "metrics.longest" in header
    assert len(rows) == 4


def test_the_query_of_the_guide(study: Path) -> None:
    """DuckDB over the run folders gives what the study's own table has."""
    duckdb = pytest.importorskip("duckdb")
    schedlab("experiment", "run", study, cwd=study.parent)
    text = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text()
    query = text.split("```sql")[1].split("```")[0].replace("'study/runs", f"'{study.with_suffix('')}/runs")
    waits = dict(duckdb.sql(query).fetchall())
    for result in results(study.with_suffix("")):
        assert waits[result["identity"]] == pytest.approx(result["summary"]["wait"]["mean"])


def started(study: Path, jobs: int = 10_000, repetitions: int = 40) -> tuple[subprocess.Popen[str], Path]:
    """A study that takes some seconds, with its workers at work."""
    text = STUDY.replace("jobs = 300", f"jobs = {jobs}").replace("repetitions = 2", f"repetitions = {repetitions}")
    study.write_text(text)
    script = Path(sys.executable).with_name("schedlab")
    process = subprocess.Popen(
        [script, "experiment", "run", study],
        cwd=study.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    folder = study.with_suffix("")
    while process.poll() is None and not list((folder / "results").glob("*.json")):
        time.sleep(0.02)
    return process, folder


def test_ctrl_c_keeps_what_is_done(study: Path) -> None:
    process, folder = started(study, repetitions=20)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "what is done is kept" in errors
    kept = len(results(folder))
    assert 0 < kept < 40
    again = schedlab("experiment", "run", study, cwd=study.parent)
    assert f"40 runs, {kept} of them done before" in again.stdout
    assert "40 done" in again.stdout


def test_ctrl_c_twice_gives_up(study: Path) -> None:
    process, folder = started(study, jobs=400_000, repetitions=3)  # a run takes seconds
    workers = children(process.pid)
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert not any(_alive(worker) for worker in workers)
    assert len(results(folder)) < 6


def test_one_coordinator_at_a_time(study: Path) -> None:
    with opened(study.with_suffix("")):
        second = schedlab("experiment", "run", study, cwd=study.parent)
    assert second.returncode == 2
    assert f"is being worked on by process {os.getpid()}" in second.stderr


def test_workers_end_with_their_coordinator(study: Path) -> None:
    process, _ = started(study)
    workers = children(process.pid)
    assert workers
    process.kill()
    process.communicate()
    end = time.monotonic() + 10
    while time.monotonic() < end and any(_alive(worker) for worker in workers):
        time.sleep(0.05)
    assert not any(_alive(worker) for worker in workers)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_kills_at_random_change_nothing(tmp_path: Path) -> None:
    """A short round; `python -m tests.chaos` has ten long ones."""
    assert "the same tables" in compare(runs=20, kills=6, seed=1, folder=tmp_path, jobs=500)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_stops_with_a_word(study: Path) -> None:
    small = study.parent / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        study.write_text(STUDY.replace("jobs = 300", "jobs = 20000"))
        stopped = schedlab("experiment", "run", study, "--out", small / "study", cwd=study.parent)
        assert stopped.returncode == 1
        assert "the study has stopped" in stopped.stderr
        assert "No space left on device" in stopped.stderr
        assert "mean" not in stopped.stdout  # nothing is concluded
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        done = schedlab("experiment", "run", study, "--out", small / "study", cwd=study.parent)
        assert done.returncode == 0, done.stderr
        assert "4 done" in done.stdout
    finally:
        subprocess.run(["umount", str(small)], check=True)
