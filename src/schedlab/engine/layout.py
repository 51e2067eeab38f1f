"""Jobs side by side on nodes: each gets a part of every socket of its nodes, and the same part on each of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.eligible import eligible_groups
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import JobBatch

PARTS = "parts"  # a resource: how many jobs a node takes, where that does not follow from counting cores


@dataclass(frozen=True, slots=True)
class Part:
    """What a job gets of a node of some group: that fraction of the cores of every socket, rounded down."""

    cores: int
    jobs: int  # so many can be there side by side

    @classmethod
    def of(cls, group: NodeGroup, fraction: Fraction) -> Part:
        each = [int(size * fraction) for size in group.socket_sizes]
        if not any(each):
            hint = "choose a larger fraction, or a machine whose nodes have more cores"
            sizes = " + ".join(map(str, group.socket_sizes))
            message = f"no socket of {group.node_set} ({sizes} cores) has a core to give for fraction={fraction}"
            raise InputError(message, hint=hint)
        return cls(sum(each), min(size // part for size, part in zip(group.socket_sizes, each, strict=True) if part))


class Layout:
    """How the jobs of a run are laid out on a machine by parts of sockets.

    A job has as many processes on each node as its part has cores, as far as the node has the rest that they ask for,
    and holds the whole part, also where it has fewer processes. Nodes of different kinds: the smallest part counts.
    Jobs that ask for whole nodes, whose chunks are larger than a part, or that would need more nodes than there are,
    have whole nodes for themselves.
    """

    def __init__(self, cluster: Cluster, fraction: Fraction) -> None:
        if cluster.pool:
            hint = f"give nodes: --cluster {cluster.cores}x1, or fewer with more cores each"
            raise InputError("cosched: a pool has no nodes to share", hint=hint)
        self._parts = {group.name: Part.of(group, fraction) for group in cluster.groups}
        same = len({part.cores for part in self._parts.values()}) == 1  # else a job may hold less than a node's part
        self.counted = same and all(
            group.resources.get("cores", 0) // (part := self._parts[group.name]).cores == part.jobs
            for group in cluster.groups
        )
        self.cluster = cluster if self.counted else self._with_parts(cluster)
        self._numbers: dict[tuple[object, ...], int] = {}

    def _with_parts(self, cluster: Cluster) -> Cluster:
        groups = [
            replace(group, resources={**group.resources, PARTS: self._parts[group.name].jobs})
            for group in cluster.groups
        ]
        return replace(cluster, groups=tuple(groups))

    def batch(self, batch: JobBatch, requests: list[Request]) -> tuple[JobBatch, list[Request]]:
        """The jobs as they are laid out. New requests are added to `requests`, and returned."""
        if batch.shapes is not None:
            hint = "leave the shapes out of the log (moldable = false), or choose another policy"
            raise InputError("cosched: jobs with several shapes cannot be laid out side by side", hint=hint)
        before = len(requests)
        number, count = batch.request.copy(), batch.count.copy()
        for old in np.unique(batch.request).tolist():
            here = np.flatnonzero(batch.request == old)
            number[here], count[here] = self._laid_out(old, requests, batch.count[here])
        return replace(batch, request=number, count=count), requests[before:]

    def _laid_out(
        self, old: int, requests: list[Request], counts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        request = requests[old]
        groups = [
            group
            for group, may in zip(self.cluster.groups, eligible_groups(self.cluster, request)[0], strict=True)
            if may
        ]
        each = 0 if request.exclusive or not groups else self._chunks(request, groups)
        if not each:  # whole nodes
            alone = self._number(replace(request, exclusive=True), requests)
            return np.full(len(counts), alone, np.int32), counts
        nodes = -(-counts // each)
        largest = sum(group.count for group in groups)
        numbers = np.empty(len(counts), np.int32)
        for held in np.unique(np.minimum(counts, each)).tolist():
            numbers[np.minimum(counts, each) == held] = self._number(self._spread(request, groups, held), requests)
        compact = nodes > largest
        if compact.any():
            numbers[compact] = self._number(replace(request, exclusive=True), requests)
        return numbers, np.where(compact, counts, nodes)

    def _chunks(self, request: Request, groups: list[NodeGroup]) -> int:
        """How many of its chunks a job has on a node; 0 if not even one has room in a part."""
        most = [self._part(groups) // cores if (cores := request.chunk.get("cores", 0)) else 0]
        for group in groups:
            most += [
                group.resources.get(name, 0) // amount
                for name, amount in request.chunk.items()
                if amount and name != "cores"
            ]
        if request.per_node_max:
            most.append(request.per_node_max)
        each = min(most)
        return each if each >= request.per_node_min else 0

    def _part(self, groups: list[NodeGroup]) -> int:
        return min(self._parts[group.name].cores for group in groups)

    def _spread(self, request: Request, groups: list[NodeGroup], held: int) -> Request:
        chunk = {name: amount * held for name, amount in request.chunk.items()} | {"cores": self._part(groups)}
        if not self.counted:
            chunk[PARTS] = 1
        return replace(request, chunk=chunk, per_node_min=0, per_node_max=1, spread=True)

    def _number(self, request: Request, requests: list[Request]) -> int:
        number = self._numbers.setdefault(request.key, len(requests))
        if number == len(requests):
            requests.append(request)
        return number
