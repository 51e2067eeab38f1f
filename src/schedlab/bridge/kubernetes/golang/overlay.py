"""The files that `go build -overlay` puts in place of some of Go's own, made from the Go that is installed."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.resources import files
from pathlib import Path

from schedlab.bridge.kubernetes.golang.edits import ADDED, EDITS, GO, Edit
from schedlab.model.errors import InputError

_RELEASE = re.compile(r"go(\d+\.\d+)")


def fingerprint() -> str:
    """Changes whenever the clock that is built in changes."""
    digest = hashlib.sha256(repr(EDITS).encode())
    for name in sorted(ADDED):
        digest.update(_ours(name).encode())
    return digest.hexdigest()[:12]


def write_overlay(goroot: Path, version: str, folder: Path) -> Path:
    """Write the changed files into `folder`, and return the file that `go build -overlay` wants."""
    check_release(version)
    folder.mkdir(parents=True, exist_ok=True)
    replaced: dict[str, str] = {}
    for file in dict.fromkeys(edit.file for edit in EDITS):
        source = goroot / "src" / file
        try:
            text = source.read_text(encoding="utf-8")
        except OSError as error:
            hint = f"install Go {GO} with its sources, for example from https://go.dev/dl"
            raise InputError(f"cannot be read: {error.strerror}", where=str(source), hint=hint) from error
        for edit in EDITS:
            if edit.file == file:
                text = _edited(text, edit, str(source), version)
        replaced[str(source)] = _put(folder, file, text)
    for name, place in ADDED.items():
        replaced[str(goroot / "src" / place)] = _put(folder, place, _ours(name))
    overlay = folder / "overlay.json"
    overlay.write_text(json.dumps({"Replace": replaced}, indent=1), encoding="utf-8")
    return overlay


def check_release(version: str) -> None:
    """The edits know one release of Go; what another one does with time is not known."""
    found = _RELEASE.match(version)
    if found is None or found[1] != GO:
        hint = f"install Go {GO} (https://go.dev/dl) and put its bin folder first in PATH"
        raise InputError(f"the simulated clock is made for Go {GO}, and this is {version}", hint=hint)


def _edited(text: str, edit: Edit, where: str, version: str) -> str:
    begin, end = _function(text, edit.function) if edit.function else (0, len(text))
    count = text.count(edit.old, begin, end) if begin >= 0 else 0
    if count != 1:
        place = f"func {edit.function}" if edit.function else "the file"
        hint = f"install the Go {GO} of https://go.dev/dl, unchanged"
        raise InputError(
            f"is not the source that the simulated clock is made for (Go {GO}; this is {version}): "
            f"{edit.old.splitlines()[0].strip()!r} is {count} times in {place}, not once",
            where=where,
            hint=hint,
        )
    return text[:begin] + text[begin:end].replace(edit.old, edit.new) + text[end:]


def _function(text: str, name: str) -> tuple[int, int]:
    """From its head to the brace that closes it, which stands alone at the beginning of a line."""
    begin = text.find(f"\nfunc {name}(")
    end = text.find("\n}\n", begin)
    return (begin, end + 3) if begin >= 0 and end >= 0 else (-1, -1)


def _ours(name: str) -> str:
    return files("schedlab.bridge.kubernetes.golang").joinpath(name).read_text(encoding="utf-8")


def _put(folder: Path, place: str, text: str) -> str:
    path = folder / place.replace("/", "_")
    path.write_text(text, encoding="utf-8")
    return str(path)
