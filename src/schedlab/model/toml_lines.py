"""On which line of a TOML file a key stands: `tomllib` does not say, and an error message should."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import Any

from schedlab.model.errors import InputError, InputErrors

Path = tuple[str | int, ...]

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
    r"|\#[^\n]*|\n|.",
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
            end = _end_of_statement(text, match.end() if match else position)
            line += text.count("\n", position, end)
            position = end

    def line(self, path: Sequence[str | int]) -> int:
        """The line of the key, or of the innermost table or key around it that has one."""
        for length in range(len(path), 0, -1):
            if found := self._lines.get(tuple(path[:length])):
                return found
        return 1

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


class Mistakes:
    """Collects the mistakes of one file, to raise them together in the order of the file."""

    def __init__(self, file: str, lines: TomlLines) -> None:
        self.file, self.lines = file, lines
        self._found: list[tuple[int, InputError]] = []

    def add(self, path: Sequence[str | int], message: str, hint: str = "") -> None:
        line = self.lines.line(path)
        self._found.append((line, InputError(message, where=f"{self.file}:{line}", hint=hint)))

    def raise_all(self) -> None:
        if self._found:
            raise InputErrors([error for _, error in sorted(self._found, key=lambda found: found[0])])


def load_toml(text: str, file: str) -> dict[str, Any]:
    """The content of a TOML file; an error that names the line where it is none."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", str(error), re.DOTALL)
        message, line, column = found.groups() if found else (str(error), None, None)
        place = f"{file}:{line or text.count(chr(10)) + 1}" + (f":{column}" if column else "")
        hint = 'a line is key = value, with texts in quotes (memory = "192 GiB"), or a table such as [[nodes]]'
        raise InputError(f"this is not TOML: {message}", where=place, hint=hint) from None
    except (ValueError, RecursionError) as error:  # integers of thousands of digits, thousands of brackets
        raise InputError(f"this is not TOML: {error}", where=file, hint="is it the right file?") from None
