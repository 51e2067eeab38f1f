"""A scripted grant: uneven amounts from the last node backwards, worked out the same way for both simulators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tests.oracle.jobs import Job
from tests.oracle.machine import is_eligible, rooms
from tests.oracle.simulator import Simulation

import schedlab as sl
from schedlab.model.request import Request

Amounts = dict[str, int]


class Seen(NamedTuple):
    """A node as the granter sees it."""

    number: int
    free: Mapping[str, int]
    usable: bool
    occupied: bool


def uneven(job_id: int, request: Request, count: int, exclusive: bool, nodes: Sequence[Seen]) -> dict[int, Amounts]:
    """As many chunks as a node holds, then a core more on every second node and all the memory of every third one.

    Nothing for two jobs of three, and for one that does not fit so.
    """
    asked = {resource: amount for resource, amount in request.chunk.items() if amount}
    if job_id % 3 or not asked:
        return {}
    granted: dict[int, Amounts] = {}
    left = count
    for node in reversed(nodes):
        if not node.usable or (exclusive and node.occupied) or not left:
            continue
        chunks = min(left, *(node.free.get(resource, 0) // amount for resource, amount in asked.items()))
        chunks = min(chunks, request.per_node_max or chunks)
        if chunks < 1 or (chunks < request.per_node_min and chunks < left):
            continue
        left -= chunks
        amounts = {"cores": 0} | {resource: chunks * amount for resource, amount in asked.items()}
        amounts["cores"] += int((job_id + node.number) % 2 and node.free["cores"] > amounts["cores"])
        if node.number % 3 == 0 and "memory" in node.free:
            amounts["memory"] = node.free["memory"]
        granted[node.number] = amounts
    return {} if left else granted


def by_oracle(simulation: Simulation, job: Job) -> None:
    seen = []
    for number, room in enumerate(rooms(simulation.nodes, simulation.held_now())):
        partition = job.request.partition or simulation.default_partition
        usable = not room.closed and is_eligible(simulation.nodes[number], job.request, partition)
        seen.append(Seen(number, room.free, usable, room.shared))
    granted = uneven(job.id, job.request, job.count, simulation.is_exclusive(job), seen)
    if granted:
        simulation.grant(job, granted)


class Granting(sl.Policy):
    """Another policy, which is asked after jobs that have just come were granted what there is."""

    def __init__(self, policy: str, requests: Callable[[int], tuple[Request, int]], resources: Sequence[str]) -> None:
        self._native = sl.Native(policy)
        self.placement, self.exclusive = self._native.placement, self._native.spec.exclusive
        self._requests, self._resources = requests, resources
        self.granted: dict[int, list[tuple[int, Amounts]]] = {}

    def decide(self, view: Any, events: Any) -> None:
        for kind, job in events:
            if kind in ("submitted", "requeued") and job.state == "waiting":
                self._grant(view, job)
        view.touch()
        self._native.decide(view)

    def _grant(self, view: Any, job: Any) -> None:
        request, count = self._requests(job.id)
        cluster, usable = view.cluster, view.cluster.usable(job)
        free = [cluster.free_of(number).tolist() for number in range(len(self._resources))]
        seen = []
        for number in range(cluster.nodes):
            amounts = {name: free[place][number] for place, name in enumerate(self._resources)}
            there = view.jobs_on(number)
            alone = any(self.exclusive or self._requests(other.id)[0].exclusive for other in there)
            seen.append(Seen(number, amounts, bool(usable[number]) and not alone, bool(there)))
        granted = uneven(job.id, request, count, self.exclusive or request.exclusive, seen)
        if granted and view.start(job, list(granted.items()), backfilled=False):
            self.granted[job.id] = job.granted
