"""A cluster as a TOML file: everything that a cluster can have survives, but for the network of a platform."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schedlab.files.whole_file import whole_file
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.units import format_bytes, parse_bytes


def write_toml(path: Path, cluster: Cluster) -> list[str]:
    lost = ["that its nodes do not matter (a pool is one node in a file)"] if cluster.pool else []
    if cluster.network is not None:
        lost.append("the network: a cluster file has no place for links and routes")
    with whole_file(path) as file:
        file.write(("\n".join(_lines(cluster)) + "\n").encode())
    return lost


def _lines(cluster: Cluster) -> Iterator[str]:
    yield _pair("name", cluster.name)
    for group in cluster.groups:
        yield from _group(group)
    for partition in cluster.partitions:
        yield from ("", "[[partitions]]", _pair("name", partition.name), _pair("nodes", list(partition.groups)))
        if partition.default:
            yield "default = true"
    for switch in cluster.switches:
        yield from ("", "[[switches]]", _pair("name", switch.name))
        if switch.nodes:
            yield _pair("nodes", switch.nodes)
        if switch.switches:
            yield _pair("switches", list(switch.switches))


def _group(group: NodeGroup) -> Iterator[str]:
    own = dict(group.resources)
    yield from (
        "",
        "[[nodes]]",
        _pair("name", group.name),
        _pair("count", group.count),
        _pair("cores", own.pop("cores", 0)),
    )
    if group.sockets != 1 or group.socket_cores:
        yield _pair("sockets", list(group.socket_cores) or group.sockets)
    if "memory" in own:
        yield _pair("memory", _amount(own.pop("memory")))
    if "gpus" in own:
        yield _pair("gpus", own.pop("gpus"))
    if group.features:
        yield _pair("features", sorted(group.features))
    yield _pair("prefix", group.prefix)
    if group.suffix:
        yield _pair("suffix", group.suffix)
    if group.numbered:
        yield from (_pair("first", group.first), _pair("digits", max(group.width, 1)))
    else:
        yield "numbered = false"
    if group.speed:
        yield _pair("speed", group.speed)
    if group.weight != 1:
        yield _pair("weight", group.weight)
    for table, entries in (("resources", own), ("properties", group.properties)):
        if entries:
            yield from ("", f"[nodes.{table}]", *(f"{json.dumps(key)} = {_value(entries[key])}" for key in entries))


def _amount(number: int) -> Any:
    """With a unit, where that is exact."""
    text = format_bytes(number)
    return text if parse_bytes(text) == number else number


def _pair(key: str, value: Any) -> str:
    return f"{key} = {_value(value)}"


def _value(value: Any) -> str:
    """Texts, numbers and lists of texts are written alike in JSON and TOML."""
    return json.dumps(value, ensure_ascii=False)
