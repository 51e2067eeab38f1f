"""What the parts of a cluster file must not do to each other: same names, same nodes, unknown groups, two defaults."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.model.cluster import NodeGroup, Partition, Switch
from schedlab.model.errors import InputError
from schedlab.model.nodeset import MOST_NODES, expand
from schedlab.model.suggest import did_you_mean
from schedlab.model.toml_lines import TomlMistakes
from schedlab.model.units import LARGEST_AMOUNT


def check_groups(groups: Sequence[NodeGroup | None], mistakes: TomlMistakes) -> None:
    """`groups` as in the file; None where a group is already known to be wrong."""
    known: list[NodeGroup] = []
    for index, group in enumerate(groups):
        if group is None:
            continue
        if any(other.name == group.name for other in known):
            message = f'name = "{group.name}": there is a node group of that name above'
            mistakes.add(("nodes", index, "name"), message, "expected a name of its own")
        if group.sockets > max(group.resources["cores"], 1):
            message = f"sockets = {group.sockets}: expected at most the number of cores, {group.resources['cores']}"
            mistakes.add(("nodes", index, "sockets"), message)
        if group.socket_cores and sum(group.socket_cores) != group.resources["cores"]:
            message = (
                f"the sockets have {sum(group.socket_cores)} cores in all, the node has {group.resources['cores']}"
            )
            mistakes.add(("nodes", index, "sockets"), message)
        if other := next((other for other in known if _share_a_name(group, other)), None):
            key = "first" if group.first != 1 else "prefix"
            message = f"the nodes {group.node_set} have the names of nodes of group '{other.name}', {other.node_set}"
            hint = f"give the group a prefix of its own, or first = {other.first + other.count}"
            mistakes.add(("nodes", index, key), message, hint)
        known.append(group)
    if known and len(known) == len(groups):
        _check_totals(known, mistakes)


def check_partitions(partitions: Sequence[Partition | None], groups: Sequence[object], mistakes: TomlMistakes) -> None:
    """`groups` are the names of all node groups, also of wrong ones: no error should come from another error."""
    names = [name for name in groups if isinstance(name, str)]
    known: list[Partition] = []
    for index, partition in enumerate(partitions):
        if partition is None:
            continue
        path = ("partitions", index)
        if any(other.name == partition.name for other in known):
            message = f'name = "{partition.name}": there is a partition of that name above'
            mistakes.add((*path, "name"), message, "expected a name of its own")
        for position, group in enumerate(partition.groups):
            if group not in names:
                hint = did_you_mean(group, names, f"node groups: {', '.join(names) or 'none'}")
                mistakes.add((*path, "nodes"), f'nodes[{position}] = "{group}": there is no such node group', hint)
            elif group in partition.groups[:position]:
                mistakes.add((*path, "nodes"), f'nodes[{position}] = "{group}" appears twice', "expected it once")
        if partition.default and (first := next((other for other in known if other.default), None)):
            message = f"default = true: '{first.name}' is the default already"
            mistakes.add((*path, "default"), message, "expected one default partition")
        known.append(partition)


def check_switches(
    switches: Sequence[Switch | None], groups: Sequence[NodeGroup | None], mistakes: TomlMistakes
) -> None:
    """A tree: known nodes, known switches, each below one switch only, none below itself."""
    known = [switch for switch in switches if switch]
    names = {switch.name: switch for switch in known}
    nodes = {name for group in groups if group for name in group.node_names()} if known else set()
    above: dict[str, str] = {}
    for index, switch in enumerate(switches):
        if switch is None:
            continue
        path = ("switches", index)
        if names[switch.name] is not switch:
            mistakes.add((*path, "name"), f'name = "{switch.name}": there is a switch of that name already')
        try:
            below = [name for name, _ in expand(switch.nodes)]
        except InputError as error:
            mistakes.add((*path, "nodes"), error.message, error.hint)
            below = []
        for node in [node for node in below if node not in nodes][:3]:
            mistakes.add((*path, "nodes"), f'"{node}": there is no such node')
        for other in [other for other in switch.switches if other not in names]:
            hint = did_you_mean(other, list(names), f"switches: {', '.join(names)}")
            mistakes.add((*path, "switches"), f'"{other}": there is no such switch', hint)
        for child in [*below, *(f"switch {other}" for other in switch.switches)]:
            if above.setdefault(child, switch.name) != switch.name:
                mistakes.add(path, f"{child} is below {above[child]} already", "a tree: one switch above each")
    for index, switch in enumerate(switches):
        if switch and _is_below_itself(switch, names):
            mistakes.add(("switches", index), f"switch {switch.name} is below itself")


def _is_below_itself(switch: Switch, names: dict[str, Switch]) -> bool:
    seen: set[str] = set()
    below = list(switch.switches)
    while below:
        name = below.pop()
        if name == switch.name:
            return True
        if name in names and name not in seen:
            seen.add(name)
            below += names[name].switches
    return False


def _check_totals(groups: list[NodeGroup], mistakes: TomlMistakes) -> None:
    if sum(group.count for group in groups) > MOST_NODES:
        mistakes.add(("nodes",), f"the cluster has more than {MOST_NODES:,} nodes", "expected fewer nodes")
    if not any(group.resources["cores"] for group in groups):
        mistakes.add(("nodes", 0, "cores"), "the cluster has no cores", "expected cores of at least 1 in some group")
    for resource in dict.fromkeys(name for group in groups for name in group.resources):
        if sum(group.count * group.resources.get(resource, 0) for group in groups) > LARGEST_AMOUNT:
            message = f"the nodes have {resource} of more than {LARGEST_AMOUNT:,} together"
            mistakes.add(("nodes", 0, resource), message, "expected a smaller amount, or fewer nodes")


def _share_a_name(one: NodeGroup, other: NodeGroup) -> bool:
    """Whether numbers overlap below one prefix; n1 and n01 count as the same, for people's sake."""
    overlap = one.first < other.first + other.count and other.first < one.first + one.count
    same = (one.prefix, one.suffix, one.numbered) == (other.prefix, other.suffix, other.numbered)
    return same and (overlap or not one.numbered)
