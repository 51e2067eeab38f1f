"""Checkpoints of the runs of a study: one that dies goes on where it was when the study is started again."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from schedlab.engine.checkpoint import Checkpoint, Saved
from schedlab.engine.decider import Policy
from schedlab.experiment.folder import checkpoint_folder
from schedlab.model.errors import DiskError, InputError
from schedlab.model.hooks import says
from schedlab.policy.spec import parse_policy

_TEXTS = ("policy", "named observers")


class StudyCheckpoint(Checkpoint):
    """It stays until the run's result is written. Where none can be made or taken up, the run does without."""

    def __init__(self, folder: Path, identity: str, every: float) -> None:
        super().__init__(checkpoint_folder(folder, identity), every)
        self.taken_up = False
        self.note = ""  # what is lost, and why

    def load(self, identity: dict[str, Any]) -> Saved | None:
        try:
            # Texts have names of files in them; what lies in these is in the identity that names the folder.
            saved = super().load({name: one for name, one in identity.items() if name not in _TEXTS})
        except DiskError:  # what cannot be read now may be whole
            raise
        except Exception as error:  # damaged; or whatever comes of unpickling what somebody wrote
            self.note = f"a checkpoint could not be taken up, its run began anew: {error}".partition("\n")[0]
            shutil.rmtree(self.folder, ignore_errors=True)
            self._parts = 0
            return None
        self.taken_up = saved is not None
        return saved

    def begin(self, identity: dict[str, Any]) -> None:
        """The study knows how its runs begin."""

    def refuse(self, policy: str, why: str = "") -> None:
        self.note = _refused(policy, why)
        self.every = math.inf

    def save(self, identity: dict[str, Any], passes: int, journal: bytes, snapshot: bytes, objects: Any) -> None:
        try:
            super().save(identity, passes, journal, snapshot, objects)
        except DiskError:
            raise
        except InputError as error:
            self.refuse(identity["policy"][0], f" ({error.message})")

    def completed(self) -> None:
        """Not yet: its metrics and its result are still to be written."""


def beginning_anew(policies: Iterable[str], names: Mapping[str, str]) -> list[str]:
    """A sentence for each policy of whose runs no checkpoints can be made, by the name that the study gives it."""
    found = [(policy, parse_policy(policy)) for policy in policies]
    refusing = [
        names.get(policy, one.text)
        for policy, one in found
        if one.plugin and not says(one.plugin.target, "resumable", Policy)
    ]
    return list(dict.fromkeys(map(_refused, refusing)))


def _refused(policy: str, why: str = "") -> str:
    name = Path(policy.partition("(")[0]).name  # its arguments may be many
    return f"no checkpoints can be made of {name}{why}: a run of it that is interrupted begins anew"
