"""Download a log of the Parallel Workloads Archive into a folder of the user: whole and checked, or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schedlab.files.bytestream import ByteStream, Progress
from schedlab.model.errors import InputError
from schedlab.workload.archive.catalogue import ARCHIVE, ArchivedLog, find_log
from schedlab.workload.archive.download import FetchError, download


def fetch(
    name: str,
    *,
    cache: str | os.PathLike[str] | None = None,
    base_url: str | None = None,
    progress: Progress | None = None,
    force: bool = False,
) -> Path:
    """The path of a log by name (`KTH-SP2`); it is downloaded if it is not there yet, or anew with `force`.

    The file is in `logs` below `cache` (default: `cache_folder()`). Its checksum is compared with the one that is
    known, now and at each later call; where none is known, the first download notes it beside the file.
    `base_url` (or `$SCHEDLAB_ARCHIVE`) names another place with the folders of the archive.
    """
    log = find_log(name)
    base = base_url or os.environ.get("SCHEDLAB_ARCHIVE") or ARCHIVE
    url = f"{base.rstrip('/')}/{log.path}"
    path = cached_path(log, cache)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(path):
            if force or not path.exists():
                _get(log, url, path, progress, forget=force)
            else:
                _verify(log, path)
    except OSError as error:
        raise FetchError(
            f"cannot be written: {error.strerror or error}",
            where=str(path),
            hint="say where logs may be kept with the environment variable SCHEDLAB_CACHE",
        ) from error
    return path


def cache_folder() -> Path:
    """`$SCHEDLAB_CACHE`, or `schedlab` in `$XDG_CACHE_HOME`, or `~/.cache/schedlab`."""
    own = os.environ.get("SCHEDLAB_CACHE")
    if own:
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "schedlab"


def cached_path(log: ArchivedLog, cache: str | os.PathLike[str] | None = None) -> Path:
    """Where the log is, or would be."""
    return (Path(cache) if cache is not None else cache_folder()) / "logs" / log.file


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let one process at a time work on a file; the next one finds it done."""
    import fcntl

    with path.with_name(f".{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _get(log: ArchivedLog, url: str, path: Path, progress: Progress | None, *, forget: bool) -> None:
    part = path.with_name(f"{path.name}.part")
    if forget:
        part.unlink(missing_ok=True)
    download(url, part, progress)
    expected = log.sha256 or ("" if forget else _noted(path))
    found = _checksum(part)
    if expected and found != expected:
        part.unlink()
        raise FetchError(
            f"the download has a wrong checksum: expected {expected}, found {found}; it was removed",
            where=url,
            hint="try again; if that does not help, the file in the archive has changed",
        )
    if not expected:
        _refuse_broken(part, url)
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(path)
    if not log.sha256:
        _note(path, found)


def _refuse_broken(part: Path, url: str) -> None:
    """Without a checksum to compare with, at least what a page saying "not here" or a torn file looks like."""
    try:
        if part.open("rb").read(2) != b"\x1f\x8b":
            raise InputError("is not compressed with gzip")
        for _ in ByteStream(part):
            pass
    except InputError as error:
        part.unlink()
        raise FetchError(
            f"what came is not a log ({error.message}); it was removed", where=url, hint="look at the address"
        ) from error


def _verify(log: ArchivedLog, path: Path) -> None:
    """A file that is there, perhaps put there by hand."""
    expected, found = log.sha256 or _noted(path), _checksum(path)
    if not expected:
        _note(path, found)
    elif found != expected:
        raise FetchError(
            f"is not what it should be: the checksum is {found}, expected {expected}",
            where=str(path),
            hint="schedlab fetch --force downloads it again",
        )


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _noted(path: Path) -> str:
    note = _note_path(path)
    words = note.read_text().split() if note.exists() else []
    return words[0] if words else ""


def _note(path: Path, checksum: str) -> None:
    """As the program sha256sum writes and checks it."""
    _note_path(path).write_text(f"{checksum}  {path.name}\n")


def _note_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")
