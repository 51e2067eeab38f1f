"""The wire of ZeroMQ, ZMTP 3.0 (rfc.zeromq.org/spec/23), as far as a REQ socket without security needs it.

libzmq passes every message through a thread of its own. With a question and an answer for each simulated instant, that
costs three times the CPU time of everything else on the way, and most of the waiting.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

_MORE, _LONG, _COMMAND = 0x01, 0x02, 0x04
GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
_DELIMITER = bytes((_MORE, 0))  # a REQ's envelope: an empty frame before the message
_SHORT_REPLY = _DELIMITER + b"\0"
_LARGEST = 1 << 32  # bytes of a message; what claims to be more is none

Read = Callable[[], bytes]  # what has come, at least one byte


class WireError(Exception):
    """The other end does not speak it."""


def ready() -> bytes:
    """The command that ends the handshake: who we are."""
    properties = b"".join(
        bytes((len(name),)) + name + struct.pack(">I", len(value)) + value
        for name, value in ((b"Socket-Type", b"REQ"), (b"Identity", b""))
    )
    body = b"\x05READY" + properties
    return bytes((_COMMAND, len(body))) + body


def request(message: bytes) -> bytes:
    """A message as it goes over the wire."""
    if len(message) < 256:
        return b"%b\0%b%b" % (_DELIMITER, bytes((len(message),)), message)
    return b"%b\x02%b%b" % (_DELIMITER, struct.pack(">Q", len(message)), message)


class Frames:
    """What comes from the other end, frame by frame."""

    def __init__(self, read: Read) -> None:
        self._read, self._rest = read, b""

    def greet(self) -> None:
        """The other end's part of the handshake, but for its READY."""
        theirs = self._take(len(GREETING))
        if theirs[:1] != b"\xff" or theirs[9:10] != b"\x7f":
            raise WireError("it does not speak ZeroMQ's protocol")
        if theirs[10] < 3 or theirs[12:32].rstrip(b"\0") != b"NULL":
            raise WireError(f"it speaks version {theirs[10]} of ZeroMQ's protocol, or wants a password")

    def meet(self) -> None:
        """Its READY: whether it is one who answers."""
        command, body = self._frame()
        if not command & _COMMAND or not body.startswith(b"\x05READY"):
            raise WireError(f"it does not want to talk: {body[1:80]!r}")
        if b"\x0bSocket-Type\0\0\0\x03REP" not in body and b"\x0bSocket-Type\0\0\0\x06ROUTER" not in body:
            raise WireError("it is not a REP socket")

    def expect_silence(self) -> None:
        """Before it is asked something."""
        if self._rest:
            raise WireError("it has said something that it was not asked")

    def reply(self) -> bytes:
        """The next message."""
        data = self._rest or self._read()
        # Nearly always it is there in one piece.
        if data.startswith(_SHORT_REPLY) and len(data) > 3 and len(data) == 4 + data[3]:
            self._rest = b""
            return data[4:]
        self._rest = data
        parts: list[bytes] = []
        while True:
            flags, body = self._frame()
            if flags & _COMMAND:
                continue  # a sign of life
            parts.append(body)
            if not flags & _MORE:
                break
        if len(parts) != 2 or parts[0]:
            raise WireError(f"its answer has {len(parts)} parts, expected one message")
        return parts[1]

    def _frame(self) -> tuple[int, bytes]:
        flags = self._take(1)[0]
        size = struct.unpack(">Q", self._take(8))[0] if flags & _LONG else self._take(1)[0]
        if size > _LARGEST:
            raise WireError(f"its answer has {size:,} bytes")
        return flags, self._take(size)

    def _take(self, size: int) -> bytes:
        pieces, there = [self._rest], len(self._rest)
        while there < size:
            pieces.append(self._read())
            there += len(pieces[-1])
        data = b"".join(pieces) if len(pieces) > 1 else pieces[0]
        self._rest = data[size:]
        return data[:size]
