"""The hosts as the engine has them: each a node with one slot, numbered as the protocol numbers resources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from schedlab.bridge.batsim.platform import Host, Platform
from schedlab.cluster.simgrid.hosts import Hosts, node_groups, split_host_name
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.workload.batsim.reference import REFERENCE_SPEED


def nodes_of(platform: Platform, name: str) -> Cluster:
    """The hosts as a cluster. Whatever cores a host has, a job has it whole; a storage has none that count."""
    return Cluster((*_groups(platform.compute, 1), *_groups(platform.storage, 0)), name=name)


def single_cores(cluster: Cluster) -> Platform:
    """A machine whose jobs ask for cores: each core is a host."""
    if cluster.pool:
        return Platform.of(cluster)
    hosts = [
        Host(f"{node}.{core}" if group.resources.get("cores", 1) > 1 else node, (group.speed or REFERENCE_SPEED,))
        for group in cluster.groups
        for node in group.node_names()
        for core in range(group.resources.get("cores", 1))
    ]
    return Platform(hosts)


def _groups(hosts: Sequence[Host], slots: int) -> list[NodeGroup]:
    """Neighbours of one speed whose names count up are one group: a run folder need not list thousands of them."""
    some = [
        Hosts(*split_host_name(host.name), 1, slots, host.speeds[host.pstate], {}, frozenset(), 0, "", 0)
        for host in hosts
    ]
    return [replace(group, name=group.node_set) for group, _ in node_groups(some, set())]
