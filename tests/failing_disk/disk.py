"""A disk that fails when it is told to, and a process from which commands are forked that find theirs on it.

`shim.c` is preloaded into that process and into all that it starts.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

HERE = Path(__file__).parent
WRITES, READS = 1, 2
ONCE, FOR_EVER, SHORT, SIGNAL = 0, 1, 2, 3
SECONDS = 120.0


class State(ctypes.Structure):
    """As shim.c has it."""

    _fields_ = (
        ("seen", ctypes.c_longlong),
        ("at", ctypes.c_longlong),
        *((name, ctypes.c_int) for name in ("how", "number", "counted", "padding")),
        ("what", ctypes.c_char * 64),
        ("file", ctypes.c_char * 448),
        ("folder", ctypes.c_char * 512),
    )


@dataclass(frozen=True, slots=True)
class Fault:
    """Call number `at` fails, of those that write (or read) below the folder; with a signal it brings one instead."""

    at: int = 0  # from 1; 0: none
    how: int = ONCE
    number: int = 0
    counted: int = WRITES


@dataclass(frozen=True, slots=True)
class Ended:
    """A command, and what the disk was asked for."""

    code: int
    stdout: str
    stderr: str
    calls: int
    failed: str  # the call that failed first, and its file


def missing() -> str:
    """Why there can be no such disk here; empty if there can."""
    if sys.platform != "linux":
        return "needs Linux: the failing disk is a library that is preloaded"
    return "" if shutil.which("cc") else "needs a C compiler (cc)"


class FailingDisk:
    """Commands on a disk below `folder`, one after the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        place = self.folder.with_name(f"{self.folder.name}-disk")
        place.mkdir()
        library, self._path = place / "shim.so", place / "state"
        flags = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC")
        subprocess.run(["cc", *flags, HERE / "shim.c", "-o", library, "-ldl"], check=True)
        self._path.write_bytes(bytes(ctypes.sizeof(State)))
        with self._path.open("r+b") as file:
            self._state = State.from_buffer(mmap.mmap(file.fileno(), 0))
        self._told = place / "stdout", place / "stderr"
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.failing_disk.server", self._path, *self._told],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"LD_PRELOAD": str(library)},
            cwd=HERE.parents[1],
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()

    def run(self, words: Sequence[str], fault: Fault = Fault()) -> Ended:
        """`schedlab …` in the folder."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        state = self._state
        state.seen, state.at = 0, fault.at
        state.how, state.number, state.counted = fault.how, fault.number, fault.counted
        state.what = state.file = b""
        state.folder = os.fsencode(self.folder)
        task = {"words": ["schedlab", *words], "folder": str(self.folder), "seconds": SECONDS}
        self._server.stdin.write(json.dumps(task) + "\n")
        self._server.stdin.flush()
        code = int(self._server.stdout.readline())
        out, errors = (path.read_text(errors="replace") for path in self._told)
        return Ended(code, out, errors, state.seen, f"{state.what.decode()} {os.fsdecode(state.file)}".strip())
