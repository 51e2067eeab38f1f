"""What a job of a Batsim workload does: one class for each kind of profile, whatever its version calls it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    name: str
    kind: str  # its type, as written
    returns: int = 0  # its exit code
    unread: frozenset[str] = frozenset()  # fields that nobody reads


@dataclass(frozen=True, slots=True)
class Delay(Profile):
    """Time passes; nothing is computed."""

    seconds: float = 0.0
    cores: float = 1.0  # of each host (Batkube)
    memory: int = 0  # bytes of each host, likewise


@dataclass(frozen=True, slots=True)
class Parallel(Profile):
    """A parallel task: executor i computes flops[i] and sends bytes[i * n + j] to executor j, all at once."""

    flops: tuple[float, ...] = ()  # of each executor
    bytes: tuple[float, ...] = ()  # row by row; empty: nothing is sent


@dataclass(frozen=True, slots=True)
class Homogeneous(Profile):
    """A parallel task of any number of executors, each with the same to compute and to send to each other one."""

    flops: float = 0.0
    bytes: float = 0.0
    total: bool = False  # both are divided by the number of executors
    of_all_pairs: bool = False  # then the bytes are divided by the number of pairs (version 5)

    def shares(self, executors: int) -> tuple[float, float]:
        """The flops of each of so many executors, and the bytes of each pair."""
        if not self.total:
            return self.flops, self.bytes
        pairs = max(executors * (executors - 1), 1) if self.of_all_pairs else executors
        return self.flops / executors, self.bytes / pairs


@dataclass(frozen=True, slots=True)
class Storage(Profile):
    """A parallel task in which each executor reads from one storage and writes to it."""

    read: float = 0.0  # bytes of each executor
    write: float = 0.0
    label: str = "pfs"  # what the scheduler maps to a storage host


@dataclass(frozen=True, slots=True)
class Staging(Profile):
    """A transfer from one storage to another; the job's hosts have no part in it."""

    bytes: float = 0.0
    source: str = ""  # labels, as of Storage
    target: str = ""


@dataclass(frozen=True, slots=True)
class Composed(Profile):
    """Other profiles, one after the other, `repeat` times."""

    parts: tuple[Profile, ...] = ()
    repeat: int = 1


@dataclass(frozen=True, slots=True)
class Replay(Profile):
    """What each rank does is in files: `trace` names a list of them."""

    trace: str = ""  # relative to the workload's folder
    mpi: bool = False  # actions of MPI (smpi); else computations with a share of a host's cores (usage_trace)


@dataclass(frozen=True, slots=True)
class Unsupported(Profile):
    """A type that cannot be run."""


def exit_code(profile: Profile) -> int:
    """That of the first part that fails, or else its own."""
    if isinstance(profile, Composed):
        return next((code for part in profile.parts if (code := exit_code(part))), profile.returns)
    return profile.returns


def rounds(profile: Composed) -> tuple[tuple[Profile, ...], int]:
    """The parts that are run, and how often: a part that fails is the last."""
    for place, part in enumerate(profile.parts):
        if exit_code(part):
            return profile.parts[: place + 1], 1
    return profile.parts, profile.repeat
