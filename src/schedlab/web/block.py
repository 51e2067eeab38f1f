"""Columns of numbers as bytes that a browser turns into typed arrays: lossless, and small once they are deflated.

A block is the length of its header (4 bytes, little-endian), the header (JSON), and the columns one behind the other.
A column of whole numbers, or of whole thousandths, is what remains of it after a base was subtracted, as unsigned
numbers of 1, 2 or 4 bytes; others are doubles. Bytes of the same weight stand together (as Parquet's
BYTE_STREAM_SPLIT): the high ones, mostly equal, then take no room. static/block.js reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

WIDTHS = {1: 0xFF, 2: 0xFFFF, 4: 0xFFFF_FFFF}  # bytes -> the largest number
DIVISORS = (1, 1000)  # whole numbers, thousandths
LARGEST_EXACT = 2.0**50  # ticks; a browser's numbers are doubles

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
    parts: list[bytes] = []
    divisors: dict[str, int | None] = {}
    bases: dict[str, Column] = {}
    for name, column in columns:
        if isinstance(column, list):
            data = json.dumps(column, ensure_ascii=False).encode()
            head: dict[str, Any] = {"kind": "texts"}
        else:
            divisors[name] = divisor = None if column.single else _divisor(column)
            usable = column.relative and divisors[column.relative] == divisor is not None
            head, data = _column(column, divisor, bases[column.relative] if usable else None)
            if column.base:
                bases[name] = column
        heads.append({"name": name, "bytes": len(data), **head})
        parts.append(data)
    header = json.dumps(heads, separators=(",", ":")).encode()
    return b"".join([len(header).to_bytes(4, "little"), header, *parts])


def _divisor(column: Column) -> int | None:
    """The unit of which all values are whole multiples, or None."""
    values = column.values
    if values.dtype.kind in "iub":
        return 1
    known = values[np.isfinite(values)]
    if np.isinf(values).any() or (np.abs(known) >= LARGEST_EXACT / DIVISORS[-1]).any():
        return None
    exact = (divisor for divisor in DIVISORS if (np.rint(known * divisor) / divisor == known).all())
    return next(exact, None)


def _column(column: Column, divisor: int | None, beside: Column | None) -> tuple[dict[str, Any], bytes]:
    values = column.values
    unknown = _unknown(column)
    if column.single or divisor is None:
        floats = np.where(unknown, np.nan, values).astype("<f4" if column.single else "<f8")
        return {"kind": "floats", "width": floats.itemsize}, _planes(floats)
    ticks = _ticks(values[~unknown], divisor)
    head: dict[str, Any] = {"kind": "whole", "divisor": divisor}
    if beside is not None and not _unknown(beside)[~unknown].any():
        ticks = ticks - _ticks(beside.values[~unknown], divisor)
        head["relative"] = column.relative
    if column.delta and len(ticks):
        head["first"] = int(ticks[0])
        ticks = np.diff(ticks, prepend=ticks[:1])
    base = int(ticks.min()) if len(ticks) else 0
    nulls = int(unknown.any())  # 0 is unknown then
    largest = (int(ticks.max()) - base if len(ticks) else 0) + nulls
    width = next((width for width, most in WIDTHS.items() if largest <= most), None)
    if width is None:
        floats = np.where(unknown, np.nan, values).astype("<f8")
        return {"kind": "floats", "width": 8}, _planes(floats)
    raw = np.zeros(len(values), f"<u{width}")
    raw[~unknown] = (ticks - base + nulls).astype(raw.dtype)
    return head | {"width": width, "base": base, "nulls": nulls}, _planes(raw)


def _unknown(column: Column) -> NDArray[np.bool_]:
    values = column.values
    unknown = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
    return unknown if column.null is None else np.asarray(unknown | (values == column.null))


def _ticks(values: Numbers, divisor: int) -> NDArray[np.int64]:
    return np.asarray(values if values.dtype.kind in "iub" else np.rint(values * divisor), np.int64)


def _planes(values: Numbers) -> bytes:
    """The first bytes of all values, then the second ones …"""
    return values.view(np.uint8).reshape(-1, values.itemsize).T.tobytes() if len(values) else b""
