"""Where a process may take little memory: one sentence, at once, and a request to stop is heard."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCHEDLAB = [sys.executable, "-m", "schedlab"]
RUN = ["run", str(ROOT / "examples" / "demo.swf"), "--cluster", "64x4", "--out", "x"]
MB = 1_000_000
PATIENCE = 120.0  # seconds, for a machine that has much else to do
HANGS = """import signal
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
open("began", "w").close()
while True:
    signal.pause()
"""
# A library that waits for ever when it is started, as some do whose threads do not come.
STARTS_IT = """
import sys
from schedlab.cli import signals
from schedlab.model import little_memory
sys.path.insert(0, ".")
little_memory.LIBRARIES, little_memory.PATIENCE = ("hangs",), float(sys.argv[1])
signals.listen()
little_memory.be_careful()
try:
    import hangs
except little_memory.LittleMemoryError as error:
    sys.exit(f"error: {error}")
except KeyboardInterrupt:
    sys.exit(signals.exit_code())
"""


def limited(command: list[str], folder: Path, size: int) -> subprocess.Popen[str]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (size, size))

    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limit
    )


@pytest.mark.parametrize("size", [60, 150, 250, 400, 3000])
def test_a_run(tmp_path: Path, size: int) -> None:
    process = limited([*SCHEDLAB, *RUN], tmp_path, size * MB)
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == (1 if size < 250 else 0 if size > 1000 else process.returncode), errors
    if process.returncode:
        assert process.returncode == 1
        assert errors.startswith("error: not enough memory "), errors
        assert f": this process may take {size} MB (ulimit -v)\n  hint: allow more" in errors
        assert len(errors.splitlines()) == 2
        assert not list(tmp_path.iterdir())
    else:
        assert errors == "" and "results in x" in out


def test_a_study_whose_workers_cannot_start(tmp_path: Path) -> None:
    study = 'repetitions = 1\n[workload]\nmodel = "lublin(processors=64)"\njobs = 20\n[run]\ncluster = "pool:64"\n'
    (tmp_path / "small.toml").write_text(f'{study}policy = "easy"\n')
    process = limited([*SCHEDLAB, "experiment", "run", "small.toml"], tmp_path, 200 * MB)
    out, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert errors.startswith("error: the study has stopped: not enough memory for "), errors
    assert "the same command goes on" in errors and len(errors.splitlines()) == 2
    assert "mean" not in out
    again = subprocess.run([*SCHEDLAB, "experiment", "run", "small.toml"], cwd=tmp_path, capture_output=True, text=True)
    assert again.returncode == 0 and "1 done" in again.stdout, again.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_library_that_hangs_does_not_stop_one_from_stopping(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "hangs.py").write_text(HANGS)
    process = limited([sys.executable, "-c", STARTS_IT, "1000"], tmp_path, 2000 * MB)
    deadline = time.monotonic() + PATIENCE
    while not (tmp_path / "began").exists():
        assert process.poll() is None and time.monotonic() < deadline, process.communicate()
        time.sleep(0.01)
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number, errors


def test_a_library_that_hangs_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text(HANGS)
    process = limited([sys.executable, "-c", STARTS_IT, "0.5"], tmp_path, 2000 * MB)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert errors.startswith("error: not enough memory for hangs to start: this process may take 2,000 MB"), errors
