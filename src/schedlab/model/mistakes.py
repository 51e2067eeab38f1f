"""Mistakes of what a user gave us, collected so that all of them can be told at once."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.model.errors import InputError, InputErrors

SHOWN = 20  # mistakes of one kind of thing that are told one by one
MOST = 200  # of all kinds


class Mistakes:
    """Each once; raised file by file in the order in which they were met, and by line in a file."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, int, InputError]] = {}

    def __len__(self) -> int:
        return len(self._found)

    def __bool__(self) -> bool:
        return bool(self._found)

    def at(self, file: str, line: int, message: str, hint: str = "") -> None:
        """One on a line; 0 if there are no lines."""
        where = f"{file}, line {line}" if line else file
        self.put(InputError(message, where=where, hint=hint), file, line)

    def put(self, error: InputError, file: str, line: int = 0) -> None:
        self._found.setdefault(str(error), (file, line, error))  # a value that many lines inherit is wrong once

    def raise_all(self) -> None:
        if self._found:
            files = list(dict.fromkeys(file for file, _, _ in self._found.values()))
            ordered = sorted(self._found.values(), key=lambda found: (files.index(found[0]), found[1]))
            raise_first([error for _, _, error in ordered], files[0], MOST)


def raise_first(mistakes: Sequence[InputError], where: str, shown: int = SHOWN) -> None:
    """Those that are shown, and how many more there are `where` they are from; nothing happens if there are none."""
    if mistakes:
        more = len(mistakes) - shown
        rest = [InputError(f"and {more:,} more mistakes", where=where)] if more > 0 else []
        raise InputErrors([*mistakes[:shown], *rest])


def printable(text: str, most: int = 1000) -> str:
    """For error messages: without control characters, cut where it gets absurd."""
    text = text if text.isprintable() else "".join(char if char.isprintable() else "�" for char in text)
    return text if len(text) <= most else f"{text[:most]}…"
