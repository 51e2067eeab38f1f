"""The folder of a study: whose it is, where things lie in it, how a run gets from one into another."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from schedlab.engine.folder import OutputFolder, explained, holds_run
from schedlab.files.whole_file import whole_file
from schedlab.model.disk import FORBIDDEN, told
from schedlab.model.errors import DiskError, InputError

LEDGER, PLAN, CHECKPOINTS = "ledger.sqlite", "plan.json", "checkpoints"
_OWN = {"study.toml", PLAN, LEDGER, "backups", "results", "runs", CHECKPOINTS, ".lock"}
_OF_RESULTS = {"summary": dict, "metrics": dict, "files": dict, "seconds": dict, "point": dict}


class BusyError(InputError):
    """Another process has the folder."""


class DamagedError(InputError):
    """A file of a study is there, and is not what was written."""


def is_study(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (LEDGER, PLAN))


def check_study_folder(folder: Path) -> None:
    """Refuse a place that holds something else; another study shares its runs."""
    try:
        if is_study(folder) or finished(folder) or not folder.is_dir():
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


def read_result(folder: Path, identity: str) -> dict[str, Any]:
    path = result_file(folder, identity)
    with told("cannot be read", path):
        content = path.read_bytes()
    try:
        result = json.loads(content)
        for name, kind in _OF_RESULTS.items():
            if not isinstance(result[name], kind):
                raise ValueError(f"{name} is not what it has to be")
        float(result["seconds"]["all"])
        if result["identity"] == identity:
            return dict(result)
        said = f"is that of {result['identity']}"
    except (ValueError, KeyError, TypeError) as error:
        said = f"cannot be read ({error!r:.80})"
    hint = "schedlab experiment run makes it again"
    raise DamagedError(f"the result {said}", where=str(path), hint=hint)


def file_hashes(folder: Path) -> dict[str, str]:
    """The sha256 of every file of a run."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        with told("cannot be read", path), path.open("rb") as file:
            found[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def losses(folder: Path, result: dict[str, Any]) -> Iterator[str]:
    """Files of a run that are not there, or not as long as they were: what can be told without reading them."""
    place = run_folder(folder, result["identity"])
    for name in sorted(result["files"]):
        try:
            there = (place / name).stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            yield f"{name} is missing"
            continue
        size = result.get("sizes", {}).get(name, there)  # older versions have not noted it
        if there != size:
            yield f"{name} has {there:,} bytes of {size:,}"


def _made(folder: Path) -> TextIO:
    """The folder, if it was not there, and the file in it that is locked."""
    with told("cannot be written", folder):
        for inside in (folder, folder / "runs", folder / "results"):
            inside.mkdir(parents=True, exist_ok=True)
        return (folder / ".lock").open("a+")


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
        with suppress(OSError):  # a full disk: whoever comes next is not told who has it
            lock.truncate(0)
            os.write(lock.fileno(), f"{os.getpid()} on {socket.gethostname()}".encode())
        yield


@contextmanager
def read_locked(folder: Path) -> Iterator[None]:
    """The same, to read: where one may not write, without."""
    with ExitStack() as held:
        try:
            held.enter_context(locked(folder))
        except DiskError as error:
            if error.number not in FORBIDDEN:
                raise
        yield


def copy_run(identity: str, source: Path, target: Path) -> None:
    """The files of a finished run and, last, its result: it is there whole, or not at all."""
    with told("cannot be replaced", result_file(target, identity)):
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
