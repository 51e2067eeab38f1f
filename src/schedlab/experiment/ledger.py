"""The ledger of a study: which runs it has, what became of them. SQLite with one writer, the coordinator.

It can be lost: results are files of their own, and the ledger is made again from them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedlab.experiment.folder import finished, result_file
from schedlab.experiment.plan import PlannedRun
from schedlab.files.whole_file import whole_file
from schedlab.model.errors import InputError

MOST_BACKUPS = 5
LEDGER, BACKUPS, PLAN = "ledger.sqlite", "backups", "plan.json"
_TABLES = """
CREATE TABLE IF NOT EXISTS plan (position INTEGER PRIMARY KEY, identity TEXT UNIQUE, run TEXT);
CREATE TABLE IF NOT EXISTS runs (identity TEXT PRIMARY KEY, state TEXT, seconds REAL, error TEXT, traceback TEXT);
CREATE TABLE IF NOT EXISTS study (key TEXT PRIMARY KEY, value TEXT);
"""


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
    """Open it, use it, close it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / LEDGER
        try:
            self._base = sqlite3.connect(self.path, isolation_level=None, timeout=30)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.executescript(_TABLES)
        except sqlite3.DatabaseError as error:
            hint = f"put {self.path} aside: it is made again from the results, nothing is lost"
            raise InputError(f"the ledger cannot be read: {error}", where=str(self.path), hint=hint) from None

    def close(self) -> None:
        self._base.close()

    def back_up(self) -> None:
        """A copy beside it; the last few are kept."""
        copies = self.folder / BACKUPS
        copies.mkdir(exist_ok=True)
        numbers = [int(path.stem.rpartition("-")[2]) for path in copies.glob("ledger-*.sqlite")]
        target = copies / f"ledger-{max(numbers, default=0) + 1:06d}.sqlite"
        with closing(sqlite3.connect(target)) as copy:
            self._base.backup(copy)
        for old in sorted(copies.glob("ledger-*.sqlite"))[:-MOST_BACKUPS]:
            old.unlink()

    def set_plan(self, runs: Sequence[PlannedRun], study: dict[str, Any]) -> None:
        """What is to be done from now on; results of earlier plans stay known."""
        rows = [(n, run.identity, json.dumps(run.to_dict())) for n, run in enumerate(runs)]
        with self._base:
            self._base.execute("BEGIN")
            self._base.execute("DELETE FROM plan")
            self._base.executemany("INSERT INTO plan VALUES (?, ?, ?)", rows)
            self._base.execute("INSERT OR REPLACE INTO study VALUES ('study', ?)", [json.dumps(study)])

    def write_plan(self) -> None:
        """The plan as a file beside the ledger, from which an archive of the study gets it."""
        content = {"study": self.study(), "runs": [run.to_dict() for run in self.planned()]}
        with whole_file(self.folder / PLAN) as file:
            file.write((json.dumps(content, ensure_ascii=False) + "\n").encode())

    def study(self) -> dict[str, Any]:
        found = self._base.execute("SELECT value FROM study WHERE key = 'study'").fetchone()
        return json.loads(found[0]) if found else {}

    def planned(self) -> list[PlannedRun]:
        rows = self._base.execute("SELECT run FROM plan ORDER BY position").fetchall()
        return [PlannedRun.from_dict(json.loads(row[0])) for row in rows]

    def reconcile(self) -> None:
        """Believe the results on disk: what has one is done, what has none is not."""
        there = set(finished(self.folder))
        known = dict(self._base.execute("SELECT identity, state FROM runs").fetchall())
        found = [identity for identity in there if known.get(identity) != "done"]
        lost = [identity for identity, state in known.items() if state == "done" and identity not in there]
        with self._base:
            self._base.execute("BEGIN")
            for identity in found:
                self._record(identity, "done", result_seconds(result_file(self.folder, identity)))
            self._base.executemany("DELETE FROM runs WHERE identity = ?", [(identity,) for identity in lost])

    def todo(self) -> list[PlannedRun]:
        done = {row[0] for row in self._base.execute("SELECT identity FROM runs WHERE state = 'done'")}
        return [run for run in self.planned() if run.identity not in done]

    def done(self, run: PlannedRun, seconds: float) -> None:
        with self._base:
            self._record(run.identity, "done", seconds)

    def failed(self, run: PlannedRun, error: str, traceback: str) -> None:
        with self._base:
            self._record(run.identity, "failed", None, error, traceback)

    def status(self) -> Status:
        rows = self._base.execute(
            "SELECT plan.run, runs.state, runs.seconds, runs.error, runs.traceback "
            "FROM plan LEFT JOIN runs ON runs.identity = plan.identity ORDER BY plan.position"
        ).fetchall()
        failures = tuple(
            (PlannedRun.from_dict(json.loads(run)), error or "", traceback or "")
            for run, state, _, error, traceback in rows
            if state == "failed"
        )
        done = [seconds or 0.0 for _, state, seconds, *_ in rows if state == "done"]
        return Status(len(rows), len(done), len(failures), sum(done), failures)

    def _record(
        self, identity: str, state: str, seconds: float | None, error: str | None = None, traceback: str | None = None
    ) -> None:
        row = (identity, state, seconds, error, traceback)
        self._base.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?)", row)


def read_plan(path: Path) -> tuple[list[PlannedRun], dict[str, Any]]:
    """The runs of a plan's file, and what it says of the study."""
    try:
        content = json.loads(path.read_text())
        return [PlannedRun.from_dict(run) for run in content["runs"]], dict(content["study"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"is not the plan of a study: {error!r:.80}", where=str(path)) from None


def result_seconds(path: Path) -> float:
    try:
        return float(json.loads(path.read_text())["seconds"]["all"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0
