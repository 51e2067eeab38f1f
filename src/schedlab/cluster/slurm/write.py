"""Write a cluster as the nodes and partitions of a slurm.conf, and its switches as the topology.conf beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from schedlab.cluster.slurm.entries import beside
from schedlab.cluster.slurm.groups import Node, group_nodes, name_groups
from schedlab.cluster.slurm.hosts import MOST_NAMES
from schedlab.files.slurm_values import gres_text
from schedlab.files.whole_file import whole_file
from schedlab.model.cluster import Cluster, NodeGroup

MEGABYTE = 2**20
_WORD = re.compile(r"[A-Za-z0-9_.:+-]+")


def write_slurm_conf(path: Path, cluster: Cluster) -> list[str]:
    """Returns sentences about what the file cannot hold. Switches are written if it is called slurm.conf, or so."""
    lost = list(_losses(cluster))
    if cluster.network is not None:
        lost.append("the network: slurm.conf has no place for links and routes")
    with whole_file(path) as file:
        file.write(("\n".join(_lines(cluster)) + "\n").encode())
    topology = beside(path, "topology")
    if cluster.switches and topology:
        with whole_file(topology) as file:
            file.write(("\n".join(_switch_lines(cluster)) + "\n").encode())
    elif cluster.switches:
        lost.append("the switches: they are written only beside a file with slurm in its name")
    return lost


def _lines(cluster: Cluster) -> Iterator[str]:
    yield f"ClusterName={_quoted(cluster.name)}"
    resources = dict.fromkeys(
        "gpu" if name == "gpus" else name.partition(":")[0]
        for group in cluster.groups
        for name in _generic(group)
        if gres_text(_generic(group))
    )
    if resources:
        yield f"GresTypes={','.join(resources)}"
    memory = "_Memory" if "memory" in cluster.resource_names else ""
    yield from ("SelectType=select/cons_tres", f"SelectTypeParameters=CR_Core{memory}", "")
    for group in cluster.groups:
        yield " ".join(_node_words(group))
    yield ""
    if _needs_sets(cluster):
        yield from (f"NodeSet={group.name} Nodes={group.node_set}" for group in cluster.groups if _can_be_set(group))
    groups = {group.name: group for group in cluster.groups}
    for partition in cluster.partitions:
        if partition.groups:
            nodes = ",".join(groups[name].node_set for name in partition.groups)
            default = "YES" if partition.default else "NO"
            yield f"PartitionName={partition.name} Nodes={nodes} Default={default} State=UP"


def _node_words(group: NodeGroup) -> Iterator[str]:
    yield f"NodeName={group.node_set}"
    cores = group.resources.get("cores", 0)
    if cores and cores % group.sockets == 0:
        yield f"Sockets={group.sockets} CoresPerSocket={cores // group.sockets} ThreadsPerCore=1"
    else:
        yield f"CPUs={max(cores, 1)}"
    if "memory" in group.resources:
        yield f"RealMemory={group.resources['memory'] // MEGABYTE}"
    if generic := gres_text(_generic(group)):
        yield f"Gres={generic}"
    if features := [name for name in sorted(group.features) if _WORD.fullmatch(name)]:
        yield f"Feature={','.join(features)}"
    if group.weight != 1:
        yield f"Weight={group.weight}"
    yield "State=UNKNOWN"


def _switch_lines(cluster: Cluster) -> Iterator[str]:
    for switch in cluster.switches:
        nodes = f" Nodes={switch.nodes}" if switch.nodes else ""
        below = f" Switches={','.join(switch.switches)}" if switch.switches else ""
        yield f"SwitchName={switch.name}{nodes}{below}"


def _generic(group: NodeGroup) -> dict[str, int]:
    return {name: amount for name, amount in group.resources.items() if amount and name not in ("cores", "memory")}


def _needs_sets(cluster: Cluster) -> bool:
    """Whether reading would find other groups, or other names for them, without lines that name them."""
    nodes = [
        Node(name, group.resources, group.sockets, group.features, group.weight)
        for group in sorted(cluster.groups, key=lambda group: group.weight)
        for name in group.node_names()
    ]
    members = {group.name: frozenset(group.node_names()) for group in cluster.groups}
    sets = [frozenset[str]().union(*(members[name] for name in part.groups)) for part in cluster.partitions]
    found = group_nodes(nodes, sets)
    named = list(zip([group.node_set for group in found], name_groups(found, {}), strict=True))
    return named != [(group.node_set, group.name) for group in cluster.groups]


def _can_be_set(group: NodeGroup) -> bool:
    return _WORD.fullmatch(group.name) is not None and group.name not in group.node_names()


def _quoted(text: str) -> str:
    plain = re.sub(r'["#\r\n\\]', "_", text)
    return plain if re.fullmatch(r"\S+", plain) else f'"{plain}"'


def _losses(cluster: Cluster) -> Iterator[str]:
    if _quoted(cluster.name).strip('"') != cluster.name:
        yield "some characters of its name"
    if cluster.pool:
        yield "that its nodes do not matter (a pool is one node in a file)"
    if list(cluster.groups) != sorted(cluster.groups, key=lambda group: group.weight):
        yield "the order of node groups: Slurm takes nodes of small weight first"
    if cluster.nodes > MOST_NAMES:
        yield f"more than {MOST_NAMES:,} nodes: Slurm takes no more"
    for group in cluster.groups:
        cores = group.resources.get("cores", 0)
        if not cores:
            yield f"that nodes of {group.name} have no core: one is written"
        elif cores % group.sockets:
            yield f"the sockets of {group.name}: its cores cannot be shared out evenly"
        if group.resources.get("memory", 0) % MEGABYTE:
            yield f"the exact memory of {group.name} (rounded down to MB of 2^20 bytes)"
        if _generic(group) and not gres_text(_generic(group)):
            yield f"resources of {group.name}: {', '.join(_generic(group))}"
        odd = [name for name in sorted(group.features) if not _WORD.fullmatch(name)]
        if odd:
            yield f"features of {group.name}: {', '.join(odd)}"
        if group.speed:
            yield f"the speed of {group.name}"
        if group.properties:
            yield f"properties of {group.name}: {', '.join(group.properties)}"
    for partition in cluster.partitions:
        if not partition.groups:
            yield f"partition {partition.name}, which has no nodes"
