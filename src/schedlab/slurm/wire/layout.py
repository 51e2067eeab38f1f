"""What a message consists of, as a table: the kinds of fields, and layouts that pack and read them in order."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedlab.slurm.wire.buffer import NO_VALUE_32, Reader, WireError


@dataclass(frozen=True, slots=True)
class Kind:
    """How one field travels."""

    pack: Callable[[Any], bytes]
    read: Callable[[Reader], Any]
    default: Any = None


def pack_text(value: str | None) -> bytes:
    if value is None:
        return b"\0\0\0\0"
    try:
        data = value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise WireError(f"{value[:40]!r} cannot be in a message") from None
    if b"\0" in data:
        raise WireError(f"{value[:40]!r} has a zero byte, which no text in a message can have")
    return struct.pack(">I", len(data) + 1) + data + b"\0"


def _pack_texts(values: Sequence[str]) -> bytes:
    return struct.pack(">I", len(values)) + b"".join(map(pack_text, values))


def _read_texts(reader: Reader) -> list[str]:
    return [reader.text() or "" for _ in range(reader.count(4))]


def _read_bitmap(reader: Reader) -> str | None:
    return None if reader.u32() == NO_VALUE_32 else reader.text()


def _pack_memory(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


def _never_packed(value: object) -> bytes:
    raise WireError("a field that only slurmctld sends")


def number_array(code: str) -> Kind:
    return Kind(_never_packed, lambda reader: reader.numbers(code))


def received(read: Callable[[Reader], Any]) -> Kind:
    """A field that we read and never send."""
    return Kind(_never_packed, read)


def flagged(kind: Kind) -> Kind:
    """A byte that says whether the field follows."""
    return received(lambda reader: kind.read(reader) if reader.u8() else None)


def arrays(count: Kind, *kinds: Kind) -> Kind:
    """A count and, unless it is 0, arrays of that length."""

    def read(reader: Reader) -> tuple[list[Any], ...]:
        expected = count.read(reader)
        found = tuple(kind.read(reader) for kind in kinds) if expected else tuple([] for _ in kinds)
        if any(len(values) != expected for values in found):
            raise WireError(f"arrays of {expected} values expected, {[len(values) for values in found]} found")
        return found

    return received(read)


U8 = Kind(struct.Struct(">B").pack, Reader.u8, 0)
U16 = Kind(struct.Struct(">H").pack, Reader.u16, 0)
U32 = Kind(struct.Struct(">I").pack, Reader.u32, 0)
U64 = Kind(struct.Struct(">Q").pack, Reader.u64, 0)
TIME = Kind(struct.Struct(">q").pack, Reader.time, 0)
TEXT = Kind(pack_text, Reader.text)
TEXTS = Kind(_pack_texts, _read_texts, ())
MEMORY = Kind(_pack_memory, Reader.memory, b"")
RAW = Kind(bytes, _never_packed, b"")  # packed elsewhere already
DOUBLE = received(Reader.double)
BITMAP = received(_read_bitmap)
U16S, U32S, U64S = number_array("H"), number_array("I"), number_array("Q")
DOUBLES = received(lambda reader: [reader.double() for _ in range(reader.count(8))])
LONG_DOUBLES = received(lambda reader: [reader.long_double() for _ in range(reader.count(4))])

Field = tuple[str, Kind] | tuple[str, Kind, Any]


class Layout:
    """The fields of a message in their order, each with the value that it has if nothing is said."""

    def __init__(self, name: str, *fields: Field) -> None:
        self.name = name
        self._kinds = [(field[0], field[1].read) for field in fields]
        self._places = {field[0]: (place, field[1].pack) for place, field in enumerate(fields)}
        self._defaults = [field[2] if len(field) == 3 else field[1].default for field in fields]
        self._packed: list[bytes] = []  # the defaults; made when first needed, as what is only received has none

    def pack(self, values: Mapping[str, Any]) -> bytes:
        """The message with these values, the others at their defaults."""
        if not self._packed:
            packers = self._places.values()
            self._packed = [pack(self._defaults[place]) for place, pack in packers]
        parts = self._packed.copy()
        for name, value in values.items():
            place, pack = self._places[name]
            try:
                parts[place] = pack(value)
            except struct.error:
                raise WireError(f"{self.name}: {name} cannot be {value!r}") from None
        return b"".join(parts)

    def read(self, reader: Reader, until: str = "") -> dict[str, Any]:
        """The values of all fields, or of those up to and with `until`."""
        values: dict[str, Any] = {}
        name = ""
        try:
            for name, read in self._kinds:
                values[name] = read(reader)
                if name == until:
                    break
        except WireError as error:
            raise WireError(f"{self.name}, {name}: {error}") from None
        return values

    def records(self, reader: Reader, count: int) -> list[dict[str, Any]]:
        """`count` of them, one after the other."""
        if count > reader.left():  # each has at least a byte
            raise WireError(f"{self.name}: {count} of them in {reader.left()} bytes")
        return [self.read(reader) for _ in range(count)]
