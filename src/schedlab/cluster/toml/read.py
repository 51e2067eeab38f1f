"""The cluster file: node groups in the order that first-fit walks, and partitions over them (docs/cluster.md).

All mistakes of a file are reported at once, each with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from schedlab.cluster.toml.checks import check_groups, check_partitions, check_switches
from schedlab.files.bytestream import text_of
from schedlab.model.cluster import Cluster, NodeGroup, Partition, Switch
from schedlab.model.errors import InputError
from schedlab.model.nodeset import MOST_NODES
from schedlab.model.toml_fields import Field, ListOf, TableOf, flag, number, read_fields, text, whole
from schedlab.model.toml_lines import TomlMistakes, load_toml, shown
from schedlab.model.units import LARGEST_AMOUNT, parse_bytes

_NAME = "a name made of letters, digits, '_', '.' and '-'"
_PREFIX = "the beginning of the nodes' names: letters, digits, '_', '.' and '-', not ending in a digit"
_WHOLE = "a whole number of at least 0"
_AMOUNT = f'{_WHOLE}, or bytes with a unit such as "192 GiB"'
_KEYS = ("name", "nodes", "partitions", "switches")
Built = TypeVar("Built")


def _amount(given: Any) -> int:
    try:
        return parse_bytes(given)
    except InputError as error:
        raise ValueError(error.hint) from None


def _other_resource(name: str) -> None:
    if name in ("cores", "memory", "gpus"):
        raise ValueError(f"write {name} beside count, not under resources")
    if not re.fullmatch(r"[A-Za-z0-9_.:-]{1,100}", name):  # a colon: `gpu:v100` is a kind of GPU
        raise ValueError(f"expected {_NAME}")


_name = text(r"[A-Za-z0-9_.-]+", 100)
_some = whole(0, LARGEST_AMOUNT)


def _sockets(given: Any) -> int | tuple[int, ...]:
    """How many, or the cores of each of them."""
    if isinstance(given, list):
        if not 0 < len(given) <= 1024:
            raise ValueError
        return tuple(whole(1, 10**6)(cores) for cores in given)
    return whole(1, 1024)(given)


_GROUP = {
    "name": Field(_name, _NAME, required=True),
    "count": Field(whole(1, MOST_NODES), f"a whole number from 1 to {MOST_NODES:,}", required=True),
    "cores": Field(_some, _WHOLE, required=True),
    "sockets": Field(_sockets, "a whole number from 1 to 1024, or the cores of each: [10, 12]"),
    "memory": Field(_amount, _AMOUNT),
    "gpus": Field(_some, _WHOLE),
    "features": ListOf(_name, f"a list of words, each {_NAME}"),
    "prefix": Field(text(r"[A-Za-z0-9_.-]*[A-Za-z_.-]", 100), _PREFIX),
    "first": Field(whole(0, 10**9), f"the number of the first node, {_WHOLE}"),
    "digits": Field(whole(1, 12), "digits of a node's number, from 1 to 12"),
    "suffix": Field(text(r"[A-Za-z0-9_.-]*", 100), "the end of the names"),
    "numbered": Field(flag, "true, or false for a single node without a number in its name"),
    "speed": Field(number, "floating-point operations a second and core"),
    "weight": Field(whole(0, 10**9), "a whole number: nodes of small weight are taken first"),
    "resources": TableOf(_amount, f"names, each with {_AMOUNT}", check_key=_other_resource),
    "properties": TableOf(text(), "names, each with a text"),
}
_PARTITION = {
    "name": Field(_name, _NAME, required=True),
    "nodes": ListOf(text(), "a list of at least one name of a node group", required=True),
    "default": Field(flag, "true or false"),
}
_SWITCH = {
    "name": Field(_name, _NAME, required=True),
    "nodes": Field(text(), "the nodes at its ports, such as n[001-016]"),
    "switches": ListOf(text(), "a list of the names of switches below it"),
}


def read_toml(path: Path) -> Cluster:
    """The cluster that a TOML file describes."""
    return parse_cluster(text_of(path), str(path))


def looks_like(_start: str, name: str) -> bool:
    return name.endswith(".toml")


def parse_cluster(content: str, file: str) -> Cluster:
    """The cluster that the TOML `content` describes; `file` is what error messages call it."""
    data, mistakes = load_toml(content, file)
    mistakes.check_keys((), data, _KEYS, "the file holds name, [[nodes]], [[partitions]] and [[switches]]")
    name = data.get("name", re.split(r"[/\\]", file)[-1].removesuffix(".toml"))
    if not isinstance(name, str) or not name.strip():
        mistakes.add(("name",), f"name = {shown(name)}: expected a text")

    groups = _built(data, "nodes", _GROUP, "node group", _group, mistakes)
    check_groups(groups, mistakes)
    partitions = _built(data, "partitions", _PARTITION, "partition", _partition, mistakes)
    if len(partitions) == 1 and partitions[0]:
        partitions = [replace(partitions[0], default=True)]
    check_partitions(partitions, [table.get("name") for table in _tables(data, "nodes", mistakes)], mistakes)
    switches = _built(data, "switches", _SWITCH, "switch", _switch, mistakes)
    check_switches(switches, groups, mistakes)
    mistakes.raise_all()
    return Cluster(
        tuple(group for group in groups if group),
        tuple(partition for partition in partitions if partition),
        name=name,
        switches=tuple(switch for switch in switches if switch),
    )


def _built(
    data: dict[str, Any],
    key: str,
    fields: Mapping[str, Field],
    noun: str,
    build: Callable[[Mapping[str, Any]], Built],
    mistakes: TomlMistakes,
) -> list[Built | None]:
    """What is built of the tables of `[[key]]`; None where one is wrong."""
    given = [
        read_fields(table, fields, (key, place), noun, mistakes)
        for place, table in enumerate(_tables(data, key, mistakes))
    ]
    return [None if found is None else build(found) for found in given]


def _group(found: Mapping[str, Any]) -> NodeGroup:
    name, count, numbered = found["name"], found["count"], found.get("numbered", True)
    first = found.get("first", 1)
    # A group called fat2 has nodes fat2-1, fat2-2, …: with fat21 one could not tell name from number.
    prefix = found.get("prefix") or (f"{name}-" if name[-1].isdigit() else name)
    standard = {key: found[key] for key in ("cores", "memory", "gpus") if key in found}
    sockets = found.get("sockets", 1)
    each = sockets if isinstance(sockets, tuple) else ()
    others = ("suffix", "numbered", "speed", "weight", "properties")
    return NodeGroup(
        name=name,
        count=count,
        resources=standard | found.get("resources", {}),
        prefix=prefix,
        first=first,
        width=(found.get("digits") or len(str(first + count - 1))) if numbered else 0,
        features=frozenset(found.get("features", ())),
        sockets=len(each) or sockets,
        socket_cores=each,
        **{key: found[key] for key in others if key in found},
    )


def _partition(found: Mapping[str, Any]) -> Partition:
    return Partition(found["name"], tuple(found["nodes"]), found.get("default", False))


def _switch(found: Mapping[str, Any]) -> Switch:
    return Switch(found["name"], found.get("nodes", ""), tuple(found.get("switches", ())))


def _tables(data: dict[str, Any], key: str, mistakes: TomlMistakes) -> list[dict[str, Any]]:
    """The tables of `[[key]]`."""
    value = data.get(key, [])
    if isinstance(value, dict):
        mistakes.add((key,), f"[{key}] is one table; expected a list of them", f"write [[{key}]], with double brackets")
        return [value] if key == "nodes" else []
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        mistakes.add((key,), f"{key} = {shown(value)}: expected tables", f"write [[{key}]] and the keys below it")
        return []
    if not value and key == "nodes":
        mistakes.add((key,), "the file describes no nodes", "add [[nodes]] with name, count and cores")
    return value
