"""What the core needs to know of a policy: the native parts by name, the Python parts as objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from schedlab import _core
from schedlab.engine.budget import Budget
from schedlab.engine.calendar import Window
from schedlab.engine.decider import Combined, Decider, Policy
from schedlab.engine.options import Options
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.policy.estimates import Estimate, parse_estimate
from schedlab.policy.placements import parse_placement
from schedlab.policy.spec import Order, PolicySpec, parse_policy


@dataclass(frozen=True, slots=True)
class Chosen:
    """A policy and a belief about run times, understood. Objects in it belong to one run."""

    name: str
    spec: PolicySpec
    decider: Decider | None  # who decides if not the core
    estimate_text: str
    estimate: Estimate
    estimator: Any  # an object with estimate(job), or None
    order: Any  # functions of jobs, or None where the core knows the formula
    scan: Any
    place: Any  # a function of (job, cluster), or None
    observers: tuple[Any, ...]  # that the policy brings along, itself if it has a word in who may start


def chosen(policy: str | PolicySpec | Decider, estimate: str | object = "limit") -> Chosen:
    if isinstance(policy, type):
        policy = policy()
    if isinstance(policy, str):
        policy = parse_policy(policy)
    decider = None
    if isinstance(policy, PolicySpec):
        spec, name = policy, policy.text
        if policy.plugin is not None:
            decider = policy.plugin.make()
            if isinstance(decider, Combined):
                return _combined(decider, name, estimate)
            spec = _around(decider)
    elif callable(getattr(policy, "decide", None)):
        decider, spec = policy, _around(policy)
        name = getattr(policy, "name", "") or type(policy).__qualname__
        if isinstance(policy, Combined):
            return _combined(policy, name, estimate)
    else:
        hint = "give the text of a policy, or an object with a method decide(view, events)"
        raise InputError(f"{policy!r} is not a policy", hint=hint)

    if isinstance(estimate, str):
        text, believed = estimate, parse_estimate(estimate)
        estimator = None if believed.plugin is None else believed.plugin.make()
    else:
        if isinstance(estimate, type):
            estimate = estimate()
        if not callable(getattr(estimate, "estimate", None)):
            hint = "give a text such as limit or last-two, or an object with a method estimate(job)"
            raise InputError(f"{estimate!r} is not an estimator", hint=hint)
        text, believed, estimator = type(estimate).__qualname__, Estimate("plugin"), estimate
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
        observers=(*getattr(decider, "observers", ()), *([decider] if hasattr(decider, "allows") else [])),
    )


def _combined(policy: Combined, name: str, estimate: str | object) -> Chosen:
    inner = chosen(policy.policy, estimate)
    return replace(inner, name=name, observers=(*inner.observers, *policy.observers))


def _around(decider: Any) -> PolicySpec:
    """The native parts that serve a policy in Python: its placement, and whether nodes are shared."""
    place = getattr(decider, "placement", Policy.placement)
    nodes = "exclusive" if getattr(decider, "exclusive", False) else "shared"
    parse_placement(place)
    return parse_policy(f"none:place={place},nodes={nodes}")


def _function(order: Order | None) -> Any:
    return None if order is None or order.plugin is None else order.plugin.make()


def native_policy(spec: PolicySpec, choice: Chosen | None = None) -> _core.NativePolicy:
    """The core's policy. Orders in Python that need no more than a job's columns are computed by the feed."""

    def order(which: Order, function: Any, given: str) -> Any:
        if function is None:
            return list(which.program)
        if choice is not None and computed_ahead(which, choice):
            return [(given, 0.0)]
        return (function, which.dynamic)

    if choice is None:
        choice = chosen(spec)
    return _core.NativePolicy(
        backfill=spec.backfill,
        order=order(spec.order, choice.order, "given-order"),
        scan=None if spec.scan is None else order(spec.scan, choice.scan, "given-scan"),
        depth=-1 if spec.depth is None else spec.depth,
        reservations=spec.reservations,
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
        estimator=choice.estimator,
        pass_per_event=options.passes == "event",
        kill_at_limit=options.overrun == "kill",
        follow_dependencies=options.dependencies == "follow",
        calendar=[(w.nodes, w.start, w.until, list(map(int, w.users)), w.by) for w in calendar],
        budget=None if budget is None else budget.for_core(),
        keep_history=choice.decider is not None,
        validate=validate,
        repeat_workload=repeat_workload,
    )
    if getattr(choice.decider, "own_amounts", False):
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


class Native:
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
