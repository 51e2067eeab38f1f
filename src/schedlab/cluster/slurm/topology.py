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
    circles = _below_themselves(above)
    for entry in lines:
        if entry.subject.text in circles:
            entry.subject.wrong(mistakes, "the switch is below itself")
    if unknown:
        notes.append(f"{lines[0].file} has nodes that are not there: {fold(dict.fromkeys(unknown))}")
    return tuple(found.values())


def _below_themselves(above: Mapping[str, str]) -> set[str]:
    """The switches on circles; each way up is gone once."""
    found: set[str] = set()
    seen: set[str] = set()
    for begin in above.values():
        way: dict[str, None] = {}
        switch: str | None = begin
        while switch is not None and switch not in seen:
            seen.add(switch)
            way[switch] = None
            switch = above.get(f"switch {switch}")
        if switch in way:
            passed = list(way)
            found.update(passed[passed.index(switch) :])
    return found
