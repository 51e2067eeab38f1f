"""What a table of a run is declared by. Writers, readers, schemas and docs/runs.md follow from the declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

# In files, and in the column of types of docs/runs.md. The last five are made of what the core gives: words of codes,
# a text of its number in the batch's `texts`, the name of a node of its number, a set of nodes (`n[1-3]*2`) of the
# batch's `allocated`, `node` and `chunks`, and devices (`gpus=0,3`) of `devices_end`, `device_resource` and `device`.
Kind = Literal["int32", "int64", "float", "double", "bool", "string", "words", "text", "node", "nodes", "devices"]

# Of values in Parquet files: as they are; times are smooth ("split"), counters grow ("delta"), or few values come again
# and again ("dictionary"). The right one makes files smaller and writing faster.
Encoding = Literal["plain", "split", "delta", "dictionary"]

# A value of the core (a code, if the column has words), or what makes the values of those of other columns.
Before: TypeAlias = "float | Callable[[Callable[[str], NDArray[Any]]], NDArray[Any]] | None"

_SHOWN = {"words": "dictionary of string", "text": "string", "node": "string", "nodes": "string", "devices": "string"}


@dataclass(frozen=True)
class Column:
    """An optional one that no batch has any more is still read from older runs, and so are words that are no more said:
    they stay in `words`."""

    name: str  # with {}: one column for each resource, cores first
    kind: Kind
    meaning: str  # in English, for docs/runs.md
    nullable: bool = False  # null where the core's value is unknown: -1, NaN, the first of the words, no nodes
    encoding: Encoding = "plain"
    source: str = ""  # in the core's batch, if it is called otherwise there
    words: tuple[str, ...] = ()  # of kind "words": what the codes mean
    optional: bool = False  # only in runs whose batches have it
    before: Before = None  # what it was in runs of older formats, which do not have it; None: unknown

    @property
    def key(self) -> str:
        """In the core's batch."""
        return self.source or self.name

    @property
    def of_resources(self) -> bool:
        return "{}" in self.name


@dataclass(frozen=True)
class Table:
    name: str
    meaning: str  # of a row
    columns: tuple[Column, ...]
    always: bool = False  # in every run; the others only where there is something to tell
    further: bool = False  # may have further columns, nullable doubles
    repeatable: bool = True  # the same run has the same bytes
    _found: dict[str, Column] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def file(self) -> str:
        return f"{self.name}.parquet"

    def columns_of(self, batch: Iterable[str], resources: Iterable[str]) -> Iterator[Column]:
        """The columns of a run: those that its batches have, of a cluster with these resources."""
        there = set(batch)
        for by_resource, some in groupby(self.columns, lambda column: column.of_resources):
            found = [column for column in some if not column.optional or column.key in there]
            if by_resource:
                yield from (replace(one, name=one.name.format(each)) for each in resources for one in found)
            else:
                yield from found
        if self.further:
            declared = {column.key for column in self.columns}
            yield from (Column(name, "double", "", nullable=True) for name in batch if name not in declared)

    def column(self, name: str) -> Column:
        """By its name in files, also one of a resource, and a further one."""
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]

    def _find(self, name: str) -> Column:
        for column in sorted(self.columns, key=lambda column: (column.of_resources, -len(column.name))):
            before, _, after = column.name.partition("{}")
            if column.name == name or (column.of_resources and name.startswith(before) and name.endswith(after)):
                return replace(column, name=name)
        if self.further:
            return Column(name, "double", "", nullable=True)
        raise KeyError(name)

    def markdown(self) -> str:
        """The table of its columns in docs/runs.md; neighbours that mean the same share a row."""
        rows = ["| column | type | meaning |", "|---|---|---|"]
        for (kind, meaning), same in groupby(self.columns, lambda column: (column.kind, column.meaning)):
            names = [name for column in same for name in _examples(column)]
            rows.append(f"| {', '.join(names)} | {_SHOWN.get(kind, kind)} | {meaning} |")
        return "\n".join(rows) + "\n"


def _examples(column: Column) -> list[str]:
    if not column.of_resources:
        return [f"`{column.name}`"]
    return [*(f"`{column.name.format(resource)}`" for resource in ("cores", "memory")), "…"]
