"""Logs in formats that somebody else reads: a function of a path that gives a Workload."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from schedlab.model.arguments import check_arguments
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload

if TYPE_CHECKING:
    from schedlab.model.plugins import Plugin

Plugged: TypeAlias = "str | Plugin | Callable[[Path], Workload]"

OURS = (".swf", ".csv", ".tsv", ".parquet")  # and these compressed: no package is asked about them
_COMPRESSED = (".gz", ".zst")


def plugged_reader(path: Path) -> Plugin | None:
    """The registered reader that declares the ending of this name (`extensions = (".xyz",)`), if there is one."""
    name = path.name.casefold()
    plain = name
    for ending in _COMPRESSED:
        plain = plain.removesuffix(ending)
    if plain.endswith(OURS):
        return None
    from schedlab.model.plugins import load, registered

    found = []
    for entry in registered("reader"):
        reader = load("reader", entry.name)
        if name.endswith(tuple(ending.casefold() for ending in getattr(reader.target, "extensions", ()))):
            found.append(reader)
    if len(found) > 1:
        options = " or ".join(f"--reader {reader}" for reader in found)
        raise InputError("several readers know the ending of this name", where=str(path), hint=f"say which: {options}")
    return found[0] if found else None


def read_with(reader: Plugged, log: Path) -> Workload:
    """What the reader makes of the file; with the file's hash, if the reader has not noted one."""
    from schedlab.model.plugins import Plugin, load

    plugin = load("reader", reader) if isinstance(reader, str) else reader
    if not log.exists():
        raise InputError("no such file", where=str(log), hint="check the path")
    if isinstance(plugin, Plugin):
        with plugin.blamed():
            workload = plugin.make()(log)
    else:
        check_arguments("str | Callable | None", reader=plugin)
        workload = plugin(log)
    if not isinstance(workload, Workload):
        found = type(workload).__name__
        hint = "end with: return sl.Workload.of(submit=…, runtime=…, count=…)"
        raise InputError(f"the reader gave a {found}, expected a Workload", where=f"reader '{plugin}'", hint=hint)
    if not workload.content_hash and log.is_file():
        with log.open("rb") as file:
            workload.content_hash = hashlib.file_digest(file, "sha256").hexdigest()
    return workload
