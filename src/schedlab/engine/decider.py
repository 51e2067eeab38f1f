"""The one protocol of deciders: `decide(view, events)`, for native policies, Python and other processes alike.

A view is what the policy may know (never a runtime) and how it acts: `view.start(job)`, `view.reserve(job)`,
`view.wake_at(time)`, … A decision takes effect at once; an impossible one raises `DecisionError`, which names the job,
the time and why. An event is a pair: (kind, job) with kind one of submitted, completed, cancelled, corrected, requeued
held or point; (kind, node) with closed or opened; or ("woken", None).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from schedlab._core import Job, View
from schedlab.model.cluster import Cluster
from schedlab.model.workload import Workload

Event: TypeAlias = tuple[str, Job | int | None]


@runtime_checkable
class Decider(Protocol):
    """Whoever decides. Asked once per instant (or event, see `passes`) at which something happened."""

    def decide(self, view: View, events: list[Event]) -> None: ...


class Policy(ABC):
    """What a policy of yours derives from. `placement` says where jobs go that you start without naming nodes.

    It may bring observers along, and it may have a method `allows(view, job, nodes)`, which every start has to pass.
    Where the deciding is done elsewhere (another process, another program), `open` is the place to start it, `close`
    to stop it, and `evidence` to say what it left behind. An attribute `overrun` ("kill" or "run") says what is to
    happen to jobs at their limits.
    """

    placement = "first-fit"
    exclusive = False  # whether every job gets whole nodes
    observers: Sequence[object] = ()
    resumable = True  # whether a run with it can be taken up again from a checkpoint
    knows_calendar = True  # whether it can keep to what observers set aside; if not, maintenance is a surprise to it
    own_amounts = False  # whether it answers for what jobs get: it may grant less, and no job is rejected for its size
    wants_attachments = False  # whether jobs are to have what the workload attaches to them (`job.attachments`)
    knows_budget = True  # whether it can wait for room in a budget of the whole machine; if not, a cap is refused

    @abstractmethod
    def decide(self, view: View, events: list[Event]) -> None:
        """What happened, and the view to act on it."""

    def adapt(self, workload: Workload, cluster: Cluster) -> tuple[Workload, Cluster]:
        """Jobs and machine as the engine is to account for them; also where one learns the names behind numbers."""
        return workload, cluster

    def open(self, view: View, next_event: Callable[[], float]) -> None:  # noqa: B027 - an offer, not a duty
        """Before anything happens. `next_event()` is the time before which nothing will but what the decider does.

        It is for advancing another clock in large steps, not for deciding: it knows the future.
        """

    def more_may_come(self, view: View) -> bool:
        """Nothing is left to happen: will it submit more jobs? Then the run stays open for wake-ups that are due."""
        return False

    def evidence(self) -> dict[str, bytes]:
        """At the end, or where it failed: files to be kept with the run, by name."""
        return {}

    def refusals(self) -> dict[str, list[int]]:
        """At the end: why it rejected jobs, in words that users see -> the ids of those jobs."""
        return {}

    def facts(self) -> dict[str, Any]:
        """What of it determines the run and is not in its text, or not there in full: `decider` in run.json."""
        return {}

    def close(self) -> None:  # noqa: B027
        """When the run is over, however it ended."""

    def repeat(self, number: int) -> None:  # noqa: B027
        """Before it begins: this is another repetition of the same run, in which chance may have it otherwise."""


class Combined(Policy):
    """Another policy, by its text, with observers that it brings along: nothing of it runs in Python but they."""

    def __init__(self, policy: str, observers: Sequence[object]) -> None:
        self.policy, self.observers = policy, observers

    def decide(self, view: View, events: list[Event]) -> None:
        raise NotImplementedError("the policy that it names decides")
