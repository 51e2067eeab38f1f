"""A file as pieces of bytes, decompressed if need be, hashed on the way, with errors a person can act on."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from schedlab.model.confined import OutsideError
from schedlab.model.disk import disk_fails, remedy
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.suggest import closest

PIECE = 1 << 20
GZIP = b"\x1f\x8b"
# A zstd file begins with a frame, or (pzstd) with one to skip.
ZSTD = (b"\x28\xb5\x2f\xfd", *(bytes([0x50 + kind]) + b"\x2a\x4d\x18" for kind in range(16)))
# Formats that people do have logs in and that we do not read: name, and how to unpack them.
FOREIGN = {
    b"BZh": ("bzip2", "bunzip2"),
    b"\xfd7zXZ\x00": ("xz", "unxz"),
    b"PK\x03\x04": ("zip", "unzip"),
    b"7z\xbc\xaf": ("7-Zip", "7z x"),
    b"PAR1": ("Parquet", ""),
}

# Called with the bytes of the file read so far, and all there are.
Progress = Callable[[int, int], None]


class ByteStream:
    """One pass over a file, plain, gzip or zstd (told by its first bytes, not by its name)."""

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path = path
        self.progress = progress
        self.size = _check(path)
        self._hash = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Of the file as it is on disk; complete when the pass is."""
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb", buffering=0) as file:
                raw = _Raw(file, self._hash, self.progress, self.size)
                yield from self._pieces(raw)
                while raw.read(PIECE):  # what a decompressor may have left belongs to the hash
                    pass
        except OutsideError:
            raise
        except PermissionError:
            raise _not_permitted(self.path) from None
        except OSError as error:
            hint = remedy(error.errno or 0) if disk_fails(error) else ""
            raise InputError(f"cannot be read: {error.strerror or error}", where=str(self.path), hint=hint) from error

    def _pieces(self, raw: _Raw) -> Iterator[bytes]:
        start = raw.peek(8)
        for magic, (name, tool) in FOREIGN.items():
            if start.startswith(magic):
                hint = f"unpack it first ({tool})" if tool else "this format is text"
                raise InputError(f"is a {name} file; text, gzip and zstd can be read", where=str(self.path), hint=hint)
        if start.startswith(GZIP):
            yield from self._gzip(raw)
        elif start.startswith(ZSTD):
            yield from self._zstd(raw)
        else:
            yield from iter(lambda: raw.read(PIECE), b"")

    def _gzip(self, raw: _Raw) -> Iterator[bytes]:
        with gzip.GzipFile(fileobj=raw) as unpacked:
            try:
                yield from iter(lambda: unpacked.read(PIECE), b"")
            except EOFError:
                raise self._truncated("gzip") from None
            except (gzip.BadGzipFile, zlib.error) as error:
                raise self._damaged("gzip", error) from None

    def _zstd(self, raw: _Raw) -> Iterator[bytes]:
        import pyarrow as pa

        with pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd") as unpacked:
            try:
                yield from iter(lambda: unpacked.read(PIECE), b"")
            except OSError as error:
                if "runcated" in str(error):
                    raise self._truncated("zstd") from None
                raise self._damaged("zstd", error) from None

    def _truncated(self, kind: str) -> InputError:
        return InputError(
            f"is truncated: it ends in the middle of its {kind} data",
            where=str(self.path),
            hint="the copy or download is incomplete; fetch the file again",
        )

    def _damaged(self, kind: str, error: Exception) -> InputError:
        return InputError(
            f"is damaged: its {kind} data cannot be decompressed ({error})",
            where=str(self.path),
            hint="fetch the file again, or unpack what is left of it by hand",
        )


def first_text(path: Path, length: int = 4096) -> str:
    """The beginning of a text file, decompressed; empty for a file that is not text or cannot be read."""
    try:
        piece = next(iter(ByteStream(path)), b"")[:length]
    except InputError:
        return ""
    return "" if b"\0" in piece else piece.decode(errors="replace").removeprefix("\ufeff")


def text_of(path: Path) -> str:
    """The whole of a small text file, decompressed; an error if it is not UTF-8."""
    content = b"".join(ByteStream(path))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError("this is not UTF-8 text", where=f"{path}:{line}", hint="save the file as UTF-8") from None


def plain_name(path: Path) -> str:
    """The name of a file in lower case, without the ending that says how it is compressed."""
    return path.name.casefold().removesuffix(".gz").removesuffix(".zst")


class _Raw(io.RawIOBase):
    """The file's own bytes on their way to a decompressor: hashed and counted."""

    def __init__(self, file: io.FileIO, hasher: Any, progress: Progress | None, size: int) -> None:
        self._file, self._hash, self._progress, self._size = file, hasher, progress, size
        self._done = 0

    def peek(self, length: int) -> bytes:
        start = self._file.read(length)
        self._file.seek(0)
        return start

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self._hash.update(piece)
        self._done += len(piece)
        if self._progress:
            self._progress(self._done, self._size)
        return piece


def _check(path: Path) -> int:
    """The size of a file that can be read; an error about anything else."""
    where = str(path)
    if path.is_dir():
        logs = sorted(entry.name for entry in path.iterdir() if ".swf" in entry.name)[:3]
        found = f", for example {', '.join(logs)}" if logs else ""
        raise InputError("is a directory, not a file", where=where, hint=f"name a file in it{found}")
    status = _status(path)
    if not path.is_file():
        raise InputError("is not a regular file", where=where, hint="save the data in a file first")
    if status.st_size == 0:
        raise InputError("is empty", where=where, hint="the copy or download has failed; fetch the file again")
    return status.st_size


def check_there(paths: Iterable[Path]) -> None:
    """Files that are missing, all at once, before any of them is read."""
    missing: list[InputError] = []
    for path in paths:
        try:
            _status(path)
        except InputError as error:
            missing.append(error)
    if missing:
        raise InputErrors(missing)


def _status(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except PermissionError:
        raise _not_permitted(path) from None
    except (OSError, ValueError):  # ValueError: a zero byte in the name
        raise InputError("no such file", where=str(path), hint=_suggestion(path)) from None


def _suggestion(path: Path) -> str:
    if not path.parent.is_dir():
        return f"there is no folder {path.parent} either; check the path"
    try:
        near = closest(path.name, [entry.name for entry in path.parent.iterdir()])
    except OSError:
        near = None
    return f"did you mean {path.parent / near}?" if near else "check the path"


def _not_permitted(path: Path) -> InputError:
    return InputError("permission denied", where=str(path), hint=f"chmod u+r {path.name}, or ask its owner")
