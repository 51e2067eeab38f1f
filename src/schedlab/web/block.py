"""Columns of numbers as bytes that a browser turns into typed arrays: lossless, and small once they are deflated.

A block is the length of its header (4 bytes, little-endian), the header (JSON), and the columns one behind the other.
A column of whole numbers, or of whole thousandths, is what remains of it after a base was subtracted, as unsigned
numbers of 1, 2 or 4 bytes; others are doubles. Bytes of the same weight stand together (as Parquet's
BYTE_STREAM_SPLIT): the high ones, mostly equal, then take no room. The core writes them (native/block_column.cpp),
static/block.js reads them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab._core import block_column, block_divisor

Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Column:
    """Values (NaN or -1 of `null`: unknown), and how they are written down."""

    values: Numbers
    delta: bool = False  # as differences to the one before
    relative: str = ""  # as differences to an earlier column of the block, where both are whole numbers of one unit
    null: float | None = None  # this number means unknown, besides NaN
    single: bool = False  # seven digits suffice
    base: bool = False  # later ones are relative to it


def pack(columns: Mapping[str, Column | list[str]]) -> bytes:
    """The block. A list of texts is a column too."""
    relative = {column.relative for column in columns.values() if isinstance(column, Column)}
    return pack_each(
        (name, replace(column, base=True) if isinstance(column, Column) and name in relative else column)
        for name, column in columns.items()
    )


def pack_each(columns: Iterable[tuple[str, Column | list[str]]]) -> bytes:
    """The same of columns that come one after the other, and are not kept unless others are relative to them."""
    heads: list[dict[str, Any]] = []
    parts: list[Any] = []
    divisors: dict[str, int] = {}
    bases: dict[str, Column] = {}
    for name, column in columns:
        if isinstance(column, list):
            data: Any = json.dumps(column, ensure_ascii=False).encode()
            head: dict[str, Any] = {"kind": "texts"}
        elif column.single:
            head, data = _single(column)
        else:
            column = replace(column, values=_exact(column.values))
            divisors[name] = divisor = block_divisor(column.values)
            usable = column.relative and divisors.get(column.relative) == divisor
            head, data = _column(column, divisor, bases[column.relative] if usable else None)
            if column.base:
                bases[name] = column
        heads.append({"name": name, "bytes": len(data), **head})
        parts.append(data)
    header = json.dumps(heads, separators=(",", ":")).encode()
    return b"".join([len(header).to_bytes(4, "little"), header, *parts])


def _exact(values: Numbers) -> Numbers:
    """As the core takes them."""
    return np.ascontiguousarray(values, np.float64 if values.dtype.kind == "f" else np.int64)


def _column(column: Column, divisor: int, beside: Column | None) -> tuple[dict[str, Any], Numbers]:
    other, other_null = (None, None) if beside is None else (beside.values, beside.null)
    head, data = block_column(column.values, divisor, column.delta, column.null, other, other_null)
    if head.pop("relative", False):
        head["relative"] = column.relative
    return head, np.asarray(data)


def _single(column: Column) -> tuple[dict[str, Any], bytes]:
    values = column.values.astype("<f4")
    if column.null is not None:
        values[column.values == column.null] = np.nan
    return {"kind": "floats", "width": 4}, values.view(np.uint8).reshape(-1, 4).T.tobytes()
