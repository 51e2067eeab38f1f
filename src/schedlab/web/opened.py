"""Runs that browsers look at: helpers keep the latest of them open, the server the blocks that were asked for.

Memory is bounded: by the number of looks, in all and of one person, by the jobs of their runs, and by the bytes of
their blocks. What is in a folder is another run as soon as one of its files is another file.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock, Thread

from schedlab.engine.folder import RUN_FILES
from schedlab.model.errors import InputError, SchedlabError
from schedlab.web.aside import WHILE, Helper
from schedlab.web.settings import Settings
from schedlab.web.space import Space

MOST_JOBS = 2_500_000  # of runs that stay open; the latest ones do, however large they are
MOST_BYTES = 48 << 20  # of blocks that are kept
MOST_LOOKS, MOST_OF_ONE = 16, 4  # that stay open, of all and of one person; those at everybody's runs are nobody's
FACTS = "facts"
LOCKS = 64  # of a look: as many blocks can be made at once, unless two have the same one
# What the chart of a large run needs first, in two threads: one is mostly native code, which leaves the other alone.
FIRST_DRAWN = ("chart", "tile-0-0"), (FACTS, "jobs", "steps-0")
_NOBODY = "-"  # no space is called so


class Look:
    """One or several runs side by side. What is asked for is made once, whoever asks meanwhile waits."""

    def __init__(self, folders: Sequence[Path], space: Space, settings: Settings) -> None:
        self.owner = space.id if any(folder.is_relative_to(space.own) for folder in folders) else _NOBODY
        self.folders, self.state = folders, state_of(folders)
        self._helper = Helper("look", replace(space, id=self.owner), settings, {"names": _names(folders, space)}, WHILE)
        try:
            told = json.loads(self._helper.answer())
        except SchedlabError:
            self._helper.close()
            raise
        self.jobs, self.runs = int(told["jobs"]), int(told["runs"])
        self._tag = ""
        self._locks = [Lock() for _ in range(LOCKS)]
        self.prepared = self.closed = False

    @property
    def tag(self) -> str:
        """Another one for other tables."""
        if not self._tag:
            self._tag = json.loads(self._helper.ask(WHILE))["tag"]
        return self._tag

    @property
    def ended(self) -> bool:
        """It needed too much, or others were looked at since."""
        return self._helper.ended

    def being_made(self, name: str) -> Lock:
        return self._locks[hash(name) % LOCKS]

    def make(self, at: int, name: str) -> bytes:
        """Compressed (gzip); of the files that were there when it was opened, or not at all."""
        made = self._helper.ask(WHILE, at=at, name=name)
        if state_of(self.folders) != self.state:
            raise InputError("the run was changed while it was read", hint="load the page again")
        return made

    def close(self) -> None:
        self.closed = True
        self._helper.close()


class Opened:
    """What a server keeps of the runs that were looked at last."""

    def __init__(self, settings: Settings, most_jobs: int = MOST_JOBS, most_bytes: int = MOST_BYTES) -> None:
        self._settings, self._most_jobs, self._most_bytes = settings, most_jobs, most_bytes
        self._lock = Lock()
        self._looks: OrderedDict[object, Look] = OrderedDict()
        self._opening: dict[object, Lock] = {}
        self._blocks: OrderedDict[tuple[Look, str], bytes] = OrderedDict()

    def look(self, folders: Sequence[Path], space: Space) -> Look:
        """The runs in these folders. A run that was written anew is another one."""
        key = tuple(folders), state_of(folders)
        with self._lock:
            being_opened = self._opening.setdefault(key, Lock())
        try:
            with being_opened:
                with self._lock:
                    found = self._looks.get(key)
                    if found and found.ended:
                        self._close(key)
                    elif found:
                        self._looks.move_to_end(key)
                        return found
                look = Look(folders, space, self._settings)
                with self._lock:
                    self._looks[key] = look
                    self._close_old(look)
                return look
        finally:
            with self._lock:
                self._opening.pop(key, None)

    def facts(self, look: Look) -> bytes:
        return self._made(look, 0, FACTS)

    def block(self, look: Look, at: int, name: str) -> bytes:
        """Compressed (gzip). KeyError if there is no such run."""
        if not 0 <= at < look.runs or name == FACTS:
            raise KeyError(at)
        return self._made(look, at, name)

    def prepare(self, look: Look) -> None:
        """Begin with what the page will ask for first, while it is on its way to the browser."""
        with self._lock:
            if look.prepared:
                return
            look.prepared = True
        for names in FIRST_DRAWN:
            Thread(target=self._make_all, args=(look, names), daemon=True).start()

    def close(self) -> None:
        with self._lock:
            for look in self._looks.values():
                look.close()
            self._looks.clear()

    def _close_old(self, newest: Look) -> None:
        """First those of the same person."""
        own = [key for key, look in self._looks.items() if look.owner == newest.owner != _NOBODY]
        for key in own[:-MOST_OF_ONE]:
            self._close(key)
        while len(self._looks) > 1 and (
            len(self._looks) > MOST_LOOKS or sum(each.jobs for each in self._looks.values()) > self._most_jobs
        ):
            self._close(next(iter(self._looks)))

    def _close(self, key: object) -> None:
        look = self._looks.pop(key)
        look.close()
        for block in [block for block in self._blocks if block[0] is look]:
            del self._blocks[block]

    def _make_all(self, look: Look, names: Sequence[str]) -> None:
        for at in range(look.runs):
            for name in names:
                try:
                    self._made(look, at, name)
                except (SchedlabError, OSError):
                    return  # there is no such block, or the run is broken: who asks for it is told

    def _made(self, look: Look, at: int, name: str) -> bytes:
        at = 0 if name == FACTS else at
        key = (look, f"{at}-{name}")
        with look.being_made(key[1]):
            with self._lock:
                if key in self._blocks:
                    self._blocks.move_to_end(key)
                    return self._blocks[key]
            made = look.make(at, name)
            with self._lock:
                if look not in self._looks.values():
                    return made
                self._blocks[key] = made
                while len(self._blocks) > 1 and sum(map(len, self._blocks.values())) > self._most_bytes:
                    self._blocks.popitem(last=False)
            return made


def state_of(folders: Sequence[Path]) -> tuple[object, ...]:
    """Changes when a file of a run is replaced, or written to."""
    return tuple(_state(folder / name) for folder in folders for name in sorted(RUN_FILES))


def _state(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def _names(folders: Sequence[Path], space: Space) -> list[str]:
    return [space.name(folder) for folder in folders]
