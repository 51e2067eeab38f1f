"""One command in a process of its own: what it says while it works, and its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import IO, Any, TextIO

from schedlab.model.stopping import how_it_ended
from schedlab.web.task import CANCELLED, DONE, FAILED, INTERRUPTED, RUNNING, Record, Status

PATIENCE = (2.0, 3.0)  # seconds after the first and the second request to stop
LAST_OUTPUT = 1 << 16  # bytes of what it printed
GONE = 2.0  # seconds
STOPPED = {130, 143}  # exit codes of a command that was asked to stop


class Child:
    """Runs in a thread of its own: `follow` returns when the command has ended, and nothing of it is left."""

    def __init__(
        self, record: Record, orders: dict[str, Any], env: dict[str, str], changed: Callable[[], None]
    ) -> None:
        self.record = record
        self.status = replace(record.status(), state=RUNNING, started=time.time())
        self.frame: dict[str, Any] | None = None
        self.asked = ""  # the state it will have been brought to: cancelled or interrupted
        self.orders = orders
        self._changed = changed
        self._begun: float | None = None  # when the first job was simulated
        record.write(self.status)
        self._lines, self._control = self._start(env)
        self.order()

    def order(self, **changes: Any) -> None:
        """Another pace, or whether pictures are wanted."""
        self.orders.update(changes)
        with suppress(OSError, ValueError):  # it has ended
            self._control.write(json.dumps(self.orders) + "\n")
            self._control.flush()

    def follow(self) -> None:
        with self._lines:
            for line in self._lines:
                with suppress(ValueError, KeyError):
                    self._said(json.loads(line))
        code = self._wait()
        self.status = self._ended(code)
        with suppress(OSError):  # which stays if there is anything in it
            (self.record.space.folder / self.record.task.out).rmdir()
        self._changed()
        self.record.write(self.status, self.output())

    def stop(self, state: str) -> None:
        """Ask, ask again, then end it. Returns when it has ended."""
        self.asked = self.asked or state
        for seconds in PATIENCE:
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                if self._over():
                    return
                time.sleep(0.02)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def output(self) -> dict[str, str]:
        """The last of what it has printed so far."""
        return {name: printed.text for name, printed in self._printed.items()}

    def _start(self, env: dict[str, str]) -> tuple[TextIO, TextIO]:
        from_child, to_parent = os.pipe()
        to_child, from_parent = os.pipe()
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "schedlab", *self.record.task.arguments],
                cwd=self.record.space.folder,
                env={**env, "SCHEDLAB_CHANNEL": f"{to_parent}:{to_child}"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(to_parent, to_child),
                start_new_session=True,  # Ctrl-C in the server's terminal is the server's
            )
        finally:
            os.close(to_parent)
            os.close(to_child)
        streams = {"stdout": self._process.stdout, "stderr": self._process.stderr}
        self._printed = {name: Printed(stream) for name, stream in streams.items() if stream is not None}
        return os.fdopen(from_child, encoding="utf-8"), os.fdopen(from_parent, "w", encoding="utf-8")

    def _over(self) -> bool:
        """Whether it has ended; its number stays taken until `_wait` has cleared away what it left."""
        try:
            flags = os.WEXITED | os.WNOWAIT | os.WNOHANG
            return os.waitid(os.P_PID, self._process.pid, flags) is not None
        except ChildProcessError:
            return True

    def _wait(self) -> int:
        with suppress(ChildProcessError):
            os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)  # workers of a study, say, whose master was killed
        code = self._process.wait()
        for printed in self._printed.values():
            printed.close()
        with suppress(OSError):
            self._control.close()
        return code

    def _said(self, said: dict[str, Any]) -> None:
        what = said.pop("what")
        if what == "frame":
            self.frame = said
        elif what == "reading":
            share = said["done"] / max(said["size"], 1)
            self.status = replace(self.status, text=f"reading {said['name']}: {share:.0%}")
        elif what == "progress":
            share = (said["run"] + said["done"] / max(said["jobs"], 1)) / max(said["runs"], 1)
            parts = [said["date"], f"{said['done']:,} of {said['jobs']:,} jobs", *said["words"]]
            self._at(min(share, 1.0), f"{said['policy']}: {', '.join(filter(None, parts))}")
        elif what == "study":
            failed = f", {said['failed']:,} failed" if said["failed"] else ""
            share = (said["done"] + said["failed"]) / max(said["planned"], 1)
            self._at(share, f"{said['done']:,} of {said['planned']:,} runs{failed}")
        self._changed()

    def _at(self, share: float, text: str) -> None:
        now = time.monotonic()
        if self._begun is None:
            self._begun, self._first = now, share  # a study that is taken up does not begin at 0
        done = share - self._first
        left = (now - self._begun) * (1 - share) / done if done > 0 else None
        self.status = replace(self.status, share=share, text=text, left=left)

    def _ended(self, code: int) -> Status:
        status = replace(self.status, ended=time.time(), code=code, left=None)
        if code == 0:
            return replace(status, state=DONE, share=1.0)
        if self.asked and (code in STOPPED or code < 0):
            hint = "start it again: what is done is kept" if self.record.task.kind == "study" else "start it again"
            why = "" if self.asked == CANCELLED else "the server ended before it did"
            return replace(status, state=self.asked, error=why, hint=hint)
        if code < 0:
            hint = "the machine may have been short of memory; start it again"
            return replace(status, state=FAILED, error=f"the worker {how_it_ended(code)}", hint=hint)
        state = INTERRUPTED if code in STOPPED else FAILED
        error, hint = message(self._printed["stderr"].text, code)
        return replace(status, state=state, error=error, hint=hint)


class Printed:
    """The last of what a command prints. It is kept here, for the disk may be what it complains about."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._kept = stream, b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        return self._kept.decode(errors="replace")

    def close(self) -> None:
        """When nobody is left who could print, unless a program of a policy has gone its own way."""
        self._thread.join(GONE)
        if not self._thread.is_alive():
            self._stream.close()

    def _read(self) -> None:
        while piece := os.read(self._stream.fileno(), 1 << 16):
            self._kept = (self._kept + piece)[-LAST_OUTPUT:]


def message(errors: str, code: int) -> tuple[str, str]:
    """What the command printed of its failure: the errors and the hint, as they stood there."""
    lines = errors.splitlines()
    starts = [at for at, line in enumerate(lines) if line.startswith(("error: ", "interrupted: "))]
    said = "\n".join(line for line in lines if line.strip())[-2000:]
    last = lines[starts[0]] if starts else said.rpartition("\n")[2]
    if last.startswith("error: not enough memory ") or any(word in last for word in ("MemoryError", "bad_alloc")):
        hint = "the command line has as much as there is; schedlab web --memory SIZE allows more here"
        return "needed more memory than a process may have here", hint
    if not starts:
        return said or f"the command ended with code {code}", ""
    text = "\n".join(lines[starts[0] :]).partition(": ")[2]
    if len(starts) > 1:  # several at once, each with its hint
        return text, ""
    error, _, hint = text.partition("\n  hint: ")
    return error, hint
