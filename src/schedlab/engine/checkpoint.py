"""Taking up a run that was interrupted: kill -9, a reboot, a full disk.

A checkpoint is a folder: what was decided so far (the journal), the state of the policy and the observers, and, written
last, checkpoint.json. Resuming does what was decided once more, without asking the policy, and goes on from there. The
results are made anew, so they are those of a run that was never interrupted, byte for byte.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedlab.model.disk import disk_fails, told
from schedlab.model.errors import DiskError, InputError
from schedlab.model.version import VERSION

FORMAT = 4
SUFFIX = ".checkpoint"


def checkpoint_beside(folder: Path) -> Path:
    """Where the checkpoint of a run is that is written to this folder."""
    whole = folder if folder.name else folder.resolve()  # the folder where one is
    return whole.parent / (whole.name + SUFFIX)


@dataclass(frozen=True, slots=True)
class Saved:
    """What a checkpoint holds."""

    passes: int
    journal: bytes
    snapshot: bytes
    objects: Any  # policy, observers, the view's data


class Checkpoint:
    """Written to `folder` every so many seconds. If there is one already, of the same run, that is taken up.

    `recipe` is kept beside it: how to begin the run again.
    """

    def __init__(self, folder: str | Path, every: float = 600.0, recipe: Any = None) -> None:
        self.folder, self.every, self._recipe = Path(folder), every, recipe
        self._parts = 0
        self._last = time.monotonic()

    def load(self, identity: dict[str, Any]) -> Saved | None:
        """What is there of this very run; None if nothing is."""
        description = self.describe()
        if description is None:
            return None
        different = [key for key, value in identity.items() if description["identity"].get(key) != value]
        if different:
            hint = "resume it as it was begun, or delete the folder"
            raise InputError(
                f"belongs to another run: {', '.join(different)} differ", where=str(self.folder), hint=hint
            )
        if description["passes"] < 0:  # it was only begun
            return None
        self._parts = int(description["parts"])
        journal = b"".join(self._read(f"journal-{part:06d}") for part in range(1, self._parts + 1))
        state = self._read(f"state-{self._parts:06d}")
        if hashlib.sha256(journal + state).hexdigest() != description["sha256"]:
            raise InputError("is damaged: its files are not those it was written with", where=str(self.folder))
        snapshot, objects = pickle.loads(state)
        self._journal_hash = hashlib.sha256(journal)
        return Saved(int(description["passes"]), journal, snapshot, objects)

    def describe(self) -> dict[str, Any] | None:
        """The content of checkpoint.json, if there is a checkpoint."""
        file = self.folder / "checkpoint.json"
        if not file.is_file():
            return None
        try:
            with told("cannot be read", file):
                description = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            hint = f"it is damaged: remove {self.folder}, and begin the run anew"
            raise InputError(f"cannot be read: {error}", where=str(file), hint=hint) from None
        if description.get("format") != FORMAT or description.get("schedlab") != VERSION:
            hint = f"resume it with schedlab {description.get('schedlab')}, or delete the folder"
            raise InputError("was written by another version of schedlab", where=str(self.folder), hint=hint)
        return dict(description)

    def begin(self, identity: dict[str, Any]) -> None:
        """Leave word how the run was begun, before there is anything to save."""
        self.save(identity, -1, b"", b"", None)
        self._parts = 0

    def refuse(self, policy: str) -> None:
        """Whoever decides cannot be taken up again: an error, since it was asked for."""
        hint = "leave the checkpoints out"
        raise InputError(f"a run with {policy} cannot be taken up again from a checkpoint", hint=hint)

    def due(self) -> bool:
        return time.monotonic() - self._last >= self.every

    def save(self, identity: dict[str, Any], passes: int, journal: bytes, snapshot: bytes, objects: Any) -> None:
        """Add what was decided since the last one. Until the very last step, the last one stays valid."""
        try:
            state = pickle.dumps((snapshot, objects))
        except Exception as error:  # pickle raises all kinds
            hint = "keep views, jobs and open files out of a policy's attributes, or define __getstate__"
            raise InputError(f"the policy or an observer cannot be saved: {error}", hint=hint) from error
        if self._parts == 0:
            self._journal_hash = hashlib.sha256()
        self._journal_hash.update(journal)
        whole = self._journal_hash.copy()
        whole.update(state)
        part = self._parts + 1
        description = {
            "schedlab": VERSION,
            "format": FORMAT,
            "identity": identity,
            "passes": passes,
            "parts": part,
            "sha256": whole.hexdigest(),
            "place": str(self.folder.absolute()),
            "recipe": self._recipe,
        }
        with told("the checkpoint cannot be written", self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._write(f"journal-{part:06d}", journal)
            self._write(f"state-{part:06d}", state)
            self._write("checkpoint.json", json.dumps(description, indent=2).encode())
            (self.folder / f"state-{self._parts:06d}").unlink(missing_ok=True)
        self._parts = part
        self._last = time.monotonic()

    def completed(self) -> None:
        """The run is: its folder is written."""
        self.remove()

    def remove(self) -> None:
        """Nothing of it is needed any more."""
        if not self.folder.is_dir():
            return
        for name in ("checkpoint.json", *(path.name for path in self.folder.iterdir())):
            if name.startswith(("checkpoint.json", "journal-", "state-")):
                (self.folder / name).unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _read(self, name: str) -> bytes:
        try:
            with told("cannot be read", self.folder / name):
                return (self.folder / name).read_bytes()
        except DiskError as error:
            if disk_fails(error):
                raise
            raise InputError(f"is damaged: {name} is not there", where=str(self.folder)) from None

    def _write(self, name: str, content: bytes) -> None:
        """To the disk for good, and only then under its name."""
        partial = self.folder / f"{name}.partial"
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self.folder / name)
