"""Tables of a run as Parquet files: written in equal row groups, read a column at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from schedlab.engine.folder import OutputFolder, explained
from schedlab.engine.frames import as_frame, frame_of_jobs
from schedlab.engine.tables import Batch, TableMaker, as_array, as_before, numbers
from schedlab.model.cluster import Cluster
from schedlab.model.confined import OutsideError
from schedlab.model.disk import disk_error
from schedlab.model.run import EVERYWHERE, Where
from schedlab.model.table import Column, Table
from schedlab.model.tables import JOBS, OBSERVED, TABLES

if TYPE_CHECKING:
    import polars as pl

ROW_GROUP = 65_536

_ENCODINGS = {"split": "BYTE_STREAM_SPLIT", "delta": "DELTA_BINARY_PACKED"}


class TableFile:
    """One Parquet file that grows. Its bytes depend on the rows only, not on how they were cut into batches."""

    def __init__(self, folder: Path, table: Table, maker: TableMaker) -> None:
        self._maker = maker
        self._writer = pq.ParquetWriter(
            folder / table.file,
            maker.schema,
            compression="zstd",
            compression_level=1,
            use_dictionary=[column.name for column in maker.columns if column.encoding == "dictionary"],
            column_encoding={
                column.name: _ENCODINGS[column.encoding] for column in maker.columns if column.encoding in _ENCODINGS
            },
        )
        self._pending: list[pa.Table] = []
        self._pending_rows = 0

    def write(self, batch: Batch) -> None:
        self._pending.append(self._maker.make(batch))
        self._pending_rows += len(self._pending[-1])
        if self._pending_rows >= ROW_GROUP:
            rows = pa.concat_tables(self._pending)
            whole = len(rows) - len(rows) % ROW_GROUP
            groups = [rows.slice(begin, ROW_GROUP) for begin in range(0, whole, ROW_GROUP)]
            self._pending = [rows.slice(whole)]
            self._pending_rows = len(rows) - whole
            del rows
            while groups:
                self._write_group(groups)

    def close(self) -> None:
        """Write what is left and the file's footer; the file is closed even if there is no room for them."""
        try:
            if self._pending_rows:
                self._write_group([pa.concat_tables(self._pending)])
        finally:
            self._pending, self._pending_rows = [], 0
            self._writer.close()

    def abandon(self) -> None:
        """Close the file, which is to be removed: what is left is not written."""
        self._pending, self._pending_rows = [], 0
        with suppress(OSError, pa.ArrowException):
            self._writer.close()

    def _write_group(self, groups: list[pa.Table]) -> None:
        """The first of them, which is taken out: its pieces are not needed when it is in one."""
        rows = groups.pop(0).combine_chunks()  # pages end where pieces end
        self._writer.write_table(rows, row_group_size=ROW_GROUP)


