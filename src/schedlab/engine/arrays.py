"""Arrow's arrays from NumPy's, and back, by their buffers.

pyarrow's own way (`pa.array`, `to_numpy`) imports pandas wherever it is installed, which takes longer than most runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


def of_numbers(values: NDArray[Any], kind: pa.DataType, unknown: Mask | None = None) -> pa.Array:
    content = np.ascontiguousarray(values, kind.to_pandas_dtype())
    return pa.Array.from_buffers(kind, len(content), [_validity(unknown), pa.py_buffer(content)])


def of_bools(values: Mask, unknown: Mask | None = None) -> pa.Array:
    return pa.Array.from_buffers(pa.bool_(), len(values), [_validity(unknown), _bits_of(values)])


def of_texts(texts: Sequence[str | None]) -> pa.Array:
    encoded = [b"" if text is None else text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    unknown = np.fromiter((text is None for text in texts), bool, len(texts))
    if ends[-1] > np.iinfo(np.int32).max:
        raise OverflowError("a batch of texts has more than 2 GiB")
    buffers = [_validity(unknown), pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers)


def of_words(codes: NDArray[Any], words: Sequence[str], unknown: Mask | None = None) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(of_numbers(codes, pa.int8(), unknown), of_texts(words))


def to_numbers(values: pa.Array) -> NDArray[Any]:
    """Of an array of numbers: as they lie in memory; where a value is null, anything."""
    if values.buffers()[1] is None:  # of an empty one
        return np.empty(0, values.type.to_pandas_dtype())
    found = np.frombuffer(values.buffers()[1], values.type.to_pandas_dtype())
    return found[values.offset : values.offset + len(values)]


def to_bools(values: pa.Array) -> Mask:
    """Of an array of booleans: as they lie in memory."""
    return _unpacked(values, 1)


def known(values: pa.Array) -> Mask:
    """Which values are not null."""
    return np.ones(len(values), bool) if values.buffers()[0] is None else _unpacked(values, 0)


def _validity(unknown: Mask | None) -> pa.Buffer | None:
    return None if unknown is None or not unknown.any() else _bits_of(~unknown)


def _bits_of(values: Mask) -> pa.Buffer:
    return pa.py_buffer(np.packbits(values, bitorder="little"))


def _unpacked(values: pa.Array, buffer: int) -> Mask:
    bits = np.unpackbits(np.frombuffer(values.buffers()[buffer], np.uint8), bitorder="little")
    return bits[values.offset : values.offset + len(values)].astype(bool)
