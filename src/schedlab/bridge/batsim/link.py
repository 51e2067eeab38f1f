"""Our end of the socket: the simulator asks (REQ) and connects, the scheduler answers (REP) and binds."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from typing import Protocol

from schedlab.bridge.batsim.errors import BatsimError, quoted
from schedlab.bridge.batsim.zmtp import GREETING, Frames, WireError, ready, request
from schedlab.model.errors import InputError

LOOK_EVERY = 0.2  # seconds of silence after which it is looked whether the scheduler lives
TRY_EVERY = 0.02  # and after which it is tried again to connect to one that is not there yet
DYING = 1.0  # seconds between the end of a connection and that of the process
_PIECE = 1 << 16
_TIMEOUT = struct.pack("ll", 0, int(LOOK_EVERY * 1e6))


class Partner(Protocol):
    """Whoever answers messages."""

    def exchange(self, message: bytes) -> bytes: ...

    def exchange_last(self, message: bytes, patience: float) -> bytes: ...

    def close(self) -> None: ...


class Link:
    """One connection to one scheduler. `ended()` says what became of it, if it does not live any more."""

    def __init__(self, endpoint: str, deadline: float, ended: Callable[[], str] | None = None) -> None:
        self.endpoint, self._deadline, self._ended = endpoint, deadline, ended
        self._family, self._address = _address(endpoint)
        self._socket: socket.socket | None = None
        self._frames = Frames(self._read)
        self._asked = b""
        self._since = 0.0  # when it was clear that the answer takes longer
        self._pieces = 0  # of the answer, so far

    def exchange(self, message: bytes) -> bytes:
        """Say something and wait for the answer; an error, never a wait without end, if none comes."""
        self._asked, self._since, self._pieces = message, 0.0, 0
        if self._socket is None:
            self._connect()
        assert self._socket is not None
        try:
            self._frames.expect_silence()
            self._socket.sendall(request(message))
            return self._frames.reply()
        except WireError as error:
            raise self._error(f"the scheduler at {self.endpoint} cannot be understood: {error}") from None
        except (ConnectionError, TimeoutError) as error:
            raise self._lost(error.strerror or str(error)) from None

    def exchange_last(self, message: bytes, patience: float) -> bytes:
        """The same where nothing depends on the answer: none if there is none."""
        self._deadline = patience
        try:
            return self.exchange(message)
        except BatsimError:
            return b""

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()

    def _connect(self) -> None:
        """As soon as somebody listens."""
        began = time.monotonic()
        while True:
            connection = socket.socket(self._family)
            try:
                connection.connect(self._address)
                break
            except (ConnectionError, FileNotFoundError):
                connection.close()
            except OSError as error:
                connection.close()
                raise InputError(f"cannot connect to {self.endpoint}: {error.strerror}", hint=_EXAMPLE) from None
            self._look()
            if time.monotonic() - began > self._deadline:
                said = f"no scheduler has come to {self.endpoint} in {self._deadline:g} s"
                raise BatsimError(f"{said}; it has to bind a REP socket there")
            time.sleep(TRY_EVERY)
        self._socket = connection
        if self._family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, _TIMEOUT)
        try:
            connection.sendall(GREETING)
            self._frames.greet()
            connection.sendall(ready())
            self._frames.meet()
        except WireError as error:
            raise BatsimError(f"there is no scheduler at {self.endpoint}: {error}") from None
        except OSError as error:
            raise self._lost(error.strerror or str(error)) from None

    def _read(self) -> bytes:
        assert self._socket is not None
        while True:
            try:
                data = self._socket.recv(_PIECE)
            except BlockingIOError:
                self._wait_longer()
                continue
            if not data:
                raise self._lost("it is closed")
            self._pieces += 1
            if self._pieces > 1:
                self._wait_longer()  # a little now and then is no silence, and no answer
            return data

    def _wait_longer(self) -> None:
        now = time.monotonic()
        if not self._since:
            self._since = now - LOOK_EVERY
        self._look()
        if now - self._since > self._deadline:
            raise self._error(f"the scheduler at {self.endpoint} has not answered in {self._deadline:g} s")

    def _look(self) -> None:
        if self._ended is not None and (end := self._ended()):
            raise self._error(f"the scheduler {end}, and did not answer")

    def _lost(self, why: str) -> BatsimError:
        """The connection broke: most likely because the scheduler did, which may take a moment to be known."""
        if self._ended is not None:
            until = time.monotonic() + DYING
            while not (end := self._ended()) and time.monotonic() < until:
                time.sleep(TRY_EVERY)
            if end:
                return self._error(f"the scheduler {end}, and did not answer")
        return self._error(f"the connection to the scheduler at {self.endpoint} broke: {why}")

    def _error(self, said: str) -> BatsimError:
        return BatsimError(f"{said}; it was asked {quoted(self._asked)}")


def is_taken(endpoint: str) -> bool:
    """Whether somebody listens there already."""
    family, address = _address(endpoint)
    with socket.socket(family) as connection:
        connection.settimeout(LOOK_EVERY)
        try:
            connection.connect(address)
        except OSError:
            return False
    return True


_EXAMPLE = "write it as tcp://localhost:28000 or ipc:///path/of/a/socket"


def _address(endpoint: str) -> tuple[socket.AddressFamily, str | tuple[str, int]]:
    """What `endpoint` means for the operating system."""
    kind, _, place = endpoint.partition("://")
    if kind == "ipc" and place:
        return socket.AF_UNIX, f"\0{place[1:]}" if place.startswith("@") else place
    host, _, port = place.rpartition(":")
    if kind != "tcp" or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise InputError(f"'{endpoint}' is no place where a scheduler can be", hint=_EXAMPLE)
    host = host.strip("[]")
    try:
        found = socket.getaddrinfo("127.0.0.1" if host == "*" else host, int(port), type=socket.SOCK_STREAM)
    except OSError as error:
        raise InputError(f"'{endpoint}': {error.strerror}", hint=_EXAMPLE) from None
    # Schedulers that bind tcp://*: listen to IPv4 alone, unless they were told otherwise.
    family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    return family, (str(address[0]), int(address[1]))
