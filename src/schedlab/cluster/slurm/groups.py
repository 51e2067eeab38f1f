"""Nodes as groups: alike, numbered one after the other, and in the same sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from schedlab.cluster.slurm.hosts import split_host
from schedlab.model.cluster import NodeGroup


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    resources: dict[str, int]
    sockets: int
    features: frozenset[str]
    weight: int


def group_nodes(nodes: Sequence[Node], sets: Iterable[frozenset[str]]) -> list[NodeGroup]:
    """Groups in the order of `nodes`, so that each of `sets` is a union of them."""
    membership = dict.fromkeys((node.name for node in nodes), 0)
    for bit, names in enumerate(sets):
        for name in names:
            membership[name] |= 1 << bit
    runs: list[list[Node]] = []
    for node in nodes:
        last = runs[-1][-1] if runs else None
        if last and _alike(last, node) and membership[last.name] == membership[node.name] and _follows(last, node):
            runs[-1].append(node)
        else:
            runs.append([node])
    return [_group(run) for run in runs]


def name_groups(groups: Sequence[NodeGroup], given: Mapping[str, frozenset[str]]) -> list[str]:
    """A name for each group: that of the set of exactly its nodes, or what its nodes' names begin with."""
    named = {names: name for name, names in reversed(list(given.items()))}
    plain = [(group.prefix.rstrip("-_.") + group.suffix) or "nodes" for group in groups]
    often = Counter(plain)
    found: list[str] = []
    for group, name in zip(groups, plain, strict=True):
        if often[name] > 1:
            name = group.node_name(0)
            if group.count > 1:
                name += f"-{group.first + group.count - 1:0{group.width}d}"
        name = named.get(frozenset(group.node_names()), name)
        while name in found:
            name += "_"
        found.append(name)
    return found


def _alike(one: Node, other: Node) -> bool:
    return (one.resources, one.sockets, one.features, one.weight) == (
        *(other.resources, other.sockets, other.features, other.weight),
    )


def _follows(one: Node, other: Node) -> bool:
    """Whether the next name after `n09` is this one: `n10`, and `n100` after `n99`."""
    (prefix, digits, suffix), (later_prefix, later, later_suffix) = split_host(one.name), split_host(other.name)
    if (prefix, suffix) != (later_prefix, later_suffix) or not digits or not later:
        return False
    return later == f"{int(digits) + 1:0{len(digits)}d}"


def _group(run: Sequence[Node]) -> NodeGroup:
    node = run[0]
    prefix, digits, suffix = split_host(node.name)
    return NodeGroup(
        name="",
        count=len(run),
        resources=dict(node.resources),
        prefix=prefix,
        first=int(digits or 1),
        width=len(digits),
        suffix=suffix,
        numbered=bool(digits),
        sockets=node.sockets,
        features=node.features,
        weight=node.weight,
    )
