"""What all nodes together took of the machine's budget (power): no job began that made it more than the limit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.offences import Offences
from schedlab.engine.check.places import Places
from schedlab.engine.check.record import Record
from schedlab.engine.check.stays import Stays
from schedlab.model.states import NODE_STATES

UNIT = 1_000_000  # amounts are compared in whole millionths: sums of them are exact
Numbers = NDArray[np.int64]


def check_budget(record: Record, stays: Stays, places: Places, offences: Offences) -> None:
    budget = record.budget
    if budget is None or budget["limit"] is None:
        return
    times, taken = _taken(record, stays, places, budget)
    begun, job = np.unique(stays.begin[stays.end > stays.begin], return_index=True)
    jobs = stays.job[stays.end > stays.begin][job]
    at = taken[np.searchsorted(times, begun)] if len(begun) else taken[:0]
    for position in np.flatnonzero(at > _units(budget["limit"])).tolist():
        message = f"{budget['name']} is {at[position] / UNIT:.15g} with it, the limit is {budget['limit']:.15g}"
        offences.add("over the budget", message, int(jobs[position]), float(begun[position]))


def _taken(record: Record, stays: Stays, places: Places, budget: dict[str, Any]) -> tuple[NDArray[np.float64], Numbers]:
    """What is taken from each moment on at which something changes.

    Nodes may have changed their states before, between and after the starts of an instant: of what one of them took in
    it without jobs, the least counts.
    """
    groups, nodes = record.cluster.groups, np.arange(sum(group.count for group in record.cluster.groups))
    group_of = np.repeat(np.arange(len(groups)), [group.count for group in groups])
    idle = np.array([[_units(rates["idle"][state]) for state in NODE_STATES] for rates in budget["groups"]])
    active = np.array([_units(rates["active"]) for rates in budget["groups"]])
    per_core = np.array([_units(rates["per_core"]) for rates in budget["groups"]])

    cores = places.held("cores")
    begin, end = stays.begin[places.stay], stays.end[places.stay]
    long, over = end > begin, (end > begin) & ~stays.unfinished[places.stay]
    changes = record.node_changes
    # (node, time, more cores in use, state): the states at first, starts, ends, changes of states
    parts = [
        (nodes, np.full(len(nodes), -np.inf), 0 * nodes, 0 * nodes),
        (places.node[long], begin[long], cores[long], np.full(long.sum(), -1)),
        (places.node[over], end[over], -cores[over], np.full(over.sum(), -1)),
        (changes.node, changes.time, 0 * changes.node, changes.state.astype(np.int64)),
    ]
    node, time, more, state = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((time, node))  # stable: changes of one instant stay in order
    node, time, more, state = node[order], time[order], more[order], state[order]

    changed = state >= 0
    state = state[np.maximum.accumulate(np.where(changed, np.arange(len(state)), 0))]
    first_of_node = np.searchsorted(node, node)
    in_use = np.cumsum(more)
    in_use -= (in_use - more)[first_of_node]
    without_jobs = idle[group_of[node], state]

    # One step for each instant of each node.
    first = np.flatnonzero(np.append(True, (node[1:] != node[:-1]) | (time[1:] != time[:-1])))
    last = np.append(first[1:], len(node)) - 1
    group = group_of[node[last]]
    with_jobs = active[group] + per_core[group] * in_use[last]
    after = np.where(in_use[last] > 0, with_jobs, without_jobs[last])
    before = without_jobs[np.maximum(first - 1, first_of_node[first])]
    least = np.minimum(np.minimum.reduceat(without_jobs, first), before)
    least = np.where((in_use[last] > 0) | ~np.logical_or.reduceat(changed, first), after, np.minimum(least, after))
    same_node = np.append(False, node[first][1:] == node[first][:-1])
    step = after - np.where(same_node, np.append(0, after[:-1]), 0)

    times, which = np.unique(time[first], return_inverse=True)
    taken, spared = np.zeros(len(times), np.int64), np.zeros(len(times), np.int64)
    np.add.at(taken, which, step)
    np.add.at(spared, which, after - least)
    return times, np.cumsum(taken) - spared


def _units(amount: float) -> int:
    return round(amount * UNIT)
