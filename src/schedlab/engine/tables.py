"""The engine's batches of arrays as Arrow tables: the schemas of the files of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schedlab._core import NodeNames
from schedlab.model.cluster import Cluster
from schedlab.model.states import NODE_STATES, PIECE_ENDS, REASONS, STATES, UNSAID, YES

Batch = Mapping[str, Any]  # column name -> array

STATE = pa.dictionary(pa.int8(), pa.string())

# In the order of the file. A nullable column has null where the value is unknown (-1, NaN, no reason, no nodes).
_JOBS = {
    field.name: field
    for field in (
        pa.field("job", pa.int64(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("sequence", pa.int64(), nullable=False),
        pa.field("user", pa.int32()),
        pa.field("group", pa.int32()),
        pa.field("queue", pa.int32()),
        pa.field("partition", pa.int32()),
        pa.field("submit", pa.float64(), nullable=False),
        pa.field("eligible", pa.float64()),
        pa.field("start", pa.float64()),
        pa.field("end", pa.float64(), nullable=False),
        pa.field("state", STATE, nullable=False),
        pa.field("reason", STATE),
        pa.field("cores", pa.int64(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("request", pa.int32(), nullable=False),
        pa.field("runtime", pa.float64(), nullable=False),
        pa.field("limit", pa.float64(), nullable=False),
        pa.field("estimate", pa.float64(), nullable=False),
        pa.field("nodes", pa.string()),
        pa.field("backfilled", pa.bool_()),  # null: the policy does not say
        pa.field("priority", pa.float64()),
        pa.field("after", pa.int64()),
        pa.field("think", pa.float64(), nullable=False),
    )
}

TIMELINE_SCHEMA = pa.schema(
    [
        pa.field("time", pa.float64(), nullable=False),
        pa.field("running", pa.int32(), nullable=False),
        pa.field("queued", pa.int32(), nullable=False),
        pa.field("used_cores", pa.int64(), nullable=False),
        pa.field("queued_cores", pa.int64(), nullable=False),
    ]
)

# What each decision cost.
PERFORMANCE_SCHEMA = pa.schema(
    [
        pa.field("time", pa.float64(), nullable=False),
        pa.field("queued", pa.int32(), nullable=False),
        pa.field("running", pa.int32(), nullable=False),
        pa.field("decide_seconds", pa.float32(), nullable=False),
        pa.field("pass_seconds", pa.float32(), nullable=False),
        pa.field("memory_mb", pa.float32()),
    ]
)

# Stretches of the lives of jobs that did not simply run from start to end.
PIECES_SCHEMA = pa.schema(
    [
        pa.field("job", pa.int64(), nullable=False),
        pa.field("sequence", pa.int64(), nullable=False),
        pa.field("begin", pa.float64(), nullable=False),
        pa.field("end", pa.float64(), nullable=False),
        pa.field("how", STATE, nullable=False),  # it ended,
        pa.field("reason", STATE),  # and why a decision ended it
        pa.field("cores", pa.int64(), nullable=False),
        pa.field("count", pa.int64(), nullable=False),
        pa.field("request", pa.int32(), nullable=False),
        pa.field("work", pa.float64(), nullable=False),  # seconds that were left to do at the beginning
        pa.field("done", pa.float64(), nullable=False),  # and what of it was done
        pa.field("whole", pa.float64(), nullable=False),  # seconds of work of the whole job there
        pa.field("expected_end", pa.float64(), nullable=False),  # as believed when the job took these nodes
        pa.field("nodes", pa.string()),
    ]
)

# When jobs began to work faster or slower, and who made them.
RATES_SCHEMA = pa.schema(
    [
        pa.field("job", pa.int64(), nullable=False),
        pa.field("sequence", pa.int64(), nullable=False),
        pa.field("piece", pa.int32(), nullable=False),  # of the job's pieces, from 0 on
        pa.field("time", pa.float64(), nullable=False),
        pa.field("owner", pa.string(), nullable=False),
        pa.field("factor", pa.float64(), nullable=False),  # the owner's, from then on
        pa.field("rate", pa.float64(), nullable=False),  # the product of all factors
    ]
)

NODES_SCHEMA = pa.schema(
    [
        pa.field("time", pa.float64(), nullable=False),
        pa.field("node", pa.string(), nullable=False),
        pa.field("state", STATE, nullable=False),  # from then on
    ]
)


class JobTables:
    """Makes one Arrow table of each batch of jobs."""

    def __init__(self, cluster: Cluster, *, names: bool = False, dependencies: bool = False) -> None:
        left_out = ([] if names else ["name"]) + ([] if dependencies else ["after", "think"])
        self.schema = pa.schema([field for name, field in _JOBS.items() if name not in left_out])
        self._names = cluster.node_names()
        self._node_names = None if cluster.pool else NodeNames(self._names)

    def table(self, batch: Batch) -> pa.Table:
        return self._table(batch, self.schema)

    def pieces_table(self, batch: Batch) -> pa.Table:
        return self._table(batch, PIECES_SCHEMA)

    def nodes_table(self, batch: Batch) -> pa.Table:
        names = pa.array([self._names[node] for node in batch["node"].tolist()], pa.string())
        states = _words(batch["mode"], NODE_STATES)
        return pa.Table.from_arrays([pa.array(batch["time"]), names, states], schema=NODES_SCHEMA)

    def _table(self, batch: Batch, schema: pa.Schema) -> pa.Table:
        return pa.Table.from_arrays([self._array(field, batch) for field in schema], schema=schema)

    def _array(self, field: pa.Field, batch: Batch) -> pa.Array:
        match field.name:
            case "job":
                return pa.array(batch["id"], pa.int64())
            case "name":
                return pa.array(batch["name"], pa.string())
            case "state":
                return _words(batch["state"], STATES)
            case "how":
                return _words(batch["how"], PIECE_ENDS)
            case "reason":
                codes = batch["reason"].astype(np.int8) - np.int8(1)
                return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(REASONS[1:]))
            case "backfilled":
                codes = np.asarray(batch["backfilled"], np.uint8)
                return pa.array(codes == YES, mask=codes == UNSAID)
            case "nodes":
                return self._nodes(batch)
            case name:
                return _plain(field, batch[name])

    def _nodes(self, batch: Batch) -> pa.Array:
        allocated = batch["allocated"]  # where each job's nodes end
        length = len(allocated)
        if self._node_names is None:
            return pa.nulls(length, pa.string())
        ends, characters = self._node_names.fold(allocated, batch["node"], batch["chunks"])
        placed = np.packbits(np.diff(allocated, prepend=0) > 0, bitorder="little")
        return pa.StringArray.from_buffers(length, pa.py_buffer(ends), pa.py_buffer(characters), pa.py_buffer(placed))


def timeline_schema(cluster: Cluster) -> pa.Schema:
    """With two columns for each resource that the cluster has besides cores."""
    schema = TIMELINE_SCHEMA
    for resource in cluster.resource_names[1:]:
        for name in (f"used_{resource}", f"queued_{resource}"):
            schema = schema.append(pa.field(name, pa.int64(), nullable=False))
    return schema


def timeline_table(batch: Batch, schema: pa.Schema) -> pa.Table:
    return _plain_table(batch, schema)


def performance_table(batch: Batch) -> pa.Table:
    return _plain_table(batch, PERFORMANCE_SCHEMA)


def rates_table(batch: Batch) -> pa.Table:
    owners = pa.DictionaryArray.from_arrays(pa.array(batch["owner"]), pa.array(batch["owners"], pa.string()))
    named = {**batch, "job": batch["id"], "owner": owners.cast(pa.string())}
    return pa.Table.from_arrays(
        [pa.array(named[field.name], field.type) for field in RATES_SCHEMA], schema=RATES_SCHEMA
    )


def _plain_table(batch: Batch, schema: pa.Schema) -> pa.Table:
    return pa.Table.from_arrays([_plain(field, batch[field.name]) for field in schema], schema=schema)


def _plain(field: pa.Field, values: NDArray[Any]) -> pa.Array:
    return pa.array(values, field.type, mask=_unknown(values) if field.nullable else None)


def _words(codes: NDArray[np.uint8], words: tuple[str, ...]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(words))


def _unknown(values: NDArray[Any]) -> NDArray[np.bool_] | None:
    unknown = np.isnan(values) if values.dtype.kind == "f" else values < 0
    return unknown if unknown.any() else None
