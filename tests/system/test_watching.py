"""Looking on as a user does: signals from another terminal, lines in a log file, pictures in a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "demo.swf"
COMMAND = [sys.executable, "-c", "from schedlab.cli.main import main; main()"]
RUN = ["run", str(DEMO), "--cluster", "64x4"]

STATUS = r"easy: 2026-03-\d\d \d\d:\d\d, [\d,]+ of 2,000 jobs done, \d+ running, \d+ waiting, [\d.]+% busy.*"

OPEN, CLOSE = b"\x1b[?1049h", b"\x1b[?1049l"  # the alternate screen
HIDE, SHOW = b"\x1b[?25l", b"\x1b[?25h"  # the cursor

SLOW = """import time
import schedlab as sl

class Slow(sl.Policy):
    def decide(self, view, events):
        time.sleep(0.05)
        for job in view.queue:
            view.start(job)

class Talker(sl.Policy):
    passes = 0

    def decide(self, view, events):
        self.passes += 1
        if self.passes == 1000:
            print("said by a policy")
        for job in view.queue:
            view.start(job)
"""


# Lines


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    timer = threading.Timer(60, process.kill)
    timer.start()
    try:
        return process.stderr.readline().rstrip()
    finally:
        timer.cancel()


def test_status_every(tmp_path: Path) -> None:
    arguments = [*COMMAND, *RUN, "--status-every", "0.1s", "--pace", "14d", "--json", "--out", str(tmp_path / "run")]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("{")
    *some, last = done.stderr.splitlines()
    assert len(some) >= 3
    assert all(re.fullmatch(STATUS, line) for line in some)
    assert re.fullmatch(r"easy: over, 2,000 jobs in [\d.]+ s", last)


def test_what_is_quick_has_its_last_line() -> None:
    done = subprocess.run(
        [*COMMAND, *RUN, "--status-every", "1h", "-p", "easy", "-p", "fcfs"], capture_output=True, text=True, check=True
    )
    assert re.sub(r"[\d.]+ s", "T", done.stderr) == "easy: over, 2,000 jobs in T\nfcfs: over, 2,000 jobs in T\n"


def test_reading_has_lines_too(tmp_path: Path) -> None:
    rows = "\n".join(f"{job} {job} -1 5 1 -1 -1 1 9 -1 1 1 1 -1 1 -1 -1 -1" for job in range(1, 60_000))
    (tmp_path / "long.swf").write_text(f"; MaxProcs: 60\n{rows}\n")
    done = subprocess.run(
        [*COMMAND, "run", str(tmp_path / "long.swf"), "--status-every", "1ms", "--quiet"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.match(r"reading long.swf: \d+%, \d\.\d of 3\.\d MB\n", done.stderr)


def test_asking_a_run_with_a_pace() -> None:
    with started(*RUN, "--pace", "1h", "--status-every", "0.2s") as process:
        assert re.fullmatch(STATUS, next_line(process))
    with started(*RUN, "--pace", "1h", "--status-every", "1s") as process:
        next_line(process)  # now it listens
        before = time.monotonic()
        process.send_signal(signal.SIGUSR1)
        assert re.fullmatch(STATUS, next_line(process))
        assert time.monotonic() - before < 0.9
        process.send_signal(signal.SIGINT)
        assert next_line(process) == "interrupted: nothing was written for easy; no policy was finished"
        assert process.wait(30) == 130


def test_asking_a_policy_that_takes_its_time(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    with started(*RUN, "--policy", f"{tmp_path}/slow.py:Slow", "--out", str(tmp_path / "out")) as process:
        wait_until(lambda: bool(list(tmp_path.glob(".out.partial-*"))))
        time.sleep(0.5)
        for _ in range(2):
            process.send_signal(signal.SIGUSR1)
            assert re.fullmatch(STATUS.replace("easy", ".*slow.py:Slow"), next_line(process))


def test_asking_a_native_run_that_nobody_looks_at(tmp_path: Path) -> None:
    rows = "\n".join(f"{job} {job} -1 {1 + job % 97} 1 -1 -1 1 100 -1 1 1 1 -1 1 -1 -1 -1" for job in range(1, 200_000))
    (tmp_path / "long.swf").write_text(f"; MaxProcs: 60\n{rows}\n")
    out = ["--out", str(tmp_path / "out")]
    with started("run", str(tmp_path / "long.swf"), "--policy", "easy", "--validate", *out) as process:
        wait_until(lambda: bool(list(tmp_path.glob(".out.partial-*"))))
        process.send_signal(signal.SIGUSR1)
        assert re.match(r"easy: day [\d.]+, [\d,]+ of 199,999 jobs done, \d+ running, ", next_line(process))


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come to that")


# Pictures


class Terminal:
    """A process in a terminal of its own."""

    def __init__(self, *arguments: str, columns: int = 80, rows: int = 24) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {
            name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "NO_COLOR")
        }
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment | {"TERM": "xterm-256color"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.shown = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            while piece := os.read(self._master, 65_536):
                self.shown += piece
        except OSError:  # Linux: nobody holds the other end any more
            pass

    def until(self, text: bytes, times: int = 1) -> None:
        wait_until(lambda: self.shown.count(text) >= times or self.process.poll() is not None)

    def press(self, key: bytes) -> None:
        os.write(self._master, key)

    def end(self) -> int:
        try:
            code = self.process.wait(60)
            self._reader.join(10)
            return code
        finally:
            self.process.kill()
            os.close(self._master)

    @property
    def text(self) -> str:
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.shown.decode()).replace("\r", "")

    def is_sane(self) -> bool:
        """The alternate screen is left, and the cursor is back."""
        opened, closed = self.shown.rfind(OPEN), self.shown.rfind(CLOSE)
        return closed >= opened and self.shown.rfind(SHOW) >= self.shown.rfind(HIDE)


def test_watching(tmp_path: Path) -> None:
    terminal = Terminal(*RUN, "--watch", "--pace", "10d", "--out", str(tmp_path / "watched"))
    assert terminal.end() == 0
    assert terminal.shown.count(OPEN) == terminal.shown.count(CLOSE) == 1
    assert terminal.is_sane()
    pictures, _, after = terminal.text.partition("2,000 of 2,000 jobs ━")
    assert "64 nodes, 256 cores · " in pictures
    assert "running" in pictures
    assert "mean" in after  # the table, as ever
    subprocess.run([*COMMAND, *RUN, "--out", str(tmp_path / "plain")], check=True, capture_output=True)
    for table in ("jobs.parquet", "timeline.parquet"):
        assert (tmp_path / "watched" / table).read_bytes() == (tmp_path / "plain" / table).read_bytes()


def test_what_is_over_at_once_shows_how_it_went() -> None:
    terminal = Terminal(*RUN, "--watch", "--policy", "easy", "--policy", "fcfs")
    assert terminal.end() == 0
    assert OPEN not in terminal.shown
    assert terminal.text.count("2,000 of 2,000 jobs ━") == 2
    assert "--pace 1d shows a day a second" in terminal.text


@pytest.mark.parametrize(("key", "code"), [(b"\x03", 130), (b"", 143)])
def test_leaving_early(key: bytes, code: int) -> None:
    terminal = Terminal(*RUN, "--watch", "--pace", "1h")
    terminal.until(b"64 nodes", times=3)
    assert not terminal.is_sane()
    if key:
        terminal.press(key)
    else:
        terminal.process.terminate()
    assert terminal.end() == code
    assert terminal.is_sane()
    if key:
        assert terminal.text.endswith("interrupted: nothing was written for easy; no policy was finished\n")


def test_what_is_printed_meanwhile_comes_out_afterwards(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    terminal = Terminal(
        *RUN, "--watch", "--pace", "20d", "--policy", f"{tmp_path}/slow.py:Talker", "--status-every", "1h"
    )
    terminal.until(OPEN)
    terminal.process.send_signal(signal.SIGUSR1)
    assert terminal.end() == 0
    after = terminal.shown[terminal.shown.rfind(CLOSE) :].decode()
    assert "said by a policy" in after
    assert re.search(r"slow.py:Talker: 2026-03-\d\d .* waiting", after)


def test_a_status_line_stands_above_the_progress_bar() -> None:
    terminal = Terminal(*RUN, "--pace", "10d", "--status-every", "0.3s")
    assert terminal.end() == 0
    assert re.search(STATUS, terminal.text)
    assert terminal.is_sane()
