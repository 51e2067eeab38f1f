"""The clock of a Go program that was built with the simulated clock (golang/), as its simulator holds it.

There are two pipes, one each way. An order is a number and a time; the program obeys at once. A report is written
whenever nothing in the program can run: the number of the last order that it had obeyed, its time, when its next timer
is due, and how many bytes it had read from sockets and written to them. So that a program is at rest is counted and not
guessed: it has obeyed the last order, has read all that it was sent, and all that it wrote has arrived (process.py).

To a program at rest of which no timer is due, the time need not be told: it is in a page of memory that both share, and
whatever the program does next is at that time.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import NamedTuple

VARIABLE = "SCHEDLAB_GO_CLOCK"
SIMULATOR_GONE = 97  # the code with which a program ends whose simulator has gone

_ORDER = struct.Struct("<Qq")
_REPORT = struct.Struct("<QqqQQ")
_NEVER = 1 << 62  # no timer
_PIECE = 1 << 16


class ClockLost(Exception):  # noqa: N818 - what happened, not a mistake
    """The program has ended."""


class Report(NamedTuple):
    """A program in which nothing could run. Times are nanoseconds since 1970."""

    order: int
    now: int
    next: int  # when its next timer is due
    read: int  # bytes, of all sockets, since it began
    written: int

    def is_as_new_as(self, other: Report) -> bool:
        return self.order >= other.order and self.read >= other.read and self.written >= other.written


class GoClock:
    """The time of one program, which is started with `environment` and the descriptors `theirs`."""

    def __init__(self, start: int, tick: int = 0, seed: int = 1) -> None:
        """`tick`: nanoseconds that each look at the clock takes. `seed`: of the program's random numbers."""
        self.now = start  # the time of the last order
        self.report: Report | None = None
        self.reports = 0
        self._start, self._tick, self._seed = start, tick, seed
        self.order = 0
        their_orders, self.orders = os.pipe()
        self._reports, their_reports = os.pipe()
        os.set_blocking(self._reports, False)
        page = os.memfd_create("clock")
        os.ftruncate(page, mmap.PAGESIZE)
        self._memory = mmap.mmap(page, mmap.PAGESIZE)
        self._page = memoryview(self._memory).cast("q")
        self.theirs: tuple[int, ...] = (their_orders, their_reports, page)  # what the program is to inherit
        self._received = b""

    def environment(self) -> dict[str, str]:
        orders, reports, page = self.theirs
        return {VARIABLE: ",".join(map(str, (orders, reports, self._start, self._tick, self._seed, page)))}

    def handed_over(self) -> None:
        """The program has been started, and has its ends."""
        for descriptor in self.theirs:
            os.close(descriptor)
        self.theirs = ()

    def fileno(self) -> int:
        return self._reports

    def set(self, now: int) -> None:
        """It is `now`: timers that are due will fire."""
        self.now = now
        self.order += 1
        try:
            os.write(self.orders, _ORDER.pack(self.order, now))
        except OSError as error:
            raise ClockLost from error

    def show(self, now: int) -> None:
        """It is `now`, for a program at rest; no timer of it may be due."""
        self.now = now
        self._page[0] = now

    def receive(self) -> None:
        """Read the reports that have come; only the newest one is of interest."""
        try:
            data = os.read(self._reports, _PIECE)
        except BlockingIOError:
            return
        except OSError as error:
            raise ClockLost from error
        if not data:
            raise ClockLost
        self._received += data
        whole = len(self._received) // _REPORT.size * _REPORT.size
        for fields in _REPORT.iter_unpack(self._received[:whole]):
            self.reports += 1
            report = Report(*fields)
            # A thread may have counted, been interrupted for a while, and write what others have reported since.
            if self.report is None or report.is_as_new_as(self.report):
                self.report = report
        self._received = self._received[whole:]

    @property
    def idle(self) -> Report | None:
        """The report of a program that has obeyed the last order and in which nothing can run; None if it may run."""
        return self.report if self.report is not None and self.report.order == self.order else None

    @property
    def next(self) -> int | None:
        """When its next timer is due, as of its last report; None if it has none."""
        return self.report.next if self.report is not None and self.report.next < _NEVER else None

    def close(self) -> None:
        for descriptor in (*self.theirs, self.orders, self._reports):
            os.close(descriptor)
        self._page.release()
        self._memory.close()
