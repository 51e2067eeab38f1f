"""Everything that can go wrong, as types. The command line prints the message and exits with `exit_code`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schedlab.model.run import Run


class SchedlabError(Exception):
    """Base of all errors that schedlab raises on purpose."""

    exit_code = 1
    run: Run | None = None  # what had been simulated when it happened


class InputError(SchedlabError):
    """A mistake in what the user gave us: says where it is, what was found, and what to do about it."""

    exit_code = 2

    def __init__(self, message: str, *, where: str = "", hint: str = "") -> None:
        self.message, self.where, self.hint = message, where, hint
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        remedy = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{place}{self.message}{remedy}"


class DiskError(InputError):
    """A file cannot be written, or not be read again: no room, not allowed, a device that fails.

    `number` is the system's, of errno; 0 if it gave none.
    """

    def __init__(self, message: str, *, where: str, hint: str, number: int = 0) -> None:
        super().__init__(message, where=where, hint=hint)
        self.number = number


class InputErrors(InputError):
    """All the mistakes of one file at once."""

    def __init__(self, errors: Sequence[InputError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) for error in self.errors))


class DecisionError(SchedlabError):
    """A decider asked for something impossible; names the job, the time and why."""


class PolicyError(SchedlabError):
    """A policy, order, placement, estimator or observer in Python failed: says on which line, when and with what job.

    The error that it raised is the cause; `run` is what had been simulated until then.
    """

    def __init__(self, message: str, *, time: float, job: int) -> None:
        super().__init__(message)
        self.time, self.job = time, job


class InvariantError(SchedlabError):
    """The engine found itself in an impossible state (`validate=True`): a bug in schedlab."""
