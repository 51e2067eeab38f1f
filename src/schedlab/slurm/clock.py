"""Drives a program that runs on the virtual clock; docs/virtual-clock.md tells the protocol."""

from __future__ import annotations

import os
import select
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

from schedlab import _core
from schedlab.model.errors import InputError

_LONGEST_SOCKET_PATH = 107  # what the kernel's address has room for
_PORT = "/65535"


class ClockLost(Exception):  # noqa: N818 - what happened, not a mistake
    """The program has ended, or closed its connection to the clock."""


class Clock:
    """The time of one program. Made before the program starts; times are nanoseconds since 1970."""

    def __init__(self, path: Path) -> None:
        _check_length(str(path))
        self.now = 0  # the program's time
        self.next = -1  # when its next timer is due; -1: it has none
        self.calls = 0  # connections that it has made
        self.wakes = 0  # timers that have fired
        self.threads = 0
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(1)
        self._connection: socket.socket | None = None
        self._received = b""

    def wait_for(self, process: subprocess.Popen[bytes]) -> None:
        """Until the program has connected, which it does at its first wait."""
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        watched = os.pidfd_open(process.pid)
        try:
            poll.register(watched, select.POLLIN)
            ready = {fd for fd, _ in poll.poll()}
        finally:
            os.close(watched)
        if self._listener.fileno() not in ready:
            raise ClockLost(f"the program ended with status {process.wait()} before it used the clock")
        self._connection, _ = self._listener.accept()

    def run(self, until: int) -> None:
        """Timers fire in order, up to and including `until`, or until the program has called somebody."""
        self._command(f"run {until}\n")

    def idle(self) -> None:
        """Until no thread of the program can run; time stands still."""
        self._command("idle\n")

    def close(self) -> None:
        """The program ends at once, if it has not yet."""
        self._listener.close()
        if self._connection:
            self._connection.close()

    def _command(self, line: str) -> None:
        if not self._connection:
            raise ClockLost("no program has connected")
        try:
            self._connection.sendall(line.encode())
            while b"\n" not in self._received:
                got = self._connection.recv(4096)
                if not got:
                    raise ClockLost("the program has ended")
                self._received += got
        except ConnectionError as error:
            raise ClockLost("the program has ended") from error
        answer, _, self._received = self._received.partition(b"\n")
        self.now, self.next, self.calls, self.wakes, self.threads = map(int, answer.split())


def shim_path() -> Path:
    """The library that programs are started with (LD_PRELOAD)."""
    return Path(_core.__file__).with_name("libschedlab_clock.so")


def environment(
    *,
    sockets: Path,
    clock: Path | None = None,
    epoch: int = 0,
    coalesce: str = "",
    tick: int = 0,
    cpu_factor: float = 0.0,
    people: Path | None = None,
    unwanted: Sequence[str] = (),
    uid: int | None = None,
    shim: Path | None = None,
) -> dict[str, str]:
    """The variables for a program on the clock that listens at `clock`; without one for a client, in real time.

    `epoch`: seconds since 1970 at the start. `coalesce`: "100000:10" takes ten naps of 100,000 us as one.
    `tick`: nanoseconds that each look at the clock takes. `cpu_factor`: simulated time per processor time.
    `unwanted`: output with one of these texts is not written. `uid`: who the program thinks it is.
    """
    _check_length(f"{sockets}{_PORT}")
    variables = {"LD_PRELOAD": str(shim or shim_path()), "SCHEDLAB_SOCKETS": str(sockets)}
    if people:
        variables["SCHEDLAB_PEOPLE"] = str(people)
    if unwanted:
        variables["SCHEDLAB_UNWANTED"] = "\n".join(unwanted)
    if uid is not None:
        variables["SCHEDLAB_UID"] = str(uid)
    if clock:
        variables |= {"SCHEDLAB_CLOCK": str(clock), "SCHEDLAB_CLOCK_EPOCH": str(epoch)}
        if coalesce:
            variables["SCHEDLAB_CLOCK_COALESCE"] = coalesce
        if tick:
            variables["SCHEDLAB_CLOCK_TICK"] = str(tick)
        if cpu_factor:
            variables["SCHEDLAB_CLOCK_CPU"] = str(cpu_factor)
    return variables


def _check_length(path: str) -> None:
    if len(os.fsencode(path)) > _LONGEST_SOCKET_PATH:
        raise InputError(
            f"{path}: too long for the path of a socket, which has at most {_LONGEST_SOCKET_PATH} characters",
            hint="choose a folder with a shorter path, for example below /tmp",
        )
