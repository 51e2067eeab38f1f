"""A cluster as rows of text."""

from __future__ import annotations

from collections.abc import Iterator

from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.resources import THOUSANDTHS, amount, amount_of, resources_of


def cluster_rows(cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    """Rows to print: section, name, value."""
    yield "machine", "name", cluster.name
    yield "machine", "nodes", f"{cluster.nodes:,}"
    for resource in resources_of(cluster):
        shares = ", ".join(part for part in resource.parts if part in THOUSANDTHS)
        told = f" (thousandths can be asked for: {shares})" if shares else ""
        yield "machine", resource.name, amount(resource.name, resource.total(cluster)) + told
    for group in cluster.groups:
        yield "nodes", group.name, _group(group)
    for partition in cluster.partitions:
        default = " (default)" if partition.default else ""
        yield "partitions", partition.name, ", ".join(partition.groups) + default
    for switch in cluster.switches:
        below = [switch.nodes] if switch.nodes else []
        yield "switches", switch.name, ", ".join([*below, *(f"switch {name}" for name in switch.switches)])


def _group(group: NodeGroup) -> str:
    has = {name: n for name, n in group.resources.items() if n and THOUSANDTHS.get(name) not in group.resources}
    own = ", ".join(amount_of(name, n) for name, n in has.items())
    more = [f"{group.sockets} sockets"] if group.sockets > 1 else []
    more += [f"{group.speed / 1e9:.4g} GFLOPS a core"] if group.speed else []
    more += [f"weight {group.weight}"] if group.weight != 1 else []
    more += [" ".join(sorted(group.features))] if group.features else []
    return "; ".join([f"{group.count:,} × {own}", group.node_set, *more])
