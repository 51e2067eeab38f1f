"""The scheduler as a process of ours: started from a command, watched, stopped, and what it took."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from schedlab.bridge.batsim.link import is_taken
from schedlab.bridge.batsim.one_core import OneCore
from schedlab.model.errors import InputError
from schedlab.model.stopping import how_it_ended, undisturbed

SOCKET = "tcp://localhost:28000"  # Batsim's own default
PATIENCE = 5.0  # seconds for it to end by itself when the simulation is over, and again after it was asked to
KEPT = 1 << 20  # bytes of the end of what it wrote
MOST = 1 << 26  # bytes that it may have written before the rest is let go


def free_port() -> int:
    """A TCP port of this machine that nobody uses now."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        number: int = listening.getsockname()[1]
    return number


class Scheduler:
    """A process that we started; what it writes goes to a file without a name.

    {socket} and {port} in the command become those of `socket`. Without one they are chosen: a socket in a folder of
    its own, or a free port; a command that has no place for them listens where schedulers of Batsim usually do.
    """

    def __init__(self, command: Sequence[str], socket: str = "") -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self.endpoint = socket or self._place(command)
        if is_taken(self.endpoint):  # it could not listen there, and somebody else would be asked
            hint = "choose another socket, or write {port} or {socket} in the command: then a free one is chosen"
            raise InputError(f"somebody listens at {self.endpoint} already", where=command[0], hint=hint)
        port = self.endpoint.rpartition(":")[2]
        self.command = [part.replace("{socket}", self.endpoint).replace("{port}", port) for part in command]
        self._output = tempfile.TemporaryFile()  # noqa: SIM115 - for as long as it lives
        fcntl.fcntl(self._output, fcntl.F_SETFL, os.O_APPEND)  # it may be made shorter in between
        self._code: int | None = None
        self._usage: dict[str, float] = {}
        try:
            with undisturbed():
                self._process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.DEVNULL,
                    stdout=self._output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,  # Ctrl-C is for us: we stop it
                )
        except OSError as error:
            self._remove()
            hint = "the command of the scheduler, as one would write it in a shell"
            raise InputError(f"cannot start '{self.command[0]}': {error.strerror}", hint=hint) from None
        self._core = OneCore(self._process.pid)

    def ended(self) -> str:
        """How it ended, in words; empty while it lives."""
        if self._code is None and not self._reap(os.WNOHANG):
            return ""
        assert self._code is not None
        how = how_it_ended(self._code)
        last = self.output().decode("utf-8", "replace").strip().rpartition("\n")[2]
        return f"{how} (its last words: {last[:200]})" if last else how

    def output(self) -> bytes:
        """The end of what it wrote."""
        if self._output.closed:
            return b""
        size = os.fstat(self._output.fileno()).st_size
        return os.pread(self._output.fileno(), KEPT, max(size - KEPT, 0))

    def note(self) -> None:
        """Now and then while it lives: where it runs, how large it is, and that its words do not fill the disk."""
        self._core.look()
        with suppress(OSError, IndexError, ValueError):
            status = Path(f"/proc/{self._process.pid}/status").read_text()
            self._usage["peak_memory"] = 1024 * int(status.split("VmHWM:")[1].split()[0])
        if os.fstat(self._output.fileno()).st_size > MOST:
            last = self.output()
            os.ftruncate(self._output.fileno(), 0)
            os.write(self._output.fileno(), last)

    def usage(self) -> dict[str, Any]:
        """CPU seconds, once it has ended, and peak memory in bytes, where the system tells."""
        return dict(self._usage)

    def finish(self, patience: float = PATIENCE) -> None:
        """Let it end by itself, for a while; then ask, then insist. All processes of its session go with it."""
        if self._wait(patience):
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
            if self._wait(PATIENCE):
                return

    def close(self) -> None:
        """Nothing of it stays."""
        self.finish(0.0)
        self._core.leave()
        self._remove()

    def _place(self, command: Sequence[str]) -> str:
        if any("{port}" in part for part in command):
            return f"tcp://127.0.0.1:{free_port()}"
        if not any("{socket}" in part for part in command):
            return SOCKET
        self._folder = tempfile.TemporaryDirectory(prefix="schedlab-")
        return f"ipc://{self._folder.name}/scheduler"

    def _remove(self) -> None:
        self._output.close()
        if self._folder is not None:
            self._folder.cleanup()

    def _wait(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        step = 0.001
        while self._code is None and not self._reap(os.WNOHANG):
            if time.monotonic() >= end:
                return False
            time.sleep(step)
            step = min(2 * step, 0.05)
        return True

    def _reap(self, options: int) -> bool:
        """Whether it has ended; then what it took is known. (`Popen.wait` would not tell.)"""
        with undisturbed():
            pid, status, used = os.wait4(self._process.pid, options)
            if pid == 0:
                return False
            self._code = self._process.returncode = os.waitstatus_to_exitcode(status)
        # Its largest size is not what the system says here: that counts us, of whom it was a copy for a moment.
        self._usage["cpu_seconds"] = round(used.ru_utime + used.ru_stime, 3)
        return True
