"""Generic resources of nodes: what slurm.conf counts, with what gres.conf knows about it; no device is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from schedlab.cluster.slurm.entries import Entry
from schedlab.cluster.slurm.hosts import host_names
from schedlab.cluster.slurm.lines import Value, listed
from schedlab.files.slurm_values import count
from schedlab.model.mistakes import Mistakes


@dataclass(frozen=True, slots=True)
class NodeGres:
    """Generic resources of a node of one name and type ("" if it has none). `cores` and `links` are as in gres.conf."""

    name: str
    type: str
    count: int
    cores: str = ""
    links: str = ""
    flags: str = ""
    has_file: bool = False  # there are device files, so Slurm hands out each device by its number


class GresConf:
    """gres.conf, by node. It cannot add to what slurm.conf counts."""

    def __init__(self, conf: Sequence[Entry], mistakes: Mistakes) -> None:
        self.detects = False
        self.by_node: dict[str, list[NodeGres]] = {}
        self._of_all: list[NodeGres] = []
        for entry in conf:
            values = {value.name: value for value in entry.values}
            self.detects |= "autodetect" in values and values["autodetect"].text.casefold() != "off"
            if "name" not in values:
                continue
            gres = _described(values, mistakes)
            if "nodename" not in values:
                self._of_all.append(gres)
                continue
            for name in listed(values["nodename"], mistakes):
                self.by_node.setdefault(name, []).append(gres)

    def of(self, node: str) -> list[NodeGres]:
        return [*self._of_all, *self.by_node.get(node, ())]

    def merged(self, node: str, configured: Sequence[NodeGres]) -> tuple[NodeGres, ...]:
        """What slurm.conf counts on a node, cut into the pieces that gres.conf describes."""
        lines = self.of(node)
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
        return tuple(replace(piece, count=number) for piece, number in pieces.items() if number)


def _described(values: Mapping[str, Value], mistakes: Mistakes) -> NodeGres:
    def text(*keys: str) -> str:
        return next((values[key].text for key in keys if key in values), "")

    files = text("file", "files")
    number = _number_of(files)
    if "count" in values:
        try:
            number = count(values["count"].text)
        except ValueError as error:
            values["count"].wrong(mistakes, f"expected {error}")
    return NodeGres(
        name=text("name"),
        type=text("type"),
        count=number,
        cores=text("cores", "cpus"),
        links=text("links", "link"),
        flags=text("flags"),
        has_file=bool(files or text("multiplefiles")),
    )


def _number_of(files: str) -> int:
    """`/dev/nvidia[0-3]` are four."""
    try:
        return len(host_names(files.replace("/", "_"))) if files else 1
    except ValueError:  # a path with characters that names of nodes do not have
        return 1


def _fits(wanted: NodeGres, line: NodeGres) -> bool:
    return wanted.name == line.name and (not wanted.type or not line.type or wanted.type == line.type)
