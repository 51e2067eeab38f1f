"""What the core needs to know of a policy: the native parts by name, the Python parts as objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from weakref import WeakSet

import numpy as np

from schedlab import _core
from schedlab.engine.adapt import as_estimator, as_observer, as_policy
from schedlab.engine.budget import Budget
from schedlab.engine.calendar import Window
from schedlab.engine.decider import Combined, Decider, Event, Policy
from schedlab.engine.observer import Observer
from schedlab.engine.options import Options
from schedlab.model.cluster import Cluster
from schedlab.model.hooks import defines, name_of
from schedlab.policy.estimates import Estimate, parse_estimate
from schedlab.policy.estimator import Estimator
from schedlab.policy.placements import parse_placement
from schedlab.policy.spec import Order, PolicySpec, parse_policy


@dataclass(frozen=True, slots=True)
class Chosen:
    """A policy and a belief about run times, understood. Objects in it belong to one run."""

    name: str
    spec: PolicySpec
    decider: Policy | None  # who decides if not the core
    estimate_text: str
    estimate: Estimate
    estimator: Estimator | None
    order: Any  # functions of jobs, or None where the core knows the formula
    scan: Any
    place: Any  # a function of (job, cluster), or None
    also: tuple[Observer, ...] = ()  # observers of a combination, besides those of the policy that decides

    def observers(self) -> tuple[Observer, ...]:
        """Those that the policy brings along, itself if it is one; to be asked once it has seen jobs and machine."""
        return (*(() if self.decider is None else _brought_by(self.decider)), *self.also)

    @property
    def policy(self) -> Policy:
        """Whose hooks count: the core has none."""
        return _CORE if self.decider is None else self.decider


class _Core(Policy):
    def decide(self, view: _core.View, events: list[Event]) -> None:
        raise AssertionError("the core decides")


_CORE = _Core()


def chosen(policy: str | PolicySpec | Decider, estimate: str | object = "limit") -> Chosen:
    if isinstance(policy, type):
        policy = policy()
    if isinstance(policy, str):
        policy = parse_policy(policy)
    decider = None
    if isinstance(policy, PolicySpec):
        spec, name = policy, policy.text
        if policy.plugin is not None:
            decider = as_policy(policy.plugin.make())
            if isinstance(decider, Combined):
                return _combined(decider, name, estimate)
            spec = _around(decider)
    else:
        decider = as_policy(policy)
        spec, name = _around(decider), name_of(decider)
        if isinstance(decider, Combined):
            return _combined(decider, name, estimate)

    if isinstance(estimate, str):
        text, believed = estimate, parse_estimate(estimate)
        estimator = None if believed.plugin is None else as_estimator(believed.plugin.make())
    else:
        estimator = as_estimator(estimate() if isinstance(estimate, type) else estimate)
        text, believed = name_of(estimator), Estimate("plugin")
    return Chosen(
        name,
        spec,
        decider,
        text,
        believed,
        estimator,
        order=_function(spec.order),
        scan=_function(spec.scan),
        place=None if spec.place.plugin is None else spec.place.plugin.make(),
    )


def _brought_by(policy: Policy) -> tuple[Observer, ...]:
    """Its observers, itself if it is one."""
    return (*map(as_observer, policy.observers), *([policy] if isinstance(policy, Observer) else []))


def _combined(policy: Combined, name: str, estimate: str | object) -> Chosen:
    inner = chosen(policy.policy, estimate)
    return replace(inner, name=name, also=(*inner.also, *_brought_by(policy)))


def _around(policy: Policy) -> PolicySpec:
    """The native parts that serve a policy in Python: its placement, and whether nodes are shared."""
    parse_placement(policy.placement)
    return parse_policy(f"none:place={policy.placement},nodes={'exclusive' if policy.exclusive else 'shared'}")


def _function(order: Order | None) -> Any:
    return None if order is None or order.plugin is None else order.plugin.make()


def native_policy(spec: PolicySpec, choice: Chosen | None = None) -> _core.NativePolicy:
    """The core's policy. Of the policy of a whole run, orders in Python that need no more than a job's columns are
    computed by the feed; one that serves another policy (no choice) has to ask them itself."""
    functions = choice or chosen(spec)

    def order(which: Order, function: Any, given: str) -> Any:
        if function is None:
            return list(which.program)
        if choice is not None and computed_ahead(which, choice):
            return [(given, 0.0)]
        return (function, which.dynamic)

    return _core.NativePolicy(
        backfill=spec.backfill,
        order=order(spec.order, functions.order, "given-order"),
        scan=None if spec.scan is None else order(spec.scan, functions.scan, "given-scan"),
        depth=-1 if spec.depth is None else spec.depth,
        reservations=spec.reservations,
        **asdict(spec.periods),
    )


def computed_ahead(order: Order | None, choice: Chosen) -> bool:
    """Whether an order in Python can be asked for whole batches of jobs before they are submitted."""
    return order is not None and order.plugin is not None and not order.dynamic and choice.estimate.kind in AHEAD


AHEAD = ("limit", "exact")  # estimates that do not depend on what happened


def new_simulation(
    cluster: Cluster,
    choice: Chosen,
    options: Options,
    *,
    calendar: Sequence[Window],
    budget: Budget | None,
    validate: bool,
    repeat_workload: bool,
) -> _core.Simulation:
    names, spec = cluster.resource_names, choice.spec
    simulation = _core.Simulation(
        resources=list(names),
        groups=[(group.count, [group.resources.get(name, 0) for name in names]) for group in cluster.groups],
        placement="first-fit" if choice.place is not None else spec.place.name,
        placement_seed=spec.place.seed,
        place=choice.place,
        exclusive=spec.exclusive,
        estimate="limit" if choice.estimator is not None else choice.estimate.kind,
        estimate_factor=choice.estimate.factor,
        estimator=None if choice.estimator is None else _for_core(choice.estimator),
        pass_per_event=options.passes == "event",
        kill_at_limit=options.overrun == "kill",
        calendar=[(w.nodes, w.start, w.until, list(map(int, w.users)), w.by) for w in calendar],
        budget=None if budget is None else budget.for_core(),
        keep_history=choice.decider is not None and choice.policy.wants_history,
        follow_rates=options.beliefs == "rates",
        validate=validate,
        repeat_workload=repeat_workload,
        follow_dependencies=options.follows,
        threshold=spec.threshold,
    )
    if choice.policy.own_amounts:
        simulation.use_own_amounts()
    groups = [(number, group) for number, group in enumerate(cluster.groups) for _ in range(group.count)]
    simulation.view.cluster.describe(
        {
            "names": cluster.node_names(),
            "group": np.array([number for number, _ in groups]),
            "pool": cluster.pool,
            "group_names": [group.name for group in cluster.groups],
            "features": [group.features for _, group in groups],
            "partitions": {partition.name: partition.groups for partition in cluster.partitions},
        }
    )
    return simulation


def _for_core(estimator: Estimator) -> tuple[str, Any, Any]:
    """Its name, and what is called; who does not learn is not told of jobs that ended."""
    learns = defines(estimator, "ended", Estimator)
    return name_of(estimator), estimator.estimate, estimator.ended if learns else None


class Native(Policy):
    """A built-in policy as an object with `decide`, for policies in Python that build on one."""

    def __init__(self, text: str) -> None:
        self.spec = parse_policy(text)
        self.placement = str(self.spec.place)
        self._policy = native_policy(self.spec)
        self._memory: list[float] | None = None  # of a run that is taken up again

    def decide(self, view: _core.View, events: object = None) -> None:
        self._policy.decide(view)

    def recall(self, view: _core.View) -> None:
        """Find its place again, in a run that is taken up."""
        if self._memory is not None:
            self._policy.recall(view, self._memory)
            self._memory = None

    def __getstate__(self) -> tuple[str, list[float]]:
        return self.spec.text, self._policy.memory()

    def __setstate__(self, state: tuple[str, list[float]]) -> None:
        Native.__init__(self, state[0])
        self._memory = state[1]
        _RESTORED.add(self)


_RESTORED: WeakSet[Native] = WeakSet()  # from a checkpoint, and not recalled yet: a policy may have one anywhere in it


def recall_all(policy: Policy, view: _core.View) -> None:
    """In a run that is taken up: the policy finds its place again, and first the built-in ones that it builds on."""
    for native in list(_RESTORED):
        native.recall(view)
    _RESTORED.clear()
    policy.recall(view)
