"""The partitions and node sets of a slurm.conf, as sets of names of nodes in service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from schedlab.cluster.slurm.entries import Settings, with_defaults
from schedlab.cluster.slurm.lines import Value, check_name, listed
from schedlab.cluster.slurm.nodes import NodeSpec
from schedlab.model.mistakes import SHOWN, Mistakes
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


def read_partitions(settings: Settings, nodes: Mapping[str, NodeSpec], mistakes: Mistakes) -> Partitions:
    found = Partitions()
    listing = _Listing(settings, nodes, found.sets, mistakes)
    for entry in settings.of("nodeset"):
        check_name(entry.subject, mistakes)
        feature = entry.fields.get("feature")
        chosen = {node.name for node in listing.in_service if feature and feature.text in node.features}
        found.sets[entry.subject.text] = listing.nodes_of(entry.fields.get("nodes")) | chosen
    unused: dict[str, list[str]] = {}  # key=value, and the partitions that have it
    for _, entry, fields in with_defaults(settings.entries, "partitionname"):
        name = entry.subject.text
        if name in found.members:
            entry.subject.wrong(mistakes, "there is a partition of that name above")
            continue
        check_name(entry.subject, mistakes)
        found.members[name] = listing.nodes_of(fields.get("nodes"))
        default = fields.get("default")
        if default and default.text.casefold() not in ("yes", "no"):
            default.wrong(mistakes, "expected YES or NO")
        elif default and default.text.casefold() == "yes":
            found.default = name  # the last one counts
        for key, value in fields.items():
            if key not in ("nodes", "default") and value.text.casefold() not in _PLAIN.get(key, ()):
                unused.setdefault(f"{value.key}={value.text}", []).append(name)
    found.notes += _notes(found, unused)
    return found


class _Listing:
    """Reads lists of nodes, which may name node sets, and ALL."""

    def __init__(
        self, settings: Settings, nodes: Mapping[str, NodeSpec], sets: Mapping[str, frozenset[str]], mistakes: Mistakes
    ) -> None:
        self._nodes, self._sets, self._mistakes = nodes, sets, mistakes
        self.in_service = [node for node in nodes.values() if node.in_service]
        lines = [entry.subject for entry in settings.of("nodename") if not entry.is_default]
        self._complete = all(listed(subject, mistakes) for subject in lines)  # else names are missing

    def nodes_of(self, value: Value | None) -> frozenset[str]:
        members: set[str] = set()
        unknown: list[str] = []
        for name in dict.fromkeys(listed(value, self._mistakes)) if value and value.text else ():
            if name in self._nodes:
                members |= {name} if self._nodes[name].in_service else set()
            elif name in self._sets:
                members |= self._sets[name]
            elif name.upper() == "ALL":
                members |= {node.name for node in self.in_service}
            elif self._complete:
                unknown.append(name)
        if value and unknown:
            some = ", ".join(unknown[:3]) + ("…" if len(unknown) > 3 else "")
            known = [*islice(self._nodes, 1000), *islice(self._sets, 1000)]
            hint = did_you_mean(unknown[0], known) if len(self._mistakes) < SHOWN else ""
            value.wrong(self._mistakes, f"there is no node {some}", hint)
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
