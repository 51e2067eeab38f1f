"""How much of what is free nobody could take: docs/semantics.md, "Fragmentation"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.machine import Machine
from schedlab.analysis.stays import Floats, Numbers, Stays, closed_times, group_of_node
from schedlab.model.cluster import Cluster
from schedlab.model.eligible import eligible_groups
from schedlab.model.request import Request
from schedlab.model.resources import Resource, resources_of
from schedlab.model.run import Tables

MOST_REQUESTS = 256  # different ones that are looked at: the most frequent


def fragmentation(
    tables: Tables, machine: Machine, stays: Stays, begin: float, end: float
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

    def free_of(self, resource: Resource, cluster: Cluster) -> Floats:
        """A resource in two units is free as far as neither of them is used."""
        there = np.array([resource.there(group.resources) for group in cluster.groups])
        has = {part: np.array([group.resources.get(part, 0) for group in cluster.groups]) for part in resource.parts}
        used = sum(
            (has[part][self.group] - self.free[:, cluster.resource_names.index(part)]) * size
            for part, size in resource.parts.items()
        )
        return np.asarray(np.maximum(there[self.group] - used, 0.0))


def _node_states(tables: Tables, machine: Machine, stays: Stays, begin: float, end: float) -> _States:
    cluster = machine.cluster
    names, nodes = cluster.resource_names, cluster.nodes
    closed_from, closed_until, closed_node = closed_times(tables, cluster)
    entries, shut = len(stays.node), len(closed_node)
    # Each entry comes and goes; and every node begins empty.
    node = np.concatenate([np.tile(np.concatenate([stays.node, closed_node]), 2), np.arange(nodes)])
    time = np.concatenate([stays.begin, closed_from, stays.end, closed_until, np.full(nodes, -np.inf)])
    sign = np.repeat([1, -1, 0], [entries + shut, entries + shut, nodes])
    chunk = np.array(
        [[request.chunk.get(name, 0) for name in names] for request in machine.requests] or [[0] * len(names)]
    )
    alone = np.array([request.exclusive or machine.exclusive for request in machine.requests] or [False])
    order = np.lexsort((time, node))

    def level(of_stays: NDArray[np.int64], of_closed: int) -> Numbers:
        """What is on the node after each event. Every node ends with nothing: one running sum serves for all."""
        once = np.concatenate([of_stays, np.full(shut, of_closed)])
        return np.asarray(np.cumsum((sign * np.concatenate([once, once, np.zeros(nodes, np.int64)]))[order]))

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
    return _merged(_States(seconds[last], group, free, level(np.ones(entries, np.int64), 0)[last]))


def _merged(states: _States) -> _States:
    """Each state once, with all the time that nodes spent in it: there are far fewer than changes."""
    jobs = (states.jobs > 0).astype(np.int64)  # all that matters is whether there are any
    code, number = _ranks(states.group)
    for column in (jobs, *states.free.T):
        place, values = _ranks(column)
        code, number = _ranks(code * values + place)
    first = np.empty(number, np.int64)
    first[code[::-1]] = np.arange(len(code))[::-1]  # the last that is written stays
    seconds: Floats = np.bincount(code, states.seconds).astype(np.float64)
    return _States(seconds, states.group[first], states.free[first], jobs[first])


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
