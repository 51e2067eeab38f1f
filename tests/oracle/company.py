"""Jobs side by side: the parts of nodes that they get, how fast they are beside one another, who sits with whom."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

from tests.oracle.jobs import Job
from tests.oracle.machine import Node, is_eligible

from schedlab.model.cluster import Cluster
from schedlab.model.request import Request


@dataclass(frozen=True)
class Heat:
    """What each application does beside each other one, and the rules."""

    cells: list[list[float | None]] = field(default_factory=list)
    missing: str | float = "average"
    alone: str | float = "maximum"
    measured: list[float | None] = field(default_factory=list)  # alone on such a part
    compose: str = "min"
    cap: bool = True

    def speedup(self, of: int, beside: int) -> float:
        if of < 0 or beside < 0:
            return 1.0
        cell = self.cells[of][beside]
        if cell is not None:
            return cell
        if self.missing != "average":
            return float(self.missing)
        known = [value for value in self.cells[of] if value is not None]
        return sum(known) / len(known) if known else 1.0

    def best(self, of: int) -> float:
        return max(self.speedup(of, other) for other in range(len(self.cells))) if of >= 0 else 1.0

    def on_its_own(self, of: int) -> float:
        if of < 0:
            return 1.0
        if self.measured and self.measured[of] is not None:
            return float(self.measured[of] or 0)
        return self.best(of) if self.alone == "maximum" else float(self.alone)

    def factor(self, job: Job, running: list[Job]) -> float:
        on_nodes = []
        for node in job.nodes:
            beside = [
                self.speedup(job.application, other.application)
                for other in running
                if other is not job and node in other.nodes
            ]
            if beside:
                on_nodes.append(min(beside) if self.compose == "min" else math.prod(beside))
        if on_nodes:
            return min(*on_nodes, self.best(job.application)) if self.cap else min(on_nodes)
        return self.on_its_own(job.application) if job.request.spread else 1.0


# The part of a node that a job gets.


def parts(sockets: tuple[int, ...], fraction: Fraction) -> tuple[int, int]:
    """The cores of a part, and how many there are: they are handed out until one socket has not enough left."""
    each, left, handed_out = [math.floor(cores * fraction) for cores in sockets], list(sockets), 0
    while all(cores >= part for cores, part in zip(left, each, strict=True)):
        left = [cores - part for cores, part in zip(left, each, strict=True)]
        handed_out += 1
    return sum(each), handed_out


def with_parts(nodes: list[Node], cluster: Cluster, fraction: Fraction) -> list[Node]:
    of_node = [parts(group.socket_sizes, fraction)[1] for group in cluster.groups for _ in range(group.count)]
    return [replace(node, total={**node.total, "parts": number}) for node, number in zip(nodes, of_node, strict=True)]


def lay_out(job: Job, nodes: list[Node], cluster: Cluster, fraction: Fraction, default_partition: str | None) -> None:
    """The job asks for parts of nodes from now on, or for whole ones."""
    request = job.request
    cores = [parts(group.socket_sizes, fraction)[0] for group in cluster.groups for _ in range(group.count)]
    wanted = request.partition or default_partition
    may = [number for number, node in enumerate(nodes) if is_eligible(node, request, wanted)]
    part = min((cores[number] for number in may), default=0)
    most = 0  # chunks on a node
    while fits(most + 1, request, [nodes[number] for number in may], part):
        most += 1
    if request.exclusive or most < max(request.per_node_min, 1) or math.ceil(job.count / most) > len(may):
        job.request = replace(request, exclusive=True)
        return
    held = {name: min(job.count, most) * amount for name, amount in request.chunk.items()}
    job.request = replace(
        request, chunk={**held, "cores": part, "parts": 1}, per_node_min=0, per_node_max=1, spread=True
    )
    job.count = math.ceil(job.count / most)


def fits(chunks: int, request: Request, nodes: list[Node], part: int) -> bool:
    """So many on each of these nodes, in a part of it."""
    if not request.chunk.get("cores") or chunks * request.chunk["cores"] > part:
        return False
    if request.per_node_max and chunks > request.per_node_max:
        return False
    others = [(name, chunks * amount) for name, amount in request.chunk.items() if name != "cores" and amount]
    return all(node.total.get(name, 0) >= amount for node in nodes for name, amount in others)


# Who sits with whom.


def may_meet(job: Job, others: list[Job], heat: Heat, threshold: float) -> bool:
    return all(
        heat.speedup(job.application, other.application) >= threshold
        and heat.speedup(other.application, job.application) >= threshold
        for other in others
    )


def value_of(place: str, job: Job, others: list[Job], heat: Heat) -> float:
    """How much the placement wants to put the job beside these."""
    if place == "occupied-first":
        return 1.0 if others else 0.0
    if place != "best-pair":
        return 0.0
    if not others:
        return heat.on_its_own(job.application)
    of, pair = job.application, heat.speedup
    return min((pair(of, other.application) + pair(other.application, of)) / 2 for other in others)
