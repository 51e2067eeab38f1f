"""Files that are written whole or not at all, compressed as their names say."""

from __future__ import annotations

import errno
import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from schedlab.model.confined import OutsideError
from schedlab.model.disk import disk_error
from schedlab.model.errors import DiskError


@contextmanager
def whole_file(path: Path) -> Iterator[Any]:
    """A file that appears under its name only if nothing went wrong."""
    with whole_files(path) as [partial], _writer(partial, path.suffix) as file:
        yield file


@contextmanager
def whole_files(*paths: Path) -> Iterator[list[Path]]:
    """Under which names to write them: all of them appear under their own, or none does."""
    for path in paths:
        if path.is_dir():
            raise _cannot_write(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    partials = [path.with_name(f".{path.name}.partial-{os.getpid()}") for path in paths]
    try:
        yield partials
        for partial in partials:
            with partial.open("rb") as written:
                os.fsync(written.fileno())
        for partial, path in zip(partials, paths, strict=True):
            partial.replace(path)
    except OutsideError:
        raise
    except OSError as error:
        raise _cannot_write(paths[0], error) from error
    finally:
        for partial in partials:
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


def _cannot_write(path: Path, error: OSError) -> DiskError:
    hints = {
        errno.ENOENT: f"make the folder {path.parent} first",
        errno.ENOTDIR: f"{path.parent} is not a folder",
        errno.EISDIR: "name a file, not a folder",
        errno.ENOSPC: "the disk is full: free some space, or write elsewhere",
        **dict.fromkeys((errno.EACCES, errno.EROFS), "you may not write there: choose another folder"),
    }
    return disk_error("cannot be written", path, error, hint=hints.get(error.errno or 0, ""))
