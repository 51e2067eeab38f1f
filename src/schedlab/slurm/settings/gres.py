"""Generic resources of nodes: what slurm.conf counts, with what gres.conf knows about it; no device is looked at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from schedlab.cluster.slurm.hosts import host_names
from schedlab.cluster.slurm.lines import Mistakes, Value, listed
from schedlab.model.nodeset import fold
from schedlab.slurm.settings.differences import Difference
from schedlab.slurm.settings.entries import Entry, items
from schedlab.slurm.settings.nodes import NodeGres, NodeSpec

_COUNT = re.compile(r"([0-9]{1,18})([KMGTP]?)", re.IGNORECASE)
_FACTORS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}
_REMARK = re.compile(r"\([^()]*\)")
_DEVICES = ("file", "files", "multiplefiles", "autodetect")
_NOT_LOOKED_AT = "devices are counted, not looked at"


def with_gres(
    nodes: Sequence[NodeSpec],
    configured: Mapping[str, str],
    conf: Sequence[Entry],
    mistakes: Mistakes,
    differences: list[Difference],
) -> list[NodeSpec]:
    """The nodes with their resources; `configured` is Gres of NodeName lines, `conf` the lines of gres.conf."""
    lines = _Lines(conf, mistakes)
    found = [
        replace(node, gres=tuple(_merged(parsed_gres(configured[node.name]), lines.of(node.name)))) for node in nodes
    ]
    differences += [
        Difference(f"gres.conf {value.key}", value.text, "", _NOT_LOOKED_AT)
        for entry in conf
        for value in entry.values
        if value.key.casefold() in _DEVICES and value.text.casefold() != "off"
    ]
    if not lines.detects:
        differences += _fewer(found, lines)
    return found


def gres_conf(nodes: Iterable[NodeSpec]) -> str:
    """The gres.conf of these nodes; lines for nodes that are alike are one."""
    alike: dict[str, list[str]] = {}
    for node in nodes:
        for gres in node.gres:
            fields = {
                "Name": gres.name,
                "Type": gres.type,
                "Count": str(gres.count),
                "Cores": gres.cores,
                "Links": gres.links,
                "Flags": gres.flags,
            }
            text = " ".join(f"{key}={value}" for key, value in fields.items() if value)
            alike.setdefault(text, []).append(node.name)
    return "".join(f"NodeName={fold(dict.fromkeys(names))} {text}\n" for text, names in alike.items())


def parsed_gres(text: str) -> list[NodeGres]:
    """`gpu:v100:2,bandwidth:lustre:no_consume:4G` as resources."""
    found: list[NodeGres] = []
    for item in items(_REMARK.sub("", text)):
        name, *rest = item.removeprefix("gres/").replace("=", ":").split(":")
        rest = [part for part in rest if part != "no_consume"]
        match = _COUNT.fullmatch(rest[-1]) if rest else None
        kinds = rest[:-1] if match else rest
        if name.casefold() not in ("none", "(null)", ""):
            found.append(NodeGres(name, kinds[0] if kinds else "", _amount(match)))
    return found


class _Lines:
    """gres.conf, by node."""

    def __init__(self, conf: Sequence[Entry], mistakes: Mistakes) -> None:
        self.detects = False
        self._of_all: list[NodeGres] = []
        self._of_node: dict[str, list[NodeGres]] = {}
        for entry in conf:
            values = {value.key.casefold(): value for value in entry.values}
            self.detects |= "autodetect" in values and values["autodetect"].text.casefold() != "off"
            if "name" not in values:
                continue
            gres = _record(values)
            if "nodename" not in values:
                self._of_all.append(gres)
                continue
            for name in listed(values["nodename"], mistakes):
                self._of_node.setdefault(name, []).append(gres)

    def of(self, node: str) -> list[NodeGres]:
        return [*self._of_all, *self._of_node.get(node, ())]


def _record(values: Mapping[str, Value]) -> NodeGres:
    def text(*keys: str) -> str:
        return next((values[key].text for key in keys if key in values), "")

    files = text("file", "files")
    count = _COUNT.fullmatch(text("count"))
    return NodeGres(
        name=text("name"),
        type=text("type"),
        count=_amount(count) if count else _number_of(files),
        cores=text("cores", "cpus"),
        links=text("links", "link"),
        flags=text("flags"),
        has_file=bool(files or text("multiplefiles")),
    )


def _amount(match: re.Match[str] | None) -> int:
    return int(match[1]) * _FACTORS[match[2].upper()] if match else 1


def _number_of(files: str) -> int:
    """`/dev/nvidia[0-3]` are four."""
    try:
        return len(host_names(files.replace("/", "_"))) if files else 1
    except ValueError:  # a path with characters that names of nodes do not have
        return 1


def _merged(configured: Sequence[NodeGres], lines: Sequence[NodeGres]) -> list[NodeGres]:
    """What slurm.conf counts, cut into the pieces that gres.conf describes; it cannot add to the count."""
    left = [line.count for line in lines]
    pieces: dict[NodeGres, int] = {}
    for wanted in configured:
        rest = wanted.count
        fitting = [place for place, line in enumerate(lines) if _fits(wanted, line)]
        for place in fitting:
            taken = min(rest, left[place])
            left[place] -= taken
            rest -= taken
            piece = replace(lines[place], type=wanted.type, count=0)
            pieces[piece] = pieces.get(piece, 0) + taken
        piece = replace(wanted, count=0, has_file=any(lines[place].has_file for place in fitting))
        pieces[piece] = pieces.get(piece, 0) + rest
    return [replace(piece, count=count) for piece, count in pieces.items() if count]


def _fits(wanted: NodeGres, line: NodeGres) -> bool:
    return wanted.name == line.name and (not wanted.type or not line.type or wanted.type == line.type)


def _fewer(nodes: Sequence[NodeSpec], lines: _Lines) -> Iterator[Difference]:
    """Where gres.conf has fewer than slurm.conf counts."""
    for node in nodes:
        for name in dict.fromkeys(gres.name for gres in node.gres):
            have = sum(line.count for line in lines.of(node.name) if line.name == name)
            count = sum(gres.count for gres in node.gres if gres.name == name)
            if 0 < have < count:
                yield Difference(f"gres.conf {node.name} {name}", str(have), str(count), "as slurm.conf counts them")
