"""Lines of a log as Batsim writes them to standard error; tools look for the messages in them."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from schedlab.bridge.batsim.version import BATSIM_VERSION

LEVELS = ("quiet", "network-only", "information", "debug")
_SOCKET = "master_host:Scheduler REQ-REP:(2)"  # the actor that has the socket


# What Batsim says of what it was given.


def version() -> str:
    return f"Batsim version: {BATSIM_VERSION}"


def corresponds(kind: str, name: str, file: str) -> str:
    thing = "Event list" if kind == "Events" else kind
    path = os.path.abspath(file)  # noqa: PTH100 - pathlib would be a tenth of what a small simulation takes
    return f"{thing} '{name}' corresponds to {kind.lower()} file '{path}'."


def exported(prefix: str) -> str:
    return f"Batsim's export prefix is '{prefix}'."


class Log:
    """`[12.500000] [server/INFO] …`. What is about the simulation is written from `information` on."""

    def __init__(self, level: str = "information", file: TextIO | None = None) -> None:
        place = LEVELS.index(level)
        self.talks = place >= 1  # of messages
        self.tells = place >= 2  # of everything else
        self._file = file or sys.stderr

    def always(self, text: str) -> None:
        """What was given, whatever the level."""
        self._file.write(f"[0.000000] [batsim/INFO] {text}\n")

    def info(self, time: float, who: str, text: str) -> None:
        if self.tells:
            self._file.write(f"[{time:f}] [{who}/INFO] {text}\n")

    def error(self, time: float, text: str) -> None:
        self._file.write(f"[{time:f}] [batsim/ERROR] {text}\n")

    def sending(self, time: float, message: bytes) -> None:
        if self.talks:
            self._file.write(f"[{_SOCKET} {time:f}] [network/INFO] Sending '{message.decode()}'\n")

    def received(self, time: float, message: bytes) -> None:
        if self.talks:
            text = message.decode("utf-8", "replace")
            self._file.write(f"[{_SOCKET} {time:f}] [network/INFO] Received '{text}'\n")
