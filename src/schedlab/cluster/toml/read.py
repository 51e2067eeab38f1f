"""The cluster file: node groups in the order that first-fit walks, and partitions over them (docs/cluster.md).

All mistakes of a file are reported at once, each with its line.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from schedlab.cluster.toml.checks import check_groups, check_partitions, check_switches
from schedlab.files.bytestream import text_of
from schedlab.model.cluster import Cluster, NodeGroup, Partition, Switch
from schedlab.model.errors import InputError
from schedlab.model.nodeset import MOST_NODES
from schedlab.model.suggest import did_you_mean
from schedlab.model.toml_lines import Mistakes, TomlLines, load_toml
from schedlab.model.units import LARGEST_AMOUNT, parse_bytes


def _amount(value: Any) -> int:
    try:
        return parse_bytes(value)
    except InputError as error:
        raise ValueError(error.hint) from None  # what pydantic expects of a validator


def _other_resource(name: str) -> str:
    if name in ("cores", "memory", "gpus"):
        raise ValueError(f"write {name} beside count, not under resources")
    return name


_NAME = "a name made of letters, digits, '_', '.' and '-'"
_PREFIX = "the beginning of the nodes' names: letters, digits, '_', '.' and '-', not ending in a digit"
_AMOUNT = 'a whole number of at least 0, or bytes with a unit such as "192 GiB"'

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$", max_length=100)]
Prefix = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]*[A-Za-z_.-]$", max_length=100)]
Whole = Annotated[int, Field(ge=0, le=LARGEST_AMOUNT)]
# A colon: `gpu:v100` is a kind of GPU.
ResourceName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]+$", max_length=100), AfterValidator(_other_resource)]
Amount = Annotated[int, BeforeValidator(_amount)]


class Table(BaseModel):
    """A table of the file. The description of a field is what an error message says was expected."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class GroupTable(Table):
    """One `[[nodes]]`."""

    name: Name = Field(description=_NAME)
    count: int = Field(ge=1, le=MOST_NODES, description=f"a whole number from 1 to {MOST_NODES:,}")
    cores: Whole = Field(description="a whole number of at least 0")
    sockets: int = Field(default=1, ge=1, le=1024, description="a whole number from 1 to 1024")
    memory: Amount | None = Field(default=None, description=_AMOUNT)
    gpus: Whole | None = Field(default=None, description="a whole number of at least 0")
    features: list[Name] = Field(default=[], description=f"a list of words, each {_NAME}")
    prefix: Prefix | None = Field(default=None, description=_PREFIX)
    first: int = Field(
        default=1, ge=0, le=10**9, description="the number of the first node, a whole number of at least 0"
    )
    digits: int | None = Field(default=None, ge=1, le=12, description="digits of a node's number, from 1 to 12")
    suffix: str = Field(default="", pattern=r"^[A-Za-z0-9_.-]*$", max_length=100, description="the end of the names")
    numbered: bool = Field(default=True, description="true, or false for a single node without a number in its name")
    speed: float = Field(default=0.0, ge=0, strict=False, description="floating-point operations a second and core")
    weight: int = Field(default=1, ge=0, le=10**9, description="a whole number: nodes of small weight are taken first")
    resources: dict[ResourceName, Amount] = Field(default={}, description=f"names, each with {_AMOUNT}")
    properties: dict[str, str] = Field(default={}, description="names, each with a text")

    def group(self) -> NodeGroup:
        # A group called fat2 has nodes fat2-1, fat2-2, …: with fat21 one could not tell name from number.
        prefix = self.prefix or (f"{self.name}-" if self.name[-1].isdigit() else self.name)
        standard = {"cores": self.cores, "memory": self.memory, "gpus": self.gpus}
        return NodeGroup(
            name=self.name,
            count=self.count,
            resources={key: amount for key, amount in standard.items() if amount is not None} | self.resources,
            prefix=prefix,
            first=self.first,
            width=(self.digits or len(str(self.first + self.count - 1))) if self.numbered else 0,
            sockets=self.sockets,
            features=frozenset(self.features),
            suffix=self.suffix,
            numbered=self.numbered,
            speed=self.speed,
            weight=self.weight,
            properties=self.properties,
        )


class PartitionTable(Table):
    """One `[[partitions]]`."""

    name: Name = Field(description=_NAME)
    nodes: list[str] = Field(min_length=1, description="a list of at least one name of a node group")
    default: bool = Field(default=False, description="true or false")

    def partition(self, *, is_only_one: bool) -> Partition:
        return Partition(self.name, tuple(self.nodes), self.default or is_only_one)


