"""A mapping written as TOML: all mistakes of the file at once, each with its line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.model.toml_lines import TomlMistakes, load_toml, shown
from schedlab.model.units import BYTE_UNITS
from schedlab.workload.table.mapping import (
    AMOUNTS,
    DURATIONS,
    MISSING,
    SECONDS,
    STATUS,
    TARGETS,
    TIMES,
    Column,
    Mapping,
)

_EVERY = ("column", "value", "pattern")
_MILLI = ("1", "milli")


def read_mapping(path: Path) -> Mapping:
    """The mapping in a TOML file."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InputError("this is not UTF-8 text", where=f"{path}:{line}", hint="save the file as UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot be read: {reason}", where=str(path), hint="name the TOML file of the mapping"
        ) from None
    return parse_mapping(text, str(path))


def parse_mapping(text: str, file: str = "mapping") -> Mapping:
    """The mapping that the TOML `text` gives; all its mistakes are reported at once."""
    data, mistakes = load_toml(text, file, hint='a line is key = "their column"')
    mapping = _Parser(mistakes).mapping(data)
    mistakes.raise_all()
    return mapping


class _Parser:
    def __init__(self, mistakes: TomlMistakes) -> None:
        self.mistakes = mistakes

    def mapping(self, data: dict[str, Any]) -> Mapping:
        known = ("table", "columns", "resources")
        self.mistakes.check_keys((), data, known, "a mapping has [table], [columns], [resources]")
        table, columns, others = (self._table(data, key) for key in known)
        listing = "[table] has separator, header and missing"
        self.mistakes.check_keys(("table",), table, ("separator", "header", "missing"), listing)
        found = {name: self._column(("columns", name), value) for name, value in columns.items() if self._known(name)}
        resources = {name: self._column(("resources", name), value) for name, value in others.items()}
        self._enough({*columns}, bool(others))
        return Mapping(
            columns={name: column for name, column in found.items() if column},
            resources={name: column for name, column in resources.items() if column},
            separator=self._separator(table.get("separator", "auto")),
            header=self._flag(table.get("header", True)),
            missing=self._texts(("table", "missing"), table.get("missing", list(MISSING))),
            file=self.mistakes.file,
            lines=self.mistakes.lines,
        )

    def _table(self, data: dict[str, Any], key: str) -> dict[str, Any]:
        value = data.get(key, {})
        if isinstance(value, dict):
            return value
        self.mistakes.add((key,), f"{key} = {shown(value)}: expected a table", f"write [{key}] and its keys below")
        return {}

    def _known(self, name: str) -> bool:
        if name in TARGETS:
            return True
        hint = did_you_mean(name, TARGETS, f"a job has {', '.join(TARGETS)}")
        if name in ("missing", "separator", "header"):
            hint = f"write {name} below [table]"
        self.mistakes.add(("columns", name), f"a job has no '{name}'", hint)
        return False

    def _enough(self, given: set[str], other_resources: bool) -> None:
        """A job has a submit time, a run time and a size."""
        if "submit" not in given:
            self.mistakes.add(("columns",), "nothing says when jobs are submitted", 'add submit = "their column"')
        if "runtime" not in given and not ("end" in given and given & {"start", "wait"}):
            hint = 'add runtime = "their column", or start and end'
            self.mistakes.add(("columns",), "nothing says how long jobs run", hint)
        if not given & {"cores", "nodes"} and not other_resources:
            hint = 'add cores = "their column", or nodes; cores = { value = 1 } for jobs of one core'
            self.mistakes.add(("columns",), "nothing says how large jobs are", hint)

    def _column(self, path: tuple[str, str], value: Any) -> Column | None:
        if isinstance(value, str) and value:
            return Column(value)
        if not isinstance(value, dict):
            hint = f'{path[1]} = "their column", or {{ column = "…", unit = "…" }}'
            self.mistakes.add(path, f"{path[1]} = {shown(value)}: expected the title of a column", hint)
            return None
        allowed = _allowed(*path)
        self.mistakes.check_keys(path, value, allowed, f"'{path[1]}' can have {', '.join(allowed)}")
        if ("column" in value) == ("value" in value):
            self.mistakes.add(path, f"{path[1]} needs either column or value", f'{path[1]} = {{ column = "…" }}')
        words = tuple(
            (word, code)
            for key, code in STATUS.items()
            if key in value and key in allowed
            for word in self._texts((*path, key), value[key])
        )
        given = {key: value[key] for key in value.keys() & allowed.keys() if key not in STATUS}
        for key, one in given.items():
            self._check((*path, key), key, one, allowed[key])
        if isinstance(given.get("unit"), str):
            given["unit"] = given["unit"].casefold()
        if words and "value" in value:
            self.mistakes.add(path, "a value needs no lists of words")
        return Column(**given, words=words)

    def _check(self, path: tuple[str, ...], key: str, value: Any, choice: tuple[str, ...]) -> None:
        if key == "value" and isinstance(value, str | int | float) and not isinstance(value, bool):
            return
        if not isinstance(value, str) or not value:
            self.mistakes.add(path, f"{key} = {shown(value)}: expected a text in quotes")
        elif choice and value.casefold() not in [one.casefold() for one in choice]:
            self.mistakes.add(path, f'{key} = "{value}": not known here', f"one of {', '.join(choice)}")
        elif key == "pattern":
            try:
                groups = re.compile(value).groups
            except (re.error, OverflowError, RecursionError) as error:
                self.mistakes.add(path, f"pattern = {shown(value)}: not a regular expression: {error}")
            else:
                if groups != 1:
                    hint = r"write what the value is in brackets: pattern = 'gpu:(\d+)'"
                    self.mistakes.add(path, f"pattern has {groups} groups, expected one", hint)

    def _separator(self, value: Any) -> str:
        if value == "auto" or (isinstance(value, str) and len(value) == 1 and value.isascii() and value not in '"\r\n'):
            return str(value)
        message = f'separator = {shown(value)}: expected one character, or "auto"'
        self.mistakes.add(("table", "separator"), message, r'"," ";" "\t" or "|"')
        return "auto"

    def _flag(self, value: Any) -> bool:
        if not isinstance(value, bool):
            self.mistakes.add(("table", "header"), f"header = {shown(value)}: expected true or false")
        return bool(value)

    def _texts(self, path: tuple[str, ...], value: Any) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        self.mistakes.add(path, f"{path[-1]} = {shown(value)}: expected a list of texts", f'{path[-1]} = ["…", "…"]')
        return ()


def _allowed(section: str, name: str) -> dict[str, tuple[str, ...]]:
    """The keys that the table of a column may have, each with the values to choose from (none: any)."""
    allowed: dict[str, tuple[str, ...]] = dict.fromkeys(_EVERY, ())
    if section == "resources":
        return allowed | {"times": (), "unit": _MILLI, "per": ("job", "node")}
    if name in TIMES:
        return allowed | {"unit": (*SECONDS, "date"), "format": ()}
    if name in DURATIONS:
        return allowed | {"unit": (*SECONDS, "clock"), "times": ()}
    if name == "memory":
        return allowed | {"unit": tuple(BYTE_UNITS), "times": (), "per": ("job", "node", "core")}
    if name in ("cores", "gpus"):
        return allowed | {"unit": _MILLI, "times": (), "per": ("job", "node")}
    if name in AMOUNTS:
        return allowed | {"times": ()}
    if name == "status":
        return allowed | dict.fromkeys(STATUS, ())
    return allowed
