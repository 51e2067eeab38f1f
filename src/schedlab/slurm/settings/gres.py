"""The gres.conf of emulated nodes, and where the site's does not say what slurm.conf counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedlab.cluster.slurm.entries import Entry, Settings
from schedlab.cluster.slurm.gres import GresConf
from schedlab.cluster.slurm.lines import Value
from schedlab.cluster.slurm.nodes import NodeSpec
from schedlab.model.mistakes import Mistakes
from schedlab.model.nodeset import fold
from schedlab.slurm.settings.differences import Difference

_DEVICES = ("file", "files", "multiplefiles", "autodetect")
_NOT_LOOKED_AT = "devices are counted, not looked at"


def gres_entries(nodes: Sequence[NodeSpec]) -> Iterator[Entry]:
    """The lines of a gres.conf of these nodes; those for nodes that are alike are one."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
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
            alike.setdefault(tuple((key, text) for key, text in fields.items() if text), []).append(node.name)
    for pairs, names in alike.items():
        values = (("NodeName", fold(dict.fromkeys(names))), *pairs)
        yield Entry("nodename", tuple(Value(text, "gres.conf", 0, key) for key, text in values))


def gres_differences(settings: Settings, nodes: Sequence[NodeSpec]) -> Iterator[Difference]:
    for entry in settings.gres:
        for value in entry.values:
            if value.name in _DEVICES and value.text.casefold() != "off":
                yield Difference(f"gres.conf {value.key}", value.text, "", _NOT_LOOKED_AT)
    conf = GresConf(settings.gres, Mistakes())
    for node in () if conf.detects else nodes:
        for name in dict.fromkeys(gres.name for gres in node.gres):
            have = sum(line.count for line in conf.of(node.name) if line.name == name)
            count = sum(gres.count for gres in node.gres if gres.name == name)
            if 0 < have < count:
                yield Difference(f"gres.conf {node.name} {name}", str(have), str(count), "as slurm.conf counts them")
