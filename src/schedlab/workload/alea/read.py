"""Extended SWF of the simulators Alea and AleaNG: columns 19 to 21 say what a job asks for (docs/formats/alea.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from schedlab.files.bytestream import ByteStream
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload
from schedlab.workload.alea.requests import Wish, wish
from schedlab.workload.options import ReadOptions
from schedlab.workload.stream import Columns, stream
from schedlab.workload.swf.header import origin
from schedlab.workload.swf.read import CHUNK, SwfLog, SwfReport, SwfScan

FIELDS = 21
NO_PRECEDING = "preceding job: Alea does not use it, left out"


def read_alea(path: Path, options: ReadOptions) -> Workload:
    """The jobs of a log of Alea or AleaNG. Files beside it (.queues, .users, .groups) give names to numbers."""
    log = AleaLog(path, options)
    return stream(path, log.scan, options, log.known, origin=origin)


def looks_like(start: str, name: str) -> bool:
    """SWF with 21 columns."""
    rows = (line.split() for line in start.splitlines() if line.strip() and not line.lstrip().startswith(";"))
    fields = next(rows, [])
    return len(fields) == FIELDS and ";" not in fields[0] and "," not in fields[0]


class AleaLog(SwfLog):
    """What all passes over a log share."""

    def __init__(self, path: Path, options: ReadOptions) -> None:
        super().__init__(path, options)
        for column in ("queue", "user", "group"):
            for name in names_beside(path, f"{column}s"):
                self.known.number(column, name)

    def scan(self) -> AleaScan:
        return AleaScan(self)


class AleaScan(SwfScan):
    """One pass: the native parser reads 18 columns, the other three wait here until it gives their jobs."""

    def __init__(self, log: AleaLog) -> None:
        super().__init__(log)
        self._extras: dict[str, tuple[str, str, str]] = {}  # by job id
        self._rest = b""
        self._filled: dict[str, int] = {}

    def __iter__(self) -> Iterator[Columns]:
        parser = self._parser
        for piece in self._bytes:
            self._watch(piece)
            if not parser.feed(piece):
                raise self._stopped()
            if parser.ready >= CHUNK:
                yield self._take()
        self._watch(b"\n")
        if not parser.finish():
            raise self._stopped()
        if parser.ready:
            yield self._take()

    @property
    def report(self) -> SwfReport:
        found = super().report
        found.filled = found.filled | self._filled
        return found

    def _watch(self, piece: bytes) -> None:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            fields = line.decode(errors="replace").split()
            if len(fields) >= FIELDS and not fields[0].startswith(";"):
                self._extras.setdefault(_key(fields[0]), (fields[18], fields[19], fields[20]))

    def _take(self) -> Columns:
        self._log.named = self._parser.named
        columns: dict[str, Any] = self._parser.take()
        names = columns.pop("names", [])
        keys = list(names) if self._log.named else [str(job) for job in columns["id"].tolist()]
        if self._log.named:
            columns["names"] = np.array(names, object)
        memory = columns.pop("memory")
        if not self._log.options.full:
            memory = np.zeros(len(memory), np.int64)
        wishes: dict[Any, Wish] = {}
        found = []
        for key, processors, amount in zip(keys, columns["count"].tolist(), memory.tolist(), strict=True):
            what = (self._extras.get(key, ("", "", "")), processors, amount)
            if what not in wishes:
                wishes[what] = wish(*what)
            found.append(wishes[what])
        self._extras.clear()
        self._fill(columns, found)
        return columns

    def _fill(self, columns: dict[str, Any], found: list[Wish]) -> None:
        known = self._log.known
        columns["count"] = np.array([one.count for one in found], np.int64)
        columns["request"] = np.array([known.request(one.request) for one in found], np.int32)
        if any(one.queue for one in found):
            columns["queue"] = np.array([known.number("queue", one.queue) for one in found], np.int32)
        for one in found:
            for note in one.notes:
                self._filled[note] = self._filled.get(note, 0) + 1
        if preceded := int(np.count_nonzero(columns["after"] >= 0)):
            self._filled[NO_PRECEDING] = self._filled.get(NO_PRECEDING, 0) + preceded
        columns["after"] = np.full(len(found), -1, np.int64)
        columns["think"] = np.zeros(len(found))


def names_beside(path: Path, kind: str) -> list[str]:
    """`log.swf.queues` beside `log.swf`: an id from 0 up and a name in each line. Empty if there is no such file."""
    plain = path.name.removesuffix(".gz").removesuffix(".zst")
    beside = [path.with_name(f"{plain}.{kind}{ending}") for ending in ("", ".gz", ".zst")]
    file = next((one for one in beside if one.is_file()), None)
    if file is None:
        return []
    names: dict[int, str] = {}
    for number, line in enumerate(b"".join(ByteStream(file)).decode(errors="replace").splitlines(), 1):
        fields = line.split()
        if not fields or fields[0].startswith(";"):
            continue
        if len(fields) < 2 or not fields[0].isdecimal() or int(fields[0]) != len(names):
            hint = "ids count from 0; a name follows, then shares or limits"
            message = f'"{line.strip()[:60]}" is not id {len(names)} and its name'
            raise InputError(message, where=f"{file}, line {number}", hint=hint)
        names[len(names)] = fields[1]
    return list(names.values())


def _key(job: str) -> str:
    """As the parser understands job numbers: 7, 007 and 7.0 are the same."""
    try:
        return str(int(float(job))) if len(job) <= 15 else str(int(job))
    except (ValueError, OverflowError):
        return job
