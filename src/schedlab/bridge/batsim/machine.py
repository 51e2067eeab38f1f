"""The hosts as the engine has them: each a node with one slot, numbered as the protocol numbers resources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from schedlab.bridge.batsim.platform import Host, Platform
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.workload.batsim.reference import REFERENCE_SPEED

_NUMBERED = re.compile(r"(.*?)(0|[1-9][0-9]{0,8})(\D*)")  # compute12.site: without zeros in front


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
    """Neighbours whose names count up are one group: a run folder need not list thousands of them."""
    groups: list[NodeGroup] = []
    for host in hosts:
        found = _NUMBERED.fullmatch(host.name)
        last = groups[-1] if groups else None
        if found and last is not None and last.numbered:
            prefix, number, suffix = found[1], int(found[2]), found[3]
            if (prefix, suffix, last.first + last.count) == (last.prefix, last.suffix, number):
                groups[-1] = replace(last, count=last.count + 1)
                continue
        groups.append(_group(host, found, slots))
    return [replace(group, name=group.node_set) for group in groups]


def _group(host: Host, found: re.Match[str] | None, slots: int) -> NodeGroup:
    speed, has = host.speeds[host.pstate], {"cores": slots}
    if found is None:
        return NodeGroup("", 1, has, prefix=host.name, numbered=False, speed=speed)
    return NodeGroup("", 1, has, prefix=found[1], first=int(found[2]), suffix=found[3], speed=speed)
