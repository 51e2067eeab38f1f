"""A scheduler that runs beside us on a simulated clock: started, measured, and stopped."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from schedlab.bridge.kubernetes.clock import SIMULATOR_GONE, GoClock
from schedlab.bridge.kubernetes.errors import KubernetesError
from schedlab.bridge.kubernetes.last_words import last_words
from schedlab.bridge.kubernetes.link import Handlers, Link
from schedlab.model.stopping import how_it_ended, undisturbed

_THREADS = {"GOMAXPROCS": "1"}  # with one thread Go's own scheduler has next to nothing to choose
_GARBAGE = {"GOGC": "400"}  # collected when there is four times as much of it as of the rest; 100 costs a tenth more


class SchedulerProcess:
    """One scheduler, its clock and its connections."""

    def __init__(self, name: str, folder: Path, clock: GoClock, poll: select.epoll, handlers: Handlers) -> None:
        self.name, self.clock = name, clock
        self.log = folder / f"{name}.log"
        self.link = Link(poll, handlers)
        self._poll, self._handlers = poll, handlers
        self._process: subprocess.Popen[bytes] | None = None
        self._unwanted = (0, 0, 0)  # the order with which it was asked, the bytes that it had read then, those sent
        self._sent = self._heard = (
            0  # bytes that it had been sent when it was last looked at, and its reports until then
        )
        self._lasting = (0.0, 0)  # CPU seconds and peak memory, once it has ended

    def start(self, command: Sequence[str], variables: Mapping[str, str], folder: Path) -> None:
        """`command` may depend on the port of `link`."""
        with undisturbed(), self.log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                env={**_GARBAGE, **os.environ, **_THREADS, **variables, **self.clock.environment(), "TZ": "UTC"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=self.clock.theirs,
                start_new_session=True,
                cwd=folder,
            )
            self.clock.handed_over()
        self._handlers[self.clock.fileno()] = self.clock.receive
        self._poll.register(self.clock, select.EPOLLIN)

    @property
    def process_id(self) -> int:
        assert self._process is not None
        return self._process.pid

    def at_rest(self) -> bool:
        """Whether nothing in it can run, it has read all that it was sent, and all that it wrote is here.

        A program may leave unread what it does not want yet. Then it is asked once more, after all of it has arrived
        there: if it still does not want it, it is at rest too.
        """
        idle, link = self.clock.idle, self.link
        if idle is None or idle.written != link.received:
            return False
        if idle.read == link.sent or self._unwanted == (idle.order, idle.read, link.sent):
            return True
        if self._sent != link.sent:
            self._sent, self._heard = link.sent, self.clock.reports
        elif self._heard != self.clock.reports and link.has_arrived():  # it had something to say since, but not this
            self.clock.set(self.clock.now)
            self._unwanted = (self.clock.order, idle.read, link.sent)
        return False

    def cpu_seconds(self) -> float:
        """CPU time that it has used."""
        if self._process is None or self._process.returncode is not None:
            return self._lasting[0]
        try:
            return time.clock_gettime((~self._process.pid << 3) | 2)  # the kernel's clock of that process
        except OSError:
            return self._lasting[0]

    def peak_memory(self) -> int:
        """The most bytes of memory that it has had."""
        if self._process is None or self._process.returncode is not None:
            return self._lasting[1]
        with suppress(OSError):
            for line in Path(f"/proc/{self._process.pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
        return self._lasting[1]

    def died(self) -> KubernetesError:
        """It has closed its clock: say how it ended."""
        assert self._process is not None
        code = self._process.wait()
        how = "lost its clock" if code == SIMULATOR_GONE else how_it_ended(code)
        return KubernetesError(f"the scheduler {self.name} {how}: {self.last_words()}")

    def last_words(self) -> str:
        return last_words(self.log)

    def stop(self) -> None:
        with undisturbed():
            if self._process is not None and self._process.returncode is None:
                self._lasting = (self.cpu_seconds(), self.peak_memory())
                self._process.kill()  # its clock stands still: nothing of it would be written any more
                self._process.wait()
            self._handlers.pop(self.clock.fileno(), None)
            self.link.close()
            self.clock.close()
