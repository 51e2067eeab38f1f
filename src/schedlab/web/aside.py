"""What people have brought along is read in helpers: processes of a moment, or of as long as a run is looked at, that
may touch what the person may see and nothing else. It can cost the server no more than a message.

Helpers are forked from one process that has imported what they need (`nursery`), so one is there in milliseconds. They
answer with JSON or bytes, which the server passes on and does not read.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any

from schedlab.model.confined import VARIABLE, as_text, confined
from schedlab.model.errors import InputError
from schedlab.model.units import format_bytes
from schedlab.web.errors import RefusedError
from schedlab.web.settings import Settings
from schedlab.web.space import Space

MOMENT, WHILE = 20.0, 120.0  # seconds that an answer may take: to somebody who types, or who waits for it
MOST, MOST_OF_BLOCK = 32 << 20, 256 << 20  # bytes of an answer
VALUE, BYTES, REFUSED = b"v", b"b", b"r"  # kinds of answers: JSON, anything, what is wrong


def ask(
    what: str, space: Space, settings: Settings, patience: float = MOMENT, most: int = MOST, **arguments: Any
) -> bytes:
    """What `answers.ANSWERS[what]` makes of the arguments, in a helper of its own: JSON, or bytes."""
    helper = Helper(what, space, settings, arguments, patience)
    try:
        return helper.answer(most)
    finally:
        helper.close()


class Helper:
    """One process. It is killed when it is closed, whatever it is doing."""

    def __init__(self, what: str, space: Space, settings: Settings, arguments: Any, patience: float) -> None:
        bounds = space.bounds(settings)
        order = {"what": what, "bounds": asdict(bounds), "space": space.id, "arguments": arguments}
        self._bounds, self._patience, self._process = bounds, patience, -1
        self.ended = False
        self._talk = _nursery.fork()
        _begun(self.close)
        with suppress(OSError):  # it has ended: who waits for its answer is told
            self._talk.settimeout(patience)
            _, found, _, _ = socket.recv_fds(self._talk, 1, 1)
            self._process = found[0] if found else -1
            send(self._talk, VALUE, json.dumps(order).encode())

    def answer(self, most: int = MOST) -> bytes:
        return self._answer(self._talk, self._patience, most)

    def ask(self, patience: float, **arguments: Any) -> bytes:
        """Of one that stays; several may ask at once."""
        mine, theirs = socket.socketpair()
        with mine:
            with theirs, suppress(OSError):
                socket.send_fds(self._talk, [b"."], [theirs.fileno()])
                send(mine, VALUE, json.dumps(arguments).encode())
            return self._answer(mine, patience, MOST_OF_BLOCK)

    def close(self) -> None:
        self.ended = True
        _at_work.discard(self.close)
        process, self._process = self._process, -1
        if process >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(process, signal.SIGKILL)
            os.close(process)
        self._talk.close()

    def _answer(self, talk: socket.socket, patience: float, most: int) -> bytes:
        try:
            kind, content = receive(talk, most, patience)
        except TimeoutError:
            self.close()
            problem, hint = f"took longer than {patience:g} s", "the command line has more patience"
            raise RefusedError(problem, status=422, hint=hint) from None
        except (OSError, EOFError):
            self.close()
            own = f"the {format_bytes(self._bounds.memory)} of memory" if self._bounds.memory else "the memory"
            problem = f"the process that reads it has ended: it needed more than {own} or the time that it may have"
            hint = "the command line has more of both; schedlab web --memory SIZE allows more here"
            raise RefusedError(problem, status=422, hint=hint) from None
        if kind == REFUSED:
            told = json.loads(content)
            raise RefusedError(told["error"], status=told["status"], hint=told["hint"])
        return content


_at_work: set[Callable[[], None]] = set()  # what ends each process that works for somebody
_ending = False


def _begun(end: Callable[[], None]) -> None:
    _at_work.add(end)
    if _ending:
        end()


def end_all() -> None:
    """The server ends: nobody waits any more for what takes long, nor is anything begun."""
    global _ending
    _ending = True
    for end in list(_at_work):
        end()


def send(talk: socket.socket, kind: bytes, content: bytes) -> None:
    talk.sendall(kind + len(content).to_bytes(8, "big"))
    talk.sendall(content)


def receive(talk: socket.socket, most: int, patience: float | None = None) -> tuple[bytes, bytes]:
    end = None if patience is None else time.monotonic() + patience
    head = _exactly(talk, 9, end)
    size = int.from_bytes(head[1:], "big")
    if size > most:
        problem = f"is too large to be shown: {format_bytes(size)}"
        raise RefusedError(problem, status=422, hint="the command line has no such limit")
    return bytes(head[:1]), bytes(_exactly(talk, size, end))


def _exactly(talk: socket.socket, size: int, end: float | None) -> bytearray:
    found = bytearray(size)
    view, done = memoryview(found), 0
    while done < size:
        if end is not None:
            talk.settimeout(max(end - time.monotonic(), 0.001))
        got = talk.recv_into(view[done:])
        if not got:
            raise EOFError
        done += got
    return found


class _Nursery:
    """The process that helpers are forked from. One for all of this process, started when the first is needed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0  # a fork of this process has none

    def begin(self) -> None:
        with self._lock, confined(None):
            if self._process is None or self._owner != os.getpid() or self._process.poll() is not None:
                self._start()

    def fork(self) -> socket.socket:
        """To the new helper."""
        mine, theirs = socket.socketpair()
        with theirs:
            for last in (False, True):
                self.begin()
                try:
                    socket.send_fds(self._control, [b"."], [theirs.fileno()])
                    break
                except OSError:
                    if last:
                        raise
        return mine

    def end(self) -> None:
        if self._process is not None and self._owner == os.getpid():
            self._control.close()
            self._process.wait()

    def _start(self) -> None:
        mine, theirs = socket.socketpair()
        own = {"PYTHONSAFEPATH": "1", "NO_COLOR": "1", "COLUMNS": "200", "OPENBLAS_NUM_THREADS": "1"}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "schedlab.web.nursery", str(theirs.fileno())],
                env={**os.environ, **own},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # Ctrl-C in the server's terminal is the server's
            )
        self._control, self._owner = mine, os.getpid()


_nursery = _Nursery()
begin = _nursery.begin
atexit.register(_nursery.end)


def command(
    arguments: Sequence[str], space: Space, settings: Settings, *, patience: float
) -> subprocess.CompletedProcess[bytes]:
    """`schedlab ARGUMENTS` in the served folder, within the bounds of the space."""
    own = {"PYTHONSAFEPATH": "1", VARIABLE: as_text(space.bounds(settings)), "NO_COLOR": "1", "COLUMNS": "200"}
    with (
        confined(None),
        subprocess.Popen(
            [sys.executable, "-m", "schedlab", *arguments],
            cwd=space.folder,
            env={**os.environ, **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        _begun(process.kill)
        try:
            printed = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            hint = "the command line has more patience"
            raise InputError(f"took longer than {patience:g} s", where=arguments[0], hint=hint) from None
        finally:
            _at_work.discard(process.kill)
    return subprocess.CompletedProcess(arguments, process.returncode, *printed)


@contextmanager
def place_for(space: Space) -> Iterator[Path]:
    """A hidden folder of the space, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=".made-", dir=space.make()) as place:
        yield Path(place)
