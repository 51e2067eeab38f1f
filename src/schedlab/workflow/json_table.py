"""A table of a JSON file, whose wrong values are told by where they stand, all of them at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from schedlab.model.mistakes import Mistakes, printable
from schedlab.model.toml_lines import shown


@dataclass(frozen=True, slots=True)
class JsonTable:
    data: Mapping[str, Any]
    inside: str  # the way to it: workflow.tasks[3]
    where: str  # the file
    mistakes: Mistakes

    def wrong(self, key: str, expected: str) -> None:
        place = f"{self.inside}.{key}" if self.inside else key
        self.mistakes.at(self.where, 0, printable(f"{place} = {shown(self.data.get(key))}: expected {expected}"))

    def first(self, *keys: str) -> str:
        """The first of these keys that has a value; the last of them if none has."""
        return next((key for key in keys if self.data.get(key) is not None), keys[-1])

    def text(self, key: str, expected: str = "a text") -> str:
        """Also of a number, as ids are sometimes written; "" if there is none."""
        value = self.data.get(key)
        if value is None:
            return ""
        if isinstance(value, bool) or not isinstance(value, str | int):
            self.wrong(key, expected)
            return ""
        return str(value)

    def number(self, key: str) -> float | None:
        """None if there is none."""
        value = self.data.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
            self.wrong(key, "a number")
            return None
        return float(value)

    def cores(self, key: str) -> int:
        """A whole number of them; 1 if nobody says."""
        value = self.number(key)
        return 1 if value is None else math.ceil(value)

    def table(self, key: str) -> JsonTable:
        value = self.data.get(key)
        if not isinstance(value, dict):
            self.wrong(key, "a table { … }")
            value = {}
        return JsonTable(value, f"{self.inside}.{key}" if self.inside else key, self.where, self.mistakes)

    def tables(self, key: str) -> Iterator[JsonTable]:
        """Of a list of tables; nothing if it is not there."""
        place = f"{self.inside}.{key}" if self.inside else key
        for number, value in enumerate(self._list(key)):
            if isinstance(value, dict):
                yield JsonTable(value, f"{place}[{number}]", self.where, self.mistakes)
            else:
                message = f"{place}[{number}] = {shown(value)}: expected a table {{ … }}"
                self.mistakes.at(self.where, 0, printable(message))

    def texts(self, key: str) -> list[str]:
        values = self._list(key)
        if any(isinstance(value, bool) or not isinstance(value, str | int) for value in values):
            self.wrong(key, "a list of texts")
            return []
        return [str(value) for value in values]

    def _list(self, key: str) -> list[Any]:
        value = self.data.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.wrong(key, "a list")
            return []
        return value
