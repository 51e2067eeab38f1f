"""Trace files of profiles: the actions of each rank, read and checked."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.workload.batsim.kinds import Replay

USAGE = "m_usage"
# How many numbers follow each action of MPI, at least; data types may come after them.
MPI_ACTIONS = {
    "init": 0,
    "finalize": 0,
    "comm_size": 0,
    "comm_split": 0,
    "comm_dup": 0,
    "location": 0,
    "compute": 1,
    "sleep": 1,
    "send": 3,
    "isend": 3,
    "recv": 3,
    "irecv": 3,
    "wait": 3,
    "test": 3,
    "waitall": 0,
    "sendRecv": 4,
    "barrier": 0,
    "bcast": 1,
    "reduce": 2,
    "allreduce": 2,
    "alltoall": 2,
    "alltoallv": 0,
    "gather": 2,
    "gatherv": 1,
    "allgather": 2,
    "allgatherv": 1,
    "scatter": 2,
    "scatterv": 1,
    "reducescatter": 1,
    "scan": 2,
    "exscan": 2,
}
TEXTS = ("location", "waitall", "comm_size", "comm_split", "comm_dup", "init", "finalize")  # their words are not read


@dataclass(frozen=True, slots=True)
class Action:
    name: str
    numbers: tuple[float, ...]
    words: int  # how many words its line has
    line: int


@dataclass(frozen=True, slots=True)
class Trace:
    """What each rank does."""

    ranks: tuple[tuple[Action, ...], ...]
    mpi: bool


def read_trace(profile: Replay, folder: Path, where: str) -> Trace:
    """The list of files that a profile names, and the files, which are where the list is."""
    listing = folder / profile.trace
    names = [line.strip() for line in _lines(listing, where) if line.strip()]
    if not names:
        raise InputError(
            f"'{profile.trace}' names no file", where=where, hint="a line for each rank: the name of its file"
        )
    ranks = tuple(_rank(listing.parent / name, rank, profile.mpi) for rank, name in enumerate(names))
    return Trace(ranks, profile.mpi)


def _lines(path: Path, where: str) -> list[str]:
    try:
        return path.read_text("utf-8", "replace").splitlines()
    except OSError as error:
        hint = "names are relative to the workload's folder, those in a list to the list's"
        raise InputError(f"cannot read '{path}': {error.strerror or error}", where=where, hint=hint) from None


def _rank(path: Path, rank: int, mpi: bool) -> tuple[Action, ...]:
    actions = []
    for number, text in enumerate(_lines(path, f"rank {rank}"), 1):
        words = text.split()
        if words and not words[0].startswith("#") and words[0] == str(rank):  # SimGrid passes over other ranks' lines
            actions.append(_action(words, mpi, number, f"{path}, line {number}"))
    return tuple(actions)


def _action(words: list[str], mpi: bool, line: int, where: str) -> Action:
    name = words[1] if len(words) > 1 else ""
    known = MPI_ACTIONS if mpi else {USAGE: 2}
    if name not in known:
        hint = did_you_mean(name, known, f"actions: {', '.join(known)}")
        raise InputError(f"action '{name[:40]}' is not known", where=where, hint=hint)
    try:
        numbers = () if name in TEXTS else tuple(float(word) for word in words[2:])
    except ValueError:
        raise InputError(f"'{' '.join(words)[:60]}': expected numbers after '{name}'", where=where) from None
    if len(numbers) < known[name]:
        message = f"'{name}' has {len(numbers)} numbers, expected at least {known[name]}"
        raise InputError(message, where=where)
    if not all(isfinite(number) for number in numbers) or (name in ("compute", "sleep") and numbers[0] < 0):
        raise InputError(f"'{' '.join(words)[:60]}': expected numbers that can be, at least 0", where=where)
    if name == USAGE and not (0 <= numbers[0] <= 1 and 0 <= numbers[1] < float("inf")):
        message = f"usage {words[2]} and flops {words[3]}: expected a share from 0 to 1, and a number, at least 0"
        raise InputError(message, where=where)
    return Action(name, numbers, len(words), line)
