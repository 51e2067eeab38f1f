"""Reading Slurm's binary encoding: big-endian numbers, and texts with their length in front and a zero byte behind."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from schedlab.model.errors import SchedlabError

NO_VALUE_32 = 0xFFFFFFFE  # "not given", in 32 bits

_U8 = struct.Struct(">B").unpack_from
_U16 = struct.Struct(">H").unpack_from
_U32 = struct.Struct(">I").unpack_from
_U64 = struct.Struct(">Q").unpack_from
_I64 = struct.Struct(">q").unpack_from
_DOUBLE = struct.Struct(">d").unpack_from
_SCALE = 1_000_000  # floating-point numbers travel multiplied by this


class WireError(SchedlabError):
    """A message that is not what this release of Slurm would have sent; says what was being read."""


class Reader:
    """Takes one value after the other from a message."""

    __slots__ = ("data", "position")

    def __init__(self, data: bytes, position: int = 0) -> None:
        self.data, self.position = data, position

    def left(self) -> int:
        return len(self.data) - self.position

    def _number(self, unpack: Callable[[bytes, int], tuple[Any, ...]], size: int) -> Any:
        try:
            (value,) = unpack(self.data, self.position)
        except struct.error:
            raise self._short(size) from None
        self.position += size
        return value

    def u8(self) -> int:
        value: int = self._number(_U8, 1)
        return value

    def u16(self) -> int:
        value: int = self._number(_U16, 2)
        return value

    def u32(self) -> int:
        value: int = self._number(_U32, 4)
        return value

    def u64(self) -> int:
        value: int = self._number(_U64, 8)
        return value

    def time(self) -> int:
        """Seconds since the epoch; 0 is never or unknown."""
        value: int = self._number(_I64, 8)
        return value

    def double(self) -> float:
        value: float = self._number(_DOUBLE, 8)
        return value / _SCALE

    def memory(self) -> bytes:
        size = self.u32()
        return self.take(size)

    def text(self) -> str | None:
        data = self.memory()
        if not data:
            return None
        if data[-1]:
            raise WireError(f"a text of {len(data)} bytes without the zero byte at its end")
        return data[:-1].decode("utf-8", "surrogateescape")

    def long_double(self) -> float:
        """Such numbers travel as decimal text."""
        text = self.text() or ""
        try:
            return float(text)
        except ValueError:
            raise WireError(f"{text[:40]!r} is not a number") from None

    def take(self, size: int) -> bytes:
        start, end = self.position, self.position + size
        if end > len(self.data):
            raise self._short(size)
        self.position = end
        return self.data[start:end]

    def count(self, least: int) -> int:
        """How many values follow; each has at least `least` bytes."""
        count = self.u32()
        if count * least > self.left():
            raise self._short(count * least)
        return count

    def numbers(self, code: str) -> list[int]:
        """An array of `struct`'s code, its length in front."""
        size = struct.calcsize(code)
        count = self.count(size)
        return list(struct.unpack(f">{count}{code}", self.take(count * size)))

    def _short(self, size: int) -> WireError:
        return WireError(f"the message ends early: {size} bytes expected at byte {self.position} of {len(self.data)}")
