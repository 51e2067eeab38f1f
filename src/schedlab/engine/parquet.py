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
from schedlab.engine.tables import Batch, Part, TableMaker, as_array, as_before, numbers
from schedlab.model.cluster import Cluster
from schedlab.model.confined import OutsideError
from schedlab.model.disk import disk_error
from schedlab.model.resources import only_cores
from schedlab.model.run import EVERYWHERE, Where
from schedlab.model.table import Column, Table
from schedlab.model.tables import JOBS, OBSERVED, TABLES

if TYPE_CHECKING:
    import polars as pl

ROW_GROUP = 65_536
# In no summary; nodes in some where there are other resources than cores.
NOT_SUMMED = ("user", "group", "queue", "partition", "estimate", "priority", "nodes", "running")
WRITTEN, READ = 16, 32  # row groups, after which memory is given back

_ENCODINGS = {"split": "BYTE_STREAM_SPLIT", "delta": "DELTA_BINARY_PACKED"}


class TableFile:
    """One Parquet file that grows. Its bytes depend on the rows only, not on how they were cut into batches."""

    def __init__(self, folder: Path, table: Table, maker: TableMaker, *, brief: bool = False) -> None:
        self._maker = maker
        self._writer = pq.ParquetWriter(
            folder / table.file,
            maker.schema,
            compression="lz4" if brief else "zstd",
            compression_level=None if brief else 1,
            write_statistics=not brief,
            use_dictionary=[column.name for column in maker.columns if column.encoding == "dictionary"],
            column_encoding={
                column.name: _ENCODINGS[column.encoding] for column in maker.columns if column.encoding in _ENCODINGS
            },
        )
        self._columns = [_Gathered() for _ in maker.columns]
        self._rows = self._groups = 0  # rows that wait; row groups that were written

    def write(self, batch: Batch) -> None:
        parts, begin = self._maker.parts(batch), 0
        while begin < len(parts[0]):
            end = min(begin + ROW_GROUP - self._rows, len(parts[0]))
            for column, part in zip(self._columns, parts, strict=True):
                column.add(part[begin:end], self._rows)
            self._rows, begin = self._rows + end - begin, end
            if self._rows == ROW_GROUP:
                self._write_group()

    def close(self) -> None:
        """Write what is left and the file's footer; the file is closed even if there is no room for them."""
        try:
            if self._rows:
                self._write_group()
        finally:
            self._columns.clear()
            self._writer.close()

    def abandon(self) -> None:
        """Close the file, which is to be removed: what is left is not written."""
        self._columns.clear()
        with suppress(OSError, pa.ArrowException):
            self._writer.close()

    def _write_group(self) -> None:
        rows, self._rows = self._rows, 0
        self._writer.write_table(self._maker.whole([column.take(rows) for column in self._columns]), ROW_GROUP)
        self._groups += 1
        if self._groups % WRITTEN == 0:
            give_back()


class TableFiles:
    """The tables of a run as they come, a file for each. Optional columns that the first batch of a table has (`name`,
    where ids of jobs are not numbers) all of its batches have. `brief`: soon to be read again, for the summary only."""

    def __init__(self, cluster: Cluster, *, brief: bool = False) -> None:
        self._cluster, self._brief = cluster, brief
        self._files: dict[str, TableFile] = {}  # by table

    def write(self, folder: Path, table: str, batch: Batch) -> None:
        if table not in self._files:
            maker = TableMaker(TABLES[table], self._cluster, batch, self._wanted)
            self._files[table] = TableFile(folder, TABLES[table], maker, brief=self._brief)
        self._files[table].write(batch)

    def _wanted(self, column: str) -> bool:
        return not self._brief or column not in NOT_SUMMED or (column == "nodes" and not only_cores(self._cluster))

    def close(self, folder: Path) -> list[str]:
        """The names of the files."""
        for table in TABLES.values():
            if table.always and table.name not in self._files:
                self._files[table.name] = TableFile(folder, table, TableMaker(table, self._cluster))
        names = [TABLES[name].file for name in self._files]
        for name in reversed(list(self._files)):
            self._files[name].close()
        self._files.clear()
        give_back()
        return names

    def abandon(self) -> None:
        """The files are to be removed."""
        for file in self._files.values():
            file.abandon()


class _Gathered:
    """The values of a column until there are enough for a row group. Numbers are copied to where those before were."""

    def __init__(self) -> None:
        self._numbers: NDArray[Any] = np.empty(0)
        self._arrays: list[pa.Array] = []

    def add(self, values: Part, row: int) -> None:
        if isinstance(values, pa.Array):
            self._arrays.append(values)
            return
        if row == 0 and (not len(self._numbers) or self._numbers.dtype != values.dtype):
            self._numbers = np.empty(ROW_GROUP, values.dtype)
        self._numbers[row : row + len(values)] = values

    def take(self, rows: int) -> Part:
        if not self._arrays:
            return self._numbers[:rows]
        arrays, self._arrays = self._arrays, []
        return pa.concat_arrays(arrays)  # pages end where pieces end


def give_back() -> None:
    """Memory that was freed between things that stay goes back to the system, where its allocator can do that.

    Otherwise a long run would keep what each of its row groups needed for a while.
    """
    pa.system_memory_pool().release_unused()


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
                if row % (READ * ROW_GROUP) == 0:
                    give_back()

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
