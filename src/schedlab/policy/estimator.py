"""What an estimator of yours derives from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    from schedlab._core import Job


class Estimator(ABC):
    """How long the scheduler believes that jobs will run."""

    name: Annotated[str, "as errors call it; empty: its class"] = ""

    @abstractmethod
    def estimate(self, job: Job) -> float:
        """Seconds, asked when a job is submitted. It has `id`, `submit`, `limit`, `cores`, `count`, `user`, `group` and
        `queue`."""

    def ended(self, job: Job, runtime: float) -> None:  # noqa: B027 - an offer, not a duty
        """A job that ran has left, after so many seconds: for those that learn."""
