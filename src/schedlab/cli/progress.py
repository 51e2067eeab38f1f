"""Progress bars on standard error, for whatever takes longer than a second; silent where nobody watches."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 1.0  # seconds


def watched(quiet: bool) -> bool:
    return not quiet and sys.stderr.isatty()


def date(origin: datetime | None, now: float) -> str:
    if origin is None:
        return f"day {now / 86_400:,.1f}"
    try:
        return f"{origin + timedelta(seconds=now):%Y-%m-%d %H:%M}"
    except OverflowError:
        return "in the far future"


class Bar:
    """Appears after a second, vanishes at the end."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self.total = what, total
        self._begin = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def show(self, done: int, text: str) -> None:
        if self._progress is None:
            if time.monotonic() - self._begin < PATIENCE:
                return
            self._start()
        assert self._progress is not None
        assert self._task is not None
        self._progress.update(self._task, completed=done, total=self.total or None, text=text)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begin

    def _start(self) -> None:
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        from schedlab.cli.output import messages

        self._progress = Progress(
            TextColumn("{task.description}", style="cyan", markup=False),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TextColumn("{task.fields[text]}", markup=False),
            TimeRemainingColumn(compact=True),
            console=messages(),
            transient=True,
        )
        self._task = self._progress.add_task(self._what, total=self.total or None, text="")
        self._progress.start()


class SimulationBar(Bar):
    """Called by the engine with the simulated time and the number of jobs that have left."""

    def __init__(self, policy: str, jobs: int, origin: datetime | None) -> None:
        super().__init__(policy, jobs)
        self._origin = origin
        self._deciding = Deciding()

    def __call__(self, now: float, done: int) -> None:
        speed = done / max(self.seconds, 1e-9)
        parts = [date(self._origin, now), f"{done:,} jobs", f"{speed:,.0f}/s", *self._deciding.words(now)]
        self.show(done, "  ".join(parts))


class Deciding:
    """How long the simulated time has been standing still: a decision takes as long as it takes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._now, self._since = math.nan, clock()

    def words(self, now: float) -> list[str]:
        """Nothing, or `deciding for 12 s`."""
        if now != self._now:
            self._now, self._since = now, self._clock()
        seconds = self._clock() - self._since
        return [f"deciding for {seconds:,.0f} s"] if seconds >= PATIENCE else []


class ReadingBar(Bar):
    """Called by the reader with the bytes read so far and the size of the file."""

    def __init__(self, name: str) -> None:
        super().__init__(f"reading {name}", 1000)

    def __call__(self, done: int, size: int) -> None:
        self.show(1000 * done // max(size, 1), f"{done / 1e6:,.1f} MB")
