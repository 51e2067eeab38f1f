"""What the jobs of a table ask for: nodes, cores, gpus and memory of a row as identical chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.request import Request
from schedlab.workload.stream import Known
from schedlab.workload.table.columns import MOST_BYTES, MOST_OF_ANYTHING, Cells, truth
from schedlab.workload.table.mapping import Column, Mapping

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(slots=True)
class Sizes:
    """One entry a row. A resource of which a chunk has -1 is not a part of it."""

    count: Ints
    chunk: dict[str, Ints]
    per_node_min: Ints
    per_node_max: Ints
    exclusive: Mask
    cores: Ints  # of the whole job
    filled: dict[str, Mask] = field(default_factory=dict)


def sizes(cells: Cells, mapping: Mapping, *, memory: bool) -> Sizes:
    """N nodes and C cores are N chunks of C/N cores, each on a node of its own; C cores alone are C chunks of one."""
    filled: dict[str, Mask] = {}
    nodes = _amount(cells, "nodes", mapping.columns.get("nodes"), filled)
    cores = _amount(cells, "cores", mapping.columns.get("cores"), filled, nodes)
    per_node = _amount(cells, "cores_per_node", mapping.columns.get("cores_per_node"), filled)
    cores = np.where((cores == 0) & (per_node > 0), nodes * per_node, cores)
    split = (nodes == 0) & (cores > 0) & (per_node > 0)  # so many a node
    even = split & (cores % np.maximum(per_node, 1) == 0)
    nodes = np.where(even, cores // np.maximum(per_node, 1), nodes)
    wanted = {name: mapping.columns[name] for name in ("gpus", "memory") if name in mapping.columns} | mapping.resources
    if not memory:
        wanted.pop("memory", None)
    total = {name: _amount(cells, name, column, filled, nodes, cores) for name, column in wanted.items()}
    others = [amount for name, amount in total.items() if name != "memory"]
    alone = cores.copy()  # without nodes: as many chunks as divide everything evenly, so that none asks for a part
    for amount in others:
        alone = np.where(amount > 0, np.gcd(alone, amount), alone)
    alone = np.where(split, cores, alone)
    count = np.where(nodes > 0, nodes, alone)
    parts = np.maximum(count, 1)
    whole_nodes = (nodes > 0) & (cores == 0) & (np.sum(others, axis=0) == 0 if others else True)
    chunk = {"cores": np.where(whole_nodes, 1, -(-cores // parts))}
    filled["cores: not the same on all nodes, rounded up"] = (nodes > 0) & (cores % parts > 0)
    for name, amount in total.items():
        chunk[name] = -(-amount // parts)
    spread = np.where(nodes > 1, 1, np.where(split & (nodes == 0), per_node, 0))
    exclusive = whole_nodes | _flags(cells, mapping.columns.get("exclusive"))
    nothing = np.zeros(cells.rows, np.int64)
    absent = {name: np.where(amount > 0, amount, -1) for name, amount in chunk.items()}
    return Sizes(count, absent, nothing, spread, exclusive, np.where(whole_nodes, nodes, cores), filled)


def own_sizes(cells: Cells, mapping: Mapping) -> Sizes:
    """As schedlab wrote them: chunks and where they may go."""

    def numbers(name: str, unknown: int) -> Ints:
        column = mapping.columns.get(name)
        if column is None:
            return np.full(cells.rows, unknown, np.int64)
        values, _ = cells.amounts(name, column, MOST_BYTES)
        return np.where(_bad(values), unknown, values).astype(np.int64)

    chunk = {}
    for name, column in mapping.resources.items():
        values, _ = cells.amounts(name, column, MOST_BYTES)
        chunk[name] = np.where(_bad(values), -1, values).astype(np.int64)
    count, nothing = numbers("count", 0), np.zeros(cells.rows, np.int64)
    cores = count * np.maximum(chunk.get("cores", nothing), 0)
    exclusive = _flags(cells, mapping.columns.get("exclusive"))
    return Sizes(count, chunk, numbers("per_node_min", 0), numbers("per_node_max", 0), exclusive, cores)


def intern(
    known: Known, size: Sizes, features: tuple[NDArray[np.int32], Sequence[frozenset[str]]],
    partitions: tuple[NDArray[np.int32], Sequence[str]], keep: NDArray[np.intp],
) -> NDArray[np.int32]:  # fmt: skip
    """The places of the requests of the rows to keep; each different request is looked at once."""
    names = list(size.chunk)
    where = [size.per_node_min, size.per_node_max, size.exclusive, features[0], partitions[0]]
    columns = [np.asarray(column)[keep] for column in (*size.chunk.values(), *where)]
    first, which = _distinct(columns)
    places = np.zeros(len(first), np.int32)
    for place in np.argsort(first):  # in the order of the table
        *amounts, least, most, exclusive, feature, partition = (int(column[first[place]]) for column in columns)
        request = Request(
            {name: amount for name, amount in zip(names, amounts, strict=True) if amount >= 0},
            least,
            most,
            features[1][feature] if feature >= 0 else frozenset(),
            partitions[1][partition] if partition >= 0 else None,
            bool(exclusive),
        )
        places[place] = known.request(request)
    return places[which]


def _amount(
    cells: Cells, name: str, column: Column | None, filled: dict[str, Mask], nodes: Ints | None = None,
    cores: Ints | None = None,
) -> Ints:  # fmt: skip
    """Of the whole job; 0 for unknown."""
    if column is None:
        return np.zeros(cells.rows, np.int64)
    values, rounded = cells.amounts(name, column, MOST_BYTES if name == "memory" else MOST_OF_ANYTHING)
    values = np.where(_bad(values), 0, values)
    if name != "memory":
        filled[f"{name}: rounded up to whole ones"] = rounded
    times = nodes if column.per == "node" else cores if column.per == "core" else None
    if times is not None:
        values = values * np.maximum(times, 1)
    return np.minimum(values, MOST_BYTES).astype(np.int64)


def _bad(values: NDArray[np.float64]) -> Mask:
    """Missing, or wrong and noted as such."""
    return ~((values >= 0) & (values <= MOST_BYTES))


def _flags(cells: Cells, column: Column | None) -> Mask:
    if column is None:
        return np.zeros(cells.rows, bool)
    return np.asarray(cells.codes("exclusive", column, truth, "true or false") == 1)


def _distinct(columns: list[NDArray[Any]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each different row first occurs, and which of them each row is."""
    code = np.zeros(len(columns[0]), np.int64)
    first = np.zeros(1, np.intp)
    for column in columns:
        values, which = np.unique(column, return_inverse=True)
        _, first, code = np.unique(code * len(values) + which, return_index=True, return_inverse=True)
    return first, code
