"""Checks of a model's parameters that find all the mistakes at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

from schedlab.model.errors import InputError, InputErrors
from schedlab.model.mistakes import Mistakes
from schedlab.model.suggest import did_you_mean

Built = TypeVar("Built")


class Checks(Mistakes):
    """The mistakes of one model, which has no lines: `where` is its name or its file."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where

    def add(self, message: str, hint: str = "") -> None:
        self.at(self.where, 0, message, hint)

    def number(
        self, name: str, value: Any, *, low: float = -math.inf, high: float = math.inf, above: float | None = None
    ) -> bool:
        """Whether `value` is a finite number from `low` (or more than `above`) to `high`."""
        good = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        good = good and low <= value <= high and (above is None or value > above)
        if not good:
            self.add(f"{name} = {value!r}: expected a number{_range(low, high, above)}")
        return good

    def whole(self, name: str, value: Any, *, low: int = 0, high: int = 2**62) -> bool:
        good = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        if not good:
            most = "" if high == 2**62 else f" and at most {high}"
            self.add(f"{name} = {value!r}: expected a whole number, at least {low}{most}")
        return good

    def numbers(self, name: str, values: Any, length: int) -> bool:
        """Whether there are so many weights: numbers of 0 or more, not all 0."""
        good = isinstance(values, list | tuple) and len(values) == length
        good = good and all(isinstance(v, int | float) and 0 <= v < math.inf for v in values) and any(values)
        if not good:
            self.add(f"{name} = {_short(values)}: expected {length} numbers of 0 or more, not all of them 0")
        return good

    def choice(self, name: str, value: Any, names: Collection[str]) -> bool:
        if value in names:
            return True
        listing = f"expected one of: {', '.join(names)}"
        self.add(f"{name} = {value!r} is unknown", did_you_mean(str(value), names, listing))
        return False

    def keys(self, data: Any, known: Iterable[str], inside: str = "") -> bool:
        """Whether `data` is a table that has no key but these."""
        names, place = list(known), inside and f"{inside}."
        if not isinstance(data, dict):
            self.add(f"{inside or 'the model'} = {_short(data)}: expected a table with the keys {', '.join(names)}")
            return False
        unknown = [key for key in data if key not in names]
        for key in unknown:
            self.add(f"unknown key '{place}{key}'", did_you_mean(str(key), names, f"keys: {', '.join(names)}"))
        return not unknown

    def take(self, build: Callable[[], Built]) -> Built | None:
        """What `build` makes; its mistakes become those of this place."""
        try:
            return build()
        except InputErrors as problem:
            for error in problem.errors:
                self.add(error.message, error.hint)
        except InputError as error:
            self.add(error.message, error.hint)
        return None


def _range(low: float, high: float, above: float | None) -> str:
    if above is not None:
        return f" above {above:g}" + ("" if high == math.inf else f" and at most {high:g}")
    if low > -math.inf and high < math.inf:
        return f" from {low:g} to {high:g}"
    return f" of {low:g} or more" if low > -math.inf else ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
