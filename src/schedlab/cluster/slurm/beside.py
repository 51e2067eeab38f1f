"""What stands beside a slurm.conf: gres.conf (generic resources of nodes) and topology.conf (the tree of switches)."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from schedlab.cluster.slurm.hosts import host_names
from schedlab.cluster.slurm.lines import Mistakes, Record, listed, read_records
from schedlab.cluster.slurm.nodes import Nodes
from schedlab.files.slurm_values import gres, shown
from schedlab.model.cluster import Switch
from schedlab.model.nodeset import fold


def beside(path: Path, kind: str) -> Path | None:
    """`gres.conf` beside `slurm.conf`, `a-gres.conf` beside `a-slurm.conf`; nothing belongs to other names."""
    name = re.sub("slurm", kind, path.name, flags=re.IGNORECASE)
    return path.with_name(name) if name != path.name else None


def add_gres(path: Path, nodes: Nodes, mistakes: Mistakes) -> None:
    """Resources that gres.conf gives to nodes whose NodeName line has none of that name."""
    own = {name: {resource.partition(":")[0] for resource in node.resources} for name, node in nodes.present.items()}
    unknown: list[str] = []
    for record in read_records(path, mistakes):
        if "nodename" not in record or "name" not in record:
            continue  # of nodes that have it anyway
        resource, names = record["name"].text, listed(record["nodename"], mistakes)
        text = _gres_text(record)
        try:
            amounts = gres(text)
        except ValueError as error:
            mistakes.at(record["name"].file, record["name"].line, f"{shown(text)}: expected {error}")
            continue
        unknown += [name for name in names if not nodes.known(name)]
        for node in [nodes.present[name] for name in names if name in nodes.present]:
            if {resource, "gpus" if resource == "gpu" else resource}.isdisjoint(own[node.name]):
                more = {key: node.resources.get(key, 0) + amount for key, amount in amounts.items()}
                nodes.present[node.name] = replace(node, resources=node.resources | more)
    if unknown:
        nodes.notes.append(f"{path.name} has nodes that are not there: {fold(dict.fromkeys(unknown))}")


def _gres_text(record: Record) -> str:
    """As a NodeName line would write it: `gpu:v100:2`. Without a count there is one for each of its files."""
    count = record["count"].text if "count" in record else str(_files(record))
    kind = f":{record['type'].text}" if "type" in record else ""
    return f"{record['name'].text}{kind}:{count}"


def _files(record: Record) -> int:
    try:
        return len(host_names(record["file"].text.replace("/", "_"))) if "file" in record else 1
    except ValueError:  # a path with characters that names of nodes do not have
        return 1


def read_switches(path: Path, nodes: Nodes, mistakes: Mistakes) -> tuple[Switch, ...]:
    """The tree of topology.conf."""
    lines = [record for record in read_records(path, mistakes) if "switchname" in record]
    names = {record["switchname"].text for record in lines}
    above: dict[str, str] = {}  # what is below which switch
    found: dict[str, Switch] = {}
    unknown: list[str] = []
    for record in lines:
        subject = record["switchname"]
        if subject.text in found:
            mistakes.add(subject, "there is a switch of that name above")
            continue
        mistakes.check_name(subject)
        members = listed(record["nodes"], mistakes) if "nodes" in record else []
        if [name.upper() for name in members] == ["ALL"]:
            members = list(nodes.present)
        below = listed(record["switches"], mistakes) if "switches" in record else []
        for name in [name for name in below if name not in names]:
            mistakes.add(record["switches"], f"there is no switch {name}")
        unknown += [name for name in members if not nodes.known(name)]
        present = [name for name in members if name in nodes.present]
        for kind, children in (("node", present), ("switch", below)):
            for name in children:
                if above.setdefault(f"{kind} {name}", subject.text) != subject.text:
                    message = f"{kind} {name} is below {above[f'{kind} {name}']} already"
                    mistakes.add(subject, message, "a tree: one switch above each")
        found[subject.text] = Switch(subject.text, fold(dict.fromkeys(present)), tuple(dict.fromkeys(below)))
    for record in lines:
        if _is_below_itself(record["switchname"].text, above):
            mistakes.add(record["switchname"], "the switch is below itself")
    if unknown:
        nodes.notes.append(f"{path.name} has nodes that are not there: {fold(dict.fromkeys(unknown))}")
    return tuple(found.values())


def _is_below_itself(switch: str, above: dict[str, str]) -> bool:
    seen: set[str] = set()
    upper = above.get(f"switch {switch}")
    while upper is not None and upper != switch and upper not in seen:
        seen.add(upper)
        upper = above.get(f"switch {upper}")
    return upper == switch
