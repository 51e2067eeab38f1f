"""The private folder of one emulated slurmctld, and the cleaning up of those whose owner was killed."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import signal
import tempfile
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from schedlab.model.errors import InputError

FOLDERS = ("etc", "state", "sockets", "log", "spool")
ROOM = 256 << 20  # bytes: slurmctld keeps two small files for each job, and pages are 4 kB
LEAST = 1 << 20  # bytes; with less, files of slurmctld are no longer whole
SOCKET_PATH = 107  # bytes that the path of a Unix socket may have
SOCKET_NAME = 32  # of these, kept for the socket's own name
PATIENCE = 1.0  # seconds from asking a process to end to ending it
TRIES = 20  # names of folders
CLEANING = 5.0  # seconds a new workplace spends on leftovers at most


class Workplace:
    """A new folder, in memory if possible, with `etc`, `state`, `sockets`, `log` and `spool`; nobody else may enter.

    The lock in it is held as long as the owner lives: a folder without a holder is a leftover. Start processes in a
    session of their own and `adopt` them: they are ended, with their process groups, when the workplace is closed.
    """

    def __init__(self) -> None:
        self._lock: int | None = None
        self.folder, self._lock = _occupy(best_base())
        self.etc, self.state, self.sockets, self.log, self.spool = (self.folder / name for name in FOLDERS)
        _mine.add(self)
        _clean(CLEANING)

    def adopt(self, pid: int) -> None:
        """Note a process that works here, so that it is ended with the workplace; one that has ended is fine."""
        status = _status(pid)
        if status is not None:
            with (self.folder / "processes").open("a") as file:
                file.write(f"{pid} {status.start} {_boot()}\n")

    def is_full(self) -> bool:
        """Whether what slurmctld writes here may no longer be whole."""
        found = os.statvfs(self.folder)
        return found.f_bavail * found.f_frsize < LEAST or (found.f_files > 0 and found.f_favail == 0)

    def described(self) -> str:
        """Where it is and how much is free there, with a hint what to do about it."""
        found = os.statvfs(self.folder)
        free = f"{found.f_bavail * found.f_frsize / 1e6:.1f} of {found.f_blocks * found.f_frsize / 1e6:.1f} MB are free"
        hint = "make room there, or name a folder that has some: SCHEDLAB_TMP=DIR"
        return f"slurmctld's files are in {self.folder}, where {free}\n  hint: {hint}"

    def close(self) -> None:
        """End the processes and remove the folder."""
        if self._lock is None:
            return
        _end(_processes(self.folder), signal.SIGTERM, signal.SIGKILL)
        _delete(self.folder)
        self._let_go()

    def _let_go(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)

    def __enter__(self) -> Workplace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_mine: weakref.WeakSet[Workplace] = weakref.WeakSet()


def _after_fork() -> None:
    """A forked child is not the owner: it must neither hold the lock after its parent nor remove the folder."""
    for place in list(_mine):
        place._let_go()


os.register_at_fork(after_in_child=_after_fork)


@dataclass(frozen=True, slots=True)
class Leftover:
    """A workplace whose owner was killed, and the processes that still run in it."""

    folder: Path
    pids: tuple[int, ...]


def leftovers() -> list[Leftover]:
    """The folders of this user whose lock nobody holds."""
    found = []
    for folder in _folders():
        lock = _try_lock(folder)
        if lock is not None:
            pids = tuple(process.pid for process in _processes(folder) if process.lives())
            found.append(Leftover(folder, pids))
            os.close(lock)
    return found


def remove(leftover: Leftover) -> bool:
    """End what runs there and delete the folder; whether it is gone."""
    lock = _try_lock(leftover.folder)
    if lock is None:
        return not leftover.folder.exists()
    try:
        _end(_processes(leftover.folder), signal.SIGKILL)
        return _delete(leftover.folder)
    finally:
        os.close(lock)


def occupied() -> list[Path]:
    """The workplaces of this user that are in use."""
    left = {leftover.folder for leftover in leftovers()}
    return [folder for folder in _folders() if folder not in left]


def bases() -> list[Path]:
    """Where workplaces may be, the best first; only there, if `$SCHEDLAB_TMP` names a folder."""
    if wanted := os.environ.get("SCHEDLAB_TMP"):
        return [Path(wanted)]
    places = ["/dev/shm", os.environ.get("XDG_RUNTIME_DIR") or "/dev/shm", tempfile.gettempdir(), "/tmp"]
    return [path for path in dict.fromkeys(map(Path, places)) if path.is_dir()]


def best_base() -> Path:
    """The first with room; if none has, the last that may be written."""
    usable = [base for base in bases() if os.access(base, os.W_OK | os.X_OK) and _is_short(base)]
    if not usable:
        raise InputError(
            f"no folder for the files of slurmctld may be written: {', '.join(map(str, bases()))}",
            hint="set TMPDIR to a folder with a short path that you may write",
        )
    return next((base for base in usable if shutil.disk_usage(base).free >= ROOM), usable[-1])


def in_memory(path: Path) -> bool:
    """Whether files there are in memory (tmpfs)."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    mounted = {mount[1]: mount[2] for mount in mounts}
    places = (path.resolve(), *path.resolve().parents)
    return next((mounted[str(place)] for place in places if str(place) in mounted), "") in ("tmpfs", "ramfs")


