"""External events: what happens to hosts whatever jobs do (`--events`), a JSON object a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import msgspec

from schedlab.bridge.batsim.resources import parse_hosts
from schedlab.model.errors import InputError
from schedlab.model.mistakes import raise_first

AVAILABLE, UNAVAILABLE = "machine_available", "machine_unavailable"
_reader = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, slots=True)
class External:
    """One of them. Of a type that is passed on as it is, `hosts` is None."""

    time: float
    kind: str
    hosts: tuple[int, ...] | None
    told: dict[str, Any]


def read_external(paths: Sequence[Path], hosts: int, *, unknown: bool) -> list[External]:
    """All events of the files by time; those of one time as Batsim sorts them, `machine_available` first.

    `unknown`: events of other types are passed on to the scheduler; without it they are mistakes.
    """
    found: list[tuple[float, int, int, External]] = []
    mistakes: list[InputError] = []
    for number, path in enumerate(paths):
        try:
            lines = path.read_bytes().splitlines()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None
        for row, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                one = _understood(_reader.decode(line), hosts, unknown)
            except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
                mistakes.append(InputError(str(error), where=f"{path}, line {row}"))
                continue
            rank = (AVAILABLE, UNAVAILABLE).index(one.kind) if one.hosts is not None else 2
            found.append((one.time, number, rank, one))
    raise_first(mistakes, ", ".join(map(str, paths)))
    return [one for *_, one in sorted(found, key=lambda entry: entry[:3])]


def _understood(event: dict[str, Any], hosts: int, unknown: bool) -> External:
    kind, time = event.get("type"), event.get("timestamp")
    if not isinstance(kind, str):
        raise ValueError(f"'type' is {kind!r}, expected a text")
    if isinstance(time, bool) or not isinstance(time, int | float) or not 0 <= time < inf:
        raise ValueError(f"'timestamp' is {time!r}, expected a time from 0 on")
    if kind not in (AVAILABLE, UNAVAILABLE):
        if unknown:
            return External(float(time), kind, None, event)
        raise ValueError(f"the type '{kind}' is not known (--forward-unknown-events passes it on)")
    which = event.get("resources")
    if not isinstance(which, str):
        raise ValueError(f"'resources' is {which!r}, expected hosts such as '0-3 5'")
    numbers = parse_hosts(which)
    if numbers[-1] >= hosts:
        raise ValueError(f"'resources' has host {numbers[-1]}, and there are {hosts}")
    return External(float(time), kind, tuple(numbers), event)
