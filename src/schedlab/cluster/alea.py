"""Machine files of the simulators Alea and AleaNG: a cluster in each line (docs/formats/alea.md)."""

from __future__ import annotations

from pathlib import Path

from schedlab.files.bytestream import ByteStream
from schedlab.files.whole_file import whole_file
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.nodeset import MOST_NODES

HEADER = ";id\tname\tnodes\tCPUs\tspeed\tkB_RAM"
MORE = "\tproperties\tGPUs"
_SMALL = 10 * 1024  # AleaNG's rule: smaller amounts of memory are in GB, others in kB
_EXPECTED = "id, name, nodes, cores a node, speed, memory a node in kB; then perhaps a property and GPUs a node"


def read_alea(path: Path) -> Cluster:
    """The clusters of a .machines file, in its order. Each is a group of nodes with the feature `cl_NAME`."""
    text = b"".join(ByteStream(path)).decode(errors="replace")
    groups: list[NodeGroup] = []
    notes: list[str] = []
    errors: list[InputError] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith(";"):
            continue
        try:
            group = _group(line.split(), {group.name for group in groups})
        except ValueError as error:
            errors.append(InputError(str(error), where=f"{path}, line {number}", hint=f"a line has {_EXPECTED}"))
            continue
        groups.append(group)
        if group.properties:
            speed = group.properties["speed"]
            notes.append(f"{group.name}: speed {speed} is kept as a property, it does not change run times")
    if not groups and not errors:
        errors.append(InputError("describes no machines", where=str(path), hint=f"a line has {_EXPECTED}"))
    if errors:
        raise InputErrors(errors)
    return Cluster(tuple(groups), name=_stem(path), notes=tuple(notes))


def write_alea(path: Path, cluster: Cluster) -> list[str]:
    """A .machines file; with the columns of AleaNG if there are GPUs or features."""
    more = any(group.resources.get("gpus") or _property(group) for group in cluster.groups)
    lines = [HEADER + (MORE if more else "")]
    for number, group in enumerate(cluster.groups):
        kilobytes = group.resources.get("memory", 0) // 1024
        fields = [number, group.name, group.count, group.resources.get("cores", 0), 1, kilobytes]
        lines.append("\t".join(map(str, [*fields, *_more(group)] if more else fields)))
    with whole_file(path) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
    return _lost(cluster)


def looks_like(start: str, name: str) -> bool:
    return name.endswith(".machines")


def _group(fields: list[str], names: set[str]) -> NodeGroup:
    if len(fields) not in (6, 7, 8):
        raise ValueError(f"has {len(fields)} columns, expected 6 to 8")
    name = fields[1]
    if name in names:
        raise ValueError(f'there is a cluster "{name}" above')
    count = _whole("number of nodes", fields[2], 1, MOST_NODES)
    memory = _whole("memory", fields[5], 0, 2**50)
    resources = {"cores": _whole("number of cores", fields[3], 0, 10**9)}
    if memory:
        resources["memory"] = memory * 1024 * (2**20 if memory < _SMALL else 1)
    if len(fields) == 8:
        resources["gpus"] = _whole("number of GPUs", fields[7], 0, 10**6)
    features = {name if name.startswith("cl_") else f"cl_{name}"}
    if len(fields) > 6 and fields[6] not in ("all", "-1"):
        features.add(fields[6])
    speed = fields[4]
    return NodeGroup(
        name,
        count,
        resources,
        prefix=f"{name}-" if name[-1].isdigit() else name,
        features=frozenset(features),
        properties={} if speed in ("1", "1.0") else {"speed": speed},
    )


def _whole(what: str, text: str, least: int, most: int) -> int:
    if not text.isdecimal() or len(text) > 18 or not least <= int(text) <= most:
        raise ValueError(f'the {what} is "{text[:40]}", expected a whole number from {least} to {most:,}')
    return int(text)


def _property(group: NodeGroup) -> str:
    """The one feature that a line can say, besides the name of the cluster."""
    own = {group.name, f"cl_{group.name}"}
    return min(group.features - own, default="")


def _more(group: NodeGroup) -> list[str | int]:
    return [_property(group) or "all", group.resources.get("gpus", 0)]


def _lost(cluster: Cluster) -> list[str]:
    lost = []
    for group in cluster.groups:
        others = sorted(group.features - {group.name, f"cl_{group.name}", _property(group)})
        if others:
            lost.append(f"features {', '.join(others)} of {group.name}: a line has room for one")
        left = [name for name in group.resources if name not in ("cores", "memory", "gpus")]
        if left:
            lost.append(f"{', '.join(left)} of {group.name}: the format knows cores, memory and GPUs")
        if group.resources.get("memory", 0) % 1024:
            lost.append(f"memory of {group.name}: rounded down to kB")
        if group.speed:
            lost.append(f"speed of {group.name}: written as 1")
    if cluster.partitions:
        lost.append("partitions: the format has no place for them")
    if cluster.switches:
        lost.append("switches: the format has no place for them")
    return lost


def _stem(path: Path) -> str:
    name = path.name.removesuffix(".gz").removesuffix(".zst").removesuffix(".machines")
    return name.removesuffix(".swf") or path.name
