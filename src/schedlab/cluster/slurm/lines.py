"""The lines of Slurm's configuration files: `Key=Value Key=Value`, with comments, continuations and Include."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from schedlab.cluster.slurm.hosts import host_names
from schedlab.files.bytestream import text_of
from schedlab.files.slurm_values import shown
from schedlab.model.errors import InputError, InputErrors

_COMMENT = re.compile(r"(?<!\\)#.*")
_INCLUDE = re.compile(r'include\s+("[^"]*"|[^\s=]\S*)', re.IGNORECASE)
_PAIR = re.compile(r'\s*([A-Za-z0-9_.]+)\s*[-+*/]?=\s*(?:"([^"]*)"|(\S+))(?=\s|$)')
_NAME = re.compile(r"""[^\s"',=\[\]#\\]+""")
_DEEPEST = 10  # files that include each other


@dataclass(frozen=True, slots=True)
class Value:
    """What stands after a key, and where."""

    text: str
    file: str
    line: int
    key: str  # as it is written


Record = dict[str, Value]  # by the key in lower case; the first one says what the line is about


class Mistakes:
    """Collects the mistakes of a configuration, to raise them together."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, int, InputError]] = {}  # with file and line

    def add(self, value: Value, expected: str, hint: str = "") -> None:
        self.at(value.file, value.line, f"{value.key}={shown(value.text)[1:-1]}: {expected}", hint)

    def check_name(self, value: Value) -> None:
        """Names of partitions and the like, which other lines can list."""
        if not _NAME.fullmatch(value.text):
            self.add(value, "expected a name without blanks, commas, brackets and quotation marks")

    def at(self, file: str, line: int, message: str, hint: str = "") -> None:
        error = InputError(message, where=f"{file}, line {line}", hint=hint)
        self._found.setdefault(str(error), (file, line, error))  # a value that many lines inherit is wrong once

    def raise_all(self) -> None:
        if self._found:
            files = list(dict.fromkeys(file for file, _, _ in self._found.values()))
            ordered = sorted(self._found.values(), key=lambda found: (files.index(found[0]), found[1]))
            raise InputErrors([error for _, _, error in ordered])


def listed(value: Value, mistakes: Mistakes) -> list[str]:
    """The names of a list of nodes or switches; none if it cannot be read."""
    try:
        return host_names(value.text)
    except ValueError as error:
        mistakes.add(value, str(error))
        return []


def read_records(path: Path, mistakes: Mistakes) -> list[Record]:
    """The records of a file and of those that it includes, in the order in which Slurm reads them."""
    found: list[Record] = []
    _read(path, (path,), found, mistakes)
    return found


def _read(path: Path, open_files: tuple[Path, ...], found: list[Record], mistakes: Mistakes) -> None:
    for number, line in _logical_lines(text_of(path)):
        include = _INCLUDE.fullmatch(line)
        if include is None:
            record = _record(line, str(path), number, mistakes)
            if record:
                found.append(record)
            continue
        target = open_files[0].parent / include[1].strip('"').replace("%c", _cluster_name(found))
        if target in open_files or len(open_files) >= _DEEPEST:
            mistakes.at(str(path), number, f"Include {shown(include[1])}: the file includes itself")
            continue
        try:
            _read(target, (*open_files, target), found, mistakes)
        except InputErrors:
            raise
        except InputError as error:
            mistakes.at(str(path), number, f"Include {shown(include[1])}: {error.message}", error.hint)


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines without comments, joined where one ends in a backslash; with the number of the first of them."""
    found: list[tuple[int, str]] = []
    begun, start = "", 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        plain = _COMMENT.sub("", line).strip()
        joined = f"{begun}{plain.removesuffix(chr(92))}"
        start = start or number
        if plain.endswith("\\"):
            begun = joined
            continue
        if joined.strip():
            found.append((start, joined.replace("\\#", "#").strip()))
        begun, start = "", 0
    return found


def _record(line: str, file: str, number: int, mistakes: Mistakes) -> Record:
    record: Record = {}
    position = 0
    while position < len(line):
        pair = _PAIR.match(line, position)
        if pair is None:
            rest = line[position:].strip()
            mistakes.at(file, number, f"{shown(rest)}: expected Key=Value", "put values with blanks in quotation marks")
            break
        text = pair[3] if pair[2] is None else pair[2]
        record[pair[1].casefold()] = Value(text, file, number, pair[1])
        position = pair.end()
    return record


def _cluster_name(records: list[Record]) -> str:
    return next((record["clustername"].text for record in records if "clustername" in record), "")
