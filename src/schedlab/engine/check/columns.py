"""Columns of a table as arrays of numbers, and what is often done with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schedlab.model.errors import InputError


def require(name: str, names: list[str], columns: tuple[str, ...]) -> None:
    missing = [column for column in columns if column not in names]
    if missing:
        raise InputError(f"{name}.parquet lacks the columns {', '.join(missing)}")


def numbers(column: pa.ChunkedArray | pa.Array, unknown: float, dtype: Any) -> NDArray[Any]:
    typed = column.cast(pa.from_numpy_dtype(dtype))
    if typed.null_count:
        typed = pc.fill_null(typed, unknown)
    return np.asarray(typed.to_numpy() if isinstance(typed, pa.ChunkedArray) else typed.to_numpy(zero_copy_only=False))


def optional(table: pa.Table, name: str) -> NDArray[np.float64]:
    """A column that older runs do not have."""
    return numbers(table[name], np.nan, np.float64) if name in table.column_names else np.full(len(table), np.nan)


def words(column: pa.ChunkedArray, known: tuple[str, ...]) -> NDArray[np.int8]:
    """Positions of words; -1 for one that is not among them."""
    return numbers(pc.index_in(column.cast(pa.string()), value_set=pa.array(known)), -1, np.int8)


def vocabulary(column: pa.ChunkedArray) -> set[str]:
    """All words that might have been in the column, if it says so; at least those that are."""
    if not pa.types.is_dictionary(column.type):
        return set(column.unique().to_pylist())
    return {word for chunk in column.chunks for word in chunk.dictionary.to_pylist()}


def ranges(first: NDArray[np.int64], length: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`length` whole numbers from each `first` on, all in one list, and whose they are."""
    whose = np.repeat(np.arange(len(first)), length)
    return whose, np.repeat(first - (np.cumsum(length) - length), length) + np.arange(len(whose))
