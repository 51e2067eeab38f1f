"""The folder of a study: whose it is, where things lie in it, how a run gets from one into another."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from schedlab.engine.folder import OutputFolder, explained, holds_run
from schedlab.files.whole_file import whole_file
from schedlab.model.errors import InputError

CHECKPOINTS = "checkpoints"


_OWN = {"study.toml", "plan.json", "ledger.sqlite", "backups", "results", "runs", CHECKPOINTS, ".lock"}


class BusyError(InputError):
    """Another process has the folder."""


def check_study_folder(folder: Path) -> None:
    """Refuse a place that holds something else; another study shares its runs."""
    try:
        of_study = any((folder / name).is_file() for name in ("ledger.sqlite", "plan.json")) or finished(folder)
        if of_study or not folder.is_dir():
            return
        entries = sorted(folder.iterdir())
        strange = [entry for entry in entries if entry.name not in _OWN]
        strange += (folder / "runs").iterdir() if (folder / "runs").is_dir() else ()
    except OSError:  # whoever makes the folder says so
        return
    if not strange:
        return
    runs = [entry for entry in strange if holds_run(entry)]
    shown = ", ".join(str(entry.relative_to(folder)) for entry in (runs or strange)[:3])
    shown += ", …" if len(runs or strange) > 3 else ""
    held = "a run" if holds_run(folder) else f"{'runs' if runs else 'other files'} ({shown})"
    hint = "a study gets a folder of its own: choose one that is new or empty"
    raise InputError(f"already holds {held}", where=str(folder), hint=hint)


def run_folder(folder: Path, identity: str) -> Path:
    return folder / "runs" / identity


def result_file(folder: Path, identity: str) -> Path:
    return folder / "results" / f"{identity}.json"


def checkpoint_folder(folder: Path, identity: str) -> Path:
    return folder / CHECKPOINTS / identity


def finished(folder: Path) -> list[str]:
    """The identities of the runs that have a result."""
    return sorted(path.stem for path in (folder / "results").glob("*.json"))


def file_hashes(folder: Path) -> dict[str, str]:
    """The sha256 of every file of a run."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            found[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _made(folder: Path) -> TextIO:
    """The folder, if it was not there, and the file in it that is locked."""
    try:
        for inside in (folder, folder / "runs", folder / "results"):
            inside.mkdir(parents=True, exist_ok=True)
        return (folder / ".lock").open("a+")
    except OSError as error:
        hint = "choose a folder that you may write to"
        raise InputError(f"cannot be written: {error.strerror}", where=str(folder), hint=hint) from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The folder for one process, until it ends, however it ends."""
    with _made(folder) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            who = lock.read().strip() or "another process"
            hint = "wait for it, or stop it"
            raise BusyError(f"is being worked on by process {who}", where=str(folder), hint=hint) from None
        except OSError:  # not every file system can
            pass
        lock.truncate(0)
        lock.write(f"{os.getpid()} on {socket.gethostname()}")
        lock.flush()
        yield


def copy_run(identity: str, source: Path, target: Path) -> None:
    """The files of a finished run and, last, its result: it is there whole, or not at all."""
    result_file(target, identity).unlink(missing_ok=True)
    if (tables := run_folder(source, identity)).is_dir():
        place = run_folder(target, identity)
        with explained(place), OutputFolder(place, force=True) as out:
            for path in (path for path in sorted(tables.rglob("*")) if path.is_file()):
                copy = out.partial / path.relative_to(tables)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy)
            out.commit()
    with whole_file(result_file(target, identity)) as file:
        file.write(result_file(source, identity).read_bytes())
