"""Columns of texts as NumPy columns of numbers. Each different text is read once; times and job numbers all at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.workload.sacct.fields import LATEST, TIME, UNKNOWN, parse_time

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
MOST_CACHED = 1 << 16  # texts whose meaning is remembered
SAMPLES = 20  # bad rows that are told

LARGEST_JOB = 2**32  # Slurm's job numbers have 32 bits
REPEATED = LARGEST_JOB  # numbers of records whose job number has occurred before begin here
ELEMENTS = 2 * LARGEST_JOB  # and here those of array elements that have no number of their own
ELEMENT_BITS = 22  # no array of Slurm's is larger
JOB = r"^(?P<job>[0-9]{1,10})(?:_(?P<task>[0-9]{1,7})|\+(?P<component>[0-9]{1,4}))?$"
BUNDLE = r"^[0-9]{1,10}_\[[^\]]*\]?$"  # what is left of an array: 123_[5-9%2]; long lists are cut off
JOB_EXPECTED = "a job number such as 123, 123_4 or 123+0"


class Problems:
    """Rows of a block that cannot be read, and why; of a row with several problems the first counts."""

    def __init__(self, rows: int) -> None:
        self.bad: Mask = np.zeros(rows, bool)
        self.messages: dict[int, str] = {}

    def note(self, wrong: Mask, message: Callable[[int], str]) -> None:
        for row in np.flatnonzero(wrong & ~self.bad)[:SAMPLES].tolist():
            self.messages[row] = message(row)
        self.bad |= wrong

    def value(self, wrong: Mask, name: str, column: Any, expected: Callable[[int], str]) -> None:
        """Values of a column that are not what was expected."""
        if wrong.any():
            self.note(wrong, lambda row: f"{name} is {shown(text_at(column, row))}, expected {expected(row)}")


class Texts:
    """What the texts of a column mean; each different one is parsed once, as long as there are not too many."""

    def __init__(self, parse: Callable[[str], Any], width: int = 1) -> None:
        self._parse, self._width = parse, width
        self._known: dict[bytes, Any] = {}

    def read(self, column: Any, name: str, problems: Problems) -> Floats:
        """One row of `width` numbers for each row of a dictionary-encoded column; NaN where it is bad."""
        meanings = [self._meaning(text) for text in column.dictionary.to_pylist()]
        nothing = np.nan if self._width == 1 else (np.nan,) * self._width
        numbers = np.array([nothing if isinstance(found, str) else found for found in meanings], np.float64)
        codes = column.indices.to_numpy()
        bad = np.array([isinstance(found, str) for found in meanings], bool)
        if bad.any():
            problems.value(bad[codes], name, column, lambda row: str(meanings[codes[row]]))
        table = numbers.reshape(len(meanings), self._width)
        found: Floats = table[codes] if self._width > 1 else table[:, 0][codes]
        return found

    def _meaning(self, text: bytes) -> Any:
        """The value, or as a text what was expected."""
        if text not in self._known:
            if len(self._known) >= MOST_CACHED:
                self._known.clear()
            try:
                self._known[text] = self._parse(text.decode(errors="replace"))
            except ValueError as problem:
                self._known[text] = str(problem)
        return self._known[text]


def read_times(column: Any, name: str, problems: Problems) -> Floats:
    """Seconds since 1970; NaN where unknown."""
    import pyarrow as pa
    import pyarrow.compute as pc

    unknown = pc.is_in(column, value_set=pa.array(UNKNOWN)).to_numpy(zero_copy_only=False)
    seconds = np.full(len(column), np.nan)
    known = column.filter(pa.array(~unknown)) if unknown.any() else column
    if not len(known):
        return seconds
    alike = _times_alike(known)
    if alike is None:
        return Texts(_parse_time).read(column.cast(pa.binary()).dictionary_encode(), name, problems)
    seconds[~unknown] = alike
    seconds[seconds == 0] = np.nan
    return seconds


def _parse_time(text: str) -> float:
    try:
        return parse_time(text)
    except ValueError:  # also one of Python's own, about 30 February
        raise ValueError(TIME) from None


def _times_alike(column: Any) -> Floats | None:
    """Times that are all written in one way, or None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = pc.min_max(pc.binary_length(column)).as_py()
    kinds = {10: pa.int64(), 19: pa.timestamp("s"), 20: pa.timestamp("s", "UTC"), 24: pa.timestamp("s", "UTC")}
    kind = kinds.get(lengths["min"])
    if kind is None or lengths["max"] != lengths["min"]:
        return None
    if kind == pa.int64() and not pc.all(pc.match_substring_regex(column, "^[0-9]+$")).as_py():
        return None
    try:
        seconds = column.cast(kind).cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    if seconds.min() < 0 or seconds.max() > LATEST:
        return None
    found: Floats = seconds.astype(np.float64)
    return found


class JobNumbers:
    """What the job numbers of a block say: a number for each row, and which are not jobs of their own."""

    def __init__(self, column: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self.column = column
        rows = len(column)
        self.component: Mask = np.zeros(rows, bool)
        self.element: Mask = np.zeros(rows, bool)
        self.bundle: Mask = np.zeros(rows, bool)
        self.bad: Mask = np.zeros(rows, bool)
        plain = pc.match_substring_regex(column, "^[0-9]{1,10}$")
        if pc.all(plain).as_py():
            self.number: NDArray[np.int64] = column.cast(pa.int64()).to_numpy()
        else:
            self._read_others(column)
        self.bad |= (self.number < 0) | ((self.number >= LARGEST_JOB) & (self.number < ELEMENTS))

    def _read_others(self, column: Any) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        parts = pc.extract_regex(column, JOB)
        job, task, component = (
            pc.if_else(pc.equal(pc.struct_field(parts, name), ""), "-1", pc.struct_field(parts, name))
            .cast(pa.int64())
            .fill_null(-1)
            .to_numpy(zero_copy_only=False)
            for name in ("job", "task", "component")
        )
        self.element, self.component = task >= 0, component >= 0
        self.bundle = pc.match_substring_regex(column, BUNDLE).to_numpy(zero_copy_only=False)
        self.bad = (job < 0) & ~self.bundle | (job >= LARGEST_JOB) | (task >= 1 << ELEMENT_BITS)
        # The components of a heterogeneous job have consecutive numbers.
        self.number = np.where(self.element, element_number(job, task), job + np.maximum(component, 0))
        self.number[self.bundle | self.bad] = 0


def element_number(job: Any, task: Any) -> Any:
    """Of an array's element that has no number of its own."""
    return ELEMENTS + (job << ELEMENT_BITS) + task


def text_at(column: Any, row: int) -> str:
    import pyarrow as pa

    value = column[row].cast(pa.binary()).as_py() if column.type == pa.string() else column[row].as_py()
    text: str = value.decode(errors="replace")
    return text


def shown(text: str) -> str:
    """As an error message quotes it."""
    cut = text if len(text) <= 60 else f"{text[:60]}…"
    return '"' + "".join(letter if letter.isprintable() else "?" for letter in cut) + '"'
