"""The ledger of a study: which runs it has, what became of them. SQLite with one writer, the coordinator.

It can be lost: results are files of their own, and the ledger is made again from them.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from schedlab.experiment.folder import LEDGER, PLAN, DamagedError, finished, read_result, result_file
from schedlab.experiment.plan import PlannedRun
from schedlab.files.whole_file import whole_file
from schedlab.model.disk import remedy, told
from schedlab.model.errors import DiskError, InputError

MOST_BACKUPS = 5
BACKUPS = "backups"
_BACKUP = re.compile(r"ledger-(\d+)\.sqlite")  # others in that folder are somebody's own
_TABLES = """
CREATE TABLE IF NOT EXISTS plan (position INTEGER PRIMARY KEY, identity TEXT UNIQUE, run TEXT);
CREATE TABLE IF NOT EXISTS runs (identity TEXT PRIMARY KEY, state TEXT, seconds REAL, error TEXT, traceback TEXT);
CREATE TABLE IF NOT EXISTS study (key TEXT PRIMARY KEY, value TEXT);
"""
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_NUMBERS = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_PERM: errno.EACCES,
}

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Status:
    """How many runs of the plan are where."""

    planned: int
    done: int
    failed: int
    seconds: float  # that the done ones took
    failures: tuple[tuple[PlannedRun, str, str], ...]  # run, error, traceback

    @property
    def open(self) -> int:
        return self.planned - self.done - self.failed


class Ledger:
    """Open it, use it, close it. `base`: not the file, but a copy of it in memory, to be read."""

    def __init__(self, folder: Path, base: sqlite3.Connection | None = None) -> None:
        self.folder = folder
        self.path = folder / LEDGER
        with _asked(self.path):
            self._base = base or sqlite3.connect(self.path, isolation_level=None, timeout=30)
            try:
                if base is None:
                    self._base.execute("PRAGMA journal_mode=WAL")
                self._base.executescript(_TABLES)
            except BaseException:
                self._base.close()
                raise

    @classmethod
    def checked(cls, folder: Path, tell: Tell) -> Ledger:
        """For its one writer. One that is damaged is put aside, and the newest backup that is whole takes its place."""
        try:
            with closing(cls(folder)) as ledger, _asked(ledger.path):
                _check(ledger._base)
        except DamagedError as error:
            found = next(_backups(folder), None)
            if found is None:
                raise
            backup, copy = found
            copy.close()
            aside = folder / BACKUPS / "damaged.sqlite"
            with told("cannot be put aside", folder / LEDGER):
                (folder / LEDGER).replace(aside)
                for suffix in ("-wal", "-shm"):
                    (folder / f"{LEDGER}{suffix}").unlink(missing_ok=True)
            with whole_file(folder / LEDGER) as file:
                file.write(backup.read_bytes())
            now = "takes its place, and what was done since is known by its result"
            tell(f"{error.where}: {error.message}; {backup.name} {now}")
        return cls(folder)

    @classmethod
    def to_read(cls, folder: Path, tell: Tell) -> Ledger:
        """Also where one may not write. If it is damaged or lost, it is that of the newest backup, or of plan.json."""
        try:
            return cls(folder, _copy(folder / LEDGER))
        except InputError as error:
            lost = error
        found = next(_backups(folder), None)
        if found is not None:
            tell(f"{lost.where}: {lost.message}; {found[0].name} is read instead")
            return cls(folder, found[1])
        if not (folder / PLAN).is_file():
            raise lost
        runs, study = read_plan(folder / PLAN)
        ledger = cls(folder, sqlite3.connect(":memory:", isolation_level=None))
        ledger.set_plan(runs, study)
        tell(f"{lost.where}: {lost.message}; {PLAN} is read instead, which does not know of runs that failed")
        return ledger

    def close(self) -> None:
        self._base.close()

    def back_up(self) -> None:
        """A copy beside it; the last few are kept."""
        copies = self.folder / BACKUPS
        unfinished = copies / ".partial"
        with told("the ledger cannot be copied", copies), _asked(unfinished):
            copies.mkdir(exist_ok=True)
            numbers = _numbers(self.folder)
            try:
                with closing(sqlite3.connect(unfinished)) as copy:
                    self._base.backup(copy)
                unfinished.replace(copies / f"ledger-{max(numbers, default=0) + 1:06d}.sqlite")
            finally:
                for leftover in copies.glob(".partial*"):
                    leftover.unlink(missing_ok=True)
            for number in sorted(numbers)[: 1 - MOST_BACKUPS]:
                numbers[number].unlink(missing_ok=True)

    def set_plan(self, runs: Sequence[PlannedRun], study: dict[str, Any]) -> None:
        """What is to be done from now on; results of earlier plans stay known."""
        rows = [(n, run.identity, json.dumps(run.to_dict())) for n, run in enumerate(runs)]
        with self._changed() as base:
            base.execute("DELETE FROM plan")
            base.executemany("INSERT INTO plan VALUES (?, ?, ?)", rows)
            base.execute("INSERT OR REPLACE INTO study VALUES ('study', ?)", [json.dumps(study)])

    def write_plan(self) -> None:
        """The plan as a file beside the ledger, from which an archive of the study gets it."""
        content = {"study": self.study(), "runs": [run.to_dict() for run in self.planned()]}
        with whole_file(self.folder / PLAN) as file:
            file.write((json.dumps(content, ensure_ascii=False) + "\n").encode())

    def study(self) -> dict[str, Any]:
        found = self._rows("SELECT value FROM study WHERE key = 'study'")
        return json.loads(found[0][0]) if found else {}

    def planned(self) -> list[PlannedRun]:
        return [
            PlannedRun.from_dict(json.loads(row[0])) for row in self._rows("SELECT run FROM plan ORDER BY position")
        ]

    def reconcile(self, seconds: dict[str, float]) -> None:
        """Believe the results on disk, and the time that each took: what has one is done, what has none is not."""
        known = dict(self._rows("SELECT identity, state FROM runs"))
        lost = [identity for identity, state in known.items() if state == "done" and identity not in seconds]
        with self._changed() as base:
            for identity, took in seconds.items():
                if known.get(identity) != "done":
                    _record(base, identity, "done", took)
            base.executemany("DELETE FROM runs WHERE identity = ?", [(identity,) for identity in lost])

    def todo(self) -> list[PlannedRun]:
        done = {row[0] for row in self._rows("SELECT identity FROM runs WHERE state = 'done'")}
        return [run for run in self.planned() if run.identity not in done]

    def done(self, run: PlannedRun, seconds: float) -> None:
        with self._changed() as base:
            _record(base, run.identity, "done", seconds)

    def failed(self, run: PlannedRun, error: str, traceback: str) -> None:
        with self._changed() as base:
            _record(base, run.identity, "failed", None, error, traceback)

    def status(self) -> Status:
        rows = self._rows(
            "SELECT plan.run, runs.state, runs.seconds, runs.error, runs.traceback "
            "FROM plan LEFT JOIN runs ON runs.identity = plan.identity ORDER BY plan.position"
        )
        failures = tuple(
            (PlannedRun.from_dict(json.loads(run)), error or "", traceback or "")
            for run, state, _, error, traceback in rows
            if state == "failed"
        )
        done = [seconds or 0.0 for _, state, seconds, *_ in rows if state == "done"]
        return Status(len(rows), len(done), len(failures), sum(done), failures)

    def _rows(self, question: str) -> list[Any]:
        with _asked(self.path):
            return self._base.execute(question).fetchall()

    @contextmanager
    def _changed(self) -> Iterator[sqlite3.Connection]:
        """All of it, or nothing."""
        with _asked(self.path), self._base:
            self._base.execute("BEGIN")
            yield self._base


def _record(
    base: sqlite3.Connection,
    identity: str,
    state: str,
    seconds: float | None,
    error: str | None = None,
    traceback: str | None = None,
) -> None:
    base.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?)", (identity, state, seconds, error, traceback))


@contextmanager
def _asked(path: Path, probe: Callable[[], object] | None = None) -> Iterator[None]:
    """What SQLite says of its file, as an error that names it. It does not tell why: `probe` does about the same."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in _DAMAGED:
            hint = f"put {path} aside: it is made again from the results, nothing is lost"
            raise DamagedError(f"the ledger cannot be read: {error}", where=str(path), hint=hint) from None
        if code in _BUSY:
            hint = "another process is using it: wait for it, or stop it"
            raise InputError(f"the ledger is locked: {error}", where=str(path), hint=hint) from None
        with told("the ledger cannot be used", path):
            (probe or partial(_write_something, path.parent))()
        number = _NUMBERS.get(code, 0)
        said = os.strerror(number) if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) else error
        raise DiskError(
            f"the ledger cannot be used: {said}", where=str(path), hint=remedy(number), number=number
        ) from error


