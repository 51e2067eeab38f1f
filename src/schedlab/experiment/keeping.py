"""Is everything there? And: a study as one file, to move it."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from schedlab.experiment.coordinator import opened
from schedlab.experiment.execute import file_hashes, result_file, run_folder
from schedlab.experiment.ledger import PLAN
from schedlab.files.whole_file import whole_file
from schedlab.model.errors import InputError

PARTS = ("study.toml", PLAN, "results", "runs")


def verify(folder: Path, *, discard: bool = False) -> list[str]:
    """What is wrong with the finished runs of a study: missing or changed files, results that cannot be read.

    With `discard` the results of such runs are removed, so that the next `run` makes them again.
    """
    wrong = list(_offences(folder))
    if discard:
        for identity, _ in wrong:
            result_file(folder, identity).unlink(missing_ok=True)
        with opened(folder) as ledger:
            ledger.reconcile()
    return [f"{identity}: {problem}" for identity, problem in wrong]


def _offences(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted((folder / "results").glob("*.json")):
        identity = path.stem
        try:
            result = json.loads(path.read_text())
            expected: dict[str, str] = result["files"]
            if result["identity"] != identity:
                yield identity, f"its result is that of {result['identity']}"
                continue
        except (OSError, ValueError, KeyError, TypeError) as error:
            yield identity, f"its result cannot be read: {error!r:.80}"
            continue
        place = run_folder(folder, identity)
        found = file_hashes(place) if place.is_dir() else {}
        for name in sorted(expected.keys() | (found.keys() if expected else set())):
            if name not in found:
                yield identity, f"{name} is missing"
            elif name not in expected:
                yield identity, f"{name} does not belong to it"
            elif found[name] != expected[name]:
                yield identity, f"{name} has changed"


def export_study(folder: Path, out: Path) -> int:
    """The study as one archive (.tar, .tar.gz, .tar.zst); the number of runs in it."""
    with opened(folder), whole_file(out) as file, tarfile.open(fileobj=file, mode="w|") as archive:
        finished = sorted(path.stem for path in (folder / "results").glob("*.json"))
        for name in ("study.toml", PLAN):
            archive.add(folder / name, name)
        for identity in finished:
            place = run_folder(folder, identity)
            if place.is_dir():
                archive.add(place, f"runs/{identity}")
            archive.add(result_file(folder, identity), f"results/{identity}.json")  # last: the proof that all is there
    return len(finished)


def import_study(source: Path, folder: Path) -> int:
    """Put the runs of an archive into the folder of a study, new or not; the number of new ones."""
    from schedlab.files.bytestream import ByteStream

    with opened(folder) as ledger:
        before = {path.name for path in (folder / "results").glob("*.json")}
        try:
            with tarfile.open(fileobj=_Stream(ByteStream(source)), mode="r|") as archive:  # type: ignore[call-overload]
                for member in archive:
                    _check(member, source)
                    if not (folder / member.name).exists() or member.isdir():
                        archive.extract(member, folder, filter="data")
        except (tarfile.TarError, EOFError) as error:
            hint = "schedlab experiment export makes such archives"
            raise InputError(f"is not the archive of a study: {error}", where=str(source), hint=hint) from None
        ledger.read_plan()
        ledger.reconcile()
        return len({path.name for path in (folder / "results").glob("*.json")} - before)


def _check(member: tarfile.TarInfo, source: Path) -> None:
    inside = Path(member.name)
    if inside.parts[0] not in PARTS or ".." in inside.parts or not (member.isfile() or member.isdir()):
        raise InputError(f"holds {member.name}, which no study has", where=str(source), hint="is it the right file?")


class _Stream:
    """Pieces of bytes as a file to read from."""

    def __init__(self, pieces: Any) -> None:
        self._pieces, self._rest = iter(pieces), b""

    def read(self, size: int) -> bytes:
        while len(self._rest) < size:
            piece = next(self._pieces, b"")
            if not piece:
                break
            self._rest += piece
        found, self._rest = self._rest[:size], self._rest[size:]
        return found
