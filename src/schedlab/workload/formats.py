"""The formats of workloads: how to tell them, who reads them, who writes them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.model.workload import Workload
from schedlab.workload.bytestream import first_text
from schedlab.workload.options import ReadOptions
from schedlab.workload.plugged import Reader, plugged_reader, read_with


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file. Functions are named `module.function`, and loaded when they are needed."""

    name: str
    what: str
    reads: str  # a function of path and options
    writes: str = ""  # a function of path and workload
    recognises: str = ""  # a function of the file's first text and its plain name
    endings: tuple[str, ...] = ()  # of the names of files to write

    def reader(self) -> Callable[[Path, ReadOptions], Workload]:
        read: Callable[[Path, ReadOptions], Workload] = _function(self.reads)
        return read

    def writer(self) -> Callable[[Path, Workload], list[str]]:
        write: Callable[[Path, Workload], list[str]] = _function(self.writes)
        return write

    def fits(self, start: str, name: str) -> bool:
        return bool(self.recognises and _function(self.recognises)(start, name))


def _function(name: str) -> Any:
    module, _, function = name.partition(".")
    return getattr(import_module(f"schedlab.workload.{module}"), function)


SWF = Format("swf", "Standard Workload Format", "swf.read_swf", "write_swf.write_swf", endings=(".swf",))
# In the order in which a file is looked at; SWF is what remains.
FORMATS = (SWF,)


def reader_for(path: Path, reader: Reader | None = None) -> Callable[[Path, ReadOptions], Workload]:
    """Who reads this file: as said, or as an installed package registers for its name, or as its beginning tells."""
    if isinstance(reader, str) and reader in _names():
        return _named(reader).reader()
    if reader is None:
        reader = plugged_reader(path)
    if reader is not None:
        return lambda log, _options: read_with(reader, log)
    return format_of(path).reader()


def format_of(path: Path) -> Format:
    """What kind of file this is, by its name and its first lines."""
    start, name = first_text(path), plain_name(path)
    return next((known for known in FORMATS if known.fits(start, name)), SWF)


def write_workload(path: str | os.PathLike[str], workload: Workload, format: str | None = None) -> list[str]:
    """Write jobs in the format that is named, or that the file's name ends in. What the format cannot hold is said."""
    target = Path(path)
    return format_to_write(target, format).writer()(target, workload)


def format_to_write(path: Path, name: str | None = None) -> Format:
    if name is not None:
        return _named(name)
    plain = plain_name(path)
    found = [known for known in FORMATS if known.writes and plain.endswith(known.endings)]
    if not found:
        endings = ", ".join(ending for known in FORMATS for ending in known.endings)
        raise InputError("which format is that?", where=str(path), hint=f"let the name end in one of {endings}")
    return max(found, key=lambda known: max(len(ending) for ending in known.endings if plain.endswith(ending)))


def plain_name(path: Path) -> str:
    """The name of a file in lower case, without the ending that says how it is compressed."""
    return path.name.casefold().removesuffix(".gz").removesuffix(".zst")


def _names() -> list[str]:
    return [known.name for known in FORMATS]


def _named(name: str) -> Format:
    for known in FORMATS:
        if known.name == name:
            return known
    raise InputError(f"there is no format '{name}'", hint=did_you_mean(name, _names(), ", ".join(_names())))
