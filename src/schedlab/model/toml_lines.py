"""On which line of a TOML file a key stands: `tomllib` does not say, and an error message should."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.mistakes import Mistakes, printable
from schedlab.model.suggest import did_you_mean

Path = tuple[str | int, ...]
EXAMPLE = 'a line is key = value, with texts in quotes (memory = "192 GiB"), or a table such as [[nodes]]'

_BARE_OR_QUOTED = r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'"""
_KEY = rf"(?:{_BARE_OR_QUOTED})(?:[ \t]*\.[ \t]*(?:{_BARE_OR_QUOTED}))*"
_TABLE = re.compile(rf"[ \t]*(\[\[?)[ \t]*({_KEY})[ \t]*\]")
_ASSIGNMENT = re.compile(rf"[ \t]*({_KEY})[ \t]*=")
_KEY_PART = re.compile(_BARE_OR_QUOTED)
# Pieces of a value: strings and comments are skipped whole, since brackets in them do not count.
_PIECE = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?!")'
    r"|'''.*?'''(?!')"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*|[^\"'#\n\[\]{},]+|.",
    re.DOTALL,
)


class TomlLines:
    """The lines of the keys of a file that `tomllib` has accepted. A path is like ("nodes", 1, "count")."""

    def __init__(self, text: str) -> None:
        self._lines: dict[Path, int] = {}
        self._lengths: dict[Path, int] = {}  # of arrays of tables
        table: Path = ()
        position = 0
        line = 1
        while position < len(text):
            if match := _TABLE.match(text, position):
                table = self._enter(_parts(match.group(2)), is_array=match.group(1) == "[[")
                self._lines.setdefault(table, line)
            elif match := _ASSIGNMENT.match(text, position):
                path = table
                for part in _parts(match.group(1)):
                    path = (*path, part)
                    self._lines.setdefault(path, line)
                self._elements(path, text, match.end(), line)
            end = _end_of_statement(text, match.end() if match else position)
            line += text.count("\n", position, end)
            position = end

    def line(self, path: Sequence[str | int]) -> int:
        """The line of the key, or of the innermost table or key around it that has one."""
        for length in range(len(path), 0, -1):
            if found := self._lines.get(tuple(path[:length])):
                return found
        return 1

    def _elements(self, path: Path, text: str, position: int, line: int) -> None:
        """The lines of the elements of an array that goes over several."""
        depth = number = 0
        started = False
        for piece in _PIECE.finditer(text, position):
            found = piece.group()
            if depth == 1 and not started and not (found in "],\n" or found.isspace() or found[0] == "#"):
                self._lines[(*path, number)] = line
                started = True
            if depth == 1 and found == ",":
                number, started = number + 1, False
            depth += (found in ("[", "{")) - (found in ("]", "}"))
            line += found.count("\n")
            if depth <= 0 and not found.isspace():
                return

    def _enter(self, parts: list[str], *, is_array: bool) -> Path:
        """The full path of a table header: names inside an array of tables mean its last table."""
        path: Path = ()
        for number, part in enumerate(parts):
            path = (*path, part)
            if is_array and number == len(parts) - 1:
                self._lengths[path] = self._lengths.get(path, 0) + 1
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
        return path


def _parts(key: str) -> list[str]:
    return [part[1:-1] if part[0] in "\"'" else part for part in _KEY_PART.findall(key)]


def _end_of_statement(text: str, position: int) -> int:
    """Just after the line break that ends what begins at `position`: not inside a string or an open bracket."""
    depth = 0
    for piece in _PIECE.finditer(text, position):
        found = piece.group()
        if found in ("[", "{"):
            depth += 1
        elif found in ("]", "}"):
            depth -= 1
        elif found == "\n" and depth <= 0:
            return piece.end()
    return len(text)


class TomlMistakes(Mistakes):
    """Those of one file, at keys that are named by their paths."""

    def __init__(self, file: str, text: str) -> None:
        super().__init__()
        self.file, self._text = file, text

    @cached_property
    def lines(self) -> TomlLines:
        return TomlLines(self._text)

    def add(self, path: Sequence[str | int], message: str, hint: str = "") -> None:
        line = self.lines.line(path)
        where = f"{self.file}:{line}"
        self.put(InputError(printable(message), where=where, hint=printable(hint)), self.file, line)

    def check_keys(self, path: Path, table: Iterable[str], known: Collection[str], listing: str = "") -> bool:
        """Whether all keys of a table are known; `listing` is a hint where no name is near."""
        unknown = [key for key in table if key not in known]
        for key in unknown:
            self.add((*path, key), f"unknown key '{key}'", did_you_mean(key, known, listing))
        return not unknown


def load_toml(text: str, file: str, hint: str = EXAMPLE) -> tuple[dict[str, Any], TomlMistakes]:
    """The content of a TOML file, and a place for its mistakes; an error that names the line where it is no TOML."""
    try:
        return tomllib.loads(text), TomlMistakes(file, text)
    except tomllib.TOMLDecodeError as error:
        found = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", str(error), re.DOTALL)
        message, line, column = found.groups() if found else (str(error), None, None)
        place = f"{file}:{line or text.count(chr(10)) + 1}" + (f":{column}" if column else "")
        raise InputError(f"this is not TOML: {printable(message)}", where=place, hint=hint) from None
    except (ValueError, RecursionError) as error:  # integers of thousands of digits, thousands of brackets
        raise InputError(f"this is not TOML: {error}", where=file, hint="is it the right file?") from None


def shown(value: Any) -> str:
    """A value as a message quotes it."""
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"
