"""A copy of a study on another disk, made while the study goes on: each finished run as soon as it is finished.

The copy is the folder of a study as well: it can be reported, imported, and gone on with.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from schedlab.experiment.folder import PLAN, BusyError, copy_run, finished, locked, read_result, result_file
from schedlab.experiment.ledger import Ledger, forget, read_plan, seconds_of
from schedlab.experiment.plan import PlannedRun
from schedlab.files.whole_file import whole_file
from schedlab.model.errors import InputError

PATIENCE = 1.0  # seconds for the copy under way, where the study is given up

Tell = Callable[[str], None]


def check_mirror(folder: Path, mirror: Path, runs: Sequence[PlannedRun]) -> None:
    """Refuse a place that is lost with the study, which has these runs, and one that is another study's."""
    own, other = folder.resolve(), mirror.resolve()
    hint = "choose a folder on another disk"
    if own == other:
        raise InputError("is the folder of the study itself", where="--mirror", hint=hint)
    if own in other.parents or other in own.parents:
        raise InputError(f"{mirror} and {folder}: one is inside the other", where="--mirror", hint=hint)
    if mirror.exists() and not mirror.is_dir():
        raise InputError(f"{mirror} is a file", where="--mirror", hint="name a folder")
    there, name = _runs_in(mirror)
    if there and there.isdisjoint({run.identity for run in runs} | _runs_in(folder)[0]):
        message = f"{mirror} is the folder of another study{f', {name}' if name else ''}: they have no run in common"
        raise InputError(message, where="--mirror", hint="choose another folder, or remove that one")


def _runs_in(folder: Path) -> tuple[set[str], str]:
    """The runs that a folder has, or shall have, and the name of the study."""
    done = set(finished(folder))
    try:
        planned, study = read_plan(folder / PLAN)
    except InputError:  # there is none
        return done, ""
    return done | {run.identity for run in planned}, str(study.get("name", ""))


class Mirror:
    """Made by the one who has the study's folder. A mirror that fails costs a warning, not the study."""

    def __init__(
        self, folder: Path, target: Path, text: str, runs: Sequence[PlannedRun], study: dict[str, Any], tell: Tell
    ) -> None:
        self.target = target
        self._folder, self._text, self._study, self._tell = folder, text, study, tell
        self._plan = {run.identity: run for run in runs}
        self._held = ExitStack()
        self._reached = False
        self._missing: list[str] = []
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._noted: set[str] = set()  # that are in its ledger
        self._failure = ""

    def begin(self) -> None:
        """Copy what is finished already and not there."""
        try:
            self._reach()
            if self.target.stat().st_dev == self._folder.stat().st_dev:
                self._tell(f"--mirror: {self.target} is on the same disk as {self._folder}: both would be lost with it")
        except BusyError:
            raise
        except (OSError, InputError) as error:
            self._note(error)
        self._thread.start()
        for identity in finished(self._folder):
            self.copy(identity)

    def copy(self, identity: str) -> None:
        self._queue.put(identity)

    def close(self, *, abort: bool = False) -> None:
        """Wait for what is left to copy, unless the study is given up; say what is not there."""
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join(PATIENCE if abort else None)
        left = len(self._missing) + max(self._queue.qsize() - 1, 0)
        if left:
            noun = "result is" if left == 1 else "results are"
            self._tell(f"{left:,} {noun} not in the mirror {self.target}; the same command copies what is missing")
        self._held.close()

    def _work(self) -> None:
        while (identity := self._queue.get()) is not None:
            self._missing.append(identity)
            self._copy_missing()
        self._copy_missing()

    def _copy_missing(self) -> None:
        """Until one fails, which is tried again last, when another run is finished."""
        try:
            self._reach()
            while self._missing:
                self._missing.append(self._missing.pop(0))
                self._copy(self._missing[-1])
                self._missing.pop()
        except (OSError, InputError) as error:
            self._note(error)

    def _reach(self) -> None:
        """The folder and the plan in it; again and again, since a disk may come back."""
        if self._reached:
            return
        with ExitStack() as held:
            held.enter_context(locked(self.target))
            with whole_file(self.target / "study.toml") as file:
                file.write(self._text.encode())
            with closing(Ledger.checked(self.target, self._tell)) as ledger:
                ledger.set_plan(list(self._plan.values()), self._study)
                ledger.write_plan()
                there = seconds_of(self.target, forget(self.target, self._tell))
                ledger.reconcile(there)
            self._noted = set(there)
            self._held = held.pop_all()
        self._reached = True

    def _copy(self, identity: str) -> None:
        content = result_file(self._folder, identity).read_bytes()
        there = result_file(self.target, identity)
        if not (there.is_file() and there.read_bytes() == content):
            copy_run(identity, self._folder, self.target)
        if identity in self._plan and identity not in self._noted:
            with closing(Ledger(self.target)) as ledger:
                ledger.done(self._plan[identity], read_result(self.target, identity)["seconds"]["all"])
            self._noted.add(identity)

    def _note(self, error: Exception) -> None:
        """Once for each kind of failure in a row."""
        cause = error.__cause__ if isinstance(error.__cause__, OSError) else error
        said = (cause.strerror if isinstance(cause, OSError) else None) or str(error).partition("\n")[0]
        if said != self._failure:
            self._failure = said
            self._tell(f"--mirror {self.target}: {said}; the study goes on without")
