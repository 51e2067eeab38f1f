"""Write a cluster as a SimGrid platform for Batsim: a host for each node, a master, and no network between them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from schedlab.cluster.simgrid.units import format_speed
from schedlab.files.whole_file import whole_file
from schedlab.model.cluster import Cluster, NodeGroup

UNKNOWN_SPEED = 1e9  # what a host gets whose speed is not known: SimGrid wants one
CLUSTER_NAME = "cluster"  # property of the outermost zone
GROUP_NAME = "group"  # property of each host

_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
_TOP = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="zone" routing="Vivaldi">
"""
_BOTTOM = """  </zone>
</platform>
"""


def write_simgrid(path: Path, cluster: Cluster) -> list[str]:
    """Write a platform; what it has no place for is said in the sentences that come back."""
    names = set(cluster.node_names())
    master = next(
        name for name in ("master_host", *(f"master_host{n}" for n in range(len(names)))) if name not in names
    )
    with whole_file(path) as file:
        file.write(_TOP.encode())
        file.write(f"    {_property(CLUSTER_NAME, cluster.name)}\n".encode())
        # One that is called so is the master to Batsim, which refuses a host to which this is said twice.
        role = {} if master == "master_host" else {"role": "master"}
        file.write(_host(master, format_speed(UNKNOWN_SPEED), 1, role).encode())
        for group in cluster.groups:
            for text in _hosts(group):
                file.write(text.encode())
        file.write(_BOTTOM.encode())
    return _losses(cluster)


def _hosts(group: NodeGroup) -> Iterator[str]:
    properties = {GROUP_NAME: group.name} | group.properties
    state = properties.pop("pstate", "0")
    speed = properties.pop("speeds", "") or format_speed(group.speed or UNKNOWN_SPEED)
    for name in group.node_names():
        yield _host(name, speed, max(group.resources.get("cores", 0), 1), properties, state)


def _host(name: str, speed: str, cores: int, properties: dict[str, str], state: str = "0") -> str:
    more = f" pstate={_quoted(state)}" if state != "0" else ""
    lines = [f'    <host id={_quoted(name)} speed={_quoted(speed)} core="{cores}"{more} coordinates="0 0 0">']
    lines += [f"      {_property(key, value)}" for key, value in properties.items()]
    return "\n".join([*lines, "    </host>", ""])


def _lacks(group: NodeGroup, resource: str) -> bool:
    """Whether it has some of it, and no property that says so."""
    return bool(group.resources.get(resource)) and resource not in group.properties


def _property(key: str, value: str) -> str:
    return f"<prop id={_quoted(key)} value={_quoted(value)}/>"


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def _losses(cluster: Cluster) -> list[str]:
    groups = cluster.groups
    lost: list[tuple[str, list[NodeGroup]]] = [
        (f"{resource}: hosts have cores only", [one for one in groups if _lacks(one, resource)])
        for resource in cluster.resource_names
        if resource != "cores"
    ]
    lost += [
        ("features: there is no place for them", [group for group in groups if group.features]),
        ("sockets: there is no place for them", [group for group in groups if group.sockets != 1]),
        ("weights: there is no place for them", [group for group in groups if group.weight != 1]),
        ("unknown speeds: 1 Gf is written", [group for group in groups if not group.speed]),
        ("no cores: 1 is written", [group for group in groups if not group.resources.get("cores")]),
    ]
    said = []
    for what, having in lost:
        thing, _, why = what.partition(": ")
        if nodes := sum(group.count for group in having):
            said.append(f"{thing} ({nodes:,} {'node' if nodes == 1 else 'nodes'}): {why}")
    if cluster.partitions:
        said.append("partitions: there is no place for them")
    if cluster.network is not None:
        said.append("the network: the hosts are written without one")
    if cluster.switches:
        said.append("switches: the hosts are written without a network")
    if cluster.pool:
        said.append("that its nodes do not matter: a pool is one host")
    return said
