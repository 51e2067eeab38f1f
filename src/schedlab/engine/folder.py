"""A folder that appears whole or not at all: filled under a temporary name, renamed when it is complete."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from schedlab.model.confined import OutsideError
from schedlab.model.disk import remedy, said
from schedlab.model.errors import DiskError, InputError
from schedlab.model.stopping import undisturbed
from schedlab.model.tables import TABLES

RUN_FILES = frozenset({"run.json", *(table.file for table in TABLES.values())})

_HINTS = {  # of a folder, beside what holds for every file
    errno.ENOENT: "choose a folder that can be made",
    errno.EBUSY: "choose a folder inside it",
    errno.EXDEV: "choose a folder inside it",
    errno.EEXIST: "another simulation is writing this run; wait for it, or choose another folder",
}


def holds_run(path: Path) -> bool:
    """run.json is written last, so a folder with one is a complete run."""
    return (path / "run.json").is_file()


def check_target(path: Path, force: bool = False) -> None:
    """Refuse a place where a run cannot go, before any work is done for it.

    `force` allows to replace a run; one that an error ended is replaced anyway. Files that are not part of a run are
    never deleted.
    """
    where = str(path)
    target = path.resolve()
    if target == Path.cwd() or target in Path.cwd().parents:
        raise InputError("a run gets a folder of its own", where=where, hint=f"for example {path / 'my-run'}")
    for parent in target.parents:
        if parent.exists() and not parent.is_dir():
            raise InputError(f"cannot make a folder here: {parent} is a file", where=where, hint="choose another place")
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError("cannot write a run here: it is a file", where=where, hint="name a folder")
    config = _config(target)
    force = force or config.get("failed") is True
    others = sorted(set(map(str, _files(target))) - RUN_FILES - set(config.get("files", ())))
    if others:
        shown = ", ".join(others[:3]) + (", …" if len(others) > 3 else "")
        kind = "a run and other files" if holds_run(target) else "other files"
        raise InputError(f"already holds {kind} ({shown})", where=where, hint="choose a folder that is new or empty")
    if holds_run(target) and not force:
        raise InputError("already holds a run", where=where, hint="choose another folder, or replace it with --force")
    if any(target.iterdir()) and not force:
        raise InputError("holds parts of a run", where=where, hint="choose another folder, or replace it with --force")


def _files(folder: Path) -> list[Path]:
    """What is in it, relative to it; a folder inside that is empty counts too."""
    inside = [path for path in folder.rglob("*") if path.is_file() or not any(path.iterdir())]
    return [path.relative_to(folder) for path in inside]


def _config(folder: Path) -> dict[str, Any]:
    """What run.json says (of `files`: also those that deciders have left); nothing if there is none."""
    try:
        config = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) and isinstance(config.get("files", {}), dict) else {}


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what the operating system says about a folder (disk full, not allowed) into an error that names it."""
    try:
        yield
    except OutsideError:
        raise
    except (OSError, DiskError) as error:  # a DiskError is of a file in it, which goes with it
        cause = error.__cause__ if isinstance(error, DiskError) and error.__cause__ else error
        number = cause.errno if isinstance(cause, OSError) and cause.errno else 0
        message = f"cannot write the run: {said(cause)}; nothing was written"
        hint = _HINTS.get(number) or remedy(number)
        raise DiskError(message, where=str(path), hint=hint, number=number) from cause


class OutputFolder:
    """Fill `partial`, then `commit()`. Left without a commit, for whatever reason, it leaves nothing behind."""

    def __init__(self, path: str | Path, force: bool = False) -> None:
        self.path = Path(path)
        self.force = force
        self._target = self.path.resolve()
        self._made_parents: list[Path] = []
        self._made, self._lock = False, -1

    @property
    def partial(self) -> Path:
        return self._sibling("partial")

    def __enter__(self) -> OutputFolder:
        try:
            with explained(self.path):
                _clean_up_after_the_dead(self._target)
                check_target(self.path, self.force)
                with undisturbed():
                    self._make_parents()
                    self.partial.mkdir()
                    self._made = True
                    self._lock = os.open(self.partial, os.O_RDONLY | os.O_DIRECTORY)
                with suppress(OSError):  # not every file system can; the process number then has to do
                    fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    def _remove(self) -> None:
        with undisturbed():
            if self._made:
                shutil.rmtree(self.partial, ignore_errors=True)
            if self._lock >= 0:
                os.close(self._lock)
            self._remove_parents()

    def commit(self) -> None:
        """Give the folder its name. With `force`, what was there is moved aside first and deleted afterwards."""
        with explained(self.path):
            for entry in self.partial.iterdir():
                _flush(entry)
            _flush(self.partial)
            check_target(self.path, self.force)  # somebody else may have been faster
            aside = self._sibling("old")
            with undisturbed():
                try:
                    if self._target.exists() and any(self._target.iterdir()):
                        self._target.rename(aside)
                    self.partial.rename(self._target)
                    _flush(self._target.parent)
                except BaseException:
                    if not self.partial.exists():
                        self._target.rename(self.partial)
                    if aside.exists() and not self._target.exists():
                        aside.rename(self._target)
                    raise
                self._made_parents.clear()
                shutil.rmtree(aside, ignore_errors=True)

    def _sibling(self, role: str) -> Path:
        return self._target.with_name(f".{self._target.name}.{role}-{os.getpid()}")

    def _make_parents(self) -> None:
        missing = [parent for parent in self._target.parents if not parent.exists()]
        for parent in reversed(missing):
            parent.mkdir(exist_ok=True)
            self._made_parents.insert(0, parent)

    def _remove_parents(self) -> None:
        for parent in self._made_parents:
            with suppress(OSError):  # not empty: somebody else uses it by now
                parent.rmdir()


def _clean_up_after_the_dead(target: Path) -> None:
    """Remove what processes that were killed left beside `target`; put back a run that one of them had moved aside."""
    if not target.parent.is_dir():
        return
    for role in ("old", "partial"):
        prefix = f".{target.name}.{role}-"
        for leftover in sorted(target.parent.iterdir()):
            if not leftover.name.startswith(prefix) or _is_alive(leftover, leftover.name.removeprefix(prefix)):
                continue
            if role == "old" and not target.exists() and holds_run(leftover):
                leftover.rename(target)
            else:
                shutil.rmtree(leftover, ignore_errors=True)


def _is_alive(folder: Path, process: str) -> bool:
    """The owner lives if there is a process of that number here, or somebody (on any machine) holds the lock."""
    if not process.isdigit():
        return True  # not one of ours
    if int(process) != os.getpid():
        with suppress(ProcessLookupError):
            with suppress(PermissionError, OverflowError):
                os.kill(int(process), 0)
            return True
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
