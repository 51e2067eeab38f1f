"""Observers: whoever looks on, adds data that policies read, and changes the world that they decide in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schedlab._core import Job, View
from schedlab.engine.budget import Budget, one_budget
from schedlab.engine.calendar import Window, calendar_of
from schedlab.engine.decider import Event, Policy
from schedlab.engine.failure import explained_before_the_run
from schedlab.model.cluster import Cluster
from schedlab.model.hooks import defines, hooks_of, name_of

Nodes = list[tuple[int, int]]  # (node, chunks)
PerJob: TypeAlias = "dict[int, float] | tuple[NDArray[np.int64], NDArray[np.float64]]"
WHILE_IT_RUNS = ("submitted", "before", "after", "started", "stopped", "ended", "node_changed")  # hooks in the loop
WITHOUT_VIEW = ("per_job", "calendar", "budget")  # hooks that only tell
POLICY = "policy"  # what whoever decides is called as an owner of factors of rates


class Observer:
    """Derive from it and define the hooks that you need; the others cost nothing.

    A hook may read all of the view, publish values in the dictionary `view.data`, ask for a pass at any time with
    `view.wake_at`, and change the world: `view.close(node)`, `view.open(node)`, `view.requeue(job)`, `view.kill(job)`,
    `view.complete(job)`, `view.set_rate(job, factor)` (a factor of your own: others may have theirs),
    `view.submit(runtime, …)`, `view.withdraw(job)`, `view.hold(job)`, `view.release(job)`.
    """

    name: Annotated[str, "as errors, calendars and run.json call it; empty: its class"] = ""
    wants_attachments: Annotated[
        bool, "whether jobs are to have what the workload attaches to them (`job.attachments`)"
    ] = False

    def begin(self, view: View) -> None:
        """Before anything happens."""

    def submitted(self, view: View, job: Job) -> None:
        """A job has joined the queue, for the first time or again."""

    def woken(self, view: View) -> None:
        """Before the pass at a time for which this observer, and no other, asked with `view.wake_at`. Who has to act at
        times of his own only is not called at every pass for it, as he would be with `before`, which comes after it."""

    def before(self, view: View) -> None:
        """Before each pass of the policy."""

    def after(self, view: View) -> None:
        """After each pass."""

    def started(self, view: View, job: Job, nodes: Nodes) -> None:
        """A job has taken these nodes (number, chunks), whoever decided it."""

    def stopped(self, view: View, job: Job, nodes: Nodes) -> None:
        """A job has left these nodes: ended, killed, requeued, suspended or about to have others."""

    def ended(self, view: View, job: Job) -> None:
        """A job that ran has left for good."""

    def node_changed(self, view: View, node: int, state: str) -> None:
        """A node is up again, or down, off, booting, in maintenance or drained."""

    def allows(self, view: View, job: Job, nodes: Nodes) -> bool:
        """May a job that fits start there? A False is to the policy as if it did not fit."""
        return True

    def more_may_come(self, view: View) -> bool:
        """Nothing is left to happen: will it submit more jobs? Then the run stays open for wake-ups that are due."""
        return False

    def finish(self, view: View) -> dict[str, float]:
        """At the end: metrics that join the summary, by name."""
        return {}

    def per_job(self) -> dict[str, PerJob]:
        """At the end: values that join the table of jobs: `{"energy": {job.sequence: value}}`, or of many jobs
        `{"energy": (sequences, values)}`, two arrays."""
        return {}

    def calendar(self, cluster: Cluster) -> list[Window]:
        """Before the run: nodes that are set aside for a time, as a list of (node numbers, from, until, users that may
        have them). It binds whoever decides, and backfilling looks ahead to it."""
        return []

    def budget(self, cluster: Cluster) -> Budget | None:
        """Before the run: what nodes and jobs take of a budget of the whole machine, such as power, and its limit, if
        it has one (`schedlab.engine.budget.Budget`). Plans and reservations keep to it, and it costs nothing in Python;
        `view.budget_books()` has what was taken."""
        return None


def _call(observer: Any, hook: str, *arguments: Any) -> Any:
    """What the hook says; an error in it knows whose it is."""
    try:
        return getattr(observer, hook)(*arguments)
    except Exception as error:
        _sign(error, observer)
        raise


def in_turn(observer: Any, owner: str, hook: str, view: View, *arguments: Any) -> Any:
    """The same of a hook that may act: the factors of rates that it sets are its own."""
    interrupted, view.owner = view.owner, owner
    try:
        return getattr(observer, hook)(view, *arguments)
    except Exception as error:
        _sign(error, observer)
        raise
    finally:
        view.owner = interrupted


def _sign(error: Exception, observer: object) -> None:
    if not hasattr(error, "observer"):
        error.observer = name_of(observer)  # type: ignore[attr-defined]


def owners_of(observers: Sequence[Observer]) -> list[str]:
    """What each is called as an owner of factors: its name, with a number if others before it have the same."""
    names = [POLICY]
    for name in map(name_of, observers):
        again = sum(known == name or known.startswith(f"{name} (") for known in names)
        names.append(f"{name} ({again + 1})" if again else name)
    return names[1:]


class Observers:
    """All observers of a run behind the two calls that the core makes, before and after each pass.

    Of a policy that has a word in who may start, `gates` has it.
    """

    def __init__(self, observers: Sequence[Observer], gates: Sequence[Policy] = ()) -> None:
        self._all = list(observers)
        self.owners = owners_of(self._all)
        self._hooks = {hook: self._those_with(hook) if self._all else [] for hook in hooks_of(Observer)}
        named = [each for each in zip(self._all, self.owners, strict=True) if defines(each[0], "allows", Observer)]
        self._gates: list[tuple[Policy | Observer, str]] = [*((gate, POLICY) for gate in gates), *named]
        self.wakers = [
            name for one, name in zip(self._all, self.owners, strict=True) if defines(one, "woken", Observer)
        ]
        self._states: list[str] = []
        self._changes = 0

    def _those_with(self, hook: str) -> list[Callable[..., Any]]:
        having = [each for each in zip(self._all, self.owners, strict=True) if defines(each[0], hook, Observer)]
        if hook in WITHOUT_VIEW:
            return [partial(_call, observer, hook) for observer, _ in having]
        return [partial(in_turn, observer, owner, hook) for observer, owner in having]

    def __bool__(self) -> bool:
        return bool(self._all)

    def __iter__(self) -> Iterator[Observer]:
        return iter(self._all)

    @property
    def watching(self) -> bool:
        """Whether anybody has to be told what happens while it happens."""
        return bool(self._gates) or any(self._hooks[hook] for hook in WHILE_IT_RUNS)

    @property
    def gate(self) -> Callable[[View, Job, Nodes], bool] | None:
        """Asks everybody who has a word in who may start."""
        return self._allows if self._gates else None

    def _allows(self, view: View, job: Job, nodes: Nodes) -> bool:
        self._tell_moves(view)  # of this pass, so far
        for observer, owner in self._gates:
            if not in_turn(observer, owner, "allows", view, job, nodes):
                name = name_of(observer)
                view.refuser = name
                view.refusal = f"{_kind(observer)} {name} refused the start of job {job.id} at {view.now:.15g} s"
                return False
        return True

    def begin(self, view: View) -> None:
        self._states = ["up"] * view.cluster.nodes
        for begin in self._hooks["begin"]:
            begin(view)
        self._tell_nodes(view)

    def woken(self, view: View, numbers: list[int]) -> None:
        """Calls those of the `wakers` who asked for this instant."""
        for number in numbers:
            self._hooks["woken"][number](view)

    def before(self, view: View, events: list[Event]) -> None:
        self._tell_moves(view)
        if self._gates:
            view.touch()  # what they think of a job may have changed with time alone
        self.entered(view, events)
        for hook in self._hooks["before"]:
            hook(view)
        self._tell_moves(view)
        self._tell_nodes(view)

    def entered(self, view: View, events: list[Event]) -> None:
        """Tells of jobs that have joined the queue."""
        for hook in self._hooks["submitted"]:
            for kind, job in events:
                if kind in ("submitted", "requeued"):
                    hook(view, job)

    @property
    def follows_entries(self) -> bool:
        """Whether anybody is told of them."""
        return bool(self._hooks["submitted"])

    def who_expects_more(self, view: View) -> str:
        """The first that says that more jobs may come; empty if nobody does."""
        for observer in self._all:
            if defines(observer, "more_may_come", Observer) and _call(observer, "more_may_come", view):
                return f"observer {name_of(observer)}"
        return ""

    @property
    def want_attachments(self) -> bool:
        return any(observer.wants_attachments for observer in self._all)

    def after(self, view: View) -> None:
        self._tell_moves(view)
        for hook in self._hooks["after"]:
            hook(view)
            self._tell_moves(view)
        self._tell_nodes(view)

    def finish(self, view: View) -> dict[str, float]:
        self._tell_moves(view)
        values: dict[str, float] = {}
        for finish in self._hooks["finish"]:
            values.update({name: float(value) for name, value in finish(view).items()})
        return values

    def per_job(self) -> dict[str, NDArray[Any]] | None:
        """A batch of the table `observed`."""
        given: dict[str, PerJob] = {}
        for per_job in self._hooks["per_job"]:
            given.update(per_job())
        if not given:
            return None
        columns = {name: _as_columns(values) for name, values in given.items()}
        sequences = np.flatnonzero(np.bincount(np.concatenate([jobs for jobs, _ in columns.values()])))
        arrays = {name: np.full(len(sequences), np.nan) for name in columns}
        for name, (jobs, values) in columns.items():
            arrays[name][np.searchsorted(sequences, jobs)] = values
        return {"sequence": sequences, **arrays}

    def calendar(self, cluster: Cluster, policy: Policy, users: Sequence[str] = ()) -> list[Window]:
        return calendar_of(self._ask_all("calendar", cluster), cluster, users, known=policy.knows_calendar)

    def budget(self, cluster: Cluster, policy: Policy) -> Budget | None:
        return one_budget(self._ask_all("budget", cluster), known=policy.knows_budget)

    def _ask_all(self, hook: str, cluster: Cluster) -> list[tuple[str, Any]]:
        """What each one says before the run, by its name."""
        said = []
        for observer in self._all:
            if defines(observer, hook, Observer):
                try:
                    said.append((name_of(observer), _call(observer, hook, cluster)))
                except Exception as error:
                    explained = explained_before_the_run(error)
                    if explained is error:
                        raise
                    raise explained from error
        return said

    def _tell_moves(self, view: View) -> None:
        """Until there are none: whoever is told may cause more."""
        while moves := view.take_moves():
            for takes, job, nodes in moves:
                for hook in self._hooks["started" if takes else "stopped"]:
                    hook(view, job, nodes)
                if not takes and job.state == "gone":
                    for hook in self._hooks["ended"]:
                        hook(view, job)

    def _tell_nodes(self, view: View) -> None:
        if not self._hooks["node_changed"] or view.cluster.changes == self._changes:
            return
        self._changes = view.cluster.changes
        states = view.cluster.states
        for node, (before, now) in enumerate(zip(self._states, states, strict=True)):
            if before != now:
                for hook in self._hooks["node_changed"]:
                    hook(view, node, now)
        self._states = states


def _kind(one: Policy | Observer) -> str:
    return "observer" if isinstance(one, Observer) else "policy"


def _as_columns(values: PerJob) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    if isinstance(values, tuple):
        return values
    return np.fromiter(values, np.int64, len(values)), np.fromiter(values.values(), float, len(values))
