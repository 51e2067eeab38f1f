"""What one browser may see, and where its own files go.

Everybody reads what lies in the folder that is served; what somebody uploads, runs or studies goes into a folder of
that browser's own inside it, `spaces/ID`, which nobody else sees. Names are paths relative to the served folder, as
they stand in commands: `demo.swf`, `spaces/4f1c09ab77d2/mine.swf`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from pathlib import Path, PurePosixPath

from schedlab.model.confined import Bounds, confined
from schedlab.model.errors import InputError
from schedlab.web.settings import Settings

SPACES = "spaces"
MOST_SPACES = 10_000  # cookies can be made up
LONGEST_NAME, MOST_BYTES = 120, 200  # of a file's name: file systems take 255 bytes, and temporary names are longer


class NotThereError(InputError):
    """There is no such thing here, or it is not this browser's: which of the two is not told."""


@dataclass(frozen=True, slots=True)
class Space:
    """Of one browser."""

    folder: Path  # what is served, resolved
    id: str

    @property
    def own(self) -> Path:
        """Made (`make`) when the first file goes there."""
        return self.folder / SPACES / self.id

    def make(self) -> Path:
        """Nobody else of this machine may look into it, nor see who else is here."""
        if not self.own.is_dir():
            self.own.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with confined(None):
                many = sum(1 for _ in self.own.parent.iterdir())
            if many >= MOST_SPACES:
                hint = "whoever starts the server can delete old ones"
                raise InputError(f"there are {many:,} already, as many as may be", where=SPACES, hint=hint)
            self.own.mkdir(exist_ok=True, mode=0o700)
        return self.own

    def path(self, name: str) -> Path:
        """Of something that this browser may read: a file or a folder that is there."""
        path = self._inside(name)
        if not path.exists():
            raise _not_there(name)
        return path

    def own_path(self, name: str) -> Path:
        """Of something that is its own, and that it may therefore change or delete."""
        path = self.path(name)
        if not path.is_relative_to(self.own) or path == self.own:
            hint = "files of the folder that is served can be read by everybody, and changed by nobody"
            raise InputError("is not yours to change", where=name, hint=hint)
        return path

    def new(self, name: str) -> Path:
        """Where a new file or folder of this browser goes; `name` is a plain name, without folders."""
        check_name(name)
        return self.make() / name

    def free(self, stem: str, suffix: str = "") -> Path:
        """As `new`, under a name that is not taken yet: stem, stem-2, stem-3, …"""
        return next(path for path in self._names(stem, suffix) if not path.exists())

    def new_folder(self, stem: str) -> Path:
        """As `free`, and made: nobody who asks at the same time gets the same one."""
        for path in self._names(stem, ""):
            with suppress(FileExistsError):
                path.mkdir()
                return path
        raise AssertionError  # there is always a next name

    def unseen(self, name: str) -> Path:
        """As `new`, where the browser can neither read nor replace it."""
        check_name(name)
        folder = self.make() / ".unseen"
        folder.mkdir(exist_ok=True, mode=0o700)
        return folder / name

    def _names(self, stem: str, suffix: str) -> Iterator[Path]:
        yield self.new(f"{stem}{suffix}")
        for number in count(2):
            yield self.new(f"{stem}-{number}{suffix}")

    def name(self, path: Path) -> str:
        """As the pages and commands call it."""
        return path.relative_to(self.folder).as_posix()

    def sees(self, path: Path) -> bool:
        """Whether this browser may know of it; hidden files, and the spaces of others, are nobody's business."""
        parts = path.relative_to(self.folder).parts
        if any(part.startswith(".") for part in parts):
            return False
        return not parts or parts[0] != SPACES or parts[1:2] == (self.id,)

    def bounds(self, settings: Settings, *, free: bool = False) -> Bounds:
        """What may be touched for this browser, wherever a text of its leads."""
        return Bounds(
            folder=str(self.folder),
            hidden=str(self.folder / SPACES),
            own=str(self.own),
            code=tuple(str(path) for path in settings.python),
            programs=settings.programs,
            free=free,
            memory=0 if free else settings.memory,
        )

    def _inside(self, name: str) -> Path:
        pure = PurePosixPath(name)
        if not name or "\0" in name or "\\" in name or pure.is_absolute() or ".." in pure.parts:
            hint = "name a file by its path inside the folder that is served"
            raise InputError("is not a path inside the folder that is served", where=shown(name), hint=hint)
        try:
            path = (self.folder / pure).resolve()
            path.exists()
        except (OSError, RuntimeError):  # a name that is too long, links in a circle
            raise _not_there(name) from None
        if not path.is_relative_to(self.folder):
            hint = "a link that leads out of the folder is not followed"
            raise InputError("lies outside the folder that is served", where=name, hint=hint)
        if not self.sees(path) or not self.sees(self.folder / pure):
            raise _not_there(name)
        return path


def _not_there(name: str) -> NotThereError:
    return NotThereError("there is no such file or folder here", where=shown(name))


def check_name(name: str) -> None:
    """A plain name of a file: nothing that a shell, an option or a path could make something else of."""
    problem = ""
    if not name or len(name) > LONGEST_NAME or len(name.encode(errors="replace")) > MOST_BYTES:
        problem = f"is not between 1 and {LONGEST_NAME} characters long, or longer than {MOST_BYTES} bytes"
    elif name.startswith((".", "-")):
        problem = f"begins with '{name[0]}'"
    elif bad := [c for c in name if not (c.isalnum() or c in "._-+=@, ()")]:
        problem = f"has {', '.join(sorted({repr(c) for c in bad}))} in it"
    elif name != name.strip():
        problem = "begins or ends with a blank"
    if problem:
        hint = "use letters, digits and . _ - + = @ , ( )"
        raise InputError(f"cannot be the name of a file: it {problem}", where=shown(name), hint=hint)


def shown(name: str) -> str:
    """A name that may be anything, for a message."""
    text = name if name.isprintable() else repr(name)
    return text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}…"


def new_secret() -> str:
    """What a browser is told to show next time."""
    return secrets.token_urlsafe(24)


def space_of(folder: Path, secret: str) -> Space:
    """The name of its folder does not give the secret away: it stands in commands, which people copy."""
    return Space(folder, sha256(secret.encode()).hexdigest()[:12])
