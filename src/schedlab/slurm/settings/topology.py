"""The switches of topology.conf, without nodes that slurm.conf does not have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

from schedlab.cluster.slurm.entries import Entry
from schedlab.cluster.slurm.hosts import host_names
from schedlab.cluster.slurm.keys import RELEASE, by_lower_case
from schedlab.cluster.slurm.lines import Value
from schedlab.model.mistakes import Mistakes
from schedlab.model.nodeset import fold
from schedlab.slurm.settings.differences import Difference

_FIELDS = by_lower_case("SwitchName LinkSpeed Nodes Switches")


def topology_entries(
    entries: Sequence[Entry], nodes: Set[str], differences: list[Difference], mistakes: Mistakes
) -> Iterator[Entry]:
    """The lines of a topology.conf for topology/tree."""
    for entry in entries:
        if entry.kind != "switchname":
            why = f"Slurm {RELEASE} does not know it"
            differences.append(Difference(f"topology.conf {entry.subject.key}", entry.subject.text, "", why))
            continue
        known = [
            replace(value, key=_FIELDS[value.name]) for value in entry.values if value.name in _FIELDS and value.text
        ]
        values = [_known(value, nodes, differences) if value.name == "nodes" else value for value in known]
        if len({"nodes", "switches"} & entry.fields.keys()) != 1:
            entry.subject.wrong(mistakes, f"Slurm {RELEASE} expects either Nodes or Switches")
        yield Entry("switchname", tuple(values))


def _known(value: Value, nodes: Set[str], differences: list[Difference]) -> Value:
    names = host_names(value.text)
    missing = {name: None for name in names if name not in nodes and name.upper() != "ALL"}
    left = [name for name in names if name not in missing]
    if not missing or not left:
        return value  # a switch has to have something below it, if only names
    differences.append(Difference("topology.conf Nodes", fold(missing), "", "slurm.conf has no such node"))
    return replace(value, text=fold(dict.fromkeys(left)))
