"""A cluster as rows of text."""

from __future__ import annotations

from collections.abc import Iterator

from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.units import format_bytes


def cluster_rows(cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    """Rows to print: section, name, value."""
    yield "machine", "name", cluster.name
    yield "machine", "nodes", f"{cluster.nodes:,}"
    for resource in cluster.resource_names:
        yield "machine", resource, _amount(resource, cluster.total(resource))
    for group in cluster.groups:
        yield "nodes", group.name, _group(group)
    for partition in cluster.partitions:
        default = " (default)" if partition.default else ""
        yield "partitions", partition.name, ", ".join(partition.groups) + default
    for switch in cluster.switches:
        below = [switch.nodes] if switch.nodes else []
        yield "switches", switch.name, ", ".join([*below, *(f"switch {name}" for name in switch.switches)])


def _group(group: NodeGroup) -> str:
    own = ", ".join(f"{_amount(name, amount)} {name}" for name, amount in group.resources.items() if amount)
    more = [f"{group.sockets} sockets"] if group.sockets > 1 else []
    more += [f"{group.speed / 1e9:.4g} GFLOPS a core"] if group.speed else []
    more += [f"weight {group.weight}"] if group.weight != 1 else []
    more += [" ".join(sorted(group.features))] if group.features else []
    return "; ".join([f"{group.count:,} × {own}", group.node_set, *more])


def _amount(resource: str, amount: int) -> str:
    return format_bytes(amount) if resource == "memory" else f"{amount:,}"
