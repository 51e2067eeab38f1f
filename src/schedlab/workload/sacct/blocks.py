"""The rows of an accounting dump as tables of texts, some megabytes at a time; every row knows its line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from schedlab.files.bytestream import ByteStream
from schedlab.model.errors import InputError
from schedlab.workload.sacct.rows import BadRowError, Header, assumed_header, parse_header

BLOCK = 1 << 23  # bytes
LONGEST_LINE = 1 << 20
NEWLINE = b"\n"
# These differ from row to row; of the others each different text is looked at once.
VARIED = ("id", "shown", "submit", "eligible", "start", "end", "line")


@dataclass
class Block:
    """Some rows: a column of texts for each thing that is read."""

    table: Any  # pyarrow.Table
    text: bytes
    first_line: int
    bad_rows: list[tuple[int, str]] = field(default_factory=list)  # line and problem of rows that are not in the table
    mended: int = 0
    lines: list[int] | None = None  # of the rows; None: to be counted when they are asked for

    def line(self, row: int) -> int:
        if self.lines is None:
            self.lines = [line for line, text in _numbered(self.text, self.first_line) if text]
        return self.lines[row]


class Blocks:
    """One pass over a dump."""

    def __init__(self, stream: ByteStream) -> None:
        self.header: Header | None = None  # known with the first block
        self._stream = stream
        self._where = str(stream.path)
        self._line = 1  # where the next block begins

    def __iter__(self) -> Iterator[Block]:
        for text in self._texts():
            if self.header is None and not text.isspace():
                above, rest = _first_text_line(text)
                first = above.decode(errors="replace").lstrip("\ufeff \n").rstrip("\n ")
                self.header = assumed_header(first)
                if self.header is None:
                    below, _ = _first_text_line(rest)
                    self.header = parse_header(first, self._where, below.decode(errors="replace").rstrip())
                    self._line += above.count(NEWLINE)
                    text = rest
            if self.header is not None and text and not text.isspace():
                yield _block(text, self._line, self.header)
            self._line += text.count(NEWLINE)

    def _texts(self) -> Iterator[bytes]:
        """Pieces of whole lines. A carriage return is a part of the line's end, or a blank."""
        pieces: list[bytes] = []
        size = 0
        for piece in self._stream:
            pieces.append(piece)
            size += len(piece)
            if size >= BLOCK:
                text, newline, rest = b"".join(pieces).rpartition(NEWLINE)
                if len(rest) > LONGEST_LINE:
                    where = f"{self._where}, line {self._line + (text + newline).count(NEWLINE)}"
                    raise InputError("is longer than 1 MiB", where=where, hint="is this a Slurm accounting dump?")
                if newline:
                    yield _plain(text + newline)
                pieces, size = [rest], len(rest)
        rest = b"".join(pieces)
        if rest:
            yield _plain(rest)


def _plain(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b" ") if b"\r" in text else text


def _first_text_line(text: bytes) -> tuple[bytes, bytes]:
    """The first line with something in it (and the empty ones above), and the rest."""
    begin = len(text) - len(text.lstrip())
    end = text.find(NEWLINE, begin) + 1 or len(text)
    return text[:end], text[end:]


def _block(text: bytes, first_line: int, header: Header) -> Block:
    import pyarrow as pa

    try:
        table = _table(text, header)
    except pa.ArrowInvalid:  # some row has too many fields, or too few
        return _mended_block(text, first_line, header)
    if header.delimiter != "|" and b'"' in text and table.num_rows != sum(map(bool, text.split(NEWLINE))):
        return _mended_block(text, first_line, header)  # a quotation mark that is not closed has swallowed rows
    return Block(table, text, first_line)


def _mended_block(text: bytes, first_line: int, header: Header) -> Block:
    rows, lines, bad_rows, mended = [], [], [], 0
    for line, row in _numbered(text, first_line):
        if not row.strip():
            continue
        if header.delimiter == "|" and row.count(b"|") == len(header.names) - 1:
            rows.append(row)
            lines.append(line)
            continue
        try:
            fields = _fields(row.decode(errors="surrogateescape"), header.delimiter)
            if len(fields) != len(header.names):
                fields = header.mended(fields)
                mended += 1
        except BadRowError as problem:
            bad_rows.append((line, str(problem)))
            continue
        rows.append(header.delimiter.join(map(header.quoted, fields)).encode(errors="surrogateescape"))
        lines.append(line)
    text = NEWLINE.join(rows)
    return Block(_table(text, header), text, first_line, bad_rows, mended, lines)


def _fields(row: str, delimiter: str) -> list[str]:
    if delimiter == "|":
        return row.split("|")
    reader = csv.reader([row, ""], delimiter=delimiter)
    try:
        fields = next(reader)
    except csv.Error as error:
        raise BadRowError(f"cannot be split into fields: {error}") from None
    if reader.line_num > 1:
        raise BadRowError("has a quotation mark that is not closed")
    return fields


def _numbered(text: bytes, first_line: int) -> Iterator[tuple[int, bytes]]:
    return enumerate(text.split(NEWLINE), start=first_line)


def _table(text: bytes, header: Header) -> Any:
    """The columns that are read, under the reader's names."""
    import pyarrow as pa
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, read_csv

    names = [str(place) for place in range(len(header.names))]
    wanted = {what: str(place) for what, place in header.places.items()}
    repeated = pa.dictionary(pa.int32(), pa.binary())
    types = {place: pa.string() if what in VARIED else repeated for what, place in wanted.items()}
    if not text:
        return pa.table({what: pa.array([], types[place]) for what, place in wanted.items()})
    quotes = False if header.delimiter == "|" else '"'  # sacct writes none; who makes a table of it may
    table = read_csv(
        pa.BufferReader(text),
        read_options=ReadOptions(use_threads=False, column_names=names, block_size=len(text) + 1),
        parse_options=ParseOptions(
            delimiter=header.delimiter, quote_char=quotes, escape_char=False, newlines_in_values=False
        ),
        convert_options=ConvertOptions(
            include_columns=list(dict.fromkeys(wanted.values())),
            column_types=types,
            strings_can_be_null=False,
            check_utf8=False,
        ),
    )
    return pa.table({what: _one_chunk(table.column(place), types[place]) for what, place in wanted.items()})


def _one_chunk(column: Any, kind: Any) -> Any:
    import pyarrow as pa

    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], kind)
