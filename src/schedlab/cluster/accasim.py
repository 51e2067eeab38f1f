"""System configurations of AccaSim: JSON with groups of resources and how many nodes there are of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from schedlab.files.bytestream import ByteStream
from schedlab.files.whole_file import whole_file
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.nodeset import MOST_NODES
from schedlab.model.suggest import did_you_mean

# Theirs and ours. Memory is in kB there, as in the logs that AccaSim reads.
NAMES = {"core": "cores", "mem": "memory", "gpu": "gpus"}
PREFIX = "node_"
KEYS = ("system_name", "start_time", "equivalence", "groups", "resources", "node_prefix")
_FORM = '{"groups": {"g0": {"core": 4, "mem": 1048576}}, "resources": {"g0": 120}}'


def read_accasim(path: Path) -> Cluster:
    """Nodes in the order of `resources`, called node_1, node_2, … throughout, as AccaSim calls them.

    Cores are counted in processors of the log: with `"equivalence": {"processor": {"core": 2}}` every processor of a
    job takes two cores of one node, so a node of four cores has room for two processors.
    """
    data = _load(path)
    reader = _Reader(path)
    cluster = reader.cluster(data)
    if reader.errors:
        raise InputErrors(reader.errors)
    return cluster


def write_accasim(path: Path, cluster: Cluster) -> list[str]:
    """A configuration with a processor of one core."""
    theirs = {ours: name for name, ours in NAMES.items()}
    groups = {
        group.name: {
            theirs.get(name, name): amount // 1024 if name == "memory" else amount
            for name, amount in group.resources.items()
        }
        for group in cluster.groups
    }
    data = {
        "system_name": cluster.name,
        "equivalence": {"processor": {"core": 1}},
        "groups": groups,
        "resources": {group.name: group.count for group in cluster.groups},
    }
    with whole_file(path) as file:
        file.write((json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode())
    return _lost(cluster)


def looks_like(start: str, name: str) -> bool:
    return start.lstrip().startswith("{") and all(f'"{key}"' in start for key in ("groups", "resources"))


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.errors: list[InputError] = []

    def cluster(self, data: dict[str, Any]) -> Cluster:
        for key in data.keys() - set(KEYS):
            self._wrong(f"unknown key '{key}'", did_you_mean(key, KEYS, f"a configuration has {', '.join(KEYS)}"))
        described, counts = self._table(data, "groups"), self._table(data, "resources")
        prefix = data.get("node_prefix", PREFIX)
        if not isinstance(prefix, str) or not prefix or prefix[-1].isdigit():
            self._wrong(f"node_prefix is {json.dumps(prefix)}, expected a text that does not end in a digit")
            prefix = PREFIX
        cores_each = self._cores_of_processor(data)
        groups: list[NodeGroup] = []
        first = 1
        for name, count in counts.items():
            if name not in described:
                hint = did_you_mean(name, described, f"groups: {', '.join(described) or 'none'}")
                self._wrong(f"resources has '{name}', which is not a group", hint)
                continue
            if not _is_whole(count) or count > MOST_NODES:
                self._wrong(f"resources.{name} is {json.dumps(count)}, expected a number of nodes")
            elif count:
                resources = self._resources(name, described[name], cores_each)
                groups.append(NodeGroup(name, count, resources, prefix, first))
                first += count
        if not groups and not self.errors:
            self._wrong("the configuration has no nodes", f"it looks like {_FORM}")
        name = data.get("system_name", self.path.name.partition(".")[0])
        notes = _notes(data, groups, [name for name in described if name not in counts])
        return Cluster(tuple(groups), name=str(name), notes=notes)

    def _table(self, data: dict[str, Any], key: str) -> dict[str, Any]:
        value = data.get(key)
        if isinstance(value, dict):
            return value
        self._wrong(f"there is no table '{key}'", f"it looks like {_FORM}")
        return {}

    def _resources(self, group: str, amounts: Any, cores_each: int) -> dict[str, int]:
        if not isinstance(amounts, dict):
            self._wrong(f'groups.{group} is {json.dumps(amounts)[:60]}, expected a table such as {{"core": 4}}')
            return {}
        found: dict[str, int] = {"cores": 0}
        for name, amount in amounts.items():
            if not _is_whole(amount) or amount > 2**50:
                self._wrong(
                    f"groups.{group}.{name} is {json.dumps(amount)[:60]}, expected a whole number of at least 0"
                )
                continue
            found[NAMES.get(str(name), str(name))] = amount * 1024 if name == "mem" else amount
        return found | {"cores": found["cores"] // cores_each}

    def _cores_of_processor(self, data: dict[str, Any]) -> int:
        """What `equivalence` says: how many cores of a node a processor of the log takes."""
        processor = _processor(data)
        cores = processor.get("core", 1) if isinstance(processor, dict) else None
        if _is_whole(cores) and cores:
            return int(cores)
        self._wrong(
            f"equivalence.processor is {json.dumps(processor)[:60]}, expected the cores that a processor takes",
            'write "equivalence": {"processor": {"core": 1}}',
        )
        return 1

    def _wrong(self, message: str, hint: str = "") -> None:
        self.errors.append(InputError(message, where=str(self.path), hint=hint))


def _load(path: Path) -> dict[str, Any]:
    text = b"".join(ByteStream(path)).decode("utf-8-sig", errors="replace")
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{path}, line {error.lineno}"
        raise InputError(f"this is not JSON: {error.msg}", where=where, hint=f"it looks like {_FORM}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is not a configuration: {error}", where=str(path)) from None
    if not isinstance(data, dict):
        raise InputError("this is not a configuration of AccaSim", where=str(path), hint=f"it looks like {_FORM}")
    return data


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _processor(data: dict[str, Any]) -> Any:
    """What a processor of the log stands for, as the file has it; nothing is a processor of one core."""
    equivalence = data.get("equivalence", {})
    return equivalence.get("processor", {}) if isinstance(equivalence, dict) else equivalence


def _notes(data: dict[str, Any], groups: list[NodeGroup], unused: list[str]) -> tuple[str, ...]:
    notes = []
    processor = _processor(data)
    processor = processor if isinstance(processor, dict) else {}
    each = processor.get("core", 1)
    if each != 1:
        sizes = ", ".join(dict.fromkeys(str(group.resources["cores"]) for group in groups))
        notes.append(f"a processor of the log takes {each} cores: nodes are counted in processors, {sizes} each")
    for name, amount in processor.items():
        if name != "core" and amount:
            notes.append(f"a processor of the log takes {NAMES.get(name, name)}={amount} too: not applied")
    if "start_time" in data:
        notes.append(f"start_time {data['start_time']}: not applied, the log says when jobs are submitted")
    if unused:
        notes.append(f"groups without nodes: {', '.join(unused)}")
    return tuple(notes)


def _lost(cluster: Cluster) -> list[str]:
    lost = []
    first = 1
    for group in cluster.groups:
        if (group.prefix, group.first, group.width) != (PREFIX, first, 0):
            lost.append(f"names of the nodes of {group.name}: AccaSim numbers all nodes from {PREFIX}1")
        if group.features:
            lost.append(f"features of {group.name}: the format has no place for them")
        if group.resources.get("memory", 0) % 1024:
            lost.append(f"memory of {group.name}: rounded down to kB")
        first += group.count
    if cluster.partitions:
        lost.append("partitions: the format has no place for them")
    if cluster.switches:
        lost.append("switches: the format has no place for them")
    return lost
