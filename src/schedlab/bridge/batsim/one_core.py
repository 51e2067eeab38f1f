"""A scheduler that we started and we take turns, so one core is enough for both, and quicker than two: what is said is
still near, and no sleeping core has to be woken twice for each message (that takes longer than most answers)."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from pathlib import Path

MOST = 1.1  # cores that it may have used while we waited: more, and it works in several threads at once
LEAST = 0.1  # less, and somebody else works for it, of whom we know nothing
NAME = "schedlab-core"  # of cores that are taken


class OneCore:
    """Ours and that of the process `pid`, as soon as it has shown that it needs no more."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._before = set(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else set()
        self._taken: socket.socket | None = None
        self._since = self._now()

    def look(self) -> None:
        """Whether it can be done, by what has happened since this was last asked."""
        then, now = self._since, self._now()
        self._since = now
        if self._taken is not None or len(self._before) < 2:
            return
        passed, ours, theirs = (after - before for after, before in zip(now, then, strict=True))
        if LEAST * (passed - ours) < theirs <= MOST * (passed - ours):
            self._share()

    def leave(self) -> None:
        """We may be on any core again. (The scheduler has ended, or will.)"""
        if self._taken is not None:
            os.sched_setaffinity(0, self._before)
            self._taken.close()
            self._taken = None

    def _share(self) -> None:
        for core in sorted(self._before):
            self._taken = _take(core)
            if self._taken is not None:
                break
        else:
            return  # others like us have them all
        with suppress(OSError):  # it is just ending
            for thread in Path(f"/proc/{self._pid}/task").iterdir():
                os.sched_setaffinity(int(thread.name), {core})
        os.sched_setaffinity(0, {core})

    def _now(self) -> tuple[float, float, float]:
        """The time, and the processor time of this thread and of the scheduler, in seconds."""
        try:
            fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(") ")[2].split()
            theirs = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except (OSError, IndexError):
            theirs = 0.0
        return time.monotonic(), time.thread_time(), theirs


def _take(core: int) -> socket.socket | None:
    """Several of us at once, as in studies, take different cores: a name that only one process at a time can have, and
    that goes with it."""
    name = socket.socket(socket.AF_UNIX)
    try:
        name.bind(f"\0{NAME}-{core}")
    except OSError:
        name.close()
        return None
    return name
