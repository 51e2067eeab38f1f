"""The terminal while a run is watched: its alternate screen, and the terminal as it was when that is over."""

from __future__ import annotations

import io
import sys
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from schedlab.engine.snapshot import Snapshot

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live


def can_watch() -> bool:
    from schedlab.cli.output import messages, warn

    if messages().is_terminal and not messages().is_dumb_terminal:
        return True
    warn("--watch needs a terminal on standard error; --status-every 10s prints lines instead")
    return False


class Screen:
    """Opens with the first picture. What is printed meanwhile, by a policy say, comes out when it closes."""

    def __init__(self) -> None:
        self._live: Live | None = None
        self._open = ExitStack()
        self._pictures = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        self._live = None

    def draw(self, snapshot: Snapshot) -> None:
        from schedlab.cli.frame import frame

        if self._live is None:
            self._live = self._start()
        size = self._live.console.size
        self._live.update(frame(snapshot, size.width, size.height), refresh=True)
        self._pictures += 1

    def leave_behind(self, snapshot: Snapshot) -> None:
        """When it is closed: how the whole run went."""
        from schedlab.cli.frame import closing

        console = _console()
        console.print(closing(snapshot, console.width))
        if not self._pictures:
            console.print("it was over before there was anything to see: --pace 1d shows a day a second\n", style="dim")

    def _start(self) -> Live:
        from rich.live import Live

        console = _console()  # standard error as it is now
        for stream, redirect in ((sys.stdout, redirect_stdout), (sys.stderr, redirect_stderr)):
            if stream.isatty():
                held = io.StringIO()
                self._open.callback(partial(_print, held, stream))
                self._open.enter_context(redirect(held))
        live = Live(console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False)
        return self._open.enter_context(live)


def _console() -> Console:
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False)


def _print(held: io.StringIO, stream: TextIO) -> None:
    stream.write(held.getvalue())
    stream.flush()
