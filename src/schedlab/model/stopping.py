"""Being asked to stop: what a signal raises, and the few places where it has to wait for a moment.

Ctrl-C and SIGTERM raise wherever the program is. What makes or removes a folder or a process does so in
`with undisturbed():`, so that nothing is left half made or half removed.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class TerminatedError(KeyboardInterrupt):
    """SIGTERM: as Ctrl-C, but nothing that is under way is finished first."""


class _Held:
    depth = 0
    request: KeyboardInterrupt | None = None  # the last one that came meanwhile


def stop(request: KeyboardInterrupt) -> None:
    """For handlers of signals: raise it, now or when that is possible."""
    if _Held.depth:
        _Held.request = request
        return
    raise request


@contextmanager
def undisturbed() -> Iterator[None]:
    """Requests to stop wait until this is over. (Those that come to another handler than ours do not.)"""
    _Held.depth += 1
    try:
        yield
    finally:
        _Held.depth -= 1
        if not _Held.depth and _Held.request is not None:
            request, _Held.request = _Held.request, None
            raise request


def how_it_ended(code: int) -> str:
    """Of a process, from its exit code as `subprocess` gives it."""
    if code >= 0:
        return f"has ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:  # a real-time signal, which has only a number
        return f"was killed by signal {-code}"
