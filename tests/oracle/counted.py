"""What of a request counts on a cluster, by the rule of docs/semantics.md."""

from __future__ import annotations

from dataclasses import replace

from schedlab.model.cluster import Cluster
from schedlab.model.request import Request


def counted(request: Request, cluster: Cluster, detail: str) -> Request:
    if detail == "full":
        return request
    machine = {name for group in cluster.groups for name in group.resources} if detail == "auto" else set()
    chunk = {name: amount for name, amount in request.chunk.items() if name in machine | {"cores", "gpus"}}
    if detail != "auto" or not any(group.features for group in cluster.groups):
        request = replace(request, features=frozenset())
    if detail != "auto" or not cluster.partitions:
        request = replace(request, partition=None)
    return replace(request, chunk=chunk)
