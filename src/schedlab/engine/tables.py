"""The core's batches of arrays as Arrow tables and back, by the declarations of `model.tables`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schedlab._core import NodeNames
from schedlab.engine.arrays import known, of_bools, of_numbers, of_texts, of_words, to_bools, to_numbers
from schedlab.model.cluster import Cluster
from schedlab.model.states import UNSAID, YES
from schedlab.model.table import Column, Table

Batch = Mapping[str, Any]  # column name -> array
Part: TypeAlias = NDArray[Any] | pa.Array  # of a column, see TableMaker.parts

WORDS = pa.dictionary(pa.int8(), pa.string())
_TYPES = {
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bool": pa.bool_(),
    "words": WORDS,
}
_UNKNOWN: dict[str, tuple[Any, float]] = {
    "int32": (np.int32, -1),
    "int64": (np.int64, -1),
    "float": (np.float32, np.nan),
    "double": (np.float64, np.nan),
    "bool": (np.uint8, UNSAID),
    "words": (np.uint8, 0),
}


class TableMaker:
    """Makes an Arrow table of each batch of one table of a run. The first batch says which optional columns it has;
    those whose names are not `wanted` are left out."""

    def __init__(
        self,
        table: Table,
        cluster: Cluster,
        first: Iterable[str] = (),
        wanted: Callable[[str], bool] = lambda _name: True,
    ) -> None:
        self._cluster = cluster
        self.columns = tuple(
            column for column in table.columns_of(first, cluster.resource_names) if wanted(column.name)
        )
        self.schema = pa.schema(
            [
                pa.field(column.name, _TYPES.get(column.kind, pa.string()), nullable=column.nullable)
                for column in self.columns
            ]
        )

    def make(self, batch: Batch) -> pa.Table:
        return self.whole(self.parts(batch))

    def parts(self, batch: Batch) -> list[Part]:
        """What each column is made of: numbers as the core gives them, anything else as the array that it becomes."""
        return [
            np.asarray(batch[column.key]) if column.kind in _UNKNOWN else self._array(column, batch)
            for column in self.columns
        ]

    def whole(self, parts: Iterable[Part]) -> pa.Table:
        arrays = [
            part if isinstance(part, pa.Array) else as_array(column, part, column.nullable)
            for column, part in zip(self.columns, parts, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)

    def _array(self, column: Column, batch: Batch) -> pa.Array:
        match column.kind:
            case "text":
                texts = [*batch["texts"], None]
                return of_texts([texts[number] for number in batch[column.key].tolist()])
            case "node":
                return of_texts([self._names[node] for node in batch[column.key].tolist()])
            case "nodes":
                return self._nodes(batch)
            case "devices":
                return of_texts(_devices(batch, self._cluster.resource_names))
            case _:
                return as_array(column, batch[column.key], column.nullable)

    @cached_property
    def _names(self) -> list[str]:
        return self._cluster.node_names()

    @cached_property
    def _sets(self) -> NodeNames:
        return NodeNames(self._names)

    def _nodes(self, batch: Batch) -> pa.Array:
        allocated = batch["allocated"]  # where each job's nodes end
        length = len(allocated)
        if self._cluster.pool:
            return pa.nulls(length, pa.string())
        ends, characters = self._sets.fold(allocated, batch["node"], batch["chunks"])
        placed = np.packbits(np.diff(allocated, prepend=0) > 0, bitorder="little")
        return pa.StringArray.from_buffers(length, pa.py_buffer(ends), pa.py_buffer(characters), pa.py_buffer(placed))


def _devices(batch: Batch, resources: Sequence[str]) -> list[str | None]:
    """The devices of each place by resource; None where nobody named any."""
    ends: list[int] = batch["devices_end"].tolist()
    found: list[str | None] = [None] * len(ends)
    for row in np.flatnonzero(np.diff(batch["devices_end"], prepend=0)).tolist():
        here = slice(ends[row - 1] if row else 0, ends[row])
        numbers: dict[int, list[int]] = {}
        for resource, device in zip(
            batch["device_resource"][here].tolist(), batch["device"][here].tolist(), strict=True
        ):
            numbers.setdefault(resource, []).append(device)
        found[row] = ";".join(f"{resources[resource]}={_ranges(some)}" for resource, some in numbers.items())
    return found


def _ranges(numbers: list[int]) -> str:
    """0-2,5 of 0, 1, 2, 5, which are in order."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def as_array(column: Column, values: Any, nullable: bool) -> pa.Array:
    """The core's values, or text, as a column; with nulls where they are unknown, if it may have some."""
    match column.kind:
        case "words":
            return _words(values, column)
        case "bool":
            codes = np.asarray(values, np.uint8)
            return of_bools(codes == YES, codes == UNSAID)
        case "string" | "node" | "nodes":
            return of_texts(values)
        case kind:
            return of_numbers(values, _TYPES[kind], _unknown(values) if nullable else None)


def _words(codes: NDArray[np.uint8], column: Column) -> pa.DictionaryArray:
    if not column.nullable:
        return of_words(codes, column.words)
    without = codes.astype(np.int8) - np.int8(1)  # the first word means none
    return of_words(without, column.words[1:], without < 0)


def _unknown(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(np.isnan(values) if values.dtype.kind == "f" else values < 0)


def as_before(column: Column, rows: int, other: Callable[[str], NDArray[Any]]) -> NDArray[Any]:
    """A column that the run, of an older format, does not have, as `numbers` would give it."""
    if callable(column.before):
        return column.before(other)
    if column.kind in _UNKNOWN:
        kind, unknown = _UNKNOWN[column.kind]
        return np.full(rows, unknown if column.before is None else column.before, kind)
    return np.full(rows, None, object)


def numbers(column: Column, values: pa.Array) -> NDArray[Any]:
    """Back to what the core gave. Without pyarrow.compute, which takes longer to load than most runs to read."""
    if pa.types.is_dictionary(values.type):
        codes = np.array([column.words.index(word) for word in values.dictionary.to_pylist()], np.int8)
        found = np.zeros(len(values), np.int8)
        some = known(values.indices)
        found[some] = codes[to_numbers(values.indices)[some]]
        return found
    if pa.types.is_boolean(values.type):
        told = to_bools(values)
        return np.where(known(values), told, UNSAID).astype(np.uint8) if values.null_count else told
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        there = to_numbers(values)
        if not values.null_count:
            return there
        unknown = -1 if pa.types.is_integer(values.type) else np.nan
        return np.where(known(values), there, unknown).astype(there.dtype)
    return np.asarray(values.to_numpy(zero_copy_only=False))
