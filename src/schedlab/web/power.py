"""What the nodes of a run took of its budget (power) over time, from who was where and which nodes were up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.stays import find_stays, group_of_node
from schedlab.model.resources import resources_of
from schedlab.model.run import Run
from schedlab.model.states import NODE_STATES
from schedlab.web.block import Column, pack

Floats = NDArray[np.float64]


def has_power(run: Run) -> bool:
    budget = run.config.get("budget")
    return budget is not None and not run.cluster.pool


def power_block(run: Run) -> bytes:
    times, watts = power_over_time(run)
    return pack({"time": Column(times, delta=True), "power": Column(watts)})


def power_over_time(run: Run) -> tuple[Floats, Floats]:
    """What is taken from each moment on at which it changes: by nodes with jobs, and by those without."""
    rates = run.config["budget"]["groups"]
    group = group_of_node(run.cluster)
    idle = np.array([[float(one["idle"][state]) for state in NODE_STATES] for one in rates])
    active, per_core = (np.array([float(one[name]) for one in rates]) for name in ("active", "per_core"))
    stays = find_stays(run.tables, run.cluster)
    cores = stays.amount(resources_of(run.cluster)[0], run.requests)
    long = stays.end > stays.begin
    number = {name: at for at, name in enumerate(run.cluster.node_names())}
    changes = run.nodes
    begin = min(stays.begin.min(initial=np.inf), changes["time"].to_numpy().min(initial=np.inf))
    nodes = np.arange(len(group))
    # (node, time, more jobs, more cores in use, state or -1): states at first, begins, ends, changes of states
    parts = [
        (nodes, np.full(len(nodes), begin), 0 * nodes, 0.0 * nodes, 0 * nodes),
        (stays.node[long], stays.begin[long], np.ones(long.sum()), cores[long], np.full(long.sum(), -1)),
        (stays.node[long], stays.end[long], -np.ones(long.sum()), -cores[long], np.full(long.sum(), -1)),
        (
            np.array([number[name] for name in changes["node"]], np.int64),
            changes["time"].to_numpy(),
            np.zeros(len(changes)),
            np.zeros(len(changes)),
            np.array([NODE_STATES.index(state) for state in changes["state"].cast(str)], np.int64),
        ),
    ]
    node, time, jobs, more, state = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((time, node))  # stable: changes of one instant stay in order
    node, time, jobs, more, state = node[order], time[order], jobs[order], more[order], state[order]
    state = state[np.maximum.accumulate(np.where(state >= 0, np.arange(len(state)), 0))]
    busy, used = _within(node, jobs), _within(node, more)
    own = group[node]
    takes = np.where(busy > 0.5, active[own] + per_core[own] * used, idle[own, state])
    first = np.append(True, node[1:] != node[:-1])
    steps = takes - np.where(first, 0.0, np.append(0.0, takes[:-1]))
    times, which = np.unique(time, return_inverse=True)
    level = np.cumsum(np.bincount(which, steps, len(times)))
    return times, np.asarray(np.round(level, 6), np.float64)


def _within(node: NDArray[np.int64], more: Floats) -> Floats:
    """Sums from the first row of each node on."""
    sums = np.cumsum(more)
    return np.asarray(sums - (sums - more)[np.searchsorted(node, node)], np.float64)
