"""Where jobs ran: nodes that exist and suit them, and that were never over-full."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.granted import Amounts, with_amounts
from schedlab.engine.check.nodesets import NodeSetError, NodeSets
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.record import Record
from schedlab.engine.check.stays import Stays
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.request import Request

# At one instant: jobs that end are gone before jobs of no length are looked at, and those before the jobs that start.
END, PROBE, START = 0, 1, 2


@dataclass(frozen=True)
class Places:
    """One entry for each node of each stay, in the order of the stays: position of the stay, node number, chunks."""

    stay: NDArray[np.int64]
    node: NDArray[np.int64]
    chunks: NDArray[np.int64]
    amounts: Amounts | None = None  # what was held there; known when requests and nodes are

    def held(self, resource: str) -> NDArray[np.int64]:
        assert self.amounts is not None
        return self.amounts.of[resource]


def check_places(record: Record, stays: Stays, offences: Offences) -> Places | None:
    """The places, for whoever else looks at them; None if somebody has a request that is not there."""
    pieces = record.pieces
    placed = record.placed  # the cores of these are looked at beside their places
    of_rows = _check_requests(
        record, offences, record.request, record.count, record.cores, record.job, record.start, placed & record.started
    )
    of_pieces = _check_requests(
        record, offences, pieces.request, pieces.count, pieces.cores, pieces.job, pieces.begin, placed[pieces.row]
    )
    if not (of_rows and of_pieces):
        return None
    places = _places(record, stays, offences)
    places = with_amounts(record, stays, places, offences)
    _check_sizes(record, stays, places, offences)
    _check_nodes_suit(record, stays, places, offences)
    _check_room(record, stays, places, offences)
    return places


def _check_requests(
    record: Record,
    offences: Offences,
    request: NDArray[np.int64],
    count: NDArray[np.int64],
    cores: NDArray[np.int64],
    job: NDArray[np.int64],
    time: NDArray[np.float64],
    placed: NDArray[np.bool_],
) -> bool:
    """Whether all requests are there; and those who have one have the cores that it says."""
    known = (request >= 0) & (request < len(record.requests))
    offences.add_where("request", ~known, job, time, lambda i: f"there is no request number {request[i]}")
    wrong = known & ~placed & (cores != record.asked_cores(count, request))
    offences.add_where("size", wrong, job, time, lambda i: f"{cores[i]} cores are not {count[i]} chunks")
    return bool(known.all())


def _places(record: Record, stays: Stays, offences: Offences) -> Places:
    everyone = np.arange(len(stays))
    if record.cluster.pool:
        return Places(everyone, np.zeros(len(stays), np.int64), stays.count)
    absent = ~record.started & (record.nodes >= 0)
    offences.add_where("nodes", absent, record.job, record.end, lambda i: "it does not run, but has nodes")
    report = _reporter(stays, offences, "nodes")
    listed = stays.nodes >= 0
    report(~listed, lambda i: "it ran, but no nodes are named")

    sets, chunks, problems = [], [], {}
    read = NodeSets(record.cluster).read
    for position, text in enumerate(record.node_sets.to_pylist()):
        try:
            nodes, each = read(text)
        except NodeSetError as problem:
            nodes, each = [], []
            problems[position] = str(problem)
        sets.append(nodes)
        chunks += each
    bad = np.isin(stays.nodes, list(problems)) if problems else np.zeros(len(stays), bool)
    report(bad, lambda i: problems[int(stays.nodes[i])])

    # Each stay gets the nodes of its text: stay i has sets[codes[i]], all in one long list.
    codes, placed = stays.nodes[listed], everyone[listed]
    length = np.array([len(nodes) for nodes in sets], np.int64)
    begin = np.cumsum(length) - length
    flat = np.fromiter((node for nodes in sets for node in nodes), np.int64)
    of_stay = length[codes]
    inside = np.arange(of_stay.sum()) - np.repeat(np.cumsum(of_stay) - of_stay, of_stay)
    where = np.repeat(begin[codes], of_stay) + inside
    return Places(np.repeat(placed, of_stay), flat[where], np.array(chunks, np.int64)[where])


def _check_sizes(record: Record, stays: Stays, places: Places, offences: Offences) -> None:
    report = _reporter(stays, offences, "size")
    got = np.zeros(len(stays), np.int64)
    np.add.at(got, places.stay, places.chunks)
    # Those whose nodes are missing or unreadable have been reported.
    assert places.amounts is not None
    by_chunks = ~places.amounts.granted
    short = (got > 0) & (got != stays.count) & by_chunks
    report(short, lambda i: f"it got {got[i]} chunks and asked for {stays.count[i]}")

    most = _per_request(record, stays, lambda request: request.per_node_max)
    least = _per_request(record, stays, lambda request: request.per_node_min)
    above = np.zeros(len(stays), bool)
    above[places.stay[(places.chunks > most[places.stay]) & (most[places.stay] > 0)]] = True
    report(above & by_chunks, lambda i: f"more than {most[i]} chunks on one node")
    below = np.zeros(len(stays), np.int64)
    np.add.at(below, places.stay, places.chunks < least[places.stay])
    report((below > 1) & by_chunks, lambda i: f"fewer than {least[i]} chunks on more than one node")


def _check_nodes_suit(record: Record, stays: Stays, places: Places, offences: Offences) -> None:
    """Features and partition, for each pair of request and node group that occurs."""
    cluster = record.cluster
    group_of_node = np.repeat(np.arange(len(cluster.groups)), [group.count for group in cluster.groups])
    problems = [[_unsuited(cluster, request, group) for group in cluster.groups] for request in record.requests]
    bad = np.array([[bool(problem) for problem in row] for row in problems], bool).reshape(-1, len(cluster.groups))
    request, group = stays.request[places.stay], group_of_node[places.node]
    for entry in np.flatnonzero(bad[request, group]).tolist():
        stay = places.stay[entry]
        message = problems[request[entry]][group[entry]]
        offences.add("unsuitable node", message, int(stays.job[stay]), float(stays.begin[stay]))


def _unsuited(cluster: Cluster, request: Request, group: NodeGroup) -> str:
    lacking = request.features - group.features
    if lacking:
        return f"nodes of group {group.name} lack the feature {', '.join(sorted(lacking))}"
    wanted = request.partition or next((p.name for p in cluster.partitions if p.default), None)
    if wanted is not None and not any(group.name in p.groups for p in cluster.partitions if p.name == wanted):
        return f"nodes of group {group.name} are not in partition {wanted}"
    return ""


def _check_room(record: Record, stays: Stays, places: Places, offences: Offences) -> None:
    """Sweep over the time of every node: what its jobs hold together is never more than it has."""
    cluster = record.cluster
    sweep = _Sweep(stays, places)
    group_of_node = np.repeat(np.arange(len(cluster.groups)), [group.count for group in cluster.groups])
    names = cluster.node_names()
    assert places.amounts is not None
    for resource, held in places.amounts.of.items():
        if not held.any():
            continue
        has = np.array([group.resources.get(resource, 0) for group in cluster.groups], np.int64)[group_of_node]
        load = sweep.load(held)
        for event in np.flatnonzero(load > has[sweep.node]).tolist():
            number = sweep.node[event]
            where = "the pool" if cluster.pool else f"node {names[number]}"
            message = f"{where} would have to hold {load[event]} {resource}, it has {has[number]}"
            offences.add("over-full", message, int(stays.job[sweep.stay[event]]), float(sweep.time[event]))

    alone = _per_request(record, stays, lambda request: request.exclusive or record.exclusive)
    jobs = sweep.load(np.ones(len(places.stay), np.int64))
    exclusive_jobs = sweep.load(alone[places.stay].astype(np.int64))
    for event in np.flatnonzero((exclusive_jobs > 0) & (jobs > 1)).tolist():
        where = "the pool" if cluster.pool else f"node {names[sweep.node[event]]}"
        message = f"{where} is shared with a job that is to be alone there"
        offences.add("not exclusive", message, int(stays.job[sweep.stay[event]]), float(sweep.time[event]))


class _Sweep:
    """All beginnings and ends on all nodes, in order of node and time."""

    def __init__(self, stays: Stays, places: Places) -> None:
        start, end = stays.begin[places.stay], stays.end[places.stay]
        long = np.flatnonzero(end > start)
        brief = np.flatnonzero(end <= start)
        self._entry = np.concatenate([long, brief, long])
        what = np.concatenate([np.full(len(long), END), np.full(len(brief), PROBE), np.full(len(long), START)])
        time = np.concatenate([end[long], start[brief], start[long]])
        order = np.lexsort((what, time, places.node[self._entry]))
        self._entry, self._what = self._entry[order], what[order]
        self.time: NDArray[np.float64] = time[order]
        self.node, self.stay = places.node[self._entry], places.stay[self._entry]

    def load(self, amount: NDArray[np.int64]) -> NDArray[np.int64]:
        """What the node holds after each event; for a job of no length, what it would hold with it.

        Such a job runs beside those that began before and end after it; others of the same instant may have come before
        or after it. Every node ends with nothing, so that one running sum serves for all.
        """
        own = amount[self._entry]
        change = np.where(self._what == START, own, np.where(self._what == END, -own, 0))
        return np.cumsum(change) + np.where(self._what == PROBE, own, 0)


def _per_request(record: Record, stays: Stays, value: Callable[[Request], Any]) -> NDArray[Any]:
    """A property of each stay's request."""
    return np.array([value(request) for request in record.requests])[stays.request]


def _reporter(stays: Stays, offences: Offences, kind: str) -> Callable[[NDArray[np.bool_], Callable[[int], str]], None]:
    return lambda wrong, message: offences.add_where(kind, wrong, stays.job, stays.begin, message)
