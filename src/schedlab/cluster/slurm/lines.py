"""The lines of Slurm's configuration files: `Key=Value Key=Value`, with comments, continuations and Include."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from schedlab.cluster.slurm.hosts import host_names
from schedlab.files.bytestream import text_of
from schedlab.files.slurm_values import shown
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.mistakes import Mistakes

_COMMENT = re.compile(r"(?<!\\)#.*")
_INCLUDE = re.compile(r'include\s+("[^"]*"|[^\s=]\S*)', re.IGNORECASE)
_PAIR = re.compile(r'\s*([A-Za-z0-9_.]+)\s*[-+*/]?=\s*(?:"([^"]*)"|(\S+))(?=\s|$)')
_NAME = re.compile(r"""[^\s"',=\[\]#\\]+""")
_DEEPEST = 10  # files that include each other
MOST_FILES = 1000  # each as often as it is included


@dataclass(frozen=True, slots=True)
class Value:
    """What stands after a key, and where; on line 0 if it does not come from a file."""

    text: str
    file: str
    line: int
    key: str  # as it is written

    @property
    def name(self) -> str:
        """The key in lower case: Slurm does not mind."""
        return self.key.casefold()

    @property
    def place(self) -> str:
        return f"{self.file}, line {self.line}" if self.line else self.file

    def wrong(self, mistakes: Mistakes, expected: str, hint: str = "") -> None:
        mistakes.at(self.file, self.line, f"{self.key}={shown(self.text)[1:-1]}: {expected}", hint)


Line = tuple[Value, ...]  # each key once; the first one says what the line is about


def listed(value: Value, mistakes: Mistakes) -> list[str]:
    """The names of a list of nodes or switches; none if it cannot be read."""
    try:
        return host_names(value.text)
    except ValueError as error:
        value.wrong(mistakes, str(error))
        return []


def check_name(value: Value, mistakes: Mistakes) -> None:
    """Names of partitions and the like, which other lines can list."""
    if not _NAME.fullmatch(value.text):
        value.wrong(mistakes, "expected a name without blanks, commas, brackets and quotation marks")


def read_lines(path: Path, files: list[Path], mistakes: Mistakes) -> list[Line]:
    """The lines of a file and of those that it includes, as Slurm reads them; their names are added to `files`."""
    found: list[Line] = []
    _read(path, (path,), found, files, mistakes)
    return found


def _read(path: Path, open_files: tuple[Path, ...], found: list[Line], files: list[Path], mistakes: Mistakes) -> None:
    content = text_of(path)
    files.append(path)
    if len(files) > MOST_FILES:
        raise InputErrors([InputError(f"more than {MOST_FILES:,} files are included", where=str(path))])
    for number, text in _logical_lines(content):
        include = _INCLUDE.fullmatch(text)
        if include is None:
            if line := _line(text, str(path), number, mistakes):
                found.append(line)
            continue
        name = include[1].strip('"')
        target = open_files[0].parent / (name.replace("%c", _cluster_name(found)) if "%c" in name else name)
        if target in open_files or len(open_files) >= _DEEPEST:
            mistakes.at(str(path), number, f"Include {shown(include[1])}: the file includes itself")
            continue
        try:
            _read(target, (*open_files, target), found, files, mistakes)
        except InputErrors:
            raise
        except InputError as error:
            mistakes.at(str(path), number, f"Include {shown(include[1])}: {error.message}", error.hint)


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines without comments, joined where one ends in a backslash; with the number of the first of them."""
    found: list[tuple[int, str]] = []
    begun: list[str] = []  # a line that goes on
    start = 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        plain = _COMMENT.sub("", line).strip()
        begun.append(plain.removesuffix(chr(92)))
        start = start or number
        if plain.endswith("\\"):
            continue
        if joined := "".join(begun).strip():
            found.append((start, joined.replace("\\#", "#")))
        begun, start = [], 0
    return found


def _line(text: str, file: str, number: int, mistakes: Mistakes) -> Line:
    found: dict[str, Value] = {}
    position = 0
    while position < len(text):
        pair = _PAIR.match(text, position)
        if pair is None:
            rest = text[position:].strip()
            mistakes.at(file, number, f"{shown(rest)}: expected Key=Value", "put values with blanks in quotation marks")
            break
        value = Value(pair[3] if pair[2] is None else pair[2], file, number, pair[1])
        found[value.name] = value
        position = pair.end()
    return tuple(found.values())


def _cluster_name(lines: list[Line]) -> str:
    return next((value.text for line in lines for value in line if value.name == "clustername"), "")