def _write_something(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(1 << 16))
        file.flush()
        os.fsync(file.fileno())


def _check(base: sqlite3.Connection) -> None:
    """Every page, and what has to be readable in them."""
    found = base.execute("PRAGMA quick_check(1)").fetchone()[0]
    try:
        for (text,) in base.execute("SELECT run FROM plan UNION ALL SELECT value FROM study"):
            json.loads(text)
    except (ValueError, TypeError):
        found = "what is in it has changed"
    if found != "ok":
        raise sqlite3.DatabaseError(found.splitlines()[-1])


def _copy(path: Path) -> sqlite3.Connection:
    """In memory. Nothing is written where it lies."""
    if not path.is_file():
        hint = "schedlab experiment run makes it again"
        raise DamagedError("the ledger is not there", where=str(path), hint=hint)
    memory = sqlite3.connect(":memory:", isolation_level=None)
    try:
        with _asked(path, path.read_bytes):
            _copy_into(memory, path)
            memory.executescript(_TABLES)
            _check(memory)
    except BaseException:
        memory.close()
        raise
    return memory


def _copy_into(memory: sqlite3.Connection, path: Path) -> None:
    uri, journal = f"{path.absolute().as_uri()}?mode=ro", path.with_name(f"{path.name}-wal")
    if not _holds_something(journal):  # nobody is writing, nothing is kept back
        _backed_up(f"{uri}&immutable=1", memory)
        if not _holds_something(journal):  # nor has anybody begun meanwhile
            return
    try:
        _backed_up(uri, memory)
    except sqlite3.OperationalError:  # one may not write beside it
        with tempfile.TemporaryDirectory() as place:
            for file in (path, journal):
                shutil.copyfile(file, Path(place, file.name))
            _backed_up(Path(place, path.name).as_uri(), memory)


