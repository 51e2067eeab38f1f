"""Where jobs ran: nodes that exist and suit them, and that were never over-full."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.columns import ranges
from schedlab.engine.check.granted import Amounts, with_amounts
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.record import Record, Span
from schedlab.engine.check.stays import Stays
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.request import Request

# At one instant: jobs that end are gone before jobs of no length are looked at, and those before the jobs that start.
END, PROBE, START = 0, 1, 2  # what is held changes by one less


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

    sets = record.reader.read_all(record.node_sets)
    bad = np.isin(stays.nodes, list(sets.problems)) if sets.problems else np.zeros(len(stays), bool)
    report(bad, lambda i: sets.problems[int(stays.nodes[i])])

    codes = stays.nodes[listed]
    part, where = ranges(sets.first[codes], sets.length[codes])
    return Places(everyone[listed][part], sets.node[where], sets.chunks[where])


def _check_sizes(record: Record, stays: Stays, places: Places, offences: Offences) -> None:
    report = _reporter(stays, offences, "size")
    entries = np.bincount(places.stay, minlength=len(stays))
    upto, last = np.append(0, np.cumsum(places.chunks)), np.cumsum(entries)
    got = upto[last] - upto[last - entries]
    # Those whose nodes are missing or unreadable have been reported.
    assert places.amounts is not None
    by_chunks = ~places.amounts.granted
    short = (got > 0) & (got != stays.count) & by_chunks
    report(short, lambda i: f"it got {got[i]} chunks and asked for {stays.count[i]}")

    most = _per_request(record, stays, lambda request: request.per_node_max)
    least = _per_request(record, stays, lambda request: request.per_node_min)
    if most.any():
        above = np.zeros(len(stays), bool)
        above[places.stay[(places.chunks > most[places.stay]) & (most[places.stay] > 0)]] = True
        report(above & by_chunks, lambda i: f"more than {most[i]} chunks on one node")
    if least.any():
        below = np.bincount(places.stay[places.chunks < least[places.stay]], minlength=len(stays))
        report((below > 1) & by_chunks, lambda i: f"fewer than {least[i]} chunks on more than one node")


def _check_nodes_suit(record: Record, stays: Stays, places: Places, offences: Offences) -> None:
    """Features and partition, for each pair of request and node group that occurs."""
    cluster = record.cluster
    group_of_node = np.repeat(np.arange(len(cluster.groups)), [group.count for group in cluster.groups])
    problems = [[_unsuited(cluster, request, group) for group in cluster.groups] for request in record.requests]
    bad = np.array([[bool(problem) for problem in row] for row in problems], bool).reshape(-1, len(cluster.groups))
    if not bad.any():
        return
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


@dataclass(frozen=True)
class Present:
    """Who is on nodes, and what each holds there: one entry for each node of each."""

    job: NDArray[np.int64]
    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    alone: NDArray[np.bool_]  # nobody else may be there
    entries: NDArray[np.int64]  # how many entries each has, which follow each other
    node: NDArray[np.int64]
    held: dict[str, NDArray[np.int64]]

    def before(self, moment: float) -> Present:
        """Those who came by then."""
        some = self.begin <= moment
        entry = np.repeat(some, self.entries)
        return Present(
            self.job[some],
            self.begin[some],
            self.end[some],
            self.alone[some],
            self.entries[some],
            self.node[entry],
            {name: held[entry] for name, held in self.held.items()},
        )

    def joined(self, other: Present) -> Present:
        return Present(
            np.append(self.job, other.job),
            np.append(self.begin, other.begin),
            np.append(self.end, other.end),
            np.append(self.alone, other.alone),
            np.append(self.entries, other.entries),
            np.append(self.node, other.node),
            {name: np.append(held, other.held[name]) for name, held in self.held.items()},
        )


def check_room(record: Record, stays: Stays, places: Places, later: Present | None, offences: Offences) -> Present:
    """Sweep over the time of every node: what its jobs hold together is never more than it has.

    `later` are those of parts that were looked at before, who may have come by now; the result is for the next part.
    """
    assert places.amounts is not None
    alone = _per_request(record, stays, lambda request: request.exclusive or record.exclusive)
    entries = np.bincount(places.stay, minlength=len(stays))
    present = Present(stays.job, stays.begin, stays.end, alone, entries, places.node, places.amounts.of)
    if later is not None:
        present = present.joined(later)
    _sweep(record, present, offences)
    return present.before(record.span.after)


def _sweep(record: Record, present: Present, offences: Offences) -> None:
    offences.expect("over-full", "not exclusive")
    cluster = record.cluster
    sweep = _Sweep(present, record.span)
    group_of_node = np.repeat(np.arange(len(cluster.groups)), [group.count for group in cluster.groups])
    names = cluster.node_names()

    def report(kind: str, wrong: NDArray[np.bool_], message: Callable[[int, str], str]) -> None:
        if not wrong.any():
            return
        time, node, job = sweep.time, sweep.node, present.job[sweep.stay]
        for event in np.flatnonzero(wrong & sweep.judged).tolist():
            where = "the pool" if cluster.pool else f"node {names[node[event]]}"
            offences.add(kind, message(event, where), int(job[event]), float(time[event]))

    for resource, held in present.held.items():
        if not held.any():
            continue
        has = np.array([group.resources.get(resource, 0) for group in cluster.groups], np.int64)[group_of_node]
        load = sweep.load(held)
        if load.max(initial=0) <= has.min(initial=0):
            continue
        has = has[sweep.node]
        report(
            "over-full",
            load > has,
            lambda event, where: f"{where} would have to hold {load[event]} {resource}, it has {has[event]}",  # noqa: B023 - called at once
        )
    if present.alone.any():
        alone = np.repeat(present.alone, present.entries).astype(np.int64)
        jobs, exclusive_jobs = sweep.load(np.ones(len(alone), np.int64)), sweep.load(alone)
        message = "is shared with a job that is to be alone there"
        report("not exclusive", (exclusive_jobs > 0) & (jobs > 1), lambda event, where: f"{where} {message}")


class _Sweep:
    """All beginnings and ends on all nodes in a span of time, in order of node and time.

    Those who came before begin at the beginning of time, those who stay longer end at its end: these are not judged.
    """

    def __init__(self, present: Present, span: Span) -> None:
        begin, end = present.begin, present.end
        long = np.flatnonzero((end > begin) & (end > span.after))
        brief = np.flatnonzero((end <= begin) & span.has(begin))
        stay = np.concatenate([long, brief, long])
        what = np.concatenate([np.full(len(long), END), np.full(len(brief), PROBE), np.full(len(long), START)])
        ends = np.where(end[long] > span.until, np.inf, end[long])
        begins = np.where(begin[long] <= span.after, -np.inf, begin[long])
        time = np.concatenate([ends, begin[brief], begins])
        order = np.argsort(time, kind="stable")  # at one time in the order END, PROBE, START
        stay, what, time = stay[order], what[order], time[order]

        first = np.cumsum(present.entries) - present.entries
        event, entry = ranges(first[stay], present.entries[stay])
        small = present.node.astype(np.uint16 if present.node.max(initial=0) < 1 << 16 else np.int64)
        by_node = np.argsort(small[entry], kind="stable")
        self._event, self._entry = event[by_node], entry[by_node]
        self._stay, self._time, self._node, self._span = stay, time, small, span
        self._change, self._brief = (what - PROBE)[self._event], len(brief) > 0

    # Of each event; nearly always nobody asks.

    @property
    def node(self) -> NDArray[Any]:
        return self._node[self._entry]

    @property
    def stay(self) -> NDArray[np.int64]:
        return self._stay[self._event]

    @property
    def time(self) -> NDArray[np.float64]:
        return self._time[self._event]

    @property
    def judged(self) -> NDArray[np.bool_]:
        return self._span.has(self._time)[self._event]

    def load(self, amount: NDArray[np.int64]) -> NDArray[np.int64]:
        """What the node holds after each event; for a job of no length, what it would hold with it.

        Such a job runs beside those that began before and end after it; others of the same instant may have come before
        or after it. Every node ends with nothing, so that one running sum serves for all.
        """
        own = amount[self._entry]
        load = np.cumsum(own * self._change)
        return load + np.where(self._change == 0, own, 0) if self._brief else load


def _per_request(record: Record, stays: Stays, value: Callable[[Request], Any]) -> NDArray[Any]:
    """A property of each stay's request."""
    return np.array([value(request) for request in record.requests])[stays.request]


def _reporter(stays: Stays, offences: Offences, kind: str) -> Callable[[NDArray[np.bool_], Callable[[int], str]], None]:
    return lambda wrong, message: offences.add_where(kind, wrong, stays.job, stays.begin, message)
