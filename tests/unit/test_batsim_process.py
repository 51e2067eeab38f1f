"""Schedulers as processes of ours: what becomes of them is known, and none is left behind."""

from __future__ import annotations

import os
import sys
import time

import pytest

from schedlab.bridge.batsim import process
from schedlab.bridge.batsim.process import Scheduler, free_port
from schedlab.model.errors import InputError


def started(code: str) -> Scheduler:
    return Scheduler([sys.executable, "-c", code], f"tcp://127.0.0.1:{free_port()}")


def until_ended(scheduler: Scheduler) -> str:
    until = time.monotonic() + 30
    while not (end := scheduler.ended()) and time.monotonic() < until:
        time.sleep(0.01)
    return end


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_its_exit_code_and_last_words_are_known() -> None:
    scheduler = started("print('first'); print('tea is out'); raise SystemExit(7)")
    assert until_ended(scheduler) == "has ended with exit code 7 (its last words: tea is out)"
    assert scheduler.output() == b"first\ntea is out\n"
    scheduler.close()


def test_a_signal_that_ended_it_is_known() -> None:
    scheduler = started("import os; os.kill(os.getpid(), 9)")
    assert until_ended(scheduler) == "was killed by SIGKILL"
    scheduler.close()


def test_what_it_took_is_known() -> None:
    scheduler = started(
        "import sys; x = bytearray(50_000_000); print('ready', flush=True); sys.stdin.read(); "
        "import time; time.sleep(60)"
    )
    until = time.monotonic() + 30
    while not scheduler.output() and time.monotonic() < until:
        time.sleep(0.01)
    scheduler.note()
    scheduler.finish(0.0)
    used = scheduler.usage()
    assert 0 < used["cpu_seconds"] < 10
    assert 50_000_000 < used["peak_memory"] < 200_000_000
    scheduler.close()


def test_one_that_does_not_want_to_go_goes_with_its_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PATIENCE", 0.1)
    code = (
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    scheduler = started(code)
    until = time.monotonic() + 30
    while not scheduler.output().endswith(b"\n") and time.monotonic() < until:
        time.sleep(0.01)
    child = int(scheduler.output())
    scheduler.close()
    while alive(child) and time.monotonic() < until:
        time.sleep(0.01)
    assert not alive(child)


def test_what_it_writes_does_not_fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "KEPT", 1000)
    monkeypatch.setattr(process, "MOST", 5000)
    scheduler = started("import sys; print('x' * 9000, flush=True); sys.stdin.read(); print('last')")
    until_ended(scheduler)
    scheduler.note()
    assert os.fstat(scheduler._output.fileno()).st_size == 1000
    assert scheduler.output().endswith(b"xx\nlast\n")
    scheduler.close()


def test_a_command_that_is_not_there() -> None:
    with pytest.raises(InputError, match="cannot start 'no-such-scheduler': No such file"):
        Scheduler(["no-such-scheduler", "-s", "{socket}"])
