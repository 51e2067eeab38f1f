"""A slurm.conf as a list of entries in the order of the file, and what stands beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from schedlab.cluster.slurm.hosts import host_names
from schedlab.cluster.slurm.lines import Value

KINDS = ("nodename", "partitionname", "nodeset", "downnodes", "frontendname")


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of the whole cluster (`kind` is ""), or a line about nodes, a partition… whose first value names it."""

    kind: str
    values: tuple[Value, ...]

    @property
    def subject(self) -> Value:
        return self.values[0]

    @property
    def is_default(self) -> bool:
        """Whether the line gives values to those that follow it."""
        return bool(self.kind) and self.subject.text.upper() == "DEFAULT"

    @property
    def fields(self) -> dict[str, Value]:
        """What the line says, by the key in lower case; without its subject if it is about a thing."""
        return {value.key.casefold(): value for value in (self.values[1:] if self.kind else self.values)}

    def with_field(self, value: Value) -> Entry:
        """The line with another value in its place, or at the end."""
        key = value.key.casefold()
        if key not in self.fields:
            return replace(self, values=(*self.values, value))
        first = self.values[:1] if self.kind else ()
        rest = (value if old.key.casefold() == key else old for old in self.values[len(first) :])
        return replace(self, values=(*first, *rest))

    def without(self, *keys: str) -> Entry:
        first = self.values[:1] if self.kind else ()
        rest = (value for value in self.values[len(first) :] if value.key.casefold() not in keys)
        return replace(self, values=(*first, *rest))


@dataclass(frozen=True, slots=True)
class Settings:
    """What a site says in slurm.conf, gres.conf and topology.conf; files that it includes are part of it."""

    path: Path
    entries: tuple[Entry, ...]
    gres: tuple[Entry, ...] = ()
    topology: tuple[Entry, ...] = ()
    has_topology: bool = False

    def general(self, key: str) -> Value | None:
        """The value of a key of the whole cluster; the last one counts."""
        name = key.casefold()
        found = [entry.subject for entry in self.entries if not entry.kind and entry.subject.key.casefold() == name]
        return found[-1] if found else None

    def text(self, key: str, default: str = "") -> str:
        value = self.general(key)
        return default if value is None else value.text

    def edited(self, edits: Sequence[str]) -> Settings:
        """The settings after the changes that texts such as `SchedulerParameters+=bf_window=4320` ask for."""
        from schedlab.slurm.settings.edit import apply_edits

        return apply_edits(self, edits)


def with_defaults(entries: Sequence[Entry], kind: str) -> Iterator[tuple[int, Entry, Mapping[str, Value]]]:
    """The lines of a kind with their positions, and their fields with what DEFAULT lines above gave them."""
    defaults: dict[str, Value] = {}
    for position, entry in enumerate(entries):
        if entry.kind == kind and entry.is_default:
            defaults |= entry.fields
        elif entry.kind == kind:
            yield position, entry, defaults | entry.fields


def names_of(value: Value) -> list[str]:
    """The names that the subject of a line stands for."""
    return host_names(value.text)


def place(value: Value) -> str:
    """Where a value comes from, for messages."""
    return f"{value.file}, line {value.line}" if value.line else value.file


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