class SwitchTable(Table):
    """One `[[switches]]`."""

    name: Name = Field(description=_NAME)
    nodes: str = Field(default="", description="the nodes at its ports, such as n[001-016]")
    switches: list[str] = Field(default=[], description="a list of the names of switches below it")

    def switch(self) -> Switch:
        return Switch(self.name, self.nodes, tuple(self.switches))


_KEYS = ("name", "nodes", "partitions", "switches")


def read_toml(path: Path) -> Cluster:
    """The cluster that a TOML file describes."""
    return parse_cluster(text_of(path), str(path))


def looks_like(_start: str, name: str) -> bool:
    return name.endswith(".toml")


def parse_cluster(text: str, file: str) -> Cluster:
    """The cluster that the TOML `text` describes; `file` is what error messages call it."""
    data = load_toml(text, file)
    mistakes = Mistakes(file, TomlLines(text))
    for key in data.keys() - set(_KEYS):
        hint = did_you_mean(key, _KEYS, "the file holds name, [[nodes]], [[partitions]] and [[switches]]")
        mistakes.add((key,), f"unknown key '{key}'", hint)
    name = data.get("name", re.split(r"[/\\]", file)[-1].removesuffix(".toml"))
    if not isinstance(name, str) or not name.strip():
        mistakes.add(("name",), f"name = {_shown(name)}: expected a text")

    raw_groups = _tables(data, "nodes", mistakes)
    groups = [_validated(GroupTable, table, ("nodes", i), "node group", mistakes) for i, table in raw_groups]
    raw_partitions = _tables(data, "partitions", mistakes)
    partitions = [
        _validated(PartitionTable, table, ("partitions", i), "partition", mistakes) for i, table in raw_partitions
    ]
    node_groups = [None if table is None else table.group() for table in groups]
    check_groups(node_groups, mistakes)
    only = len(partitions) == 1
    node_partitions = [None if table is None else table.partition(is_only_one=only) for table in partitions]
    check_partitions(node_partitions, [table.get("name") for _, table in raw_groups], mistakes)
    raw_switches = _tables(data, "switches", mistakes)
    switches = [_validated(SwitchTable, table, ("switches", i), "switch", mistakes) for i, table in raw_switches]
    tree = [None if table is None else table.switch() for table in switches]
    check_switches(tree, node_groups, mistakes)
    mistakes.raise_all()
    found_groups = tuple(group for group in node_groups if group)
    found_partitions = tuple(part for part in node_partitions if part)
    return Cluster(found_groups, found_partitions, name=name, switches=tuple(switch for switch in tree if switch))


def _tables(data: dict[str, Any], key: str, mistakes: Mistakes) -> list[tuple[int, dict[str, Any]]]:
    """The numbered tables of `[[key]]`."""
    value = data.get(key, [])
    if isinstance(value, dict):
        mistakes.add((key,), f"[{key}] is one table; expected a list of them", f"write [[{key}]], with double brackets")
        return [(0, value)] if key == "nodes" else []
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        mistakes.add((key,), f"{key} = {_shown(value)}: expected tables", f"write [[{key}]] and the keys below it")
        return []
    if not value and key == "nodes":
        mistakes.add((key,), "the file describes no nodes", "add [[nodes]] with name, count and cores")
    return list(enumerate(value))


_T = TypeVar("_T", bound=Table)


def _validated(
    kind: type[_T], table: dict[str, Any], path: tuple[str, int], noun: str, mistakes: Mistakes
) -> _T | None:
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        for item in error.errors(include_url=False):
            _report(kind, item, path, noun, mistakes)
    return None


def _report(kind: type[Table], item: ErrorDetails, path: tuple[str, int], noun: str, mistakes: Mistakes) -> None:
    """One of pydantic's errors, in the words of the file."""
    keys = tuple(key for key in item["loc"] if key != "[key]")
    key, full = str(keys[0]), (*path, *keys)
    if item["type"] == "extra_forbidden":
        hint = did_you_mean(key, kind.model_fields, f"a {noun} has {', '.join(kind.model_fields)}")
        mistakes.add(full, f"unknown key '{key}'", hint)
        return
    expected = kind.model_fields[key].description
    if item["type"] == "missing":
        mistakes.add(path, f"this {noun} has no '{key}'", f"add {key} = …: {expected}")
        return
    reason = item.get("ctx", {}).get("error")
    hint = str(reason) if reason else ""
    if item["loc"][-1] == "[key]":
        mistakes.add(full, f"{_shown(item['input'])} is not the name of another resource; expected {_NAME}", hint)
        return
    written = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in keys)[1:]
    mistakes.add(full, f"{written} = {_shown(item['input'])}: expected {expected}", hint)


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"
