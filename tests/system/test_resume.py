"""kill -9 in the middle of a run, and what `schedlab resume` makes of it."""

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

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "examples" / "demo.swf"
SCHEDLAB = [sys.executable, "-c", "from schedlab.cli.main import main; main()"]

SLOW = """
import time
import schedlab as sl

class Slow(sl.Policy):
    \"\"\"Takes its time, and remembers how often it was asked: now and then a job has to wait.\"\"\"

    def __init__(self, nap=0.004):
        self.asked, self.nap = 0, nap

    def decide(self, view, events):
        self.asked += 1
        if self.asked % 10 == 0:
            time.sleep(self.nap)
        for job in view.queue:
            if job.id % 100 == self.asked % 100 and len(view.queue) > 1:
                continue
            if not view.start(job):
                break
"""


def schedlab(folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return commands.schedlab(*arguments, folder=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(SLOW)
    return tmp_path


def run_arguments(out: str) -> list[str | Path]:
    policies = ["--policy", "easy", "--policy", "mine.py:Slow"]
    observers = ["--observe", "power(idle=60, per_core=15)", "--observe", "failures(mtbf=3e6, seed=2, checkpoint=600)"]
    return ["run", DEMO, "--cluster", "64x4", *policies, *observers, "--out", out, "--checkpoint-every", "0.2s"]


def killed_in_the_middle(folder: Path, arguments: list[str | Path], after: Path) -> None:
    """Kills the process as soon as there is a real checkpoint."""
    process = subprocess.Popen(
        [*SCHEDLAB, *arguments], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not any(after.glob("state-00000[2-9]")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def test_a_killed_run_ends_with_the_same_bytes(folder: Path) -> None:
    whole = schedlab(folder, *run_arguments("whole"))
    assert whole.returncode == 0, whole.stderr
    assert not list((folder / "whole").glob("*checkpoint*"))

    killed_in_the_middle(folder, run_arguments("cut"), folder / "cut" / "mine.Slow.checkpoint")
    assert (folder / "cut" / "easy" / "run.json").exists() and not (folder / "cut" / "mine.Slow").exists()
    again = schedlab(folder, *run_arguments("cut"))
    assert again.returncode == 2
    assert "already holds a run" in again.stderr and "schedlab resume cut" in again.stderr
    resumed = schedlab(folder, "resume", "cut")
    assert resumed.returncode == 0, resumed.stderr
    assert "mine.py:Slow" in resumed.stdout and "easy" in resumed.stdout
    for policy in ("easy", "mine.Slow"):
        for table in ("jobs", "timeline", "pieces", "nodes", "observed"):
            path = Path(policy) / f"{table}.parquet"
            assert (folder / "cut" / path).read_bytes() == (folder / "whole" / path).read_bytes(), path
        summaries = [
            json.loads((folder / out / policy / "run.json").read_text())["summary"] for out in ("cut", "whole")
        ]
        assert summaries[0] == summaries[1]
    assert sorted(path.name for path in (folder / "cut").iterdir()) == ["easy", "mine.Slow"]
    assert schedlab(folder, "check", "cut/mine.Slow").returncode == 0


def test_it_can_be_killed_twice(folder: Path) -> None:
    arguments: list[str | Path] = [
        *("run", DEMO, "--cluster", "64x4", "--policy", "mine.py:Slow(nap=0.008)"),
        *("--out", "cut", "--checkpoint-every", "0.2s"),
    ]
    killed_in_the_middle(folder, arguments, folder / "cut.checkpoint")
    first = json.loads((folder / "cut.checkpoint" / "checkpoint.json").read_text())["passes"]
    process = subprocess.Popen([*SCHEDLAB, "resume", "cut"], cwd=folder, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while json.loads((folder / "cut.checkpoint" / "checkpoint.json").read_text())["passes"] <= first:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.wait()
    done = schedlab(folder, "resume", "cut")
    assert done.returncode == 0, done.stderr
    assert schedlab(folder, *arguments[:-4], "--out", "whole").returncode == 0
    assert (folder / "cut" / "jobs.parquet").read_bytes() == (folder / "whole" / "jobs.parquet").read_bytes()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "journal-000001").write_bytes(b"junk"), "is damaged"),
        (lambda folder: (folder / "journal-000001").unlink(), "is damaged"),
        (lambda folder: (folder / "checkpoint.json").write_text("{"), "cannot be read"),
        (
            lambda folder: (folder / "checkpoint.json").write_text(
                (folder / "checkpoint.json").read_text().replace('"schedlab": "', '"schedlab": "9.')
            ),
            "another version",
        ),
        (lambda folder: (folder.parent / "mine.py").write_text(SLOW.replace("Slow", "Other")), "mine.py has Other"),
    ],
)
def test_what_cannot_be_resumed_says_why(folder: Path, spoil: object, message: str) -> None:
    arguments: list[str | Path] = [
        *("run", DEMO, "--cluster", "64x4", "--policy", "mine.py:Slow"),
        *("--out", "cut", "--checkpoint-every", "0.1s"),
    ]
    killed_in_the_middle(folder, arguments, folder / "cut.checkpoint")
    assert callable(spoil)
    spoil(folder / "cut.checkpoint")
    done = schedlab(folder, "resume", "cut")
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert "Traceback" not in done.stderr


MOVED = ["run", DEMO, "--cluster", "64x4", "--policy", "mine.py:Slow", "--checkpoint-every", "0.1s", "--out"]


def test_a_checkpoint_that_was_moved_goes_on_where_it_lies(folder: Path) -> None:
    killed_in_the_middle(folder, [*MOVED, "cut"], folder / "cut.checkpoint")
    (folder / "elsewhere").mkdir()
    (folder / "cut.checkpoint").rename(folder / "elsewhere" / "named")
    nameless = schedlab(folder, "resume", "elsewhere/named")
    assert nameless.returncode == 2
    assert "elsewhere/named: is a checkpoint without .checkpoint in its name\n  hint: rename it" in nameless.stderr
    (folder / "elsewhere" / "named").rename(folder / "elsewhere" / "named.checkpoint")
    done = schedlab(folder, "resume", "elsewhere/named")
    assert done.returncode == 0, done.stderr
    assert "results in elsewhere/named" in done.stdout
    assert sorted(path.name for path in folder.iterdir() if path.name[0] != ".") == ["elsewhere", "mine.py"]
    assert [path.name for path in (folder / "elsewhere").iterdir()] == ["named"]
    assert schedlab(folder, *MOVED[:-3], "--out", "whole").returncode == 0
    assert (folder / "elsewhere/named/jobs.parquet").read_bytes() == (folder / "whole/jobs.parquet").read_bytes()


def test_a_folder_of_runs_that_was_moved_goes_on_where_it_lies(folder: Path) -> None:
    killed_in_the_middle(folder, run_arguments("cut"), folder / "cut" / "mine.Slow.checkpoint")
    (folder / "cut").rename(folder / "moved")
    (folder / "moved" / "mine.Slow.checkpoint").rename(folder / "moved" / "other.checkpoint")
    renamed = schedlab(folder, "resume", "moved")
    assert renamed.returncode == 2
    assert "moved/other.checkpoint: is the checkpoint of one of several runs, and was " in renamed.stderr
    assert "hint: name it mine.Slow.checkpoint" in renamed.stderr
    (folder / "moved" / "other.checkpoint").rename(folder / "moved" / "mine.Slow.checkpoint")
    done = schedlab(folder, "resume", "moved")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["mine.py", "moved"]
    assert sorted(path.name for path in (folder / "moved").iterdir()) == ["easy", "mine.Slow"]


def test_a_run_whose_own_folder_is_gone(folder: Path) -> None:
    (folder / "begun").mkdir()
    (folder / "begun" / "mine.py").write_text(SLOW)
    killed_in_the_middle(folder / "begun", [*MOVED, folder / "cut"], folder / "cut.checkpoint")
    (folder / "begun").rename(folder / "gone")
    done = schedlab(folder, "resume", "cut")
    assert done.returncode == 2
    assert "begun: the folder in which the run was begun cannot be entered: No such file" in done.stderr
    assert "hint: its files are named from there" in done.stderr


def test_nothing_to_resume(folder: Path) -> None:
    done = schedlab(folder, "resume", "nowhere")
    assert done.returncode == 2 and "nothing to resume" in done.stderr and "--checkpoint-every" in done.stderr
    done = schedlab(folder, "run", DEMO, "--cluster", "64x4", "--checkpoint-every", "1m")
    assert done.returncode == 2 and "--out" in done.stderr
