"""Where jobs ran: nodes that exist and suit them, and that were never over-full."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.nodesets import NodeSetError, NodeSets
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.record import Record
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.request import Request

# At one instant: jobs that end are gone before jobs of no length are looked at, and those before the jobs that start.
END, PROBE, START = 0, 1, 2


@dataclass(frozen=True)
class Places:
    """One entry for each node of each job: position of the job in the record, node number, chunks."""

    job: NDArray[np.int64]
    node: NDArray[np.int64]
    chunks: NDArray[np.int64]


def check_places(record: Record, offences: Offences) -> None:
    known = (record.request >= 0) & (record.request < len(record.requests))
    unknown = _reporter(record, offences, "request")
    unknown(~known, lambda i: f"there is no request number {record.request[i]}")
    if not known.all():
        return
    places = _places(record, offences)
    _check_sizes(record, places, offences)
    _check_nodes_suit(record, places, offences)
    _check_room(record, places, offences)


def _places(record: Record, offences: Offences) -> Places:
    started = np.flatnonzero(record.started)
    if record.cluster.pool:
        return Places(started, np.zeros(len(started), np.int64), record.count[started])
    report = _reporter(record, offences, "nodes")
    listed = np.asarray(record.nodes.is_valid())
    report(record.started & ~listed, lambda i: "it ran, but no nodes are named")
    report(~record.started & listed, lambda i: "it never ran, but has nodes")

    sets, chunks, problems = [], [], {}
    read = NodeSets(record.cluster).read
    for position, text in enumerate(record.nodes.dictionary.to_pylist()):
        try:
            nodes, each = read(text)
        except NodeSetError as problem:
            nodes, each = [], []
            problems[position] = str(problem)
        sets.append(nodes)
        chunks += each
    rows = np.flatnonzero(record.started & listed)
    codes = np.asarray(record.nodes.indices.fill_null(0))[rows].astype(np.int64)
    bad = np.zeros(len(record.job), bool)
    bad[rows] = np.isin(codes, list(problems))
    texts = dict(zip(rows.tolist(), codes.tolist(), strict=True)) if problems else {}
    report(bad, lambda i: problems[texts[i]])

    # Each row gets the nodes of its text: row i of `codes` is sets[codes[i]], all in one long list.
    length = np.array([len(nodes) for nodes in sets], np.int64)
    begin = np.cumsum(length) - length
    flat = np.fromiter((node for nodes in sets for node in nodes), np.int64)
    of_row = length[codes]
    inside = np.arange(of_row.sum()) - np.repeat(np.cumsum(of_row) - of_row, of_row)
    where = np.repeat(begin[codes], of_row) + inside
    return Places(np.repeat(rows, of_row), flat[where], np.array(chunks, np.int64)[where])


def _check_sizes(record: Record, places: Places, offences: Offences) -> None:
    report = _reporter(record, offences, "size")
    cores = _amount_per_chunk(record, "cores")
    report(record.cores != record.count * cores, lambda i: f"{record.cores[i]} cores are not {record.count[i]} chunks")
    got = np.zeros(len(record.job), np.int64)
    np.add.at(got, places.job, places.chunks)
    # Jobs whose nodes are missing or unreadable have been reported.
    short = np.isin(np.arange(len(got)), places.job) & (got != record.count)
    report(short, lambda i: f"it got {got[i]} chunks and asked for {record.count[i]}")

    most, least = _per_request(record, lambda r: r.per_node_max), _per_request(record, lambda r: r.per_node_min)
    above = np.zeros(len(got), bool)
    above[places.job[(places.chunks > most[places.job]) & (most[places.job] > 0)]] = True
    report(above, lambda i: f"more than {most[i]} chunks on one node")
    below = np.zeros(len(got), np.int64)
    np.add.at(below, places.job, places.chunks < least[places.job])
    report(below > 1, lambda i: f"fewer than {least[i]} chunks on more than one node")


def _check_nodes_suit(record: Record, places: Places, offences: Offences) -> None:
    """Features and partition, for each pair of request and node group that occurs."""
    cluster = record.cluster
    group_of_node = np.repeat(np.arange(len(cluster.groups)), [group.count for group in cluster.groups])
    problems = [[_unsuited(cluster, request, group) for group in cluster.groups] for request in record.requests]
    bad = np.array([[bool(problem) for problem in row] for row in problems], bool).reshape(-1, len(cluster.groups))
    request, group = record.request[places.job], group_of_node[places.node]
    for entry in np.flatnonzero(bad[request, group]).tolist():
        job = places.job[entry]
        message = problems[request[entry]][group[entry]]
        offences.add("unsuitable node", message, int(record.job[job]), float(record.start[job]))


def _unsuited(cluster: Cluster, request: Request, group: NodeGroup) -> str:
    lacking = request.features - group.features
    if lacking:
        return f"nodes of group {group.name} lack the feature {', '.join(sorted(lacking))}"
    wanted = request.partition or next((p.name for p in cluster.partitions if p.default), None)
    if wanted is not None and not any(group.name in p.groups for p in cluster.partitions if p.name == wanted):
        return f"nodes of group {group.name} are not in partition {wanted}"
    return ""


def _check_room(record: Record, places: Places, offences: Offences) -> None:
    """Sweep over the time of every node: what its jobs hold together is never more than it has."""
    cluster = record.cluster
    sweep = _Sweep(record, places)
    group_of_node = np.repeat(np.arange(len(cluster.groups)), [group.count for group in cluster.groups])
    names = cluster.node_names()
    for resource in {name: None for request in record.requests for name, amount in request.chunk.items() if amount}:
        has = np.array([group.resources.get(resource, 0) for group in cluster.groups], np.int64)[group_of_node]
        need = _amount_per_chunk(record, resource)
        load = sweep.load(need[places.job] * places.chunks)
        for event in np.flatnonzero(load > has[sweep.node]).tolist():
            number = sweep.node[event]
            where = "the pool" if cluster.pool else f"node {names[number]}"
            message = f"{where} would have to hold {load[event]} {resource}, it has {has[number]}"
            offences.add("over-full", message, int(record.job[sweep.job[event]]), float(sweep.time[event]))

    alone = np.full(len(record.job), record.exclusive) | _per_request(record, lambda request: request.exclusive)
    jobs = sweep.load(np.ones(len(places.job), np.int64))
    exclusive_jobs = sweep.load(alone[places.job].astype(np.int64))
    for event in np.flatnonzero((exclusive_jobs > 0) & (jobs > 1)).tolist():
        where = "the pool" if cluster.pool else f"node {names[sweep.node[event]]}"
        message = f"{where} is shared with a job that is to be alone there"
        offences.add("not exclusive", message, int(record.job[sweep.job[event]]), float(sweep.time[event]))


class _Sweep:
    """All beginnings and ends on all nodes, in order of node and time."""

    def __init__(self, record: Record, places: Places) -> None:
        start, end = record.start[places.job], record.end[places.job]
        long = np.flatnonzero(end > start)
        brief = np.flatnonzero(end <= start)
        self._entry = np.concatenate([long, brief, long])
        what = np.concatenate([np.full(len(long), END), np.full(len(brief), PROBE), np.full(len(long), START)])
        time = np.concatenate([end[long], start[brief], start[long]])
        order = np.lexsort((what, time, places.node[self._entry]))
        self._entry, self._what = self._entry[order], what[order]
        self.time: NDArray[np.float64] = time[order]
        self.node, self.job = places.node[self._entry], places.job[self._entry]

    def load(self, amount: NDArray[np.int64]) -> NDArray[np.int64]:
        """What the node holds after each event; for a job of no length, what it would hold with it.

        Such a job runs beside those that began before and end after it; others of the same instant may have come before
        or after it. Every node ends with nothing, so that one running sum serves for all.
        """
        own = amount[self._entry]
        change = np.where(self._what == START, own, np.where(self._what == END, -own, 0))
        return np.cumsum(change) + np.where(self._what == PROBE, own, 0)


def _amount_per_chunk(record: Record, resource: str) -> NDArray[np.int64]:
    return _per_request(record, lambda request: request.chunk.get(resource, 0))


def _per_request(record: Record, value: Callable[[Request], Any]) -> NDArray[Any]:
    """A property of each job's request."""
    return np.array([value(request) for request in record.requests])[record.request]


def _reporter(
    record: Record, offences: Offences, kind: str
) -> Callable[[NDArray[np.bool_], Callable[[int], str]], None]:
    return lambda wrong, message: offences.add_where(kind, wrong, record.job, record.start, message)
