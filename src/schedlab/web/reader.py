"""The helper that reads the runs that somebody looks at, for as long as they are looked at.

A run is shown only if its tables are those that its run.json names by their hashes: else tables of one run could be
shown as the result of another. They are hashed once, while the first blocks are made; nothing is told before.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from schedlab.engine.folder import RUN_FILES
from schedlab.engine.store import read_run
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.units import format_bytes
from schedlab.model.version import VERSION
from schedlab.web.explore import explorer_facts, packs_of
from schedlab.web.pack import Pack
from schedlab.web.space import NotThereError, shown

LEVEL = 1  # of compression: pages are mostly looked at where they are made, and a higher one takes four times as long
_GZIP = 31  # the window of 32 KB (15), with the head and the end of gzip (16)
_PIECES, _PIECE = 16, 4096  # of a sample; bytes
FACTS = "facts"
WIDTH = 8  # bytes of a value
PART = 2  # of its memory a process may need for a table, if all of it is read: what is made of it comes on top
ROWS_OF_A_JOB = 8  # in all tables: a run that has more of them counts as one of more jobs
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -2, -3, -8  # of malloc.h
# Large arrays go back at once; what batches of columns need comes again and again, and new memory has to be cleared.
_MALLOC = {_MMAP_THRESHOLD: 1 << 20, _ARENA_MAX: 2, _TRIM_THRESHOLD: 8 << 20, _TOP_PAD: 4 << 20}


def _give_back() -> None:
    """Let large arrays go back to the system when they are let go of. Left alone, the allocator learns to keep them,
    and the memory of a process is the most that it ever needed at once, for each of its threads."""
    with suppress(OSError, AttributeError):  # another C library than GNU's
        for setting, value in _MALLOC.items():
            ctypes.CDLL(None).mallopt(setting, value)
    pa.set_memory_pool(pa.system_memory_pool())


class Reader:
    def __init__(self, folders: Sequence[Path], memory: int) -> None:
        _give_back()
        for folder in folders:
            check_sizes(folder, memory)
        self._folders, self._runs = folders, [read_run(folder) for folder in folders]
        self._lock = Lock()
        self._wrong: Exception | None = None
        self._tag = ""
        self._hashing = Thread(target=self._hash, daemon=True)
        self._hashing.start()

    def first(self) -> dict[str, Any]:
        """What the server has to know of them."""
        rows = sum(rows for folder in self._folders for rows, _ in _shapes(folder))
        jobs = sum(int(run.summary["jobs"]) for run in self._runs)
        return {"jobs": max(jobs, rows // ROWS_OF_A_JOB), "runs": len(self._runs)}

    def answer(self, at: int | None = None, name: str = "") -> Any:
        """A block, compressed; facts; or without a name the tag, which is another one for other tables."""
        if not name:
            self._check()
            return {"tag": self._tag}
        made = compressed(self._facts() if name == FACTS else self._block(at, name))
        self._check()
        return made

    def _facts(self) -> bytes:
        text = json.dumps(explorer_facts(self._packs), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "surrogatepass")

    def _block(self, at: int | None, name: str) -> bytes:
        try:
            return self._packs[at or 0].block(name)
        except KeyError:
            raise NotThereError("these runs have no such block", where=shown(f"{at}/{name}")) from None

    @property
    def _packs(self) -> list[Pack]:
        with self._lock:
            return self._made_packs

    @cached_property
    def _made_packs(self) -> list[Pack]:
        return packs_of(self._runs)

    def _hash(self) -> None:
        try:
            whole = hashlib.sha256(VERSION.encode())
            for folder, run in zip(self._folders, self._runs, strict=True):
                for name, found in checked_files(folder, run).items():
                    whole.update(f"{folder} {name} {found}\n".encode("utf-8", "surrogateescape"))
            self._tag = whole.hexdigest()[:24]
        except Exception as error:
            self._wrong = error

    def _check(self) -> None:
        self._hashing.join()
        if self._wrong is not None:
            raise self._wrong


def checked_files(folder: Path, run: Run) -> dict[str, str]:
    """The hashes of run.json and of the tables, which are those that it names."""
    named = run.config["files"]
    found = {}
    for path in sorted(folder / name for name in RUN_FILES):
        if not path.is_file():
            continue
        with path.open("rb") as file:
            found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
        if path.name == "run.json":
            continue
        hint = "copy the whole folder of the run again, or simulate it again"
        if path.name not in named:
            raise InputError("is not a table of this run: its run.json does not name it", where=str(path), hint=hint)
        if named[path.name] != found[path.name]:
            raise InputError("was changed after the run was written", where=str(path), hint=hint)
    return found


def check_sizes(folder: Path, memory: int) -> None:
    """What its tables take in memory, which a small file can say of itself: thousands of times its own size."""
    needed = max((rows * columns * WIDTH for rows, columns in _shapes(folder)), default=0)
    if memory and needed > memory // PART:
        have = f"{format_bytes(needed)} when it is read, and of {format_bytes(memory)} a table may take half"
        hint = "schedlab explore has no such limit; schedlab web --memory SIZE allows more here"
        raise InputError(f"a table of it takes {have}", where=str(folder), hint=hint)


def _shapes(folder: Path) -> Iterator[tuple[int, int]]:
    """Rows and columns of each table."""
    for path in (folder / name for name in sorted(RUN_FILES) if name.endswith(".parquet")):
        with suppress(OSError, pa.ArrowException):  # it is told when it is read
            metadata = pq.read_metadata(path)
            yield int(metadata.num_rows), int(metadata.num_columns)


def compressed(content: bytes) -> bytes:
    """As gzip. Most columns of numbers are equal bytes behind each other or nearly random ones: to look for other
    repetitions takes half as long again and finds none. Texts have them. A sample tells which it is."""
    step = max(len(content) // _PIECES, _PIECE)
    sample = b"".join(content[at : at + _PIECE] for at in range(0, len(content), step))
    return _deflated(content, min(zlib.Z_RLE, zlib.Z_DEFAULT_STRATEGY, key=lambda way: len(_deflated(sample, way))))


def _deflated(content: bytes, strategy: int) -> bytes:
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, _GZIP, strategy=strategy)
    return packer.compress(content) + packer.flush()
