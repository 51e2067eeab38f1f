"""How much of what is free nobody could take: docs/semantics.md, "Fragmentation"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.machine import Machine
from schedlab.analysis.stays import Floats, FoldedStays, Numbers, Stays, closed_times, group_of_node
from schedlab.model.cluster import Cluster
from schedlab.model.eligible import eligible_groups
from schedlab.model.request import Request
from schedlab.model.resources import Resource, resources_of
from schedlab.model.run import Tables

MOST_ENTRIES = 1 << 17  # of jobs on nodes that are looked at together
MOST_REQUESTS = 256  # different ones that are looked at: the most frequent


def fragmentation(
    tables: Tables, machine: Machine, stays: Stays | FoldedStays, begin: float, end: float
) -> dict[str, tuple[Floats, Floats]]:
    """For each resource, by node group: what was free and could not be taken, and what was free at all.

    Both are amounts × seconds between the two moments, means over the requests of the jobs that ask for the resource.
    """
    cluster = machine.cluster
    states = _node_states(tables, machine, stays, begin, end)
    requests, counts = np.unique(tables.column("request"), return_counts=True)
    most = np.argsort(-counts, kind="stable")[:MOST_REQUESTS]
    resources = resources_of(cluster)
    areas = {resource.name: states.seconds * states.free_of(resource, cluster) for resource in resources}
    groups = len(cluster.groups)
    found = {resource.name: (np.zeros(groups), np.zeros(groups)) for resource in resources}
    weights = dict.fromkeys(found, 0)
    for request, jobs in zip((machine.requests[at] for at in requests[most]), counts[most].tolist(), strict=True):
        asked = [resource.name for resource in resources if resource.asked(request.chunk) > 0]
        suited = _suited_groups(machine, request)
        if not asked or not suited.any():
            continue
        at = np.flatnonzero(suited[states.group])
        stuck = ~_fits(states, at, request, cluster, machine.exclusive)
        for name in asked:
            fragments, free = found[name]
            weights[name] += jobs
            area = areas[name][at]
            free += jobs * np.bincount(states.group[at], area, groups)
            fragments += jobs * np.bincount(states.group[at], area * stuck, groups)
    return {
        name: (fragments / max(weights[name], 1), free / max(weights[name], 1))
        for name, (fragments, free) in found.items()
    }


@dataclass(frozen=True, slots=True)
class _States:
    """The states that nodes were in: for how long, of which group, what was free, and whether jobs were there."""

    seconds: Floats
    group: Numbers
    free: Numbers  # by state and resource of the cluster; nothing where a job had the node alone, or it was closed
    jobs: Numbers

    def followed_by(self, others: _States) -> _States:
        columns = ("seconds", "group", "free", "jobs")
        return _States(*(np.concatenate([getattr(self, name), getattr(others, name)]) for name in columns))

    def free_of(self, resource: Resource, cluster: Cluster) -> Floats:
        """A resource in two units is free as far as neither of them is used."""
        there = np.array([resource.there(group.resources) for group in cluster.groups])
        has = {part: np.array([group.resources.get(part, 0) for group in cluster.groups]) for part in resource.parts}
        used = sum(
            (has[part][self.group] - self.free[:, cluster.resource_names.index(part)]) * size
            for part, size in resource.parts.items()
        )
        return np.asarray(np.maximum(there[self.group] - used, 0.0))


def _node_states(tables: Tables, machine: Machine, stays: Stays | FoldedStays, begin: float, end: float) -> _States:
    """Some nodes at a time: what they went through is sorted by node and time."""
    cluster = machine.cluster
    closed = closed_times(tables, cluster)
    upto = np.cumsum(stays.entries(cluster.nodes))
    found: _States | None = None
    first = 0
    while first < cluster.nodes:
        before = int(upto[first - 1]) if first else 0
        last = max(int(np.searchsorted(upto, before + MOST_ENTRIES, side="right")), first + 1)
        nodes = range(first, last)
        shut = (closed[2] >= first) & (closed[2] < last)
        some = _states_of(nodes, machine, stays.on(nodes), [column[shut] for column in closed], begin, end)
        found = some if found is None else found.followed_by(some)
        found = _merged(found)
        first = last
    assert found is not None, "a machine has nodes"
    return found


def _states_of(
    nodes: range, machine: Machine, stays: Stays, closed: Sequence[NDArray[Any]], begin: float, end: float
) -> _States:
    """The states of these nodes, in their order and that of time."""
    cluster = machine.cluster
    names = cluster.resource_names
    closed_from, closed_until, closed_node = closed
    entries, shut = len(stays.node), len(closed_node)
    # Each entry comes and goes; and every node begins empty.
    node = np.concatenate([np.tile(np.concatenate([stays.node, closed_node]), 2), np.arange(nodes.start, nodes.stop)])
    time = np.concatenate([stays.begin, closed_from, stays.end, closed_until, np.full(len(nodes), -np.inf)])
    sign = np.repeat([1, -1, 0], [entries + shut, entries + shut, len(nodes)])
    chunk = np.array(
        [[request.chunk.get(name, 0) for name in names] for request in machine.requests] or [[0] * len(names)]
    )
    alone = np.array([request.exclusive or machine.exclusive for request in machine.requests] or [False])
    order = np.lexsort((time, node))

    def level(of_stays: NDArray[np.int64], of_closed: int) -> Numbers:
        """What is on the node after each event. Every node ends with nothing: one running sum serves for all."""
        once = np.concatenate([of_stays, np.full(shut, of_closed)])
        return np.asarray(np.cumsum((sign * np.concatenate([once, once, np.zeros(len(nodes), np.int64)]))[order]))

    node, time = node[order], np.clip(time[order], begin, end)
    until = np.where(np.append(node[1:], -1) == node, np.append(time[1:], end), end)
    seconds = until - time
    last = np.flatnonzero(seconds > 0)
    hidden = level(alone[stays.request].astype(np.int64), 1)[last] > 0
    group = group_of_node(cluster)[node[last]]
    has = np.array([[one.resources.get(name, 0) for name in names] for one in cluster.groups])
    free = np.empty((len(last), len(names)), np.int64)
    for column in range(len(names)):
        used = level(stays.held(names[column], chunk[:, column]), 0)[last]
        free[:, column] = np.where(hidden, 0, has[group, column] - used)
    jobs = (level(np.ones(entries, np.int64), 0)[last] > 0).astype(
        np.int64
    )  # all that matters is whether there are any
    return _States(seconds[last], group, free, jobs)


def _merged(states: _States) -> _States:
    """Each state once, with all the time that nodes spent in it: there are far fewer than changes."""
    code, number = _ranks(states.group)
    for column in (states.jobs, *states.free.T):
        place, values = _ranks(column)
        code, number = _ranks(code * values + place)
    first = np.empty(number, np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]  # the last that is written stays
    seconds: Floats = np.bincount(code, states.seconds).astype(np.float64)
    return _States(seconds, states.group[first], states.free[first], states.jobs[first])


def _ranks(column: Numbers) -> tuple[Numbers, int]:
    """Of each value its position among the different ones, and how many there are."""
    if not len(column):
        return column, 0
    least = column.min()
    steps = (column - least) // max(int(np.gcd.reduce(column - least)), 1)
    most = int(steps.max())
    if most > 4 * len(column):  # they are far apart
        values, place = np.unique(steps, return_inverse=True)
        return place, len(values)
    there = np.zeros(most + 1, bool)
    there[steps] = True
    rank = np.cumsum(there) - 1
    return rank[steps], int(rank[-1]) + 1


def _suited_groups(machine: Machine, request: Request) -> NDArray[np.bool_]:
    """The groups whose nodes, when they are empty, can take a part of such a job."""
    groups, reason = eligible_groups(machine.cluster, request)
    least = max(request.per_node_min, 1)
    return np.array(
        [
            not reason and may and all(group.resources.get(name, 0) >= least * n for name, n in request.chunk.items())
            for may, group in zip(groups, machine.cluster.groups, strict=True)
        ]
    )


def _fits(
    states: _States, at: NDArray[np.intp], request: Request, cluster: Cluster, exclusive: bool
) -> NDArray[np.bool_]:
    """Whether a node in this state can take a part of such a job."""
    fits = np.ones(len(at), bool)
    least = max(request.per_node_min, 1)
    for name, amount in request.chunk.items():
        if amount > 0:
            fits &= states.free[at, cluster.resource_names.index(name)] >= least * amount
    if exclusive or request.exclusive:
        fits &= states.jobs[at] == 0
    return fits
