"""Tables of a run as Parquet files: written in equal row groups, read a column at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from schedlab.engine.folder import OutputFolder, explained
from schedlab.engine.tables import NODES_SCHEMA, PERFORMANCE_SCHEMA, PIECES_SCHEMA, RATES_SCHEMA
from schedlab.model.states import PIECE_ENDS, REASONS, STATES, UNSAID

if TYPE_CHECKING:
    import polars as pl

ROW_GROUP = 65_536

# Times are smooth and counters grow: these encodings make files smaller and writing faster than plain values do.
_SPLIT = (
    "submit",
    "eligible",
    "start",
    "end",
    "runtime",
    "priority",
    "think",
    "time",
    "decide_seconds",
    "pass_seconds",
)
_DELTA = ("job", "sequence", "running", "queued")
_AMOUNTS = ("used_", "queued_")  # begin the names of columns of the timeline, one for each resource: also counters
# Few different values. All other columns repeat too little for a dictionary to pay.
_DICTIONARY = (
    *("state", "reason", "user", "group", "queue", "partition"),
    *("cores", "count", "request", "limit", "estimate", "nodes", "memory_mb"),
)


class TableFile:
    """One Parquet file that grows. Its bytes depend on the rows only, not on how they were cut into batches."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        of_resources = schema.names if "used_cores" in schema.names else ()
        counters = (*_DELTA, *(name for name in of_resources if name.startswith(_AMOUNTS)))
        encodings = dict.fromkeys(_SPLIT, "BYTE_STREAM_SPLIT") | dict.fromkeys(counters, "DELTA_BINARY_PACKED")
        self._writer = pq.ParquetWriter(
            path,
            schema,
            compression="zstd",
            compression_level=1,
            use_dictionary=[name for name in _DICTIONARY if name in schema.names],
            column_encoding={name: encoding for name, encoding in encodings.items() if name in schema.names},
        )
        self._pending: list[pa.Table] = []
        self._pending_rows = 0

    def write(self, table: pa.Table) -> None:
        self._pending.append(table)
        self._pending_rows += len(table)
        if self._pending_rows >= ROW_GROUP:
            rows = pa.concat_tables(self._pending)
            whole = len(rows) - len(rows) % ROW_GROUP
            for begin in range(0, whole, ROW_GROUP):
                self._write_group(rows.slice(begin, ROW_GROUP))
            self._pending = [rows.slice(whole)]
            self._pending_rows = len(rows) - whole

    def close(self) -> None:
        """Write what is left and the file's footer; the file is closed even if there is no room for them."""
        try:
            if self._pending_rows:
                self._write_group(pa.concat_tables(self._pending))
        finally:
            self._pending, self._pending_rows = [], 0
            self._writer.close()

    def _write_group(self, rows: pa.Table) -> None:
        # In one piece: pages end where pieces end.
        self._writer.write_table(rows.combine_chunks(), row_group_size=ROW_GROUP)


