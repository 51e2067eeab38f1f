"""Columns of a table as numbers, times and names; what cannot be understood is noted with its row."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.mistakes import printable
from schedlab.workload.table.files import Chunk
from schedlab.workload.table.mapping import Column, factor

MOST_SECONDS = 1e12
MOST_OF_ANYTHING = 1e9  # nodes, cores, gpus
MOST_BYTES = 2.0**62

_NUMBER = re.compile(r"[+-]?([0-9]++(?:\.[0-9]*+)?|\.[0-9]++)([eE][+-]?[0-9]+)?")
_FEATURES = re.compile(r"[,&\s]+")
_DATE = "a date such as 2019-01-31 12:30:00"
_CLOCK = "a duration such as 1-12:00:00 or 02:30:00"
_TRUE, _FALSE = {"1", "true", "yes", "y", "t"}, {"0", "false", "no", "n", "f"}

Floats = NDArray[np.float64]


class Cells:
    """The cells of a chunk. Each method gives one value a row; NaN or None where nothing is known."""

    def __init__(self, chunk: Chunk, missing: tuple[str, ...], where: str, *, trim: bool = True) -> None:
        self.chunk, self.rows, self.where, self._trim = chunk, chunk.rows, where, trim
        self.problems: dict[int, str] = {}  # by row: what is wrong with it
        self._missing = missing
        self._missing_numbers = [float(word) for word in missing if _NUMBER.fullmatch(word)]
        self._texts: dict[tuple[str, str], Any] = {}

    def numbers(self, name: str, column: Column, expected: str) -> Floats:
        """Plain numbers times the unit."""
        if column.column:
            values, bad = self._plain(column)
            self._note(name, column, bad, expected)
        else:
            values = np.full(self.rows, self._constant(name, column, expected))
        if column.times:
            other, bad = self._plain(Column(column.times))
            self._note(name, Column(column.times), bad, "a number")
            values = values * other
        return values * factor(name, column)

    def times(self, name: str, column: Column, least: float) -> Floats:
        """Points in time, in seconds."""
        if column.unit == "date" or self._is_time(column):
            values = self._dates(name, column)
            return self._within(name, column, values, -MOST_SECONDS, _DATE)
        values = self.numbers(name, column, 'a number (a date needs unit = "date" in the mapping)')
        return self._within(name, column, values, least, f"seconds from {least:g} to {MOST_SECONDS:g}")

    def durations(self, name: str, column: Column, most: float = MOST_SECONDS) -> Floats:
        if column.unit == "clock" and column.column:
            values, bad = _each(self.texts(column), _clock)
            self._note(name, column, bad, _CLOCK)
        elif column.column and self._type_is(column, "is_duration"):
            import pyarrow as pa

            ticks = self.chunk.columns[column.column].cast(pa.duration("us"), safe=False).cast(pa.int64())
            values = _floats(ticks) / 1e6
        else:
            values = self.numbers(name, column, "a number")
        return self._within(name, column, values, 0.0, f"seconds from 0 to {most:g}", most)

    def unneeded(self, values: Callable[[], Floats]) -> tuple[Floats, NDArray[np.bool_]]:
        """Values that no job needs, and which of them make no sense: they count as unknown, their rows are good."""
        before = self.problems
        self.problems = {}
        found = values()
        odd = np.zeros(self.rows, bool)
        odd[list(self.problems)] = True
        self.problems = before
        return np.where(odd, np.nan, found), odd

    def amounts(self, name: str, column: Column, most: float = MOST_OF_ANYTHING) -> tuple[Floats, NDArray[np.bool_]]:
        """Whole numbers, and which of them have been rounded up to be that."""
        exact = self._within(
            name, column, self.numbers(name, column, "a number"), 0.0, f"a number from 0 to {most:g}", most
        )
        near = np.round(exact)  # 0.29 * 100 is a little above 29
        whole = np.where(np.abs(exact - near) < 1e-6, near, np.ceil(exact))
        rounded = whole > exact + 1e-6
        if name != "memory" and column.unit != "milli":
            self._note(name, column, rounded, "a whole number")
        return whole, rounded

    def codes(self, name: str, column: Column, parse: Callable[[str], float | None], expected: str = "") -> Floats:
        """A number for each text, as `parse` says; None is a mistake if something is `expected`."""
        values, bad = _each(self.texts(column), parse)
        if expected:
            self._note(name, column, bad, expected)
        return values

    def names(self, column: Column, number: Callable[[str], int], keep: NDArray[np.intp]) -> NDArray[np.int32]:
        """A number for the name in each of the rows to keep, -1 for none."""
        import pyarrow as pa

        values, _ = _each(self.texts(column).take(pa.array(keep)), number)
        return np.where(np.isnan(values), -1, values).astype(np.int32)

    def ids(self, column: Column) -> NDArray[np.int64] | None:
        """Job numbers, -1 where there is none; None if some are not numbers."""
        import pyarrow as pa
        import pyarrow.compute as pc

        texts = self.texts(column)
        numbers = pc.match_substring_regex(texts, r"^[0-9]{1,18}(\.0*)?$")
        if pc.all(numbers).as_py() is False:
            return None
        whole = pc.replace_substring_regex(texts, r"\..*$", "")
        return np.asarray(pc.fill_null(whole.cast(pa.int64()), -1), np.int64)

    def texts(self, column: Column) -> Any:
        """As text without blanks around it; null where it is missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        key = (column.column, column.pattern)
        if key not in self._texts:
            if column.column:
                found = self._as_text(column)
                found = pc.utf8_trim_whitespace(found) if self._trim else found
            else:
                found = pa.array([str(column.value)] * self.rows, pa.string())
            if column.pattern:
                pattern = re.compile(column.pattern)
                found = _each_text(found, lambda text: match[1] if (match := pattern.search(text)) else None)
            absent = pc.is_in(found, value_set=pa.array(self._missing, pa.string()))
            self._texts[key] = pc.if_else(absent, pa.scalar(None, pa.string()), found)
        return self._texts[key]

    def _plain(self, column: Column) -> tuple[Floats, NDArray[np.bool_]]:
        """Numbers, and which cells are something else."""
        import pyarrow as pa

        if self._type_is(column, "is_integer", "is_floating", "is_decimal", "is_boolean") and not column.pattern:
            array = self.chunk.columns[column.column]
            if pa.types.is_boolean(array.type):
                array = array.cast(pa.int8())
            values = _floats(array.cast(pa.float64(), safe=False))
            bad = np.zeros(len(values), bool)
        else:
            texts = self.texts(column)
            try:
                values, bad = _floats(texts.cast(pa.float64())), np.zeros(self.rows, bool)
            except pa.ArrowInvalid:
                values, bad = _each(texts, lambda text: float(text) if _NUMBER.fullmatch(text) else None)
        return np.where(np.isin(values, self._missing_numbers), np.nan, values), bad

    def _dates(self, name: str, column: Column) -> Floats:
        import pyarrow as pa
        import pyarrow.compute as pc

        stamp = pa.timestamp("us")
        if self._is_time(column):
            array = self.chunk.columns[column.column]
            zone = getattr(array.type, "tz", None)
            return _seconds(array.cast(pa.timestamp("us", zone), safe=False))
        texts = self.texts(column)
        try:
            if not column.format:
                return _seconds(texts.cast(stamp))
            found = pc.strptime(texts, format=column.format, unit="us", error_is_null=True)
            if found.null_count == texts.null_count:
                return _seconds(found)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            pass  # some have a time zone, or are no dates: one by one
        expected = f'a date in the form "{column.format}"' if column.format else _DATE
        values, bad = _each(texts, lambda text: _date(text, column.format))
        self._note(name, column, bad, expected)
        return values

    def _constant(self, name: str, column: Column, expected: str) -> float:
        text = str(column.value)
        if not _NUMBER.fullmatch(text):
            raise InputError(f'{name} has the value "{text}", expected {expected}', where=self.where)
        return float(text)

    def _within(
        self, name: str, column: Column, values: Floats, least: float, expected: str, most: float = MOST_SECONDS
    ) -> Floats:
        bad = ~np.isnan(values) & ~((values >= least) & (values <= most))
        self._note(name, column, bad, expected)
        return values

    def note(self, bad: NDArray[np.bool_], problem: Callable[[int], str]) -> None:
        """The first problem of a row is the one to tell."""
        for row in np.flatnonzero(bad).tolist():
            if row not in self.problems:
                self.problems[row] = problem(row)

    def _note(self, name: str, column: Column, bad: NDArray[np.bool_], expected: str) -> None:
        self.note(bad, lambda row: f"{name} ({column.shown}) is {self._shown(column, row)}, expected {expected}")

    def _shown(self, column: Column, row: int) -> str:
        found = self.chunk.columns[column.column][row].as_py() if column.column else column.value
        return f'"{printable(str(found), 60)}"'

    def _as_text(self, column: Column) -> Any:
        import pyarrow as pa

        array = self.chunk.columns[column.column]
        try:
            return array.cast(pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            message = f"{column.shown} holds {printable(str(array.type), 60)}, expected numbers or text"
            raise InputError(message, where=self.where, hint="map another column") from None

    def _type_is(self, column: Column, *kinds: str) -> bool:
        import pyarrow as pa

        found = self.chunk.columns[column.column].type
        return any(getattr(pa.types, kind)(found) for kind in kinds)

    def _is_time(self, column: Column) -> bool:
        return bool(column.column) and self._type_is(column, "is_timestamp", "is_date")


def features(text: str) -> frozenset[str] | None:
    """All of which a node has to have; None for alternatives, which a request cannot say."""
    return None if "|" in text else frozenset(word for word in _FEATURES.split(text) if word)


def truth(text: str) -> float | None:
    folded = text.casefold()
    return 1.0 if folded in _TRUE else 0.0 if folded in _FALSE else None


def _each(texts: Any, parse: Callable[[str], float | None]) -> tuple[Floats, NDArray[np.bool_]]:
    """`parse` once for each different text; NaN for null, and a mark where it gave None."""
    encoded = texts.dictionary_encode()
    found = [parse(text) for text in encoded.dictionary.to_pylist()]
    values = np.array([np.nan if value is None else value for value in found] + [np.nan], np.float64)
    wrong = np.array([value is None for value in found] + [False])
    indices = np.asarray(encoded.indices.fill_null(len(found)), np.intp)  # null is the one behind the last
    return values[indices], wrong[indices]


def _each_text(texts: Any, change: Callable[[str], str | None]) -> Any:
    import pyarrow as pa

    encoded = texts.dictionary_encode()
    changed = pa.array([change(text) for text in encoded.dictionary.to_pylist()], pa.string())
    return changed.take(encoded.indices)


def _floats(array: Any) -> Floats:
    return np.asarray(array.to_numpy(zero_copy_only=False), np.float64)


def _seconds(stamps: Any) -> Floats:
    import pyarrow as pa

    return _floats(stamps.cast(pa.int64())) / 1e6


def _date(text: str, form: str) -> float | None:
    try:
        found = datetime.strptime(text, form) if form else datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _clock(text: str) -> float | None:
    """As Slurm writes durations: minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM or D-HH:MM:SS."""
    days, dash, rest = text.rpartition("-")
    parts = rest.split(":")
    if not all(re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", part) for part in (*parts, *([days] if dash else []))):
        return None
    values = [float(part) for part in parts]
    if dash and len(values) <= 3:
        return float(days) * 86400 + sum(value * unit for value, unit in zip(values, (3600, 60, 1), strict=False))
    units = {1: (60,), 2: (60, 1), 3: (3600, 60, 1)}.get(len(values))
    return None if units is None else sum(value * unit for value, unit in zip(values, units, strict=True))
