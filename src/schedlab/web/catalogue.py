"""What a browser finds in the folder that is served, and among its own files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from schedlab.engine.folder import holds_run
from schedlab.experiment.folder import is_study
from schedlab.web.space import SPACES, Space

DEEPEST = 5  # folders within folders that are looked into
MOST = 2000  # entries that are listed: somebody may serve a home folder
LOOKED_AT = 20_000  # entries that are looked at for it


@dataclass(frozen=True, slots=True)
class Entry:
    name: str  # inside the served folder
    kind: str  # run, study or file
    own: bool
    size: int  # bytes, of a file
    modified: float  # seconds since 1970


def entries(space: Space) -> list[Entry]:
    """Its own first, then everybody's, each by name; runs and studies as one entry."""
    own = [_entry(space, path, kind) for path, kind in _found(space, space.own)]
    left = LOOKED_AT
    shared = []
    for path, kind in _found(space, space.folder, left):
        shared.append(_entry(space, path, kind))
        if len(own) + len(shared) >= MOST:
            break
    return [*sorted(own, key=lambda entry: entry.name), *sorted(shared, key=lambda entry: entry.name)]


def documents(space: Space) -> list[dict[str, Any]]:
    return [asdict(entry) for entry in entries(space)]


def kind_of(path: Path) -> str:
    """`run`, `study`, `folder` or `file`."""
    if not path.is_dir():
        return "file"
    if holds_run(path):
        return "run"
    return "study" if is_study(path) else "folder"


def _found(space: Space, top: Path, left: int = LOOKED_AT) -> Iterator[tuple[Path, str]]:
    """Nothing behind a link: what it leads to may be anywhere. Folders near the top come first."""
    level = [top]
    for _ in range(DEEPEST):
        below: list[Path] = []
        for folder in level:
            for path in _children(folder):
                left -= 1
                if left < 0:
                    return
                if path.parent == space.folder and path.name == SPACES:
                    continue
                kind = kind_of(path)
                if kind == "folder":
                    below.append(path)
                else:
                    yield path, kind
        level = below


def _children(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as found:
            names = [entry.name for entry in found if not entry.name.startswith(".") and not entry.is_symlink()]
    except OSError:  # not ours to read, or gone
        return []
    return [folder / name for name in sorted(names)]


def _entry(space: Space, path: Path, kind: str) -> Entry:
    try:
        status = path.stat()
    except OSError:  # gone meanwhile
        return Entry(space.name(path), kind, path.is_relative_to(space.own), 0, 0.0)
    size = status.st_size if kind == "file" else 0
    return Entry(space.name(path), kind, path.is_relative_to(space.own), size, status.st_mtime)
