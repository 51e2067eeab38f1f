"""Is everything there? And: a study as one file, to move it; parts of a study, to merge them."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from schedlab.experiment.coordinator import opened
from schedlab.experiment.folder import (
    CHECKPOINTS,
    LEDGER,
    PLAN,
    DamagedError,
    check_study_folder,
    copy_run,
    file_hashes,
    finished,
    read_locked,
    read_result,
    result_file,
    run_folder,
)
from schedlab.experiment.ledger import BACKUPS, Ledger, forget, read_plan, seconds_of
from schedlab.experiment.merging import refusals
from schedlab.files.whole_file import whole_file
from schedlab.model.errors import InputError, InputErrors

PARTS = ("study.toml", PLAN, "results", "runs")
LEFT_OUT = (".", ".lock", LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm", BACKUPS, CHECKPOINTS)
MOST_SAID = 10


def verify(folder: Path, *, discard: bool = False) -> list[str]:
    """What is wrong with the finished runs of a study: missing or changed files, results that cannot be read.

    With `discard` the results of such runs are removed, so that the next `run` makes them again.
    """
    if not discard:
        return [f"{identity}: {problem}" for identity, problem in _wrong(folder)]
    with opened(folder) as ledger:
        wrong = _wrong(folder)
        for identity, _ in wrong:
            result_file(folder, identity).unlink(missing_ok=True)
        ledger.reconcile(seconds_of(folder, forget(folder, lambda _: None)))
    return [f"{identity}: {problem}" for identity, problem in wrong]


def _wrong(folder: Path) -> list[tuple[str, str]]:
    return [(identity, problem) for identity in finished(folder) for problem in offences(folder, identity)]


def offences(folder: Path, identity: str) -> Iterator[str]:
    """What is wrong with one run."""
    try:
        expected: dict[str, str] = read_result(folder, identity)["files"]
    except DamagedError as error:
        yield error.message
        return
    place = run_folder(folder, identity)
    found = file_hashes(place) if place.is_dir() else {}
    for name in sorted(expected.keys() | (found.keys() if expected else set())):
        if name not in found:
            yield f"{name} is missing"
        elif name not in expected:
            yield f"{name} does not belong to it"
        elif found[name] != expected[name]:
            yield f"{name} has changed"


def export_study(folder: Path, out: Path) -> int:
    """The study as one archive (.tar, .tar.gz, .tar.zst); the number of runs in it."""
    with read_locked(folder), whole_file(out) as file, tarfile.open(fileobj=file, mode="w|") as archive:
        identities = finished(folder)
        for name in ("study.toml", PLAN):
            archive.add(folder / name, name)
        for identity in identities:
            place = run_folder(folder, identity)
            if place.is_dir():
                archive.add(place, f"runs/{identity}")
            archive.add(result_file(folder, identity), f"results/{identity}.json")  # last: the proof that all is there
    return len(identities)


def import_study(source: Path, folder: Path) -> tuple[int, int]:
    """Put the runs of an archive, or of another folder, into the folder of a study, new or not.

    Nothing is, if any of them is damaged, is not a run of this study, or is there with another result. How many are
    new, and how many were there.
    """
    check_study_folder(folder)
    was_there = folder.exists()
    with opened(folder) as ledger:
        # Another process may have made it a study before the lock was ours.
        new_folder = not was_there and not ledger.planned()
        try:
            return _take(source, folder, ledger)
        except BaseException:
            if new_folder:
                shutil.rmtree(folder, ignore_errors=True)
            raise


def _take(source: Path, folder: Path, ledger: Ledger) -> tuple[int, int]:
    with _as_folder(source, folder) as place:
        identities = finished(place)
        _check_whole(source, place, identities)
        _take_plan(ledger, place)
        wrong = refusals(place, identities, folder, ledger, str(source))
        if wrong:
            raise wrong[0] if len(wrong) == 1 else InputErrors(wrong)
        new = sorted(set(identities) - set(finished(folder)))
        for identity in new:
            copy_run(identity, place, folder)
        ledger.reconcile(seconds_of(folder, forget(folder, lambda _: None)))
    return len(new), len(identities) - len(new)


@contextmanager
def _as_folder(source: Path, folder: Path) -> Iterator[Path]:
    """A folder with what is in `source`; an archive is unpacked beside the runs it is to join."""
    if source.is_dir():
        if source.resolve() == folder.resolve():
            raise InputError("is the folder to import into", where=str(source), hint="name another one")
        yield source
        return
    unpacked = folder / ".import"
    shutil.rmtree(unpacked, ignore_errors=True)  # of one that was killed: the folder is ours
    try:
        unpacked.mkdir()
        _unpack(source, unpacked)
        yield unpacked
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)


def _unpack(source: Path, folder: Path) -> None:
    from schedlab.files.bytestream import ByteStream

    try:
        with tarfile.open(fileobj=_Stream(ByteStream(source)), mode="r|") as archive:  # type: ignore[call-overload]
            safe: Any = getattr(tarfile, "data_filter", None)  # Python before 3.11.4 has none; _check is strict anyway
            archive.extraction_filter = safe
            for member in archive:
                if _check(member, source):
                    archive.extract(member, folder)
    except (tarfile.TarError, EOFError, FileExistsError, NotADirectoryError) as error:
        hint = "schedlab experiment export makes such archives"
        raise InputError(f"is not the archive of a study: {error}", where=str(source), hint=hint) from None


def _check(member: tarfile.TarInfo, source: Path) -> bool:
    """Whether it is to be unpacked. `tar` has the folder itself too, and what is made again from the rest."""
    inside = Path(member.name).parts or (".",)
    if inside[0] in LEFT_OUT:
        return False
    if inside[0] not in PARTS or ".." in inside or not (member.isfile() or member.isdir()):
        raise InputError(f"holds {member.name}, which no study has", where=str(source), hint="is it the right file?")
    return True


def _check_whole(source: Path, place: Path, identities: list[str]) -> None:
    """A plan, and runs whose files are those that they were written with."""
    if not (place / PLAN).is_file():
        hint = "schedlab experiment run makes such a folder, schedlab experiment export an archive of one"
        raise InputError(f"is not a study: it has no {PLAN}", where=str(source), hint=hint)
    wrong = [f"{identity}: {problem}" for identity in identities for problem in offences(place, identity)]
    if wrong:
        more = [f"and {len(wrong) - MOST_SAID:,} more"] if len(wrong) > MOST_SAID else []
        hint = "schedlab experiment verify --discard forgets damaged runs, where they come from"
        raise InputError(f"is damaged: {'; '.join([*wrong[:MOST_SAID], *more])}", where=str(source), hint=hint)


def _take_plan(ledger: Ledger, place: Path) -> None:
    """In a new folder: the plan of what is imported first, and its study file."""
    if ledger.planned():
        return
    if (place / "study.toml").is_file():
        shutil.copyfile(place / "study.toml", ledger.folder / "study.toml")
    runs, study = read_plan(place / PLAN)
    ledger.set_plan(runs, study | {"part": None})
    ledger.write_plan()


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
