"""The tables of a TOML file by the keys that they may have: what is read of each, and what is said to be expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from schedlab.model.toml_lines import Path, TomlMistakes, shown

Report = Callable[[Path, str, str], None]  # where in the table, what is wrong, and a hint


@dataclass(frozen=True)
class Field:
    """`read` gives the value of what stands in the file; a ValueError of it is a hint."""

    read: Callable[[Any], Any]
    expected: str
    required: bool = False

    def value(self, place: Path, given: Any, wrong: Report) -> Any:
        try:
            return self.read(given)
        except ValueError as error:
            return self.refuse(place, given, wrong, str(error))

    def refuse(self, place: Path, given: Any, wrong: Report, hint: str = "") -> None:
        wrong(place, f"{_written(place)} = {shown(given)}: expected {self.expected}", hint)


class ListOf(Field):
    """A list of such values; of at least one if it is required."""

    def value(self, place: Path, given: Any, wrong: Report) -> Any:
        if not isinstance(given, list) or (self.required and not given):
            return self.refuse(place, given, wrong)
        return [super(ListOf, self).value((*place, number), one, wrong) for number, one in enumerate(given)]


@dataclass(frozen=True)
class TableOf(Field):
    """A table of such values, whose keys `check_key` refuses with a ValueError."""

    check_key: Callable[[str], Any] = str

    def value(self, place: Path, given: Any, wrong: Report) -> Any:
        if not isinstance(given, dict):
            return self.refuse(place, given, wrong)
        for key in given:
            try:
                self.check_key(key)
            except ValueError as error:
                wrong((*place, key), f"{shown(key)} cannot be a key of {_written(place)}", str(error))
        return {key: super(TableOf, self).value((*place, key), one, wrong) for key, one in given.items()}


def read_fields(
    table: Mapping[str, Any], fields: Mapping[str, Field], path: Path, noun: str, mistakes: TomlMistakes
) -> dict[str, Any] | None:
    """The values of the keys that are there; None if something is wrong with them."""
    good = True

    def wrong(place: Path, message: str, hint: str) -> None:
        nonlocal good
        good = False
        mistakes.add((*path, *place), message, hint)

    good &= mistakes.check_keys(path, table, fields, f"a {noun} has {', '.join(fields)}")
    for key, field in fields.items():
        if field.required and key not in table:
            mistakes.add(path, f"this {noun} has no '{key}'", f"add {key} = …: {field.expected}")
            good = False
    found = {key: field.value((key,), table[key], wrong) for key, field in fields.items() if key in table}
    return found if good else None


def _written(place: Path) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)[1:]


def text(pattern: str = "", longest: int = 10**6) -> Callable[[Any], str]:
    def read(given: Any) -> str:
        if not isinstance(given, str) or len(given) > longest or (pattern and not re.fullmatch(pattern, given)):
            raise ValueError
        return given

    return read


def whole(least: int, most: int) -> Callable[[Any], int]:
    def read(given: Any) -> int:
        if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= most:
            raise ValueError
        return given

    return read


def number(given: Any) -> float:
    """Of 0 or more."""
    if not isinstance(given, int | float) or isinstance(given, bool) or not 0 <= given < float("inf"):
        raise ValueError
    return float(given)


def flag(given: Any) -> bool:
    if not isinstance(given, bool):
        raise ValueError
    return given
