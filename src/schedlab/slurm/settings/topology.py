"""The switches of topology.conf, without nodes that slurm.conf does not have."""

from __future__ import annotations

from collections.abc import Sequence, Set

from schedlab.cluster.slurm.lines import Mistakes, Value, listed
from schedlab.model.nodeset import fold
from schedlab.slurm.settings.differences import Difference
from schedlab.slurm.settings.entries import Entry

_FIELDS = {"linkspeed": "LinkSpeed", "nodes": "Nodes", "switches": "Switches"}


def topology_conf(entries: Sequence[Entry], nodes: Set[str], mistakes: Mistakes, differences: list[Difference]) -> str:
    """The text of a topology.conf for topology/tree; "" if it has no switches."""
    lines: list[str] = []
    for entry in entries:
        if entry.kind != "switchname":
            differences.append(
                Difference(f"topology.conf {entry.subject.key}", entry.subject.text, "", "Slurm 22.05 does not know it")
            )
            continue
        fields = [f"SwitchName={entry.subject.text}"]
        for key, value in entry.fields.items():
            if key in _FIELDS:
                text = _known(value, nodes, mistakes, differences) if key == "nodes" else value.text
                fields += [f"{_FIELDS[key]}={text}"] if text else []
        if len(fields) > 1:
            lines.append(" ".join(fields))
    return "".join(f"{line}\n" for line in lines)


def _known(value: Value, nodes: Set[str], mistakes: Mistakes, differences: list[Difference]) -> str:
    names = listed(value, mistakes)
    missing = {name: None for name in names if name not in nodes and name.upper() != "ALL"}
    if not missing:
        return value.text
    left = [name for name in names if name not in missing]
    if not left:
        return value.text  # a switch has to have something below it, if only names
    differences.append(Difference("topology.conf Nodes", fold(missing), "", "slurm.conf has no such node"))
    return fold(dict.fromkeys(left))
