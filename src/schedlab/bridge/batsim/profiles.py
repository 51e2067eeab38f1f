"""Profiles on a platform: what a job of a workload does on the hosts that it was given, and how long that takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schedlab.bridge.batsim import replay
from schedlab.bridge.batsim.course import Course, Series, Task
from schedlab.bridge.batsim.platform import Platform
from schedlab.bridge.batsim.tasks import TASKS, Tasks
from schedlab.bridge.batsim.traces import Trace, read_trace
from schedlab.model.errors import InputError
from schedlab.model.mistakes import raise_first
from schedlab.model.suggest import did_you_mean
from schedlab.workload.batsim import profiles as reader
from schedlab.workload.batsim.kinds import (
    Composed,
    Delay,
    Homogeneous,
    Profile,
    Replay,
    Staging,
    Storage,
    exit_code,
    rounds,
)


@dataclass(frozen=True, slots=True)
class _Given:
    """What a job was given."""

    executors: Sequence[int]  # the host of each
    home: int  # the host on which the job itself is: its first
    ranks: Sequence[int] | None
    io_hosts: Sequence[int]

    def of_ranks(self, count: int, profile: str) -> list[int]:
        """The host of each rank of a trace."""
        ranks = self.ranks if self.ranks is not None else [rank % len(self.executors) for rank in range(count)]
        if len(ranks) != count or not all(0 <= place < len(self.executors) for place in ranks):
            message = f"profile '{profile}' has {count} ranks; they cannot be mapped to hosts by {list(ranks)}"
            raise InputError(message, hint="expected, for each rank, the place of its host in the allocation")
        return [self.executors[place] for place in ranks]


class Profiles:
    """Those of one workload, all of them checked.

    `folder` is what the names of trace files are relative to; without one there can be no traces. `where` is what
    messages call the workload.
    """

    def __init__(self, table: Mapping[str, Any], platform: Platform, folder: Path | None, where: str) -> None:
        self._read = reader.Profiles(dict(table), where)
        self._platform, self._folder, self._where = platform, folder, where
        self._known: dict[str, Profile] = {}
        self._delays: dict[str, Task] = {}  # they take the same time everywhere
        self._traces: dict[str, Trace] = {}
        for name in table:
            self._check(name)
        self._raise_mistakes()

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def add(self, name: str, spec: Mapping[str, Any]) -> None:
        """One that a scheduler registers while the simulation runs."""
        if name in self._known:
            raise InputError(f"there is a profile '{name}' already", where=self._where)
        self._read.add(name, dict(spec))
        self._check(name)
        self._raise_mistakes()

    def returns(self, name: str) -> int:
        """The exit code of a job that runs to its end."""
        return exit_code(self._profile(name))

    def takes_any_number(self, name: str) -> bool:
        """Whether its work is divided among the executors, as many as there are; or that of all its parts."""
        profile = self._profile(name)
        parts = profile.parts if isinstance(profile, Composed) else (profile,)
        return all(isinstance(part, Homogeneous) and part.total for part in parts)

    def usual_seconds(self, name: str, executors: int) -> float:
        """How long it takes on the first hosts, and with the first storage for whatever it reads or writes."""
        hosts = range(min(executors, len(self._platform.compute)))
        storage = dict.fromkeys(_labels(self._profile(name)), len(self._platform.compute))
        mapping = [executor % len(hosts) for executor in range(executors)]
        return self.course(name, hosts, mapping, storage=storage if self._platform.storage else None).seconds

    def course(
        self,
        name: str,
        hosts: Sequence[int],
        mapping: Sequence[int] | None = None,
        *,
        pstates: Sequence[int] | None = None,
        storage: Mapping[str, int] | None = None,
        ranks: Sequence[int] | None = None,
        io: tuple[str, Sequence[int]] | None = None,
    ) -> Course:
        """How a job with this profile runs on these hosts (ids of the platform).

        `mapping` says for each executor its place among `hosts`; without it each host is one executor. `pstates` are
        those of the whole platform, by id; `storage` is the host of each label. `ranks` says for each rank of a trace
        its place among the executors; without it they go round. `io` is another profile, on hosts of its own, whose
        tasks are done together with those of this one.
        """
        if (delay := self._delays.get(name)) is not None:
            return delay
        executors = hosts if mapping is None else [hosts[place] for place in mapping]
        tasks = Tasks(self._platform, pstates, storage or {})
        beside = None if io is None else self._profile(io[0])
        given = _Given(executors, min(hosts), ranks, () if io is None else io[1])
        return self._course(self._profile(name), given, tasks, beside)

    def _course(self, profile: Profile, given: _Given, tasks: Tasks, io: Profile | None) -> Course:
        if isinstance(profile, Composed):
            parts, repeat = rounds(profile)
            others = _parts_of(io, profile)
            known: dict[tuple[int, int], Course] = {}  # a part that comes again takes as long again
            found = []
            for part, other in zip(parts, others, strict=False):  # after a part that fails there are no others
                pair = id(part), id(other)
                if pair not in known:
                    known[pair] = self._course(part, given, tasks, other)
                found.append(known[pair])
            return Series.of(profile, tuple(found), repeat)
        if isinstance(profile, Delay):
            return self._delays[profile.name]
        if isinstance(profile, Replay):
            trace = self._traces[profile.name]
            hosts = given.of_ranks(len(trace.ranks), profile.name)
            return replay.Replay(self._platform, tasks, trace, hosts, given.home).task(profile.name)
        return tasks.task(profile, given.executors, io, given.io_hosts)

    def _profile(self, name: str) -> Profile:
        found = self._known.get(name)
        if found is None:
            hint = did_you_mean(name, self._known, "expected the name of a profile of the workload")
            raise InputError(f"there is no profile '{name}'", where=self._where, hint=hint)
        return found

    def _check(self, name: str) -> None:
        profile = self._read.get(name)
        if profile is None:
            return
        try:
            self._check_kind(profile)
        except InputError as mistake:
            self._read.mistakes.append(mistake)
            return
        self._known[name] = profile
        if isinstance(profile, Delay):
            self._delays[name] = Task(name, profile.seconds)

    def _check_kind(self, profile: Profile) -> None:
        where = f"{self._where}, profile '{profile.name}'"
        if isinstance(profile, Delay) and not profile.seconds > 0:
            raise InputError(f"'delay' is {profile.seconds:g}, expected seconds above 0", where=where)
        if isinstance(profile, Replay):
            if self._folder is None:
                raise InputError(f"type '{profile.kind}': a trace can only be named in a file", where=where)
            self._traces[profile.name] = read_trace(profile, self._folder, where)
        elif not isinstance(profile, (Composed, Delay, *TASKS)):
            hint = reader.types_hint(profile.kind) if reader.reason(profile.kind) == reader.UNKNOWN else ""
            raise InputError(f"type '{profile.kind}': {reader.reason(profile.kind)}", where=where, hint=hint)

    def _raise_mistakes(self) -> None:
        mistakes, self._read.mistakes = self._read.mistakes, []
        raise_first(mistakes, self._where)


def _parts_of(io: Profile | None, profile: Composed) -> Sequence[Profile | None]:
    """What is done together with each part of a sequence."""
    if io is None:
        return [None] * len(profile.parts)
    if not isinstance(io, Composed) or len(io.parts) != len(profile.parts):
        message = f"profile '{io.name}' cannot be done together with '{profile.name}'"
        raise InputError(message, hint=f"expected a sequence of {len(profile.parts)} parts as well")
    return io.parts


def _labels(profile: Profile) -> set[str]:
    """Of the storages that it uses."""
    if isinstance(profile, Composed):
        return {label for part in profile.parts for label in _labels(part)}
    if isinstance(profile, Staging):
        return {profile.source, profile.target}
    return {profile.label} if isinstance(profile, Storage) else set()
