"""`schedlab bridge batsim` and the policy `batsim`, with schedulers that are other programs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests import commands
from tests.batsim_talk import write_workload

ROOT = Path(__file__).parents[2]
SCHEDULER = [sys.executable, "-m", "tests.batsim_scheduler", "{socket}"]


def schedlab(*words: object) -> subprocess.CompletedProcess[str]:
    return commands.schedlab(*words, folder=ROOT)


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    jobs = [{"id": number, "subtime": number, "res": 1 + number % 4, "walltime": 20} for number in range(1, 21)]
    return write_workload(tmp_path, jobs)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_scheduler_is_started_and_decides(workload: Path, tmp_path: Path) -> None:
    done = schedlab("bridge", "batsim", "-w", workload, "-o", tmp_path / "run", "--", *SCHEDULER, "well")
    assert done.returncode == 0, done.stderr
    assert "20 jobs on 4 hosts" in done.stdout
    facts = json.loads((tmp_path / "run" / "run.json").read_text())["decider"]
    assert facts["protocol"] == "Batsim 4 (JSON)"
    assert facts["socket"].startswith("ipc://") and facts["socket"] in facts["command"]
    assert facts["cpu_seconds"] > 0 and facts["peak_memory"] > 1e6
    assert facts["messages"] > 20
    assert "listening" in (tmp_path / "run" / "batsim" / "scheduler.txt").read_text()
    checked = schedlab("check", tmp_path / "run")
    assert checked.returncode == 0 and "feasible" in checked.stdout
    native = schedlab("run", workload, "--cluster", "4x1", "--policy", "fcfs", "-o", tmp_path / "fcfs")
    assert native.returncode == 0, native.stderr
    own, ours = (json.loads((tmp_path / name / "run.json").read_text())["summary"] for name in ("run", "fcfs"))
    assert own["wait"] == ours["wait"]


def test_a_scheduler_is_a_policy_like_any_other(workload: Path, tmp_path: Path) -> None:
    """Of a Batsim workload on the hosts of a cluster, and of another log, whose jobs ask for cores."""
    text = f"batsim(command={' '.join([*SCHEDULER, 'well'])!r})"
    done = schedlab("run", workload, "--cluster", "4x1", "--policy", "fcfs", "--policy", text, "--json")
    assert done.returncode == 0, done.stderr
    native, outside = json.loads(done.stdout)["runs"]
    assert native["summary"]["wait"] == outside["summary"]["wait"]
    log = tmp_path / "jobs.swf"
    lines = [
        f"{n} {5 * n} -1 {7 * n % 40 + 1} {n % 4 + 1} -1 -1 {n % 4 + 1} 60 -1 1 {n % 3} 1 -1 1 -1 -1 -1"
        for n in range(1, 40)
    ]
    log.write_text("; MaxProcs: 4\n" + "\n".join(lines) + "\n")
    done = schedlab("run", log, "--cluster", "2x2", "--policy", "fcfs", "--policy", text, "--json")
    assert done.returncode == 0, done.stderr
    native, outside = json.loads(done.stdout)["runs"]
    assert native["summary"]["wait"] == outside["summary"]["wait"]


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("dies", "the scheduler has ended with exit code 7 (its last words: out of tea), and did not answer"),
        ("killed", "the scheduler was killed by SIGKILL (its last words: listening"),
    ],
)
def test_a_scheduler_that_fails_ends_the_run_with_what_happened_so_far(
    mode: str, words: str, workload: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    done = schedlab("bridge", "batsim", "-w", workload, "-o", run, "--", *SCHEDULER, mode)
    assert done.returncode == 1
    assert words in done.stderr.replace("\n", " ")
    config = json.loads((run / "run.json").read_text())
    assert config["failed"] is True and words in config["incomplete"]
    assert config["decider"]["cpu_seconds"] > 0
    said = (run / "batsim" / "scheduler.txt").read_text()
    assert not alive(int(said.split("process ")[1].split()[0]))
    assert schedlab("check", run).returncode == 0


def test_a_scheduler_that_does_not_answer_the_last_message_does_no_harm(workload: Path, tmp_path: Path) -> None:
    done = schedlab("bridge", "batsim", "-w", workload, "-o", tmp_path / "run", "--", *SCHEDULER, "rude")
    assert done.returncode == 0, done.stderr
    assert "incomplete" not in json.loads((tmp_path / "run" / "run.json").read_text())


def test_ctrl_c_works_while_the_scheduler_thinks(workload: Path, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    shell = ["sh", "-c", f"exec {' '.join(SCHEDULER)} silent > {heard}"]
    schedlab_itself = str(Path(sys.executable).with_name("schedlab"))
    running = subprocess.Popen(
        [schedlab_itself, "bridge", "batsim", "-w", workload, "-o", tmp_path / "run", "--", *shell],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    while not (heard.exists() and "thinking" in heard.read_text()) and time.monotonic() < until:
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "nothing was written, and a scheduler that was started is stopped" in said.replace("\n", " ")
    assert not alive(int(heard.read_text().split("process ")[1].split()[0]))
    assert not (tmp_path / "run").exists()


def test_a_scheduler_may_be_started_by_somebody_else(workload: Path, tmp_path: Path) -> None:
    socket = f"ipc://{tmp_path}/socket"
    other = subprocess.Popen([sys.executable, "-m", "tests.batsim_scheduler", socket, "well"], cwd=ROOT)
    try:
        done = schedlab("run", workload, "--cluster", "4x1", "--policy", f"batsim:{socket}", "--json")
        assert done.returncode == 0, done.stderr
        assert other.wait(60) == 0
    finally:
        other.kill()


def test_mistakes_are_told_before_anything_is_started(workload: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"nb_res": 4, "jobs": [{"id": 1, "subtime": -1, "res": 1, "profile": "p"}], "profiles": {}}')
    done = schedlab("bridge", "batsim", "-w", broken, "--", *SCHEDULER, "well")
    assert done.returncode == 2 and "'subtime' is -1" in done.stderr
    done = schedlab("bridge", "batsim", "-w", workload, "--", "no-such-scheduler", "{socket}")
    assert done.returncode == 2 and "cannot start 'no-such-scheduler'" in done.stderr
    done = schedlab("run", workload, "--policy", "batsim(socket='nowhere')")
    assert done.returncode == 2 and "tcp://localhost:28000" in done.stderr
    done = schedlab("run", workload, "--policy", "batsim(dynamics=True)")
    assert done.returncode == 2 and "did you mean 'dynamic'" in done.stderr
