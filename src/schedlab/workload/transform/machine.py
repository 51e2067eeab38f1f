"""The same jobs for another machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from schedlab.model.errors import InputError
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.workload import JobBatch, Workload
from schedlab.workload.swf.header import machine_size
from schedlab.workload.transform.derive import Changes, derive


def rescale(workload: Workload, machine: int, old: int | None = None) -> Workload:
    """Job sizes × `machine` / `old` (the machine that the header names), rounded up; at least 1, at most the machine.

    Rounding up makes small jobs relatively larger: 1 remains 1 on half the machine. Sizes that are powers of two stay
    so only if the ratio of the machines is one. Jobs become so many single cores, each with its share of the memory:
    how cores were grouped on nodes, and what else they asked for, means nothing on another machine.
    """
    old = old or processors(workload)
    if not old:
        raise InputError(
            "the log does not say how large its machine is", where=workload.name, hint="say it: --from PROCESSORS"
        )
    if machine < 1 or old < 1:
        raise InputError(f"a machine of {min(machine, old)} processors", hint="a whole number above 0")
    if workload.flexible:
        raise InputError("jobs that may have several shapes cannot be rescaled", where=workload.name)

    requests, catch_up = _following(workload.requests, _single)

    def step(batches: Iterator[JobBatch], changes: Changes) -> Iterator[JobBatch]:
        for batch in batches:
            catch_up()
            cores = workload.cores(batch)
            wanted = -(-cores * machine // old)
            changes.filled["size: cut to the machine"] += int((wanted > machine).sum())
            for what, asks in _GIVEN_UP.items():
                given_up = np.array([asks(request) for request in workload.requests], bool)
                changes.filled[what] += int(given_up[batch.request].sum())
            yield replace(batch, count=np.clip(wanted, 1, machine))

    header = {"MaxProcs": str(machine), "MaxNodes": str(machine)}
    note = f"job sizes × {machine}/{old}, rounded up"
    return derive(workload, note, step, job_by_job=True, requests=requests, header=header)


def _single(request: Request) -> Request:
    """A core of it, with its share of the memory."""
    cores = max(request.chunk.get("cores", 1), 1)
    memory = -(-request.chunk.get("memory", 0) // cores)
    return Request({"cores": 1, "memory": memory}) if memory else SINGLE_CORE


# What rescaled jobs no longer ask for.
_GIVEN_UP: dict[str, Callable[[Request], bool]] = {
    "cores that were grouped on nodes: may go anywhere now": lambda request: bool(
        request.chunk.get("cores", 0) != 1 or request.per_node_min or request.per_node_max or request.exclusive
    ),
    "requests for GPUs, features or a partition: dropped": lambda request: bool(
        request.features or request.partition or request.chunk.keys() - {"cores", "memory"}
    ),
}


def nodes_to_cores(workload: Workload, cores_per_node: int) -> Workload:
    """Sizes that are counted in nodes: each chunk of a job, which was 1, becomes `cores_per_node` cores of one node."""
    if cores_per_node < 1:
        raise InputError(f"a node of {cores_per_node} cores", hint="a whole number above 0")

    def wider(request: Request) -> Request:
        return replace(request, chunk=request.chunk | {"cores": request.chunk.get("cores", 1) * cores_per_node})

    requests, catch_up = _following(workload.requests, wider)

    def step(batches: Iterator[JobBatch], _changes: Changes) -> Iterator[JobBatch]:
        for batch in batches:
            catch_up()
            yield batch

    machine = processors(workload)
    header = {"MaxProcs": str(machine * cores_per_node)} if machine else {}
    note = f"sizes in nodes made cores: {cores_per_node} a node"
    return derive(workload, note, step, job_by_job=True, requests=requests, header=header)


def processors(workload: Workload) -> int | None:
    """The size of the machine, if the header says it."""
    found = machine_size(workload.header)
    return None if found is None else found[0]


def _following(
    requests: list[Request], change: Callable[[Request], Request]
) -> tuple[list[Request], Callable[[], None]]:
    """A changed copy of a list that may grow during a pass, and what brings it up to date."""
    changed: list[Request] = []

    def catch_up() -> None:
        changed.extend(change(request) for request in requests[len(changed) :])

    catch_up()
    return changed, catch_up
