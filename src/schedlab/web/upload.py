"""A file that a browser sends: written as it comes, whole or not at all, and never larger than allowed."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from starlette.concurrency import run_in_threadpool

from schedlab.model.units import format_bytes
from schedlab.web.errors import RefusedError
from schedlab.web.settings import Settings
from schedlab.web.space import Space

PIECE = 1 << 20  # bytes that are gathered before they are written
MOST_FILES = 250_000  # of one person: they are counted before more is written
PART = ".part"  # what a file is called until it is whole


def check_length(header: str | None, most: int, name: str) -> None:
    """Before anything is read, where the browser says how long it will be."""
    if header is not None and header.isdecimal() and int(header) > most:
        raise too_large(name, most)


def check_room(space: Space, settings: Settings) -> None:
    """Before anything more is written for somebody."""
    taken = files = 0
    for size in _sizes(space.own):
        taken, files = taken + size, files + 1
    have = ""
    if taken >= settings.largest_space:
        have = f"{format_bytes(taken)} of the {format_bytes(settings.largest_space)} that one person may have"
    elif files >= MOST_FILES:
        have = f"{files:,} files, of {MOST_FILES:,} that one person may have"
    if have:
        hint = "delete runs and files, or start the server with a larger --largest-space"
        raise RefusedError(f"what is yours takes {have}", status=507, hint=hint)


def _sizes(folder: Path) -> Iterator[int]:
    for top, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):  # gone meanwhile
                yield Path(top, name).lstat().st_size


async def receive(pieces: AsyncIterator[bytes], path: Path, most: int) -> int:
    """Its size. `path` is replaced when everything has come; whatever goes wrong, nothing is left behind."""
    hidden = path.with_name(f".{path.name}.{os.urandom(6).hex()}{PART}")
    file: BinaryIO = await run_in_threadpool(hidden.open, "xb")
    try:
        with file:
            size = await _copy(pieces, file, path.name, most)
        await run_in_threadpool(os.replace, hidden, path)
    except BaseException:  # also when the browser goes away, or the server ends
        with suppress(FileNotFoundError):
            hidden.unlink()
        raise
    return size


async def _copy(pieces: AsyncIterator[bytes], file: BinaryIO, name: str, most: int) -> int:
    size, gathered = 0, bytearray()
    async for piece in pieces:
        size += len(piece)
        if size > most:
            raise too_large(name, most)
        gathered += piece
        if len(gathered) >= PIECE:
            await run_in_threadpool(_write, file, bytes(gathered))
            gathered.clear()
    await run_in_threadpool(_write, file, bytes(gathered))
    return size


def _write(file: BinaryIO, data: bytes) -> None:
    file.write(data)
    file.flush()  # a full disk shows here, not when the file is closed


def clear_parts(folder: Path) -> None:
    """What a server that was killed has left."""
    for path in folder.glob(f"*/.*{PART}"):
        with suppress(FileNotFoundError):
            path.unlink()


def too_large(name: str, most: int) -> RefusedError:
    hint = "compress it (.gz, .zst), or start the server with a larger --largest-upload"
    return RefusedError(f"is larger than the {format_bytes(most)} that are allowed", status=413, where=name, hint=hint)
