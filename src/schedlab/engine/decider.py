"""The one protocol of deciders: `decide(view, events)`, for native policies, Python and other processes alike.

A view is what the policy may know (never a runtime) and how it acts: `view.start(job)`, `view.reject(job)`,
`view.wake_at(time)`, … A decision takes effect at once; an impossible one raises `DecisionError`, which names the job,
the time and why. An event is a pair (kind, job), kind one of submitted, completed, cancelled, corrected, woken.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

from schedlab._core import Job, View

Event: TypeAlias = tuple[str, Job | None]


class Decider(Protocol):
    """Whoever decides. Asked once per instant (or event, see `passes`) at which something happened."""

    def decide(self, view: View, events: list[Event]) -> None: ...
