"""The machine as Batsim numbers and describes it: compute hosts first, then storages, each by their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schedlab.bridge.batsim.routing import Routing
from schedlab.cluster.simgrid.read import read_simgrid
from schedlab.cluster.simgrid.units import parse_speeds
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.errors import InputError
from schedlab.model.network import Zone
from schedlab.workload.batsim.reference import REFERENCE_SPEED

COMPUTE_NODE = "compute_node"


@dataclass(frozen=True, slots=True)
class Host:
    name: str
    speeds: tuple[float, ...]  # flops a second of a core, in each p-state
    pstate: int = 0  # the one in which it begins
    cores: int = 1
    properties: Mapping[str, str] = field(default_factory=dict)
    zone_properties: Mapping[str, str] = field(default_factory=dict)
    role: str = COMPUTE_NODE  # or "storage", "master"


class Platform:
    """`hosts[id]` is the resource of that number: `compute` from 0 on, `storage` after them.

    `routing` is the way between any two of them by their names; None: communication costs nothing.
    """

    def __init__(self, compute: Sequence[Host], storage: Sequence[Host] = (), routing: Routing | None = None) -> None:
        self.compute, self.storage, self.routing = tuple(compute), tuple(storage), routing
        self.hosts = self.compute + self.storage

    def speed(self, host: int) -> float:
        """Flops a second of a core of a host, in the state in which it begins."""
        one = self.hosts[host]
        return one.speeds[one.pstate]

    @classmethod
    def read(cls, path: Path, roles: Mapping[str, str] | None = None) -> Platform:
        """A SimGrid platform (XML); `roles` of hosts besides those that it gives them."""
        return cls.of(read_simgrid(path, roles))

    @classmethod
    def of(cls, cluster: Cluster) -> Platform:
        """A cluster, wherever it comes from: its nodes are the hosts, the cores of a pool each one of its own."""
        if cluster.pool:
            (pool,) = cluster.groups
            width = len(str(pool.resources["cores"] - 1))
            names = [f"core{number:0{width}d}" for number in range(pool.resources["cores"])]
            return cls([Host(name, (pool.speed or REFERENCE_SPEED,)) for name in names])
        network = cluster.network
        if network is None:
            return cls(_sorted(cluster.groups, {}))
        zones = _zone_properties(network.zone, {})
        groups = {group.name: group for group in (*cluster.groups, *network.others)}
        for group in cluster.groups:
            if not group.speed > 0:
                hint = "a host computes, unless it is the master or a storage: say its speed, or its role"
                raise InputError(f"{group.node_set} has no speed above 0", where=cluster.name, hint=hint)
        storage = [group for group in network.others if group.properties.get("role") == "storage"]
        return cls(_sorted(cluster.groups, zones), _sorted(storage, zones), Routing(network, groups))


def _sorted(groups: Sequence[NodeGroup], zones: Mapping[str, Mapping[str, str]]) -> list[Host]:
    """As SimGrid keeps hosts: a0, a1, a10, a100, a2 …"""
    hosts = [host for group in groups for host in _hosts(group, zones.get(group.name, {}))]
    return sorted(hosts, key=lambda host: host.name)


def _zone_properties(zone: Zone, outer: Mapping[str, str]) -> dict[str, Mapping[str, str]]:
    """Of each node group: those of its zone, and of the zones around it where it has none of that name."""
    properties = {**outer, **zone.properties}
    found: dict[str, Mapping[str, str]] = dict.fromkeys(zone.groups, properties)
    for inner in zone.zones:
        found |= _zone_properties(inner, properties)
    return found


def _hosts(group: NodeGroup, zone_properties: Mapping[str, str]) -> list[Host]:
    properties = dict(group.properties)
    speeds = tuple(parse_speeds(properties.pop("speeds"))) if "speeds" in properties else ()
    speeds = speeds or (group.speed or REFERENCE_SPEED,)
    pstate = int(properties.pop("pstate", "0"))
    role = properties.pop("role", COMPUTE_NODE)
    cores = max(group.resources.get("cores", 1), 1)
    return [Host(name, speeds, pstate, cores, properties, zone_properties, role) for name in group.node_names()]
