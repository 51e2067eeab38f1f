"""Forks commands for disk.py: the shim is preloaded here, and everything that commands import is imported once."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import tests.preloaded  # noqa: F401

import schedlab.experiment.pool as pool
from schedlab.engine import simulate


class Forked:
    """Worker of a study, as `subprocess.Popen` would start it, but forked: at once."""

    def __init__(self, *_: object, **__: object) -> None:
        (theirs, to), (back, answers) = os.pipe(), os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.dup2(theirs, 0)
            os.dup2(answers, 1)
            os.closerange(3, 64)
            sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
            from schedlab.experiment.worker import main

            _leave(main)
        os.close(theirs)
        os.close(answers)
        self.stdin, self.stdout = os.fdopen(to, "wb"), os.fdopen(back, "rb")

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _leave(main: Any) -> NoReturn:
    """As a program ends."""
    code = 1
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _perform(task: dict[str, Any], state: str, told: list[str]) -> NoReturn:
    os.setsid()
    os.chdir(task["folder"])
    for stream, path in enumerate(told, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = task["words"]
    os.cpu_count = lambda: 1
    pool.subprocess.Popen = Forked  # type: ignore[assignment,misc]
    _save_often()
    library = ctypes.CDLL(None)
    library.disk_begin(os.fsencode(state))
    from schedlab.cli.start import main

    _leave(main)


def _save_often() -> None:
    """A checkpoint that is due is made at the end of an instant, not a few times a second."""
    begin = simulate.Simulation.__init__

    def made(self: Any, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        self.core.set_ticks(50, 0.0)

    simulate.Simulation.__init__ = made  # type: ignore[method-assign]


def main() -> None:
    state, *told = sys.argv[1:]
    for line in sys.stdin:
        task = json.loads(line)
        child = os.fork()
        if not child:
            _perform(task, state, told)
        print(_waited(child, time.monotonic() + task["seconds"]), flush=True)


def _waited(child: int, deadline: float) -> int:
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            _end_session(child)
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 999


def _end_session(leader: int) -> None:
    """What a command that was killed has started: its workers see their pipes closed, this is faster."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
    members = [path for path in Path("/proc").glob("[0-9]*") if _group(path) == leader]
    while any(_group(path) == leader for path in members):
        time.sleep(0.002)


def _group(process: Path) -> int | None:
    try:
        state, _, group, *_ = (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state == "Z" else int(group)


if __name__ == "__main__":
    main()
