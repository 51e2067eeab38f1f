"""Signals that ask a command to stop: Ctrl-C (SIGINT) and SIGTERM, which batch systems send."""

from __future__ import annotations

import signal
import time
from types import FrameType

from schedlab.model.stopping import TerminatedError, stop

AGAIN = 0.2  # seconds within which the same signal is the same request: `timeout` sends it twice


class _Asked:
    number: int | None = None
    when = 0.0


def listen() -> None:
    """From now on both end a command in the same way: nothing half-written, no process left, a word about what is."""
    signal.signal(signal.SIGTERM, _ask)
    if hasattr(signal, "SIGUSR1"):  # asks for a status line (cli/status.py); by itself it would end a process
        signal.signal(signal.SIGUSR1, _nothing)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored, as in `nohup`
        signal.signal(signal.SIGINT, _ask)


def ignore() -> None:
    """All is done and said, and the process is ending: its exit code tells what came of it, not a late signal."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def asked() -> int | None:
    """The signal that has asked this process to stop, if any has."""
    return _Asked.number


def caused(error: BaseException) -> bool:
    """Whether a request to stop is behind an error: Python 3.11 makes a RuntimeError of what `__set_name__` raises."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    return cause is not None


def exit_code() -> int:
    """Of a command that was asked to stop: 130 or 143."""
    return 128 + (_Asked.number or signal.SIGINT)


def insist() -> None:
    """Ask again, if somebody has asked: a request that came while Python was deleting something has been lost."""
    if _Asked.number is not None:
        stop(_request(_Asked.number))


def _ask(number: int, _frame: FrameType | None) -> None:
    now = time.monotonic()
    if number == _Asked.number and now - _Asked.when < AGAIN:
        return
    _Asked.number, _Asked.when = number, now
    stop(_request(number))


def _request(number: int) -> KeyboardInterrupt:
    return TerminatedError() if number == signal.SIGTERM else KeyboardInterrupt()


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """A handler, not SIG_IGN: that would be handed on to every program that is started."""
