"""Write jobs as an SWF log: a workload as it was read, or a finished schedule for other tools to read."""

from __future__ import annotations

import errno
import gzip
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import Workload
from schedlab.workload.swf_rows import Rows, batch_rows, table_rows

if TYPE_CHECKING:
    import polars as pl

PIECE = 1 << 16  # rows turned into text at a time


def write_swf(
    path: str | os.PathLike[str],
    jobs: Workload | pl.DataFrame | Mapping[str, Any],
    header: Mapping[str, str] | None = None,
    *,
    requests: Sequence[Request] = (),
) -> None:
    """Write a workload, or a table of finished jobs (the columns of `Run.jobs`), as 18 columns below a header.

    `header` gives the `; Label: value` lines (a value of several lines repeats its label); a workload brings its own.
    `requests` are the table's, for the memory column. A name that ends in .gz or .zst compresses. Whole or not at all:
    the file gets its name when it is complete.
    """
    if isinstance(jobs, Workload):
        labels = dict(jobs.header if header is None else header)
        if jobs.origin is not None:
            labels.setdefault("UnixStartTime", str(int(jobs.origin.timestamp())))
        rows: Iterator[Rows] = (batch_rows(batch, jobs.requests) for batch in jobs.batches())
    else:
        labels = dict(header or {})
        rows = iter((table_rows(jobs, requests),))
    with _whole_file(Path(path)) as file:
        file.write(_header_text(labels).encode())
        for text in _texts(rows):
            file.write(text)


def _header_text(labels: dict[str, str]) -> str:
    labels = {"Version": labels.pop("Version", "2.2"), **labels}
    lines = [(label, line) for label, value in labels.items() for line in str(value).splitlines() or [""]]
    return "".join(f"; {label}: {line}".rstrip() + "\n" for label, line in lines)


def _texts(chunks: Iterator[Rows]) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.compute as pc

    for rows in chunks:
        for start in range(0, len(rows[0]), PIECE):
            columns = [pa.array(_numbers(column[start : start + PIECE])).cast(pa.string()) for column in rows]
            lines = pc.binary_join_element_wise(*columns, " ")
            yield ("\n".join(lines.to_pylist()) + "\n").encode()


def _numbers(column: NDArray[Any]) -> NDArray[Any] | list[str]:
    """Whole numbers without a point, others as short as they can be read back; unknown is -1. Names stay."""
    if column.dtype == object or not np.issubdtype(column.dtype, np.floating):
        return column
    column = np.where(np.isfinite(column), column, -1.0)
    if bool(np.all((column == np.floor(column)) & (np.abs(column) < 2.0**53))):
        return column.astype(np.int64)
    return [str(int(value)) if value.is_integer() else repr(value) for value in column.tolist()]


@contextmanager
def _whole_file(path: Path) -> Iterator[Any]:
    """A file that appears under its name only if nothing went wrong."""
    if path.is_dir():
        raise _cannot_write(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        with _writer(partial, path.suffix) as file:
            yield file
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        partial.replace(path)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def _writer(path: Path, suffix: str) -> Iterator[Any]:
    if suffix == ".zst":
        import pyarrow as pa

        with pa.CompressedOutputStream(str(path), "zstd") as file:
            yield file
        return
    with path.open("wb") as raw:
        if suffix == ".gz":
            # Without name and time inside: the same jobs give the same bytes.
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=raw, mtime=0) as packed:
                yield packed
        else:
            yield raw


def _cannot_write(path: Path, error: OSError) -> InputError:
    hints = {
        errno.ENOENT: f"make the folder {path.parent} first",
        errno.ENOTDIR: f"{path.parent} is not a folder",
        errno.EISDIR: "name a file, not a folder",
        errno.ENOSPC: "the disk is full: free some space, or write elsewhere",
        errno.EACCES: "you may not write there: choose another folder",
        errno.EROFS: "you may not write there: choose another folder",
    }
    return InputError(
        f"cannot be written: {error.strerror or error}", where=str(path), hint=hints.get(error.errno or 0, "")
    )
