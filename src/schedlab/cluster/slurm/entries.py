"""A slurm.conf as a list of entries in the order of the file, with gres.conf and topology.conf beside it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from schedlab.cluster.slurm.keys import FIELDS
from schedlab.cluster.slurm.lines import Line, Value, read_lines
from schedlab.model.mistakes import Mistakes

_KINDS = [kind for kind in FIELDS if kind]


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of the whole cluster (`kind` is ""), or a line about nodes, a partition… whose first value names it."""

    kind: str
    values: Line

    @property
    def subject(self) -> Value:
        return self.values[0]

    @property
    def file(self) -> str:
        """The name of its file, without the folder."""
        return Path(self.subject.file).name

    @property
    def is_default(self) -> bool:
        """Whether the line gives values to those that follow it."""
        return bool(self.kind) and self.subject.text.upper() == "DEFAULT"

    @property
    def fields(self) -> dict[str, Value]:
        """What the line says, by the key in lower case; without its subject if it is about a thing."""
        return {value.name: value for value in (self.values[1:] if self.kind else self.values)}

    def with_field(self, value: Value) -> Entry:
        """The line with another value in its place, or at the end."""
        if value.name not in self.fields:
            return replace(self, values=(*self.values, value))
        first = self.values[:1] if self.kind else ()
        rest = (value if old.name == value.name else old for old in self.values[len(first) :])
        return replace(self, values=(*first, *rest))

    def without(self, *keys: str) -> Entry:
        first = self.values[:1] if self.kind else ()
        return replace(self, values=(*first, *(v for v in self.values[len(first) :] if v.name not in keys)))


@dataclass(frozen=True, slots=True)
class Settings:
    """What a site says in slurm.conf, gres.conf and topology.conf; files that it includes are part of it."""

    path: Path
    entries: tuple[Entry, ...]
    gres: tuple[Entry, ...] = ()
    topology: tuple[Entry, ...] = ()
    has_topology: bool = False
    files: tuple[Path, ...] = ()  # all that were read, in that order

    def general(self, key: str) -> Value | None:
        """The value of a key of the whole cluster; the last one counts."""
        name = key.casefold()
        return next((e.subject for e in reversed(self.entries) if not e.kind and e.subject.name == name), None)

    def text(self, key: str, default: str = "") -> str:
        value = self.general(key)
        return default if value is None else value.text

    def of(self, kind: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.kind == kind]


def with_defaults(entries: Sequence[Entry], kind: str) -> Iterator[tuple[int, Entry, Mapping[str, Value]]]:
    """The lines of a kind with their positions, and their fields with what DEFAULT lines above gave them."""
    defaults: dict[str, Value] = {}
    for position, entry in enumerate(entries):
        if entry.kind == kind and entry.is_default:
            defaults |= entry.fields
        elif entry.kind == kind:
            yield position, entry, defaults | entry.fields


def items(text: str) -> list[str]:
    """The items of a comma list; commas in brackets are part of an item."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth <= 0:
            found.append("")
        else:
            found[-1] += letter
    return [item.strip() for item in found if item.strip()]


def beside(path: Path, kind: str) -> Path | None:
    """`gres.conf` beside `slurm.conf`, `a-gres.conf` beside `a-slurm.conf`; nothing belongs to other names."""
    name = re.sub("slurm", kind, path.name, flags=re.IGNORECASE)
    return path.with_name(name) if name != path.name else None


def read_entries(path: Path, mistakes: Mistakes) -> Settings:
    """The entries of a slurm.conf, and of `gres.conf` and `topology.conf` if they are there beside it."""
    gres, topology = beside(path, "gres"), beside(path, "topology")
    has_topology = topology is not None and topology.is_file()
    files: list[Path] = []
    entries = _entries(path, _KINDS, files, mistakes)
    for entry in entries:
        if not entry.kind and entry.subject.name in _KINDS:
            entry.subject.wrong(mistakes, f"expected {entry.subject.key} at the beginning of a line")
    return Settings(
        path=path,
        entries=entries,
        gres=_entries(gres, ("nodename", "name"), files, mistakes) if gres and gres.is_file() else (),
        topology=_entries(topology, ("switchname",), files, mistakes) if topology and has_topology else (),
        has_topology=has_topology,
        files=tuple(files),
    )


def _entries(path: Path, kinds: Collection[str], files: list[Path], mistakes: Mistakes) -> tuple[Entry, ...]:
    found: list[Entry] = []
    for line in read_lines(path, files, mistakes):
        found += [Entry(line[0].name, line)] if line[0].name in kinds else [Entry("", (value,)) for value in line]
    return tuple(found)
