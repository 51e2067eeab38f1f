"""Which nodes may serve a request, whatever they have free; and if none may, why."""

from __future__ import annotations

from schedlab.model.cluster import Cluster
from schedlab.model.request import Request


def eligible_groups(cluster: Cluster, request: Request) -> tuple[list[bool], str]:
    """For each node group whether it may; and the reason (one of REASONS) if the request can never be served."""
    everywhere = [True] * len(cluster.groups)
    if any(amount > 0 and name not in cluster.resource_names for name, amount in request.chunk.items()):
        return everywhere, "unknown resource"
    wanted = [
        p for p in cluster.partitions if (p.default if request.partition is None else p.name == request.partition)
    ]
    if request.partition is not None and not wanted:
        return everywhere, "unknown partition"
    inside = {name for partition in wanted for name in partition.groups}
    if not wanted:  # no partitions, or none for those who ask for none
        inside = {group.name for group in cluster.groups}
    groups = [group.name in inside and request.features <= group.features for group in cluster.groups]
    return groups, "" if any(groups) else "no node has the features"
