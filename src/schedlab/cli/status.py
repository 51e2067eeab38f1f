"""One line about a run: every so often, or when somebody asks with `kill -USR1`."""

from __future__ import annotations

import math
import signal
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType, TracebackType
from typing import Any, Self

from schedlab.analysis.written import duration
from schedlab.cli.progress import date
from schedlab.engine.snapshot import Facts, Snapshot

SIGNAL: signal.Signals | None = getattr(signal, "SIGUSR1", None)  # there is none on Windows


def status_line(snapshot: Snapshot) -> str:
    facts = snapshot.facts
    parts = [
        date(facts.origin, snapshot.now),
        f"{snapshot.done:,} of {snapshot.jobs:,} jobs done",
        *([] if snapshot.running is None else [f"{snapshot.running:,} running"]),
        f"{snapshot.queued:,} waiting",
        *([f"{snapshot.suspended:,} suspended"] if snapshot.suspended else []),
        busy(snapshot),
        *speeds(snapshot),
    ]
    return f"{facts.policy}: {', '.join(parts)}"


def busy(snapshot: Snapshot) -> str:
    """`81.2% busy`; where jobs use more than cores, `81.2% of cores, 40.0% of gpus busy`."""
    if not snapshot.others:
        return f"{snapshot.utilisation:.1%} busy"
    shares = [("cores", snapshot.utilisation), *((used.name, used.share) for used in snapshot.others)]
    return f"{', '.join(f'{share:.1%} of {name}' for name, share in shares)} busy"


def deciding_line(facts: Facts, now: float, done: int, jobs: int, words: Sequence[str]) -> str:
    """In the middle of a pass, when nothing else is known."""
    return f"{facts.policy}: {', '.join([date(facts.origin, now), f'{done:,} of {jobs:,} jobs done', *words])}"


def speeds(snapshot: Snapshot) -> list[str]:
    """`1.20 d/s` and `310 jobs/s`, as far as they are known."""
    found = []
    if snapshot.time_speed is not None:
        found.append(f"{duration(snapshot.time_speed)}/s")
    if snapshot.job_speed is not None:
        found.append(f"{snapshot.job_speed:,.0f} jobs/s")
    return found


def reading_line(name: str, done: int, size: int) -> str:
    return f"reading {name}: {done / max(size, 1):.0%}, {done / 1e6:,.1f} of {size / 1e6:,.1f} MB"


def final_line(policy: str, jobs: int, seconds: float) -> str:
    return f"{policy}: over, {jobs:,} jobs in {seconds:.2f} s"


class Status:
    """Says when a line is due, and prints it. The signal only leaves a mark: whoever looks next, answers."""

    def __init__(self, every: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.every, self.asked = every, False
        self._clock = clock
        self._next = math.inf if every is None else clock() + every
        self._before: Any = None

    def __enter__(self) -> Self:
        if SIGNAL is not None:
            self._before = signal.signal(SIGNAL, self._ask)
            signal.siginterrupt(SIGNAL, False)  # a file that is being written takes no notice
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if SIGNAL is not None:
            signal.signal(SIGNAL, self._before)

    @property
    def due(self) -> bool:
        return self.asked or (self.every is not None and self._clock() >= self._next)

    def say(self, line: str) -> None:
        self.asked = False
        if self.every is not None:
            self._next = self._clock() + self.every
        if not sys.stderr.isatty():
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
            return
        from schedlab.cli.output import messages

        messages().print(line, markup=False, soft_wrap=True)  # above the progress bar, if there is one

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True
