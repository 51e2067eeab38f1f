"""What of the jobs' requests counts on a machine: what the machine has nothing of cannot be scheduled, and is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.options import Detail
from schedlab.model.cluster import Cluster
from schedlab.model.request import Request, refuse_nonsense
from schedlab.model.resources import THOUSANDTHS
from schedlab.model.workload import JobBatch

REMEMBERED = 256  # objects whose numbers need not be looked up by what they say
ALWAYS = ("cores", "gpus")  # a job that asks for a GPU does not run on a machine without


class CountedRequests:
    """The requests of a workload as they count on a machine, each different one once.

    `detail` is "full", everything counts, even what no node has; "cores", nothing but cores and GPUs; or "auto",
    everything that the machine has: memory and other resources that some node has, features if some node has any,
    partitions if there are any. On a pool, how chunks are spread over nodes has no meaning.
    """

    def __init__(self, cluster: Cluster, detail: Detail) -> None:
        self._pool = cluster.pool
        everything = detail == "full"
        machine = () if detail == "cores" else cluster.resource_names
        self._resources = None if everything else {*ALWAYS, *machine}
        self._features = everything or (detail == "auto" and any(group.features for group in cluster.groups))
        self._partitions = everything or (detail == "auto" and bool(cluster.partitions))
        self.all: list[Request] = []
        self._known: dict[tuple[Any, ...], int] = {}
        self._objects: dict[int, tuple[Request, int]] = {}  # requests that were asked for lately, and their places
        self._places: list[int] = []  # of each of the workload's requests: its place in `all`
        self._left_out: list[tuple[str, ...]] = []  # of each of them: what of it does not count
        self._jobs = np.zeros(0, np.int64)  # how many jobs have it, where something of some request does not count

    def add(self, requests: Sequence[Request]) -> list[Request]:
        """The workload has more of them; what is new to the machine is returned."""
        before = len(self.all)
        for request in requests:
            counted = self._counted(request)
            place = self._known.setdefault(counted.key, len(self.all))
            if place == len(self.all):
                self.all.append(counted)
            self._places.append(place)
            self._left_out.append(self._not_counted(request))
        return self.all[before:]

    def number(self, request: Request) -> tuple[int, Request | None]:
        """The place of a request that is not of the workload; and as it counts, if it is new to the machine."""
        if (found := self._objects.get(id(request))) is not None:
            return found[1], None
        counted = self._counted(request)
        place = self._known.setdefault(counted.key, len(self.all))
        new = place == len(self.all)
        if new:
            self.all.append(counted)
        if len(self._objects) >= REMEMBERED:
            self._objects.clear()
        self._objects[id(request)] = (request, place)
        return place, counted if new else None

    def __len__(self) -> int:
        """How many of the workload's it knows."""
        return len(self._places)

    def batch(self, batch: JobBatch) -> JobBatch:
        """The same jobs, with places in `all`."""
        if any(self._left_out):
            found = np.bincount(batch.request, minlength=len(self._places))
            found[: len(self._jobs)] += self._jobs
            self._jobs = found
        if self._places == list(range(len(self._places))):
            return batch
        places = np.array(self._places, np.int32)
        shapes = None if batch.shapes is None else replace(batch.shapes, request=places[batch.shapes.request])
        request: NDArray[np.int32] = places[batch.request]
        return replace(batch, request=request, shapes=shapes)

    @property
    def left_out(self) -> dict[str, int]:
        """What does not count, and how many jobs ask for it."""
        found: dict[str, int] = {}
        for names, jobs in zip(self._left_out, self._jobs.tolist(), strict=False):
            for name in names:
                found[name] = found.get(name, 0) + jobs
        return {name: jobs for name, jobs in found.items() if jobs}

    def _counted(self, request: Request) -> Request:
        refuse_nonsense(request)
        kept = self._resources
        found = replace(
            request,
            chunk=request.chunk if kept is None else _counted_chunk(request.chunk, kept),
            features=request.features if self._features else frozenset(),
            partition=request.partition if self._partitions else None,
            sbatch=(),
        )
        return found.anywhere() if self._pool else found

    def _not_counted(self, request: Request) -> tuple[str, ...]:
        kept = self._resources
        amounts = [
            name
            for name, amount in request.chunk.items()
            if amount and kept is not None and name not in kept and THOUSANDTHS.get(name) not in kept
        ]
        features = ["features"] if request.features and not self._features else []
        partition = ["partition"] if request.partition is not None and not self._partitions else []
        return (*amounts, *features, *partition)


def _counted_chunk(chunk: dict[str, int], kept: set[str]) -> dict[str, int]:
    """What counts of a chunk. Shares of what the machine has only whole ones of are rounded up to these."""
    found = {name: amount for name, amount in chunk.items() if name in kept}
    for name, amount in chunk.items():
        whole = THOUSANDTHS.get(name)
        if name not in kept and whole in kept:
            found[whole] = found.get(whole, 0) + -(-amount // 1000)
    return found