def _holds_something(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _backed_up(uri: str, memory: sqlite3.Connection) -> None:
    with closing(sqlite3.connect(uri, uri=True, timeout=30)) as base:
        base.backup(memory)


def _numbers(folder: Path) -> dict[int, Path]:
    """The backups that are ours, by their numbers."""
    there = (folder / BACKUPS).iterdir() if (folder / BACKUPS).is_dir() else ()
    return {int(match[1]): path for path in there if (match := _BACKUP.fullmatch(path.name))}


def _backups(folder: Path) -> Iterator[tuple[Path, sqlite3.Connection]]:
    """Those that are whole and have a plan, the newest first."""
    for _, path in sorted(_numbers(folder).items(), reverse=True):
        try:
            copy = _copy(path)
        except InputError:
            continue
        if copy.execute("SELECT 1 FROM plan LIMIT 1").fetchone():
            yield path, copy
        else:
            copy.close()


def read_plan(path: Path) -> tuple[list[PlannedRun], dict[str, Any]]:
    """The runs of a plan's file, and what it says of the study."""
    with told("cannot be read", path):
        text = path.read_text()
    try:
        content = json.loads(text)
        return [PlannedRun.from_dict(run) for run in content["runs"]], dict(content["study"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"is not the plan of a study: {error!r:.80}", where=str(path)) from None


def whole_results(folder: Path, damaged: Callable[[str, DamagedError], None]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of all finished runs; `damaged` is told of those that say nothing."""
    for identity in finished(folder):
        try:
            yield identity, read_result(folder, identity)
        except DamagedError as error:
            damaged(identity, error)


def seconds_of(folder: Path, damaged: Callable[[str, DamagedError], None]) -> dict[str, float]:
    """How long each finished run took."""
    return {identity: result["seconds"]["all"] for identity, result in whole_results(folder, damaged)}


def forget(folder: Path, tell: Tell) -> Callable[[str, DamagedError], None]:
    """The run of a damaged result is made again."""

    def forgotten(identity: str, error: DamagedError) -> None:
        result_file(folder, identity).unlink(missing_ok=True)
        tell(f"{error.where}: {error.message}: the run is made again")

    return forgotten