class FolderTables:
    """The tables of a run folder."""

    def __init__(self, folder: Path, cluster: Callable[[], Cluster]) -> None:
        self.folder = folder
        self._cluster = cluster  # asked for only if a table is missing

    def column(self, name: str, table: str = "jobs") -> NDArray[Any]:
        declared = TABLES[table]
        path = self.folder / declared.file
        if not declared.always and not path.is_file():
            return np.empty(0)
        with _open(path) as file:
            if name in file.schema_arrow.names:
                return _column(file, declared.column(name))
            rows = file.metadata.num_rows
        return self._before(declared, name, rows)

    def _before(self, table: Table, name: str, rows: int) -> NDArray[Any]:
        """A column that older runs do not have."""
        column = table.column(name)
        if column.optional or column.of_resources or column not in table.columns:
            raise KeyError(name)
        return as_before(column, rows, lambda other: self.column(other, table.name))

    def batches(self, names: Sequence[str], table: str, where: Where = EVERYWHERE) -> Iterator[dict[str, NDArray[Any]]]:
        declared = TABLES[table]
        path = self.folder / declared.file
        if not declared.always and not path.is_file():
            return
        with _open(path) as file:
            there = [name for name in names if name in file.schema_arrow.names]
            others = {name: self._before(declared, name, file.metadata.num_rows) for name in names if name not in there}
            groups = _groups(file, where)
            if others:
                rows = _rows_in(file, groups)
                others = {name: values[rows] for name, values in others.items()}
            row = 0
            for batch in file.iter_batches(ROW_GROUP, row_groups=groups, columns=there, use_threads=False):
                read = {name: numbers(declared.column(name), batch.column(name)) for name in there}
                row, here = row + len(batch), slice(row, row + len(batch))
                yield read | {name: values[here] for name, values in others.items()}

    def frame(self, table: str) -> pl.DataFrame:
        found = self._read(TABLES[table])
        if table == JOBS.name:
            return frame_of_jobs(found, self._read(OBSERVED) if (self.folder / OBSERVED.file).is_file() else None)
        return as_frame(found)

    def of_job(self, table: str, sequence: int) -> pl.DataFrame:
        import polars as pl

        declared = TABLES[table]
        path = self.folder / declared.file
        if path.is_file() and {column.name for column in declared.columns} <= set(pq.read_schema(path).names):
            return as_frame(_rows_of(path, sequence))
        return self.frame(table).filter(pl.col("sequence") == sequence)

    def arrow(self, table: str, columns: Sequence[str] | None = None, where: Where = EVERYWHERE) -> pa.Table | None:
        there = TABLES[table].always or (self.folder / TABLES[table].file).is_file()
        return self._read(TABLES[table], columns, where) if there else None

    def _read(self, table: Table, columns: Sequence[str] | None = None, where: Where = EVERYWHERE) -> pa.Table:
        path = self.folder / table.file
        if not table.always and not path.is_file():
            return TableMaker(table, self._cluster()).schema.empty_table()
        if columns is not None:
            with _open(path) as file:
                groups = _groups(file, where)
                if all(name in file.schema_arrow.names for name in columns):
                    return file.read_row_groups(groups, list(columns), use_threads=False)
                rows = _rows_in(file, groups)
            return self._read(table).select(list(columns)).filter(rows)
        with _open(path) as file:
            found = file.read()
        place = 0
        for column in table.columns:
            if column.name in found.column_names:
                place = found.column_names.index(column.name) + 1
            elif not column.optional and not column.of_resources:  # the run is of an older format
                values = self._before(table, column.name, len(found))
                found = found.add_column(place, column.name, as_array(column, values, nullable=True))
                place += 1
        return found

    def evidence(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def save(self, config: dict[str, Any], path: Path, force: bool) -> None:
        """Copy the run."""
        with explained(path), OutputFolder(path, force) as output:
            for name in (*config["files"], "run.json"):
                target = output.partial / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes((self.folder / name).read_bytes())
            output.commit()


@contextmanager
def _open(path: Path) -> Iterator[pq.ParquetFile]:
    try:  # buffered ahead, the whole column would stay in memory until the end
        with pq.ParquetFile(path, pre_buffer=False) as file:
            yield file
    except OutsideError:
        raise
    except (OSError, pa.ArrowException) as error:
        hint = "" if isinstance(error, OSError) and error.errno else "it is damaged: simulate it again"
        raise disk_error("cannot be read", path, error, hint=hint) from error


def _rows_of(path: Path, sequence: int) -> pa.Table:
    """The rows of one job, a row group at a time: a table of reasons may be larger than memory."""
    with _open(path) as file:
        found = [file.schema_arrow.empty_table()]
        for group in _groups(file, {"sequence": (sequence, sequence)}):
            sequences = file.read_row_group(group, ["sequence"], use_threads=False)["sequence"].to_numpy()
            rows = np.flatnonzero(sequences == sequence)
            if len(rows):
                found.append(file.read_row_group(group, use_threads=False).take(rows))
        return pa.concat_tables(found[1:] or found)


def _groups(file: pq.ParquetFile, where: Where) -> list[int]:
    """The row groups in which there can be such rows, as far as the file tells."""
    names = file.schema_arrow.names
    places = {names.index(name): limits for name, limits in where.items() if name in names}
    return [group for group in range(file.num_row_groups) if _may_have(file.metadata.row_group(group), places)]


def _may_have(group: pq.RowGroupMetaData, places: Mapping[int, tuple[float, float]]) -> bool:
    for place, (least, most) in places.items():
        told = group.column(place).statistics
        if told is not None and told.has_min_max and (told.max < least or told.min > most):
            return False
    return True


def _rows_in(file: pq.ParquetFile, groups: Sequence[int]) -> NDArray[np.bool_]:
    """Which rows of the file are in these row groups."""
    sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    return np.repeat(np.isin(np.arange(len(sizes)), groups), sizes)


def _column(file: pq.ParquetFile, column: Column) -> NDArray[Any]:
    filled = 0
    values: NDArray[Any] | None = None
    for batch in file.iter_batches(ROW_GROUP, columns=[column.name], use_threads=False):
        piece = numbers(column, batch.column(0))
        if values is None:
            values = np.empty(file.metadata.num_rows, piece.dtype)
        values[filled : filled + len(piece)] = piece
        filled += len(piece)
    return np.empty(0) if values is None else values
