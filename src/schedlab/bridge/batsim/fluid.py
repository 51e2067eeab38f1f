"""Parallel tasks at the same time on the same hosts and links: how fast each goes on, as SimGrid shares resources.

The rates are those of its solver `fairbottleneck`: in rounds, every resource that is left is divided equally among the
demands on it; each task grows by what its scarcest resource gives it; tasks with a resource that is used up, or at
their bound, are done. A task that was done is still counted with its last growth in later rounds, as SimGrid does.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from math import inf

PRECISION = 1e-5  # below which nothing is left of a resource (SimGrid's maxmin/precision)
NEGLIGIBLE = 1e-10  # of a task


@dataclass(frozen=True, slots=True)
class Capacity:
    amount: float  # a second
    fatpipe: bool = False  # each has all of it


@dataclass(slots=True, eq=False)
class Flow:
    """A task that goes on. `demands` are amounts for the whole of it; a resource may be there several times."""

    demands: tuple[tuple[Hashable, float], ...]
    bound: float = inf  # of its rate
    latency: float = 0.0  # seconds until it begins to use anything
    remaining: float = 1.0  # share of it
    rate: float = 0.0  # share a second
    _growth: float = field(default=0.0, repr=False)

    def ends_in(self) -> float:
        """Seconds until it begins to use resources, or ends."""
        if self.latency > 0:
            return self.latency
        return self.remaining / self.rate if self.rate > 0 else inf


class Fluid:
    """Flows that share resources. Rates are found anew only where somebody came or went."""

    def __init__(self, capacity: Callable[[Hashable], Capacity]) -> None:
        self._capacity = capacity
        self.flows: dict[Flow, None] = {}  # in the order in which they came
        self._users: dict[Hashable, dict[Flow, None]] = {}
        self._changed: dict[Hashable, None] = {}  # resources whose users are others than before

    def add(self, flow: Flow) -> None:
        self.flows[flow] = None
        if flow.latency <= 0:
            self._enter(flow)

    def remove(self, flow: Flow) -> None:
        del self.flows[flow]
        if flow.latency <= 0:
            self._leave(flow)

    def _enter(self, flow: Flow) -> None:
        if not flow.demands:
            flow.rate = flow.bound if flow.bound < inf else 0.0
            flow.remaining = flow.remaining if flow.rate > 0 else 0.0
        for resource, _ in flow.demands:
            self._users.setdefault(resource, {})[flow] = None
            self._changed[resource] = None

    def _leave(self, flow: Flow) -> None:
        for resource, _ in flow.demands:
            users = self._users.get(resource, {})
            users.pop(flow, None)
            self._changed[resource] = None
            if not users:
                self._users.pop(resource, None)

    def settle(self) -> list[Flow]:
        """Find the rates that changed; the flows whose rates these are."""
        concerned: dict[Flow, None] = {}
        waiting = list(self._changed)
        seen = set(waiting)
        self._changed.clear()
        while waiting:
            for flow in self._users.get(waiting.pop(), ()):
                if flow not in concerned:
                    concerned[flow] = None
                    more = [resource for resource, _ in flow.demands if resource not in seen]
                    waiting += more
                    seen.update(more)
        share(concerned, self._capacity)
        return list(concerned)

    def next_in(self) -> float:
        """Seconds until something happens; infinity if nothing will."""
        return min((flow.ends_in() if flow.remaining > 0 else 0.0 for flow in self.flows), default=inf)

    def advance(self, seconds: float) -> list[Flow]:
        """Let time pass, no more than `next_in`; the flows that have ended, which are removed."""
        ended = []
        for flow in list(self.flows):
            if flow.latency > 0:
                flow.latency = flow.latency - seconds if flow.latency - seconds > NEGLIGIBLE else 0.0
                if flow.latency == 0.0:
                    self._enter(flow)
            else:
                flow.remaining -= flow.rate * seconds
            if flow.latency == 0.0 and flow.remaining <= NEGLIGIBLE:
                ended.append(flow)
        for flow in ended:
            self.remove(flow)
        return ended


def share(flows: Iterable[Flow], capacity: Callable[[Hashable], Capacity]) -> None:
    """The rates of flows that share resources with nobody else."""
    growing = dict.fromkeys(flows)
    demands: dict[Hashable, list[tuple[Flow, float]]] = {}
    for flow in growing:
        flow.rate = flow._growth = 0.0
        for resource, amount in flow.demands:
            demands.setdefault(resource, []).append((flow, amount))
    capacities = {resource: capacity(resource) for resource in demands}
    left = {resource: one.amount for resource, one in capacities.items()}
    part: dict[Hashable, float] = {}
    while growing:
        for resource in list(left):
            count = sum(flow in growing for flow, _ in demands[resource])
            if not count:
                del left[resource]
                part[resource] = 0.0
            else:
                part[resource] = left[resource] / (1 if capacities[resource].fatpipe else count)
        for flow in list(growing):
            growth = min((part[resource] / amount for resource, amount in flow.demands), default=inf)
            if flow.bound < inf:
                growth = min(growth, flow.bound - flow.rate)
            flow._growth = growth
            flow.rate += growth
            if flow.rate == flow.bound:
                del growing[flow]
        for resource in list(left):
            if capacities[resource].fatpipe:
                used = min((amount * flow._growth for flow, amount in demands[resource]), default=0.0)
                used = min(used, part[resource])
            else:
                used = sum(amount * flow._growth for flow, amount in demands[resource])
            left[resource] -= used
            if left[resource] < PRECISION:
                del left[resource]
                for flow, _ in demands[resource]:
                    growing.pop(flow, None)
