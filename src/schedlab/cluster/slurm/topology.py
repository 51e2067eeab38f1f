"""The tree of switches of topology.conf."""

from __future__ import annotations

from collections.abc import Mapping

from schedlab.cluster.slurm.entries import Settings
from schedlab.cluster.slurm.lines import check_name, listed
from schedlab.cluster.slurm.nodes import NodeSpec
from schedlab.model.cluster import Switch
from schedlab.model.mistakes import Mistakes
from schedlab.model.nodeset import fold


def read_switches(
    settings: Settings, nodes: Mapping[str, NodeSpec], notes: list[str], mistakes: Mistakes
) -> tuple[Switch, ...]:
    """The switches with those of the nodes that are in service."""
    lines = [entry for entry in settings.topology if entry.kind == "switchname"]
    names = {entry.subject.text for entry in lines}
    in_service = {name for name, node in nodes.items() if node.in_service}
    above: dict[str, str] = {}  # what is below which switch
    found: dict[str, Switch] = {}
    unknown: list[str] = []
    for entry in lines:
        subject, fields = entry.subject, entry.fields
        if subject.text in found:
            subject.wrong(mistakes, "there is a switch of that name above")
            continue
        check_name(subject, mistakes)
        members = listed(fields["nodes"], mistakes) if "nodes" in fields else []
        if [name.upper() for name in members] == ["ALL"]:
            members = list(nodes)
        below = listed(fields["switches"], mistakes) if "switches" in fields else []
        for name in [name for name in below if name not in names]:
            fields["switches"].wrong(mistakes, f"there is no switch {name}")
        unknown += [name for name in members if name not in nodes]
        present = [name for name in members if name in in_service]
        for kind, children in (("node", present), ("switch", below)):
            for name in children:
                if above.setdefault(f"{kind} {name}", subject.text) != subject.text:
                    message = f"{kind} {name} is below {above[f'{kind} {name}']} already"
                    subject.wrong(mistakes, message, "a tree: one switch above each")
        found[subject.text] = Switch(subject.text, fold(dict.fromkeys(present)), tuple(dict.fromkeys(below)))
    for entry in lines:
        if _is_below_itself(entry.subject.text, above):
            entry.subject.wrong(mistakes, "the switch is below itself")
    if unknown:
        notes.append(f"{lines[0].file} has nodes that are not there: {fold(dict.fromkeys(unknown))}")
    return tuple(found.values())


def _is_below_itself(switch: str, above: Mapping[str, str]) -> bool:
    seen: set[str] = set()
    upper = above.get(f"switch {switch}")
    while upper is not None and upper != switch and upper not in seen:
        seen.add(upper)
        upper = above.get(f"switch {upper}")
    return upper == switch
