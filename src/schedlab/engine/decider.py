"""The one protocol of deciders: `decide(view, events)`, for native policies, Python and other processes alike.

A view is what the policy may know (never a runtime) and how it acts: `view.start(job)`, `view.reserve(job)`,
`view.wake_at(time)`, … A decision takes effect at once; an impossible one raises `DecisionError`, which names the job,
the time and why. An event is a pair: (kind, job) with kind one of submitted, completed, cancelled, corrected, requeued
held or point; (kind, node) with closed or opened; or ("woken", None).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Protocol, TypeAlias, runtime_checkable

from schedlab._core import Job, View
from schedlab.engine.options import Overrun
from schedlab.model.cluster import Cluster
from schedlab.model.workload import Workload

Event: TypeAlias = tuple[str, Job | int | None]


@runtime_checkable
class Decider(Protocol):
    """Whoever decides. Asked once per instant (or event, see `passes`) at which something happened."""

    def decide(self, view: View, events: list[Event]) -> None: ...


class Policy(ABC):
    """What a policy of yours derives from: `decide`, and of the other hooks those that you need.

    One that also derives from `Observer` has that one's hooks too. Most hooks are for deciding that is done elsewhere,
    in another process or by another program.
    """

    name: Annotated[str, "as tables and errors call it; empty: its class"] = ""
    placement: Annotated[str, "where jobs go that it starts without naming nodes"] = "first-fit"
    exclusive: Annotated[bool, "whether every job gets whole nodes"] = False
    overrun: Annotated[
        Overrun | None, 'what happens to jobs at their limits, "kill" or "run"; None: what the run says'
    ] = None
    observers: Annotated[Sequence[object], "observers that it brings along, asked after `adapt`"] = ()
    resumable: Annotated[bool, "whether a run with it can be taken up again from a checkpoint"] = True
    knows_calendar: Annotated[
        bool,
        "whether it can keep to nodes that observers set aside; if not, maintenance is a surprise to it, and "
        "reservations are refused",
    ] = True
    knows_budget: Annotated[
        bool, "whether it can wait for room in a budget of the whole machine; if not, a cap is refused"
    ] = True
    wants_attachments: Annotated[
        bool, "whether jobs are to have what the workload attaches to them (`job.attachments`)"
    ] = False
    wants_history: Annotated[
        bool, "whether `view.history` is of use to it: what it tells of is remembered, some 60 bytes for each job"
    ] = True
    own_amounts: Annotated[
        bool,
        "whether it answers for what jobs get: it may grant less than they ask for, and none is rejected for its size",
    ] = False

    @abstractmethod
    def decide(self, view: View, events: list[Event]) -> None:
        """Asked at each instant at which something happened (with `passes=event`, for each event): what happened, and
        the view to act on it."""

    def allows(self, view: View, job: Job, nodes: list[tuple[int, int]]) -> bool:
        """May a job that fits start on these nodes (number, chunks)? Asked before every start, whoever makes it; a
        False is as if it did not fit."""
        return True

    def recall(self, view: View) -> None:  # noqa: B027 - an offer, not a duty
        """In a run that is taken up from a checkpoint, before it goes on: find your place again."""

    def adapt(self, workload: Workload, cluster: Cluster) -> tuple[Workload, Cluster]:
        """Before the run: jobs and machine as the engine is to account for them; also where one learns the names behind
        numbers."""
        return workload, cluster

    def repeat(self, number: int) -> None:  # noqa: B027
        """Before the run: it is another repetition of the same one, in which chance may have it otherwise."""

    def open(self, view: View, next_event: Callable[[], float]) -> None:  # noqa: B027
        """Before anything happens: start what has to be started. `next_event()` is the time before which nothing will
        happen but what the decider does: for advancing another clock in large steps, not for deciding; it knows the
        future."""

    def close(self) -> None:  # noqa: B027
        """When the run is over, however it ended: stop it."""

    def more_may_come(self, view: View) -> bool:
        """Nothing is left to happen: will it submit more jobs? Then the run stays open for wake-ups that are due."""
        return False

    def evidence(self) -> dict[str, bytes]:
        """At the end, or where it failed: files to be kept with the run, by name (`run.evidence("log.txt")`)."""
        return {}

    def refusals(self) -> dict[str, list[int]]:
        """At the end: why it rejected jobs, in words that users see -> the ids of those jobs."""
        return {}

    def facts(self) -> dict[str, Any]:
        """At the end: what of it determines the run and is not in its text, or not there in full (`decider` in
        run.json)."""
        return {}


class Combined(Policy):
    """Another policy, by its text, with observers that it brings along: nothing of it runs in Python but they."""

    def __init__(self, policy: str, observers: Sequence[object]) -> None:
        self.policy, self.observers = policy, observers

    def decide(self, view: View, events: list[Event]) -> None:
        raise AssertionError("the policy that it names decides")