@dataclass(frozen=True, slots=True)
class _Status:
    state: str
    group: int
    start: int  # ticks since the machine was started: with the pid, what tells a process from all others


@dataclass(frozen=True, slots=True)
class _Process:
    """A process as noted; it is the one that has the pid now if that one was started at the same tick."""

    pid: int
    start: int
    boot: str

    def status(self) -> _Status | None:
        status = _status(self.pid) if self.boot == _boot() else None
        return status if status is not None and status.start == self.start else None

    def lives(self) -> bool:
        status = self.status()
        return status is not None and status.state not in "ZX"

    def send(self, number: signal.Signals) -> None:
        status = self.status()
        if status is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            if status.group == self.pid:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)


def _status(pid: int) -> _Status | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()  # the name before may have blanks and brackets
    return _Status(fields[0], int(fields[2]), int(fields[19]))


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _processes(folder: Path) -> list[_Process]:
    try:
        lines = (folder / "processes").read_text().splitlines()
    except OSError:
        return []
    noted = (line.split() for line in lines)
    # A line without an end is of an owner that was killed while it wrote.
    whole = (words for words in noted if len(words) == 3 and words[0].isdigit() and words[1].isdigit())
    return [_Process(int(pid), int(start), boot) for pid, start, boot in whole]


def _end(processes: Sequence[_Process], *signals: signal.Signals) -> None:
    for number in signals:
        for process in processes:
            process.send(number)
        until = time.monotonic() + PATIENCE
        while any(process.lives() for process in processes) and time.monotonic() < until:
            time.sleep(0.01)


def _occupy(base: Path) -> tuple[Path, int]:
    """A new folder and its lock. Another one may take it for a leftover before it is locked: then the next is tried."""
    try:
        for _ in range(TRIES):
            folder = base / _name(secrets.token_hex(4))
            folder.mkdir(mode=0o700)
            lock = _try_lock(folder)
            if lock is None:
                _delete(folder)
                continue
            for name in FOLDERS:
                (folder / name).mkdir()
            return folder, lock
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", where=str(base)) from error
    raise InputError("no lock can be had there", where=str(base), hint="set TMPDIR to a folder on a local disk")


def _try_lock(folder: Path) -> int | None:
    """The lock of a folder, if nobody holds it and the folder is there."""
    path = folder / "lock"
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), path.stat()):  # else it was removed meanwhile
            return lock
    except OSError:
        pass
    os.close(lock)
    return None


def _delete(folder: Path) -> bool:
    for _ in range(3):  # what is just ending may write once more
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return True
        time.sleep(0.05)
    return False


def _clean(seconds: float) -> None:
    """Remove leftovers, quietly: the new workplace does not depend on it."""
    until = time.monotonic() + seconds
    with suppress(OSError):
        for leftover in leftovers():
            if time.monotonic() > until:
                return
            remove(leftover)


def _folders() -> Iterator[Path]:
    """The workplaces of this user: real folders that it owns, not what another user made under such a name."""
    for base in bases():
        for folder in base.glob(_name("*")):
            with suppress(FileNotFoundError):
                if folder.lstat().st_uid == os.getuid() and folder.is_dir() and not folder.is_symlink():
                    yield folder


def _name(end: str) -> str:
    return f"schedlab-slurm-{os.getuid()}-{end}"


def _is_short(base: Path) -> bool:
    longest = base / _name("0" * 8) / "sockets" / ("x" * SOCKET_NAME)
    return len(os.fsencode(longest)) <= SOCKET_PATH
