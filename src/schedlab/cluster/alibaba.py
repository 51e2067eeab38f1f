"""Node lists of Alibaba's GPU trace (cluster-trace-gpu-v2023): CSV with a node in each line."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

from schedlab.files.bytestream import ByteStream
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.errors import InputError, InputErrors

COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
_NAME = re.compile(r"(.*?[^0-9])([0-9]{1,12})")
_MOST = 20  # mistakes to report at once


def read_alibaba(path: Path) -> Cluster:
    """Neighbours that are alike make a group, called as its first node is; the GPU model is a feature.

    A node has whole cores and GPUs, and the same once more in thousandths (cpu_milli, gpu_milli).
    """
    text = b"".join(ByteStream(path)).decode("utf-8-sig", errors="replace")
    rows = csv.reader(text.splitlines())
    titles = [title.strip() for title in next(rows, [])]
    if not set(COLUMNS) <= set(titles):
        lacking = ", ".join(column for column in COLUMNS if column not in titles)
        hint = f"a node list of the trace has the columns {', '.join(COLUMNS)}"
        raise InputError(f"has no column {lacking}", where=f"{path}, line 1", hint=hint)
    groups: list[NodeGroup] = []
    names: set[str] = set()
    errors: list[InputError] = []
    for number, row in enumerate(rows, 2):
        if not row:
            continue
        try:
            node = _node(dict(zip(titles, row, strict=False)), names)
        except ValueError as error:
            errors.append(InputError(str(error), where=f"{path}, line {number}"))
            if len(errors) == _MOST:
                break
            continue
        if groups and _continues(groups[-1], node):
            groups[-1] = _with_one_more(groups[-1])
        else:
            groups.append(node)
    if errors:
        raise InputErrors(errors)
    if not groups:
        raise InputError("lists no nodes", where=str(path), hint="is it the right file?")
    return Cluster(tuple(groups), name=path.name.partition(".")[0])


def looks_like(start: str, name: str) -> bool:
    return start.partition("\n")[0].strip() == ",".join(COLUMNS)


def _node(row: dict[str, str], names: set[str]) -> NodeGroup:
    name = row.get("sn", "").strip()
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f'sn is "{name[:40]}", expected a name that ends in a number')
    if name in names:
        raise ValueError(f'there is a node "{name}" above')
    names.add(name)
    cpu, memory, gpus = (_whole(row, column) for column in ("cpu_milli", "memory_mib", "gpu"))
    model = row.get("model", "").strip()
    resources = {"cores": cpu // 1000, "memory": memory * 2**20, "gpus": gpus}
    return NodeGroup(
        name,
        1,
        resources | {"cpu_milli": cpu, "gpu_milli": 1000 * gpus},
        prefix=found[1],
        first=int(found[2]),
        width=len(found[2]),
        features=frozenset({model} if model else ()),
    )


def _whole(row: dict[str, str], column: str) -> int:
    text = row.get(column, "").strip()
    if not text.isdecimal() or len(text) > 12:
        raise ValueError(f'{column} is "{text[:40]}", expected a whole number')
    return int(text)


def _continues(group: NodeGroup, node: NodeGroup) -> bool:
    alike = (group.prefix, group.width, group.resources, group.features)
    follows = group.first + group.count == node.first
    return follows and alike == (node.prefix, node.width, node.resources, node.features)


def _with_one_more(group: NodeGroup) -> NodeGroup:
    return replace(group, count=group.count + 1)
