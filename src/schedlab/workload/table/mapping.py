"""A mapping: which column of a table is what of a job, and in which unit (docs/formats/tables.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from schedlab.model.errors import InputError, InputErrors
from schedlab.model.mistakes import printable
from schedlab.model.suggest import did_you_mean
from schedlab.model.units import BYTE_UNITS

if TYPE_CHECKING:
    from schedlab.model.toml_lines import TomlLines

SECONDS = {"s": 1.0, "ms": 0.001, "us": 1e-6, "min": 60.0, "h": 3600.0, "d": 86400.0}
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "-1")

TIMES = ("submit", "start", "end", "cancel")
DURATIONS = ("runtime", "limit", "wait", "think")
AMOUNTS = ("nodes", "cores", "cores_per_node", "gpus", "memory")
NAMES = ("user", "group", "queue", "partition", "executable", "request_partition")
TARGETS = ("id", *TIMES, *DURATIONS, *AMOUNTS, *NAMES, "features", "exclusive", "status", "after")

STATUS = {"completed": 1, "failed": 0, "cancelled": 5}  # the codes of SWF

_MEMORY = {unit.casefold(): factor for unit, factor in BYTE_UNITS.items()}


@dataclass(frozen=True, slots=True)
class Column:
    """Where a value comes from: a column of the table, or `value`, the same for all rows."""

    column: str = ""
    value: str | float | None = None
    unit: str = ""
    format: str = ""  # of dates that are not written as ISO 8601 says
    pattern: str = ""  # a regular expression; its first group is the value
    times: str = ""  # another column, to multiply with
    per: str = "job"  # what an amount is counted for
    words: tuple[tuple[str, int], ...] = ()  # of a status

    @property
    def titles(self) -> list[str]:
        return [title for title in (self.column, self.times) if title]

    @property
    def shown(self) -> str:
        """For error messages."""
        return f'column "{printable(self.column)}"' if self.column else "value"


@dataclass(frozen=True, slots=True)
class Mapping:
    """All that is needed to read a table. `resources` are those besides cores, gpus and memory."""

    columns: dict[str, Column]
    resources: dict[str, Column] = field(default_factory=dict)
    separator: str = "auto"
    header: bool = True
    missing: tuple[str, ...] = MISSING
    optional: bool = False  # columns that the table does not have are left out
    own: bool = False  # a table that schedlab wrote: chunks as they are, nothing to clean or fill in
    file: str = ""
    lines: TomlLines | None = field(default=None, compare=False)

    @property
    def titles(self) -> list[str]:
        """The columns of the table that are needed."""
        return list(dict.fromkeys(title for _, column in self.all() for title in column.titles))

    def all(self) -> Iterator[tuple[tuple[str, str], Column]]:
        """With the path of each in the mapping file."""
        yield from ((("columns", name), column) for name, column in self.columns.items())
        yield from ((("resources", name), column) for name, column in self.resources.items())

    def fitted(self, titles: Sequence[str], table: str) -> Mapping:
        """For a table with these titles; an error lists all that it lacks."""
        lacking = [(path, title) for path, column in self.all() for title in column.titles if title not in titles]
        if lacking and self.optional:
            left = {path for path, _ in lacking}
            return replace(
                self,
                columns={name: column for name, column in self.columns.items() if ("columns", name) not in left},
                resources={name: column for name, column in self.resources.items() if ("resources", name) not in left},
                optional=False,
            )
        errors = [self._mistake(path, f'{table} has no column "{title}"', titles, title) for path, title in lacking]
        doubled = [(path, title) for path, column in self.all() for title in column.titles if titles.count(title) > 1]
        errors += [self._mistake(path, f'{table} has several columns "{title}"', titles) for path, title in doubled]
        if errors:
            raise InputErrors(errors)
        return self

    def _mistake(self, path: tuple[str, str], message: str, titles: Sequence[str], title: str = "") -> InputError:
        where = f"{self.file}:{self.lines.line(path)}" if self.lines else self.file
        listing = f"columns: {printable(', '.join(titles))}"
        hint = did_you_mean(title, map(printable, titles), listing) if title else listing
        return InputError(printable(message), where=where, hint=hint)


def factor(name: str, column: Column) -> float:
    """What to multiply the numbers of a column with."""
    if name in TIMES or name in DURATIONS:
        return SECONDS[column.unit or "s"]
    if name == "memory":
        return _MEMORY[column.unit.casefold() or "b"]
    return 0.001 if column.unit == "milli" else 1.0
