"""A table on disk as chunks of columns. Here: CSV text, in blocks of lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from schedlab.files.bytestream import ByteStream, Progress
from schedlab.model.errors import InputError

PARQUET = b"PAR1"
LONGEST_ROW = 1 << 24  # bytes
SEPARATORS = (",", ";", "\t", "|")


@dataclass(slots=True)
class Chunk:
    """Some rows: columns by title (Arrow arrays), where each stands, and rows that could not be taken apart."""

    columns: dict[str, Any]
    rows: int
    number: Callable[[int], int]  # of the line (CSV) or row (Parquet) that a row of the chunk is
    broken: list[tuple[int, str]] = field(default_factory=list)  # that number, and what is wrong


class TableFile(Protocol):
    """A table: its titles, and passes over its rows."""

    word: str  # what its numbers count: "line" or "row"

    @property
    def titles(self) -> list[str]: ...
    @property
    def metadata(self) -> bytes | None:
        """What schedlab has noted in the file itself."""
        ...

    @property
    def sha256(self) -> str: ...
    def chunks(self, wanted: Sequence[str]) -> Iterator[Chunk]: ...


def open_table(
    path: Path, *, separator: str = "auto", header: bool = True, progress: Progress | None = None
) -> TableFile:
    """Parquet or text, told by the first bytes."""
    from schedlab.workload.table.parquet import ParquetTable

    ByteStream(path)  # says what is wrong with a path
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError:
        start = b""  # the one who reads on will say what is wrong
    return ParquetTable(path, progress) if start == PARQUET else CsvTable(path, separator, header, progress)


class CsvTable:
    """Text with a separator, plain or compressed; fields may be quoted."""

    word = "line"
    metadata = None

    def __init__(self, path: Path, separator: str, header: bool, progress: Progress | None) -> None:
        self.path, self.progress = path, progress
        self._bytes: ByteStream | None = None
        first = (
            next(_blocks(path, iter(ByteStream(path))), (1, b""))[1].decode("utf-8", "replace").removeprefix("\ufeff")
        )
        self._separator = _likely_separator(first) if separator == "auto" else separator
        rows = csv.reader(io.StringIO(first, newline=""), delimiter=self._separator)
        try:
            row = next((row for row in rows if row), [])
        except csv.Error as error:
            raise InputError(
                f"is not a table: {error}", where=f"{path}, line 1", hint="is it the right file?"
            ) from None
        self.titles = [title.strip() for title in row] if header else [str(place + 1) for place in range(len(row))]
        self._skip = rows.line_num if header else 0  # lines

    @property
    def sha256(self) -> str:
        return self._bytes.sha256 if self._bytes else ""

    def chunks(self, wanted: Sequence[str]) -> Iterator[Chunk]:
        places = {title: self.titles.index(title) for title in wanted}
        self._bytes = ByteStream(self.path, self.progress)
        for line, data in _blocks(self.path, iter(self._bytes)):
            block = _Block(data.removeprefix(b"\xef\xbb\xbf") if line == 1 else data, line, self._separator)
            if line == 1:
                block.skip(self._skip)
            yield block.fast(len(self.titles), places) or block.careful(len(self.titles), places)


@dataclass
class _Block:
    """Whole rows of text; `line` is the number of the first line."""

    data: bytes
    line: int
    separator: str

    def skip(self, lines: int) -> None:
        for _ in range(lines):
            self.data = self.data[self.data.find(b"\n") + 1 :] if b"\n" in self.data else b""
        self.line += lines

    def fast(self, width: int, places: dict[str, int]) -> Chunk | None:
        """By Arrow, which takes a block only if nothing is wrong with it."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        taken = sorted({0, *places.values()})  # one at least: their length is the number of rows
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(self.data),
                arrow_csv.ReadOptions(use_threads=False, column_names=[str(place) for place in range(width)]),
                arrow_csv.ParseOptions(delimiter=self.separator, newlines_in_values=True),
                arrow_csv.ConvertOptions(
                    column_types={str(place): pa.string() for place in taken},
                    include_columns=[str(place) for place in taken],
                    strings_can_be_null=False,
                ),
            ).combine_chunks()
        except (pa.ArrowInvalid, pa.ArrowKeyError):
            return None
        columns = {title: _whole(table.column(str(place))) for title, place in places.items()}
        return Chunk(columns, table.num_rows, lambda row: self.numbers[row])

    def careful(self, width: int, places: dict[str, int]) -> Chunk:
        """Row by row: those that cannot be taken apart are set aside."""
        import pyarrow as pa

        kept: list[list[str]] = []
        numbers, broken = [], []
        for number, row, problem in self._rows():
            if not problem and len(row) != width:
                problem = f"has {len(row)} columns, expected {width} as in the first line"
            if not problem and any("\udc80" <= char <= "\udcff" for field in row for char in field):
                problem = "is not UTF-8 text"
            if problem:
                broken.append((number, problem))
            else:
                kept.append(row)
                numbers.append(number)
        columns = {title: pa.array([row[place] for row in kept], pa.string()) for title, place in places.items()}
        return Chunk(columns, len(kept), numbers.__getitem__, broken)

    @cached_property
    def numbers(self) -> list[int]:
        """The line of each row; only asked for on the way to an error message."""
        return [number for number, _, _ in self._rows()]

    def _rows(self) -> Iterator[tuple[int, list[str], str]]:
        text = io.StringIO(self.data.decode("utf-8", "surrogateescape"), newline="")
        reader = csv.reader(text, delimiter=self.separator)
        while True:
            number = self.line + reader.line_num
            try:
                row = next(reader, None)
            except csv.Error as error:
                yield number, [], f"cannot be taken apart: {error}"
                continue
            if row is None:
                return
            if row:
                yield number, row, ""


def _whole(column: Any) -> Any:
    """A chunked array as one."""
    import pyarrow as pa

    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks or [pa.array([], column.type)])


def _blocks(path: Path, pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Whole rows, and the number of the line with which they begin."""
    rest, line = b"", 1
    for piece in pieces:
        rest += piece
        end = _end_of_rows(rest)
        if end:
            yield line, rest[:end]
            line += rest.count(b"\n", 0, end)
            rest = rest[end:]
        elif len(rest) > LONGEST_ROW:
            raise InputError(
                "is longer than 16 MiB", where=f"{path}, line {line}", hint="is this a table, one job a line?"
            )
    if rest:
        yield line, rest


def _end_of_rows(data: bytes) -> int:
    """Just behind the last line break that is not inside quotes."""
    end = data.rfind(b"\n") + 1
    quotes = data.count(b'"', 0, end)
    while end and quotes % 2:
        before = data.rfind(b"\n", 0, end - 1) + 1
        quotes -= data.count(b'"', before, end)
        end = before
    if not end and len(data) > LONGEST_ROW:  # a quote that nobody closes
        end = data.rfind(b"\n") + 1
    return end


def _likely_separator(text: str) -> str:
    """The one of which the first line has most."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    return max(SEPARATORS, key=first.count)
