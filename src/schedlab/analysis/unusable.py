"""Free cores that nobody who waits can use: docs/semantics.md, "Metrics", side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.machine import Machine
from schedlab.analysis.stays import Floats, Numbers, Stays, find_stays, group_of_node
from schedlab.model.nodeset import expand
from schedlab.model.run import Run, Tables

PARTS = "parts"  # of a node, where counting cores does not say how many jobs it takes


@dataclass(frozen=True, slots=True)
class _Free:
    """The machine over time: each row holds until the next. Cores that nobody holds, nodes with a free part, and nodes
    that are empty."""

    time: Floats
    cores: Numbers
    with_part: Numbers
    empty: Numbers


def unusable(run: Run) -> float | None:
    """The metric `unusable` of a whole run."""
    start, submit = run.tables.column("start"), run.tables.column("submit")
    began = ~np.isnan(start)
    if not began.any():
        return None
    end = float(run.tables.column("end").max(where=began, initial=-np.inf))
    return unusable_share(run.tables, Machine.of_run(run), float(submit.min(where=began, initial=np.inf)), end)


unusable.unit, unusable.better = "share", "lower"  # type: ignore[attr-defined]


def unusable_share(tables: Tables, machine: Machine, begin: float, end: float) -> float | None:
    """Of the cores × time while jobs wait, the share that is free and of no use, since it is too little.

    What is free counts in proportion to the waiting jobs that need more. What a job needs is what it had later: so many
    nodes with a free part, empty nodes, or cores. Jobs that never started do not count.
    """
    if machine.cluster.pool:
        return None
    free = _free(find_stays(tables, machine.cluster), machine)
    eligible, start = tables.column("eligible"), tables.column("start")
    edges = np.unique(np.concatenate([free.time, eligible, start[~np.isnan(start)], [begin, end]]))
    edges = edges[(edges >= begin) & (edges <= end)]
    at = np.maximum(np.searchsorted(free.time, edges, side="right") - 1, 0)
    waiting, larger = np.zeros(len(edges), np.int64), np.zeros(len(edges), np.int64)
    for (jobs, need), there in zip(_needs(tables, machine), (free.with_part, free.empty, free.cores), strict=True):
        of_kind, too_large = _waiting(edges, eligible[jobs], start[jobs], need, there[at])
        waiting += of_kind
        larger += too_large
    lengths = np.append(np.diff(edges), 0.0) * (waiting > 0)
    whole = machine.cluster.cores * float(lengths.sum())
    useless = lengths * free.cores[at] * (larger / np.maximum(waiting, 1))
    return float(useless.sum()) / whole if whole > 0 else None


def _needs(tables: Tables, machine: Machine) -> list[tuple[NDArray[np.intp], Numbers]]:
    """Jobs that have parts of nodes, whole nodes, or cores: which, and how much each needs."""
    spread = np.array([request.spread for request in machine.requests] or [False])
    whole = np.array([request.exclusive or machine.exclusive for request in machine.requests] or [False])
    request, started = tables.column("request"), ~np.isnan(tables.column("start"))
    texts = tables.frame("jobs")["nodes"].to_list()
    counted = {text: len(list(expand(text))) for text in set(texts) - {None}}
    nodes = np.array([counted.get(text, 0) for text in texts], np.int64)
    kinds = spread[request] & ~whole[request], whole[request], ~spread[request] & ~whole[request]
    amounts = nodes, nodes, tables.column("cores").astype(np.int64)
    chosen = [np.flatnonzero(kind & started) for kind in kinds]
    return [(jobs, amount[jobs]) for jobs, amount in zip(chosen, amounts, strict=True)]


def _waiting(times: Floats, begin: Floats, end: Floats, need: Numbers, there: Numbers) -> tuple[Numbers, Numbers]:
    """At each of the times: how many wait (from `begin` until before `end`), and how many of them need more than there
    is."""
    sizes, rank = np.unique(need, return_inverse=True)
    moment = np.concatenate([begin, end])
    change = np.repeat([1, -1], [len(begin), len(end)]).tolist()
    order = np.argsort(moment, kind="stable")
    moments, ranks = moment[order].tolist(), np.tile(rank, 2)[order].tolist()
    enough = np.searchsorted(sizes, there, side="right").tolist()
    counts, upto = np.zeros(len(sizes), np.int64), 0
    every, larger = np.zeros(len(times), np.int64), np.zeros(len(times), np.int64)
    for at, now in enumerate(times.tolist()):
        while upto < len(moments) and moments[upto] <= now:
            counts[ranks[upto]] += change[order[upto]]
            upto += 1
        every[at] = counts.sum()
        larger[at] = counts[enough[at] :].sum()
    return every, larger


def _free(stays: Stays, machine: Machine) -> _Free:
    cluster = machine.cluster
    group = group_of_node(cluster)
    cores = np.array([one.resources.get("cores", 0) for one in cluster.groups])[group]
    most = np.array([one.resources.get(PARTS, 1 << 30) for one in cluster.groups])[group]
    requests = machine.requests
    part = min((request.chunk["cores"] for request in requests if request.spread), default=1)
    alone = np.array([request.exclusive or machine.exclusive for request in requests] or [False])
    chunk = np.array([request.chunk.get("cores", 0) for request in requests] or [0])
    held = np.where(alone[stays.request], cores[stays.node], stays.held("cores", chunk))
    # Whoever comes and goes, node by node; and every node begins empty.
    nodes = np.arange(cluster.nodes)
    node = np.concatenate([nodes, stays.node, stays.node])
    time = np.concatenate([np.full(len(nodes), -np.inf), stays.begin, stays.end])
    change = np.concatenate([np.zeros(len(nodes), np.int64), held, -held])
    jobs = np.concatenate([np.zeros(len(nodes), np.int64), np.ones(len(held), np.int64), -np.ones(len(held), np.int64)])
    order = np.lexsort((time, node))
    node, time = node[order], time[order]
    level, there = np.cumsum(change[order]), np.cumsum(jobs[order])  # every node ends with nothing
    first = np.append(True, node[1:] != node[:-1])
    has_part = (cores[node] - level >= part) & (there < most[node])

    def steps(values: NDArray[np.int64]) -> Numbers:
        """By how much the sum over all nodes changes at each event."""
        before = np.where(first, 0, np.roll(values, 1))
        return np.asarray(values - before, np.int64)

    sorted_by_time = np.argsort(time, kind="stable")
    moments, last = np.unique(time[sorted_by_time][::-1], return_index=True)
    last = len(time) - 1 - last
    sums = [
        np.cumsum(steps(values.astype(np.int64))[sorted_by_time])[last]
        for values in (cores[node] - level, has_part, there == 0)
    ]
    return _Free(moments, *sums)
