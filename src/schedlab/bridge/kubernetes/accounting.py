"""Jobs and machine as the engine accounts for them when Kubernetes decides: what is allocatable, in one unit."""

from __future__ import annotations

from dataclasses import replace

from schedlab.bridge.kubernetes.nodes import counted
from schedlab.model.cluster import Cluster
from schedlab.model.request import Request
from schedlab.model.workload import Workload


def accounted(workload: Workload, cluster: Cluster) -> tuple[Workload, Cluster]:
    """Thousandths of cores, where a job asks for a share of one or a node can be used in part; whole ones otherwise.

    What no node says that it has (memory, on a machine of which only cores are known) does not count, as for every
    policy; and it must not be asked for, since a scheduler would look for it in vain.
    """
    batches = list(workload.batches())  # the requests are complete after a pass over them
    machine = counted(cluster)
    exact = any("cpu_milli" in request.chunk for request in workload.requests) or any(
        group.resources.get("cpu_milli", 0) % 1000 for group in machine.groups
    )
    if not exact:
        groups = [replace(group, resources=_without(group.resources, "cpu_milli")) for group in machine.groups]
        machine = replace(machine, groups=tuple(groups))
    features = any(group.features for group in machine.groups)
    kept = {*machine.resource_names, "gpus"}
    requests = [
        replace(
            request,
            chunk=_chunk(request, kept, exact),
            features=request.features if features else frozenset(),
            partition=request.partition if machine.partitions else None,
            sbatch=(),
        )
        for request in workload.requests
    ]
    return replace(workload, requests=requests, source=lambda: iter(batches)), machine


def _chunk(request: Request, kept: set[str], exact: bool) -> dict[str, int]:
    chunk = {name: amount for name, amount in request.chunk.items() if name in kept}
    if exact:
        cores = chunk.pop("cores", 0)
        chunk["cpu_milli"] = chunk.get("cpu_milli", 0) + 1000 * cores
    return chunk


def _without(amounts: dict[str, int], name: str) -> dict[str, int]:
    return {one: amount for one, amount in amounts.items() if one != name}
