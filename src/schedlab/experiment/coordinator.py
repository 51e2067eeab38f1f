"""Runs what a study has not run yet: gives out work, notes what comes back, goes on after every kind of loss."""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from schedlab.experiment.checkpoint import beginning_anew
from schedlab.experiment.folder import CHECKPOINTS, check_study_folder, checkpoint_folder, finished, locked
from schedlab.experiment.ledger import Ledger, Status, forget, seconds_of
from schedlab.experiment.meter import DECIDING
from schedlab.experiment.mirror import Mirror, Tell, check_mirror
from schedlab.experiment.plan import Part, PlannedRun, plan
from schedlab.experiment.pool import LocalWorkers, Outcome, Workers
from schedlab.experiment.study import Study
from schedlab.files.whole_file import whole_file
from schedlab.model.disk import disk_error
from schedlab.model.errors import DiskError, InputError, SchedlabError
from schedlab.model.stopping import TerminatedError
from schedlab.model.version import VERSION

ATTEMPTS = 4  # of a run whose worker dies before it has come further
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
    part: Part | None = None,
    mirror: Path | None = None,
    checkpoint_every: float | None = None,
    fail_fast: bool = False,
    watch: Watcher | None = None,
    tell: Tell = lambda _: None,
    stopping: Callable[[int], None] | None = None,
) -> Status:
    """Execute all runs of the study, or of a part of it, that have no result in `folder` yet; failed ones again.

    `mirror` gets a copy of each result. A checkpoint of each run is made every so many seconds. `watch` is told how
    many are planned, done and failed whenever that has changed, `tell` what a user should know. Ctrl-C lets what is
    running finish (`stopping` is told how many runs that is); a second one, or SIGTERM, gives it up.
    """
    tell = _once(tell)
    if checkpoint_every is not None:
        _check_checkpoints(study, tell)
    check_study_folder(folder)
    runs, facts = plan(study), described(study, part)
    if mirror is not None:
        check_mirror(folder, mirror, runs)
        check_study_folder(mirror)
    own = runs if part is None else part.of_plan(runs)
    with opened(folder, tell) as ledger, _stopped_by_disks(folder):
        with whole_file(folder / "study.toml") as file:
            file.write(study.text.encode())
        ledger.set_plan(runs, facts)
        ledger.write_plan()
        ledger.reconcile(seconds_of(folder, forget(folder, tell)))
        _clear(folder)
        copies = None if mirror is None else Mirror(folder, mirror, study.text, runs, facts, tell)
        if copies is not None:
            copies.begin()
        abort = True
        try:
            team = workers(folder, asked(study) | {"checkpoint_every": checkpoint_every})
            try:
                _Work(own, ledger, team, fail_fast, watch, tell, stopping, copies).finish()
                abort = False
            finally:
                team.close(abort=abort)
        finally:
            if copies is not None:
                copies.close(abort=abort)
        return ledger.status()


def _once(tell: Tell) -> Tell:
    """What holds for many runs is told once."""
    said: set[str] = set()

    def tell_new(text: str) -> None:
        if text not in said:
            said.add(text)
            tell(text)

    return tell_new


def _check_checkpoints(study: Study, tell: Tell) -> None:
    if DECIDING in study.metrics:
        hint = "a run that is taken up does not make its decisions again: leave out one of the two"
        raise InputError(f"does not go with the metric {DECIDING}", where="--checkpoint-every", hint=hint)
    policies = dict.fromkeys(str(point.get("policy", "")) for point in study.points())
    for sentence in beginning_anew(policies, study.names.get("policy", {})):
        tell(sentence)


def asked(study: Study) -> dict[str, Any]:
    """What the study wants of every run."""
    wanted = {"keep": study.keep, "phase": study.phase, "trim": study.trim, "metrics": list(study.metrics)}
    return wanted | ({"names": study.names} if study.names else {})


def described(study: Study, part: Part | None = None) -> dict[str, Any]:
    """What a report has to know of the study."""
    return asked(study) | {
        "name": study.name,
        "schedlab": VERSION,
        "part": None if part is None else str(part),
        "repetitions": study.repetitions,
        "seed": study.seed,
        "baseline": study.baseline,
        "varied": list(study.varied),
    }


@contextmanager
def opened(folder: Path, tell: Tell = lambda _: None) -> Iterator[Ledger]:
    """The ledger of a study for its one writer; a copy of it is made first."""
    with locked(folder), closing(Ledger.checked(folder, tell)) as ledger:
        for path in (*folder.glob(".*.partial-*"), *(folder / "results").glob(".*")):  # of one that was killed
            path.unlink(missing_ok=True)
        ledger.back_up()
        yield ledger


@contextmanager
def _stopped_by_disks(folder: Path) -> Iterator[None]:
    try:
        yield
    except DiskError as error:
        raise _stopped(str(error)) from error
    except OSError as error:
        raise _stopped(str(disk_error("cannot be written or read", error.filename or folder, error))) from error


class _Work:
    """The runs that are left, and those that wait for another attempt."""

    def __init__(
        self,
        runs: Sequence[PlannedRun],
        ledger: Ledger,
        team: Workers,
        fail_fast: bool,
        watch: Watcher | None,
        tell: Tell,
        stopping: Callable[[int], None] | None,
        copies: Mirror | None,
    ) -> None:
        self._ledger, self._team, self._fail_fast, self._watch = ledger, team, fail_fast, watch
        self._tell_stopping, self._tell_user, self._copies = stopping, tell, copies
        left = {run.identity for run in ledger.todo()}
        self._waiting = deque(run for run in runs if run.identity in left)
        self._planned, self._failed = len(runs), 0
        self._done = self._planned - len(self._waiting)
        self._attempts: dict[str, tuple[int, int]] = {}
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
        if outcome.note:
            self._tell_user(outcome.note)
        if not outcome.error:
            self._ledger.done(run, outcome.seconds)
            self._done += 1
            if self._copies is not None:
                self._copies.copy(run.identity)
            return
        if outcome.disk or outcome.memory:
            raise _stopped(outcome.error)
        tried = self._tried(run)
        if outcome.lost and tried < ATTEMPTS:
            if not self._stopping:
                self._later.append((time.monotonic() + FIRST_PAUSE * 2 ** (tried - 1), run))
            return
        self._ledger.failed(run, outcome.error, outcome.traceback)
        self._failed += 1
        if self._fail_fast:
            raise StoppedError(f"{run.point}, repetition {run.repetition + 1}: {outcome.error}")

    def _tried(self, run: PlannedRun) -> int:
        """How often, this time included, and since its last checkpoint: one that gets on is tried again and again."""
        tried, before = self._attempts.get(run.identity, (0, 0))
        saved = checkpoint_folder(self._ledger.folder, run.identity) / "checkpoint.json"
        mark = saved.stat().st_mtime_ns if saved.is_file() else 0
        tried = tried + 1 if mark == before else 1
        self._attempts[run.identity] = tried, mark
        return tried


def _stopped(said: str) -> StoppedError:
    """By a disk, or by too little memory; what is said ends with a hint."""
    return StoppedError(f"the study has stopped: {said}; then the same command goes on: nothing done is lost")


def _clear(folder: Path) -> None:
    """Half a run, of a worker that died: nobody is writing now, since the lock is ours."""
    there = set(finished(folder))
    for path in (folder / "runs").iterdir():
        if path.is_dir() and path.name not in there:
            shutil.rmtree(path, ignore_errors=True)
    for path in (folder / CHECKPOINTS).glob("*"):
        if path.name in there:
            shutil.rmtree(path, ignore_errors=True)
