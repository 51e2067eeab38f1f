"""Runs what a study has not run yet: gives out work, notes what comes back, goes on after every kind of loss."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from schedlab.experiment.ledger import Ledger, Status
from schedlab.experiment.plan import PlannedRun, plan
from schedlab.experiment.pool import LocalWorkers, Outcome, Workers
from schedlab.experiment.study import Study
from schedlab.model.errors import InputError, SchedlabError
from schedlab.model.stopping import TerminatedError

ATTEMPTS = 4  # of a run whose worker dies
FIRST_PAUSE = 0.5  # seconds before it is tried again; doubled each time
POLL = 0.5

Watcher = Callable[[int, int, int], None]  # runs planned, done, failed


class StoppedError(SchedlabError):
    """A study that ended before its time: says why, and that nothing done is lost."""


def run_study(
    study: Study,
    folder: Path,
    *,
    workers: Callable[[Path, dict[str, Any]], Workers] = LocalWorkers,
    fail_fast: bool = False,
    watch: Watcher | None = None,
    stopping: Callable[[int], None] | None = None,
) -> Status:
    """Execute all runs of the study that have no result in `folder` yet. Failed ones are tried again.

    `watch` is told how many are planned, done and failed whenever that has changed. Ctrl-C lets what is running
    finish (`stopping` is told how many runs that is); a second one, or SIGTERM, gives it up.
    """
    with opened(folder) as ledger:
        (folder / "study.toml").write_text(study.text)
        ledger.set_plan(plan(study), described(study))
        ledger.write_plan()
        ledger.reconcile()
        _clear(folder)
        team = workers(folder, asked(study))
        abort = True
        try:
            _Work(ledger, team, fail_fast, watch, stopping).finish()
            abort = False
        finally:
            team.close(abort=abort)
        return ledger.status()


def asked(study: Study) -> dict[str, Any]:
    """What the study wants of every run."""
    wanted = {"keep": study.keep, "phase": study.phase, "trim": study.trim, "metrics": list(study.metrics)}
    return wanted | ({"names": study.names} if study.names else {})


def described(study: Study) -> dict[str, Any]:
    """What a report has to know of the study."""
    return asked(study) | {
        "name": study.name,
        "repetitions": study.repetitions,
        "seed": study.seed,
        "baseline": study.baseline,
        "varied": list(study.varied),
    }


@contextmanager
def opened(folder: Path) -> Iterator[Ledger]:
    """The ledger of a study for its one writer; a copy of it is made first."""
    for inside in (folder, folder / "runs", folder / "results"):
        inside.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            who = lock.read().strip() or "another process"
            hint = "wait for it, or stop it"
            raise InputError(f"is being worked on by process {who}", where=str(folder), hint=hint) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        ledger = Ledger(folder)
        try:
            ledger.back_up()
            yield ledger
        finally:
            ledger.close()


class _Work:
    """The runs that are left, and those that wait for another attempt."""

    def __init__(
        self,
        ledger: Ledger,
        team: Workers,
        fail_fast: bool,
        watch: Watcher | None,
        stopping: Callable[[int], None] | None,
    ) -> None:
        self._ledger, self._team, self._fail_fast, self._watch = ledger, team, fail_fast, watch
        self._tell_stopping = stopping
        self._waiting = deque(ledger.todo())
        self._planned, self._failed = len(ledger.planned()), 0
        self._done = self._planned - len(self._waiting)
        self._attempts: dict[str, int] = {}
        self._later: list[tuple[float, PlannedRun]] = []  # when to try again
        self._stopping = False

    def finish(self) -> None:
        self._tell()
        while self._waiting or self._later or self._team.busy:
            try:
                self._step()
            except KeyboardInterrupt as request:
                if self._stopping or isinstance(request, TerminatedError):
                    raise
                self._stopping = True
                if self._tell_stopping is not None:
                    self._tell_stopping(self._team.busy)
                self._waiting.clear()
                self._later.clear()
        if self._stopping:
            raise KeyboardInterrupt

    def _step(self) -> None:
        now = time.monotonic()
        self._waiting.extend(run for when, run in self._later if when <= now)
        self._later = [(when, run) for when, run in self._later if when > now]
        self._team.take(self._waiting)
        for outcome in self._team.outcomes(POLL):
            self._note(outcome)
            self._tell()

    def _tell(self) -> None:
        if self._watch is not None:
            self._watch(self._planned, self._done, self._failed)

    def _note(self, outcome: Outcome) -> None:
        run = outcome.run
        if not outcome.error:
            self._ledger.done(run, outcome.seconds)
            self._done += 1
            return
        if outcome.full:
            hint = "free some space; the same command goes on where it stopped"
            raise StoppedError(f"the disk is full: {outcome.error}\n  hint: {hint}")
        tried = self._attempts[run.identity] = self._attempts.get(run.identity, 0) + 1
        if outcome.lost and tried < ATTEMPTS:
            if not self._stopping:
                self._later.append((time.monotonic() + FIRST_PAUSE * 2 ** (tried - 1), run))
            return
        self._ledger.failed(run, outcome.error, outcome.traceback)
        self._failed += 1
        if self._fail_fast:
            raise StoppedError(f"{run.point}, repetition {run.repetition + 1}: {outcome.error}")


def _clear(folder: Path) -> None:
    """Half a run, of a worker that died: nobody is writing now, since the lock is ours."""
    for path in (folder / "runs").iterdir():
        finished = (folder / "results" / f"{path.name}.json").exists()
        if path.is_dir() and not finished:
            shutil.rmtree(path, ignore_errors=True)
    for path in (folder / "results").glob(".*"):
        path.unlink(missing_ok=True)
