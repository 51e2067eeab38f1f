"""Runs that browsers look at: the latest of them stay open, and so do the blocks that were asked for, compressed.

Memory is bounded: by the number of jobs of the runs that stay open, and by the bytes of their blocks.
"""

from __future__ import annotations

import ctypes
import json
import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from threading import Lock, Thread

import pyarrow as pa

from schedlab.engine.store import read_run
from schedlab.model.version import VERSION
from schedlab.web.explore import explorer_facts, packs_of
from schedlab.web.pack import Pack

MOST_JOBS = 2_500_000  # of runs that stay open; the latest ones do, however large they are
MOST_BYTES = 48 << 20  # of blocks that are kept
LEVEL = 1  # of compression: pages are mostly looked at where they are made, and a higher one takes four times as long
_GZIP = 31  # the window of 32 KB (15), with the head and the end of gzip (16)
_PIECES, _PIECE = 16, 4096  # of a sample; bytes
FACTS = "facts"
LOCKS = 64  # of a look: as many blocks can be made at once, unless two have the same one
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -2, -3, -8  # of malloc.h
# Large arrays go back at once; what batches of columns need comes again and again, and new memory has to be cleared.
_MALLOC = {_MMAP_THRESHOLD: 1 << 20, _ARENA_MAX: 2, _TRIM_THRESHOLD: 8 << 20, _TOP_PAD: 4 << 20}
# What the chart of a large run needs first, in two threads: one is mostly native code, which leaves the other alone.
FIRST_DRAWN = ("chart", "tile-0-0"), (FACTS, "jobs", "steps-0")


def _give_back() -> None:
    """Let large arrays go back to the system when they are let go of. Left alone, the allocator learns to keep them,
    and the memory of a server is the most that it ever needed at once, for each of its threads."""
    with suppress(OSError, AttributeError):  # another C library than GNU's
        for setting, value in _MALLOC.items():
            ctypes.CDLL(None).mallopt(setting, value)
    pa.set_memory_pool(pa.system_memory_pool())


class Look:
    """One or several runs side by side. What is asked for is made once, whoever asks meanwhile waits."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._runs = [read_run(folder) for folder in folders]
        self.tag = _tag(folders)
        self.jobs = sum(run.summary["jobs"] for run in self._runs)
        self._lock = Lock()
        self._locks = [Lock() for _ in range(LOCKS)]
        self._prepared = False

    @cached_property
    def _packs(self) -> list[Pack]:
        return packs_of(self._runs)

    @property
    def packs(self) -> list[Pack]:
        with self._lock:
            return self._packs

    def being_made(self, name: str) -> Lock:
        return self._locks[hash(name) % LOCKS]

    def facts(self) -> bytes:
        text = json.dumps(explorer_facts(self.packs), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()

    def prepare(self, make: Callable[[int, str], object]) -> None:
        """Begin with what the page will ask for first, while it is on its way to the browser."""
        with self._lock:
            if self._prepared:
                return
            self._prepared = True
        for names in FIRST_DRAWN:
            Thread(target=self._make_all, args=(names, make), daemon=True).start()

    def _make_all(self, names: Sequence[str], make: Callable[[int, str], object]) -> None:
        for at in range(len(self.packs)):
            for name in names:
                try:
                    make(at, name)
                except Exception:
                    return  # there is no such block, or the run is broken: who asks for it is told


class Opened:
    """What a server keeps of the runs that were looked at last."""

    def __init__(self, most_jobs: int = MOST_JOBS, most_bytes: int = MOST_BYTES) -> None:
        self._most_jobs, self._most_bytes = most_jobs, most_bytes
        self._lock = Lock()
        self._looks: OrderedDict[object, Look] = OrderedDict()
        self._blocks: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        _give_back()

    def look(self, folders: Sequence[Path]) -> Look:
        """The runs in these folders. A run that was written anew is another one."""
        key = tuple((folder, *_state(folder)) for folder in folders)
        with self._lock:
            if key not in self._looks:
                self._looks[key] = Look(folders)
            self._looks.move_to_end(key)
            while len(self._looks) > 1 and sum(each.jobs for each in self._looks.values()) > self._most_jobs:
                self._looks.popitem(last=False)
            return self._looks[key]

    def facts(self, look: Look) -> bytes:
        return self._made(look, FACTS, look.facts)

    def block(self, look: Look, at: int, name: str) -> bytes:
        """Compressed (gzip). KeyError if there is no such run or block."""
        if not 0 <= at < len(look.packs):
            raise KeyError(at)
        return self._made(look, f"{at}-{name}", lambda: look.packs[at].block(name))

    def prepare(self, look: Look) -> None:
        look.prepare(lambda at, name: self.facts(look) if name == FACTS else self.block(look, at, name))

    def _made(self, look: Look, name: str, make: Callable[[], bytes]) -> bytes:
        key = (look.tag, name)
        with look.being_made(name):
            with self._lock:
                if key in self._blocks:
                    self._blocks.move_to_end(key)
                    return self._blocks[key]
            made = compressed(make())
            with self._lock:
                self._blocks[key] = made
                while len(self._blocks) > 1 and sum(map(len, self._blocks.values())) > self._most_bytes:
                    self._blocks.popitem(last=False)
            return made


def compressed(content: bytes) -> bytes:
    """As gzip. Most columns of numbers are equal bytes behind each other or nearly random ones: to look for other
    repetitions takes half as long again and finds none. Texts have them. A sample tells which it is."""
    step = max(len(content) // _PIECES, _PIECE)
    sample = b"".join(content[at : at + _PIECE] for at in range(0, len(content), step))
    return _deflated(content, min(zlib.Z_RLE, zlib.Z_DEFAULT_STRATEGY, key=lambda way: len(_deflated(sample, way))))


def _deflated(content: bytes, strategy: int) -> bytes:
    packer = zlib.compressobj(LEVEL, zlib.DEFLATED, _GZIP, strategy=strategy)
    return packer.compress(content) + packer.flush()


def _tag(folders: Sequence[Path]) -> str:
    """Other runs, or other tables (run.json has their hashes), or another version: another tag."""
    whole = sha256(VERSION.encode())
    for folder in folders:
        whole.update(sha256((folder / "run.json").read_bytes()).digest())
    return whole.hexdigest()[:24]


def _state(folder: Path) -> tuple[int, ...]:
    """Changes when its run is replaced; run.json is written last."""
    try:
        status = (folder / "run.json").stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino
