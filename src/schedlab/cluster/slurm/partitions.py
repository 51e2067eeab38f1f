"""The partitions and node sets of a slurm.conf, as sets of names of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from schedlab.cluster.slurm.lines import Mistakes, Record, Value, listed
from schedlab.cluster.slurm.nodes import Nodes
from schedlab.model.suggest import did_you_mean

# Of partitions: the same as if nothing was said.
_PLAIN = {
    "state": ("up",),
    "maxtime": ("infinite", "unlimited", "-1"),
    "maxnodes": ("unlimited", "infinite", "-1"),
    **dict.fromkeys(("allowgroups", "allowaccounts", "allowqos", "allocnodes"), ("all",)),
    **dict.fromkeys(("shared", "oversubscribe", "hidden", "rootonly", "exclusiveuser", "lln", "reqresv"), ("no",)),
    **dict.fromkeys(("disablerootjobs",), ("no", "yes")),
}
_DEFAULT_MEMORY = ("defmempercpu", "defmempernode", "defmempergpu")


@dataclass
class Partitions:
    """Names of nodes by partition and by node set; the partition of jobs that name none."""

    members: dict[str, frozenset[str]] = field(default_factory=dict)
    sets: dict[str, frozenset[str]] = field(default_factory=dict)
    default: str = ""
    notes: list[str] = field(default_factory=list)


def read_partitions(records: Sequence[Record], nodes: Nodes, mistakes: Mistakes) -> Partitions:
    found = Partitions()
    for record in records:
        if "nodeset" in record:
            mistakes.check_name(record["nodeset"])
            found.sets[record["nodeset"].text] = _node_set(record, nodes, found, mistakes)
    defaults = Record()
    unused: dict[str, list[str]] = {}  # key=value, and the partitions that have it
    for record in records:
        if "partitionname" not in record:
            continue
        given = dict(record)
        subject = given.pop("partitionname")
        if subject.text.upper() == "DEFAULT":
            defaults |= given
        elif subject.text in found.members:
            mistakes.add(subject, "there is a partition of that name above")
        else:
            mistakes.check_name(subject)
            _partition(subject, defaults | given, nodes, found, mistakes)
            for key, value in (defaults | given).items():
                if key not in ("nodes", "default") and value.text.casefold() not in _PLAIN.get(key, ()):
                    unused.setdefault(f"{value.key}={value.text}", []).append(subject.text)
    found.notes += _notes(found, unused)
    return found


def _partition(subject: Value, values: Record, nodes: Nodes, found: Partitions, mistakes: Mistakes) -> None:
    members = _resolve(values["nodes"], nodes, found, mistakes) if "nodes" in values else frozenset()
    found.members[subject.text] = members
    default = values.get("default")
    if default is not None and default.text.casefold() not in ("yes", "no"):
        mistakes.add(default, "expected YES or NO")
    elif default is not None and default.text.casefold() == "yes":
        found.default = subject.text  # the last one counts
    elif found.default == subject.text:
        found.default = ""


def _node_set(record: Record, nodes: Nodes, found: Partitions, mistakes: Mistakes) -> frozenset[str]:
    members: set[str] = set()
    if "feature" in record:
        wanted = record["feature"].text
        members |= {node.name for node in nodes.present.values() if wanted in node.features}
    if "nodes" in record:
        members |= _resolve(record["nodes"], nodes, found, mistakes)
    return frozenset(members)


def _resolve(value: Value, nodes: Nodes, found: Partitions, mistakes: Mistakes) -> frozenset[str]:
    """The nodes that a list stands for; it may name node sets, and ALL."""
    members: set[str] = set()
    unknown: list[str] = []
    for name in listed(value, mistakes) if value.text else ():
        if name in nodes.present:
            members.add(name)
        elif name in found.sets:
            members |= found.sets[name]
        elif name.upper() == "ALL":
            members |= nodes.present.keys()
        elif name not in nodes.absent and nodes.complete:
            unknown.append(name)
    if unknown:
        some = ", ".join(unknown[:3]) + ("…" if len(unknown) > 3 else "")
        hint = did_you_mean(unknown[0], [*list(nodes.present)[:1000], *found.sets])
        mistakes.add(value, f"there is no node {some}", hint)
    return frozenset(members)


def _notes(found: Partitions, unused: dict[str, list[str]]) -> Iterable[str]:
    empty = [name for name, members in found.members.items() if not members]
    for name in empty:
        del found.members[name]
    if empty:
        yield f"partitions without nodes are left out: {', '.join(empty)}"
    if found.default not in found.members:
        found.default = ""
    if found.members and not found.default:
        yield "no partition is the default one: jobs that name none may use every node"
    memory = [text for text in unused if text.partition("=")[0].casefold() in _DEFAULT_MEMORY]
    for text in memory:
        yield f"{text} ({', '.join(unused.pop(text))}): jobs that ask for no memory take none here"
    if unused:
        shown = "; ".join(f"{text} ({', '.join(names)})" for text, names in unused.items())
        yield f"limits and rights of partitions are not represented: {shown}"
