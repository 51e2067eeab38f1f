"""Write jobs as a table, CSV or Parquet, that is read back as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.files.bytestream import plain_name
from schedlab.files.whole_file import whole_file
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import JOB_COLUMNS, LABELLED, JobBatch, Workload
from schedlab.workload.table.own import CHUNK, NAME, WHERE, Noted
from schedlab.workload.table.predecessors import to_texts

if TYPE_CHECKING:
    import pyarrow as pa


def write_table(path: Path, workload: Workload) -> list[str]:
    """CSV or Parquet, as the name ends. Returns what the table cannot hold."""
    parquet = plain_name(path).endswith(".parquet")
    if parquet and path.suffix.casefold() != ".parquet":
        raise InputError("a Parquet file is compressed inside", where=str(path), hint="let its name end in .parquet")
    batches = workload.batches()
    first = next(batches, None)
    if first is None:
        raise InputError("there are no jobs to write", where=str(path))
    rows = _Rows(workload, named=first.names is not None)
    with whole_file(path) as file, _writer(file, rows.schema, parquet=parquet) as writer:
        writer.write_batch(rows.batch(first))
        for batch in batches:
            writer.write_batch(rows.batch(batch))
    return [*rows.lost(), *([] if parquet else _only_in_parquet(workload))]


class _Rows:
    """Batches of jobs as batches of the table, all with the same columns."""

    def __init__(self, workload: Workload, *, named: bool) -> None:
        self._workload, self._requests = workload, workload.requests
        self.schema = self._schema(named=named)
        self._shapes = self._nameless = 0

    def batch(self, batch: JobBatch) -> pa.RecordBatch:
        import pyarrow as pa

        if batch.shapes is not None:
            self._shapes += int(np.count_nonzero(np.diff(batch.shapes.end, prepend=0)))
        arrays = [self._column(batch, field.name, field.type) for field in self.schema]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def lost(self) -> list[str]:
        lost = []
        if self._shapes:
            lost.append(f"other shapes of {self._shapes:,} jobs: a table has no place for them")
        if self._nameless:
            lost.append(f"{self._nameless:,} users, groups… without a name: their numbers are written as names")
        return lost

    def _schema(self, *, named: bool) -> pa.Schema:
        import pyarrow as pa

        types = {name: pa.from_numpy_dtype(dtype) for name, (dtype, _) in JOB_COLUMNS.items()}
        for name in ("request", *LABELLED):
            del types[name]
        if named:
            types["name"] = pa.string()
        types["predecessors"] = pa.string()
        resources = dict.fromkeys(name for request in self._requests for name in request.chunk)
        types |= {f"{CHUNK}{name}": pa.int64() for name in resources}
        where = dict(zip(WHERE, (pa.int64(), pa.int64(), pa.string(), pa.string(), pa.bool_()), strict=True))
        types |= {name: where[name] for name in WHERE if any(_where(one, name) is not None for one in self._requests)}
        for name in LABELLED:
            labelled = bool(self._workload.labels.get(name))
            types[f"{name}{NAME}" if labelled else name] = pa.string() if labelled else pa.int32()
        known = self._workload
        noted = Noted(known.origin, known.header, known.labels, known.requests, known.phases)
        return pa.schema(types.items(), {"schedlab": noted.to_json()})

    def _column(self, batch: JobBatch, title: str, kind: pa.DataType) -> pa.Array:
        import pyarrow as pa

        if title == "name":
            return pa.array(batch.names, kind)
        if title == "predecessors":
            before = batch.predecessors
            return pa.nulls(len(batch), kind) if before is None else pa.array(to_texts(before), kind)
        if title.startswith(CHUNK):
            resource = title.removeprefix(CHUNK)
            return pa.array([one.chunk.get(resource) for one in self._requests], kind).take(pa.array(batch.request))
        if title in WHERE:
            return pa.array([_where(one, title) for one in self._requests], kind).take(pa.array(batch.request))
        label = title.removesuffix(NAME)
        if label != title:
            return self._names(getattr(batch, label), self._workload.labels[label])
        values = getattr(batch, title)
        return pa.array(values, kind, mask=_unknown(title, values))

    def _names(self, numbers: NDArray[np.int32], labels: list[str]) -> pa.Array:
        import pyarrow as pa

        self._nameless += int(np.count_nonzero(numbers >= len(labels)))
        more = range(len(labels), int(numbers.max(initial=-1)) + 1)
        return pa.array([*labels, *map(str, more)]).take(pa.array(numbers, mask=numbers < 0))


def _where(request: Request, name: str) -> int | str | bool | None:
    """What a request says about where its chunks may go; None for nothing."""
    if name == "features":
        return "&".join(sorted(request.features)) or None
    if name == "request_partition":
        return request.partition
    found: int | bool = getattr(request, name)
    return found or None


def _unknown(name: str, values: NDArray[Any]) -> NDArray[np.bool_]:
    if name in ("id", "submit", "runtime", "limit", "count"):
        return np.zeros(len(values), bool)
    return np.asarray(np.isnan(values) if name == "wait" else values == JOB_COLUMNS[name][1])


def _only_in_parquet(workload: Workload) -> list[str]:
    found = {
        "the date of second 0": f"{workload.origin:%Y-%m-%d %H:%M:%S} UTC" if workload.origin else "",
        "the header": ", ".join(workload.header),
        "the phases": ", ".join(phase.name for phase in workload.phases),
    }
    return [f"{what} ({which}): CSV has no place for it, Parquet has" for what, which in found.items() if which]


@contextmanager
def _writer(file: Any, schema: pa.Schema, *, parquet: bool) -> Iterator[Any]:
    import pyarrow.csv
    import pyarrow.parquet as pq

    if parquet:
        with pq.ParquetWriter(file, schema, compression="zstd") as writer:
            yield writer
    else:
        with pyarrow.csv.CSVWriter(
            file, schema, write_options=pyarrow.csv.WriteOptions(quoting_style="needed")
        ) as writer:
            yield writer
