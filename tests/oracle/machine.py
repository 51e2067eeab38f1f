"""Nodes: what is free, how many chunks fit, and where a placement puts them."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from tests.oracle.jobs import Job, mix, seed_of

from schedlab.model.cluster import Cluster
from schedlab.model.request import Request


@dataclass(frozen=True)
class Node:
    name: str
    total: dict[str, int]
    features: frozenset[str] = frozenset()
    partitions: frozenset[str] = frozenset()


class Claim(NamedTuple):
    """`job` holds `nodes` (node number -> chunks of `request`) during [begin, end), or what it was granted there."""

    job: Job
    request: Request
    nodes: dict[int, int]
    begin: float
    end: float
    exclusive: bool = False
    granted: dict[int, dict[str, int]] | None = None

    def on(self, number: int) -> dict[str, int]:
        """The amounts on a node."""
        if self.granted is not None:
            return self.granted[number]
        return {resource: self.nodes[number] * amount for resource, amount in self.request.chunk.items()}


class Room(NamedTuple):
    """What one node has left, either now or during the whole of a window."""

    free: dict[str, int]
    shared: bool = False  # some job is there
    closed: bool = False  # an exclusive job is there


def nodes_of(cluster: Cluster) -> list[Node]:
    return [
        Node(
            name,
            group.resources,
            group.features,
            frozenset(p.name for p in cluster.partitions if group.name in p.groups),
        )
        for group in cluster.groups
        for name in group.node_names()
    ]


@dataclass(frozen=True)
class Cap:
    """What nodes may draw together, in watts; what each draws without jobs, with jobs, and for each core in use."""

    watts: float
    idle: list[float]
    active: list[float]
    per_core: list[float]

    def allows(self, claims: Iterable[Claim]) -> bool:
        """These at the same time."""
        cores = [0] * len(self.idle)
        for claim in claims:
            for number in claim.nodes:
                cores[number] += claim.on(number).get("cores", 0)
        drawn = [
            active + per_core * used if used else idle
            for used, idle, active, per_core in zip(cores, self.idle, self.active, self.per_core, strict=True)
        ]
        return sum(drawn) <= self.watts

    @property
    def cores(self) -> float | None:
        """How many cores it allows, if that is all there is to it."""
        if len(set(self.per_core)) > 1 or not self.per_core[0] or self.active != self.idle:
            return None
        return (self.watts - sum(self.idle)) // self.per_core[0]


def rooms(nodes: list[Node], claims: Iterable[Claim]) -> list[Room]:
    """What every node has left beside `claims`, all taken to hold at the same time."""
    free = [dict(node.total) for node in nodes]
    shared, closed = [False] * len(nodes), [False] * len(nodes)
    for claim in claims:
        for number, chunks in claim.nodes.items():
            shared[number] = True
            closed[number] |= claim.exclusive
            left = free[number]
            amounts, times = (claim.request.chunk, chunks) if claim.granted is None else (claim.granted[number], 1)
            for resource, amount in amounts.items():
                if amount:
                    left[resource] -= times * amount
                    assert left[resource] >= 0, "a node is over-full"
    return list(map(Room, free, shared, closed))


class Moment(NamedTuple):
    """What is held at some time, and what it leaves of every node."""

    claims: list[Claim]
    rooms: list[Room]


class Plan:
    """What is held at any time, as far as it is known."""

    def __init__(self, nodes: list[Node], claims: list[Claim]) -> None:
        self.nodes, self.claims = nodes, claims
        self.known: dict[float, Moment] = {}

    def at(self, time: float) -> Moment:
        if time not in self.known:
            claims = [claim for claim in self.claims if claim.begin <= time < claim.end]
            self.known[time] = Moment(claims, rooms(self.nodes, claims))
        return self.known[time]

    def during(self, begin: float, end: float) -> list[Moment]:
        """Each moment of [begin, end) at which more may be held, and `begin` even if the window is empty."""
        times = {begin, *(claim.begin for claim in self.claims if begin < claim.begin < end)}
        return [self.at(time) for time in times]


def least(moments: list[Moment]) -> list[Room]:
    """The least that every node has left at any of these moments, of which there is one at least."""
    found = moments[0].rooms
    for moment in moments[1:]:
        found = [
            Room({r: min(n, b.free[r]) for r, n in a.free.items()}, a.shared or b.shared, a.closed or b.closed)
            for a, b in zip(found, moment.rooms, strict=True)
        ]
    return found


def is_eligible(node: Node, request: Request, partition: str | None) -> bool:
    return request.features <= node.features and (partition is None or partition in node.partitions)


def capacity(node: Node, room: Room, request: Request, exclusive: bool, default_partition: str | None) -> float:
    """How many chunks of `request` the node can take; infinite if they ask for nothing."""
    if not is_eligible(node, request, request.partition or default_partition):
        return 0
    if room.closed or (exclusive and room.shared):
        return 0
    chunks = min(
        (room.free.get(resource, 0) // amount for resource, amount in request.chunk.items() if amount), default=math.inf
    )
    if request.per_node_max:
        chunks = min(chunks, request.per_node_max)
    return chunks if chunks >= request.per_node_min else 0


def place(
    placement: str, rooms: list[Room], capacities: list[float], job: Job, exclusive: bool
) -> dict[int, int] | None:
    """Where the job's chunks go (node number -> chunks), or None if they do not fit."""
    count = job.count
    if placement == "contiguous":
        numbers = neighbours(capacities, count)
        return None if numbers is None else fill(numbers, capacities, count)
    if sum(capacities) < count:
        return None
    numbers = list(range(len(rooms)))
    if placement == "spread" and not exclusive:
        return spread(rooms, capacities, job.request, count)
    if placement == "spread":
        numbers.sort(key=lambda number: (-rooms[number].free.get("cores", 0), number))
    elif placement == "best-fit":
        numbers.sort(key=lambda number: (rooms[number].free.get("cores", 0), number))
    elif seed := seed_of(placement):
        numbers.sort(key=lambda number: mix(mix(int(seed), job.sequence), number))
    elif placement == "last-fit":
        numbers.reverse()
    else:
        # (Of a later time, nobody knows who is where.)
        assert placement in ("first-fit", "careless", "occupied-first", "best-pair")
    return fill(numbers, capacities, count)


def fill(numbers: list[int], capacities: list[float], count: int) -> dict[int, int]:
    chosen: dict[int, int] = {}
    left = count
    for number in numbers:
        chunks = int(min(capacities[number], left))
        if chunks:
            chosen[number] = chunks
            left -= chunks
    return chosen


def neighbours(capacities: list[float], count: int) -> list[int] | None:
    """The first run of nodes with capacity whose capacities add up to `count`."""
    run: list[int] = []
    held = 0.0
    for number, chunks in enumerate(capacities):
        run, held = ([*run, number], held + chunks) if chunks else ([], 0.0)
        if run and held >= count:
            return run
    return None


def spread(rooms: list[Room], capacities: list[float], request: Request, count: int) -> dict[int, int]:
    """Always to the node with most free cores of those that can take more; at equal numbers the first."""
    chosen: dict[int, int] = {}
    cores, left = request.chunk.get("cores", 0), count
    able = [(-room.free.get("cores", 0), number) for number, room in enumerate(rooms) if capacities[number]]
    heapq.heapify(able)
    while left:
        used, number = heapq.heappop(able)
        step = int(min(max(request.per_node_min, 1), left, capacities[number] - chosen.get(number, 0)))
        chosen[number] = chosen.get(number, 0) + step
        left -= step
        if capacities[number] > chosen[number]:
            heapq.heappush(able, (used + step * cores, number))
    return chosen
