"""A machine as racks of nodes, for drawing."""

from __future__ import annotations

from typing import Any

from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.resources import amount, resources_of

RACK = 32  # nodes in a rack, where nobody says how they stand
MOST_NODES = 20_000  # that are drawn one by one


def racks(cluster: Cluster) -> dict[str, Any]:
    """Groups with what a node has; in racks of a switch's nodes where the cluster has a tree of them."""
    totals = [{"name": each.name, "total": amount(each.name, each.total(cluster))} for each in resources_of(cluster)]
    return {
        "name": cluster.name,
        "pool": cluster.pool,
        "nodes": cluster.nodes,
        "cores": cluster.cores,
        "totals": totals,
        "groups": [_group(group) for group in cluster.groups],
        "partitions": [{"name": each.name, "groups": list(each.groups)} for each in cluster.partitions],
        "switches": [{"name": each.name, "nodes": each.nodes} for each in cluster.switches if each.nodes],
        "rack": RACK,
        "drawn": cluster.nodes <= MOST_NODES,
        "notes": list(cluster.notes),
    }


def _group(group: NodeGroup) -> dict[str, Any]:
    return {
        "name": group.name,
        "count": group.count,
        "nodes": group.node_set,
        "cores": group.resources.get("cores", 0),
        "sockets": list(group.socket_sizes),
        "resources": {name: amount(name, n) for name, n in group.resources.items() if n and name != "cores"},
        "features": sorted(group.features),
    }
