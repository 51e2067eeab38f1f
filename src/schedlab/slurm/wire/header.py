"""Whole messages: their header, who sends them (auth/none: whoever they say), and cutting a stream into messages."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

from schedlab.slurm.wire.buffer import Reader, WireError
from schedlab.slurm.wire.layout import pack_text
from schedlab.slurm.wire.release import Release

MOST_BYTES = 1 << 30  # in one message; Slurm's own limit

_AUTH_NONE = 100  # the number of the plug-in
_IPV4, _IPV6 = 2, 10  # families of addresses, as Linux numbers them


@dataclass(frozen=True, slots=True)
class Returned:
    """The answer of one of the nodes that a message was for besides the one that received it."""

    node: str
    name: str
    body: bytes
    error: int = 0


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message that was received."""

    name: str  # Slurm's name of it
    body: bytes
    forward_to: str  # other nodes it is for, as a list such as n[2-4]; each needs a `Returned` in the answer
    uid: int
    gid: int
    protocol: int


def message(
    release: Release,
    name: str,
    body: bytes = b"",
    *,
    uid: int = 0,
    gid: int = 0,
    host: str = "localhost",
    returned: Iterable[Returned] = (),
) -> bytes:
    """A message from the user `uid`, with its length in front."""
    entries = [
        struct.pack(">IH", entry.error, release.numbers[entry.name]) + pack_text(entry.node) + entry.body
        for entry in returned
    ]
    header = struct.pack(
        ">HHHIHH", release.protocol, 0, release.numbers[name], len(body), 0, len(entries)
    )  # no flags, not forwarded
    sender = struct.pack(">HIII", 0, _AUTH_NONE, uid, gid) + pack_text(host)  # no address of origin
    whole = b"".join((header, *entries, sender, body))
    return struct.pack(">I", len(whole)) + whole


def parse(release: Release, data: bytes) -> Incoming:
    """What a message says, without the length in front."""
    reader = Reader(data)
    try:
        protocol = reader.u16()
        if protocol != release.protocol and protocol not in release.older_protocols:
            raise WireError(f"protocol {protocol >> 8} is not that of Slurm {release.name}, {release.protocol >> 8}")
        reader.u16()  # flags
        if protocol in release.older_protocols:
            reader.u16()
        number, length, forwards = reader.u16(), reader.u32(), reader.u16()
        forward_to = ""
        if forwards:
            forward_to = reader.text() or ""
            reader.take(6)  # how long to wait, and how wide the tree of nodes is
        if reader.u16():
            raise WireError("it carries the answers of other nodes, which only nodes send")
        family = reader.u16()
        reader.take({_IPV4: 6, _IPV6: 22}.get(family, 0))
        if (plug_in := reader.u32()) != _AUTH_NONE:
            raise WireError(f"authentication plug-in {plug_in}; set AuthType=auth/none")
        uid, gid = reader.u32(), reader.u32()
        reader.text()
        if reader.left() != length:
            raise WireError(f"{length} bytes are announced, {reader.left()} follow")
    except WireError as error:
        raise WireError(f"header of a message: {error}") from None
    return Incoming(release.name_of(number), data[reader.position :], forward_to, uid, gid, protocol)


class Frames:
    """Cuts what arrives on a connection into messages."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that are whole now, without the length in front."""
        self._data += data
        found: list[bytes] = []
        while len(self._data) >= 4:
            size = int.from_bytes(self._data[:4])
            if size > MOST_BYTES:
                raise WireError(f"a message of {size} bytes: not Slurm's protocol")
            if len(self._data) < 4 + size:
                break
            found.append(bytes(self._data[4 : 4 + size]))
            del self._data[: 4 + size]
        return found
