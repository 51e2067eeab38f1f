"""Studies in parts, with checkpoints and mirrors, killed with SIGKILL wherever they are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.chaos import children
from tests.studies import found, results
from tests.system.test_experiment import schedlab
from tests.system.test_resume import SLOW

from schedlab.experiment.keeping import verify
from schedlab.experiment.results import Results

STUDY = """
name = "losses"
[workload]
model = "lublin(processors=64)"
jobs = 300
[run]
cluster = "pool:64"
policy = ["mine.py:Slow(nap=0.05)", "mine.py:Slow(nap=0.049)"]
"""
PATIENCE = 120.0  # seconds, for a machine that has much else to do


def command(part: int) -> list[str]:
    options = ["--part", f"{part}/2", "--mirror", f"mirror{part}", "--checkpoint-every", "0.2s", "--workers", "1"]
    return ["experiment", "run", "study.toml", "--out", f"part{part}", *options]


def newest(folder: Path) -> int:
    """The number of the newest checkpoint: it grows while a run goes on."""
    states = (path.name.partition("-")[2] for path in (folder / "checkpoints").glob("*/state-*"))
    return max((int(number[:6]) for number in states), default=0)


def killed(folder: Path, part: int, victim: str) -> None:
    """Start a part, and kill the one who gives out work, or his worker, when a run has a new checkpoint."""
    script = Path(sys.executable).with_name("schedlab")
    process = subprocess.Popen(
        [script, *command(part)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    before, deadline = newest(folder / f"part{part}"), time.monotonic() + PATIENCE
    while newest(folder / f"part{part}") <= before + 1:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    if victim == "worker":
        os.kill(children(process.pid)[0], signal.SIGKILL)
        assert process.wait(PATIENCE) == 0  # somebody else took it up
    else:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_killed_and_resumed_it_gives_the_same_table(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SLOW)
    (tmp_path / "study.toml").write_text(STUDY)
    calm = schedlab("experiment", "run", "study.toml", "--out", "calm", cwd=tmp_path)
    assert calm.returncode == 0, calm.stderr

    for part in (1, 2):
        killed(tmp_path, part, "coordinator")
        killed(tmp_path, part, "worker")
        again = schedlab(*command(part), cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        assert f"part {part}/2: 1 runs, 1 of them done before" in again.stdout
        assert f"part {part}/2: 1 of the study's 2 runs" in again.stdout
        assert [result["performance"] for result in results(tmp_path / f"part{part}").values()] == [None]  # taken up
        assert not list((tmp_path / f"part{part}" / "checkpoints").iterdir())

    for name, parts in {"merged": ("part1", "part2"), "rescued": ("mirror1", "mirror2")}.items():
        merged = schedlab("experiment", "import", *parts, name, cwd=tmp_path)
        assert merged.returncode == 0, merged.stderr
        assert f"1 new runs in {name} from {parts[1]}" in merged.stdout
        assert "2 of 2 runs are done" in merged.stdout
        assert found(tmp_path / name) == found(tmp_path / "calm")
        assert verify(tmp_path / name) == []
        assert Results(tmp_path / name).table.write_csv() == Results(tmp_path / "calm").table.write_csv()


def test_two_studies_in_one_folder(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SLOW)
    (tmp_path / "study.toml").write_text(STUDY)
    script = Path(sys.executable).with_name("schedlab")
    first = subprocess.Popen([script, *command(1)], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE
        while not (tmp_path / "part1" / "plan.json").exists():
            assert first.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
        second = schedlab(*command(1), cwd=tmp_path)
        assert second.returncode == 2
        assert f"part1: is being worked on by process {first.pid} on {os.uname().nodename}" in second.stderr
    finally:
        first.kill()
        first.wait()
    third = schedlab(*command(1), cwd=tmp_path)  # the lock has died with its process
    assert third.returncode == 0, third.stderr