class FolderTables:
    """The tables of a run folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def column(self, name: str) -> NDArray[Any]:
        return _column(self.folder / "jobs.parquet", name)

    def pieces_column(self, name: str) -> NDArray[Any]:
        return self._rare_column("pieces.parquet", name)

    def performance_column(self, name: str) -> NDArray[Any]:
        return self._rare_column("performance.parquet", name)

    def _rare_column(self, file: str, name: str) -> NDArray[Any]:
        path = self.folder / file
        if not path.is_file() or name not in pq.read_schema(path).names:  # older runs have fewer columns
            return np.empty(0)
        return _column(path, name)

    def timeline_batches(self, names: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        with _open(self.folder / "timeline.parquet") as file:
            for batch in file.iter_batches(ROW_GROUP, columns=list(names), use_threads=False):
                yield {name: batch.column(name).to_numpy() for name in names}

    def jobs(self) -> pl.DataFrame:
        observed = self.folder / "observed.parquet"
        return in_workload_order(
            pq.read_table(self.folder / "jobs.parquet"), pq.read_table(observed) if observed.is_file() else None
        )

    def timeline(self) -> pl.DataFrame:
        import polars as pl

        return pl.read_parquet(self.folder / "timeline.parquet")

    def pieces(self) -> pl.DataFrame:
        return self._rare("pieces.parquet", PIECES_SCHEMA)

    def rates(self) -> pl.DataFrame:
        return self._rare("rates.parquet", RATES_SCHEMA)

    def nodes(self) -> pl.DataFrame:
        return self._rare("nodes.parquet", NODES_SCHEMA)

    def performance(self) -> pl.DataFrame:
        return self._rare("performance.parquet", PERFORMANCE_SCHEMA)

    def evidence(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def _rare(self, name: str, schema: pa.Schema) -> pl.DataFrame:
        """A table that most runs do without."""
        path = self.folder / name
        return as_frame(pq.read_table(path) if path.is_file() else schema.empty_table())

    def save(self, config: dict[str, Any], path: Path, force: bool) -> None:
        """Copy the run."""
        with explained(path), OutputFolder(path, force) as output:
            for name in (*config["files"], "run.json"):
                target = output.partial / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes((self.folder / name).read_bytes())
            output.commit()


def as_frame(table: pa.Table) -> pl.DataFrame:
    """With words as plain strings."""
    import polars as pl

    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(pl.col(pl.Categorical).cast(pl.String))


def in_workload_order(table: pa.Table, observed: pa.Table | None = None) -> pl.DataFrame:
    """The jobs, and what observers said of them."""
    import polars as pl

    jobs = pl.from_arrow(table)
    assert isinstance(jobs, pl.DataFrame)
    kinds = {"state": pl.Enum(STATES), "reason": pl.Enum(REASONS[1:])}
    if observed is not None:
        jobs = jobs.join(as_frame(observed), on="sequence", how="left")
    return jobs.sort("sequence").with_columns(pl.col(name).cast(pl.String).cast(kind) for name, kind in kinds.items())


def _open(path: Path) -> pq.ParquetFile:
    return pq.ParquetFile(path, pre_buffer=False)  # buffered ahead, the whole column would stay in memory until the end


def _column(path: Path, name: str) -> NDArray[Any]:
    with _open(path) as file:
        if name not in file.schema_arrow.names:
            raise KeyError(name)
        filled = 0
        values: NDArray[Any] | None = None
        for batch in file.iter_batches(ROW_GROUP, columns=[name], use_threads=False):
            piece = _numbers(name, batch.column(0))
            if values is None:
                values = np.empty(file.metadata.num_rows, piece.dtype)
            values[filled : filled + len(piece)] = piece
            filled += len(piece)
        return np.empty(0) if values is None else values


def _numbers(name: str, values: pa.Array) -> NDArray[Any]:
    """Without pyarrow.compute, which takes longer to load than most runs take to read."""
    if pa.types.is_dictionary(values.type):
        words = {"state": STATES, "how": PIECE_ENDS}.get(name, REASONS)
        codes = np.array([words.index(word) for word in values.dictionary.to_pylist()], np.int8)
        numbers = np.zeros(len(values), np.int8)
        known = _known(values.indices)
        numbers[known] = codes[_content(values.indices)[known]]
        return numbers
    if values.null_count and pa.types.is_integer(values.type):
        return np.where(_known(values), _content(values), -1).astype(values.type.to_pandas_dtype())
    if values.null_count and pa.types.is_boolean(values.type):
        return np.where(_known(values), _bits(values, 1), UNSAID).astype(np.uint8)
    return np.asarray(values.to_numpy(zero_copy_only=False))  # null times become NaN


def _known(values: pa.Array) -> NDArray[np.bool_]:
    return np.ones(len(values), bool) if values.buffers()[0] is None else _bits(values, 0)


def _bits(values: pa.Array, buffer: int) -> NDArray[np.bool_]:
    """Of the buffer that says which values are known (0), or of the values of a column of booleans (1)."""
    bits = np.unpackbits(np.frombuffer(values.buffers()[buffer], np.uint8), bitorder="little")
    return bits[values.offset : values.offset + len(values)].astype(bool)


def _content(values: pa.Array) -> NDArray[Any]:
    """The numbers as they lie in memory; where a value is null, anything."""
    numbers = np.frombuffer(values.buffers()[1], values.type.to_pandas_dtype())
    return numbers[values.offset : values.offset + len(values)]
