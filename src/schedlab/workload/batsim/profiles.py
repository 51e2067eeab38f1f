"""The profiles of a Batsim workload: how long each kind of job takes, by the rules of docs/formats/batsim.md."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.workload.batsim.quantity import quantity

# Floating-point operations a second of the hosts on which computations are timed: those of Batsim's `cluster512`,
# with which its workloads state their expected execution times.
REFERENCE_SPEED = 1e9
LARGEST_TIME = 1e18  # seconds; Batsim's own test of distant jobs has 1e17
LARGEST_AMOUNT = 1e30  # flops or bytes
MOST_NESTED = 100  # sequences inside sequences
MOST_CORES = 1e6  # of a host

# Names of Batsim 3 and 4, of versions 1 and 2 (msg_…), of the versions between (ptask…), and of version 5 (…Profile).
DELAY = ("delay", "DelayProfile")
PARALLEL = ("parallel", "msg_par", "ptask", "ParallelTaskProfile")
HOMOGENEOUS = ("parallel_homogeneous", "msg_par_hg", "ptask_homogeneous", "ParallelTaskHomogeneousProfile")
HOMOGENEOUS_TOTAL = ("parallel_homogeneous_total", "msg_par_hg_tot")
SEQUENCE = ("composed", "sequence", "SequentialCompositionProfile")
STRATEGIES = {"DefinedAmountsUsedForEachValue": False, "DefinedAmountsSpreadUniformly": True}

_STORAGE = "its time is that of a storage, which a workload does not tell"
_TRACE = "what it does is in a trace file of its own, which is not read"
_MESSAGE = "its time depends on what the scheduler answers"
_UNDEFINED = "Batsim names this type and does not run it"
NO_RUNTIME = {
    "parallel_homogeneous_pfs": _STORAGE,
    "parallel_homogeneous_pfs_multiple_tiers": _STORAGE,
    "msg_par_hg_pfs": _STORAGE,
    "msg_par_hg_pfs0": _STORAGE,
    "msg_par_hg_pfs_tiers": _STORAGE,
    "ParallelTaskOnStorageHomogeneousProfile": _STORAGE,
    "data_staging": _STORAGE,
    "ParallelTaskDataStagingBetweenStoragesProfile": _STORAGE,
    "smpi": _TRACE,
    "usage_trace": _TRACE,
    "TraceReplayProfile": _TRACE,
    "send": _MESSAGE,
    "recv": _MESSAGE,
    "ForkJoinCompositionProfile": _UNDEFINED,
    "ParallelTaskMergeCompositionProfile": _UNDEFINED,
}
UNKNOWN = "Batsim has no such type"


@dataclass(frozen=True, slots=True)
class Profile:
    """What a job takes: `fixed` seconds, and `spread` seconds divided by its number of hosts."""

    fixed: float = 0.0
    spread: float = 0.0
    computes: bool = False  # some of the time is that of a computation
    communicates: bool = False  # and some is left out
    returns: int = 0
    hosts: frozenset[int] = frozenset()  # the numbers of hosts it is written for
    cores: float = 1.0  # of each host
    memory: int = 0  # bytes of each host
    unread: frozenset[str] = frozenset()  # its other fields
    without_runtime: dict[str, str] = field(default_factory=dict)  # type -> name of the profile, itself or a part


class Profiles:
    """The profiles of one file. `mistakes` has what is wrong with those that have been asked for."""

    def __init__(self, table: dict[str, Any], speed: float, file: str) -> None:
        self.mistakes: list[InputError] = []
        self._table, self._speed, self._file = table, speed, file
        self._known: dict[str, Profile | None] = {}
        self._open: list[str] = []  # sequences that are being looked at, outermost first

    def names(self) -> list[str]:
        return list(self._table)

    def __contains__(self, name: str) -> bool:
        return name in self._table

    def get(self, name: str) -> Profile | None:
        """The profile of that name, which has to be there; None if it is wrong."""
        if name not in self._known:
            self._open.append(name)
            try:
                self._known[name] = self._checked(name, self._profile(name, self._table[name]))
            except InputError as mistake:
                self.mistakes.append(mistake)
                self._known[name] = None
            self._open.pop()
        return self._known[name]

    def _checked(self, name: str, profile: Profile | None) -> Profile | None:
        if profile is not None and not profile.fixed + profile.spread <= LARGEST_TIME:
            raise InputError(f"takes more than {LARGEST_TIME:.0e} s", where=f"{self._file}, profile '{name}'")
        return profile

    def _profile(self, name: str, spec: Any) -> Profile | None:
        where = f"{self._file}, profile '{name}'"
        if not isinstance(spec, dict):
            raise InputError(f"is {shown(spec)}, expected an object with a type", where=where)
        kind = spec.get("type")
        if not isinstance(kind, str):
            raise InputError(f"'type' is {shown(kind)}, expected a text", where=where, hint=_types_hint(""))
        returns = spec.get("ret", 0)
        if not is_whole(returns, -(2**31)):
            raise InputError(f"'ret' is {shown(returns)}, expected a whole number", where=where)
        if kind in DELAY:
            delay = Profile(fixed=_number(spec, "delay", "seconds", where), returns=returns)
            return _with_pods(delay, spec)
        if kind in PARALLEL:
            return self._parallel(spec, where, returns)
        if kind in HOMOGENEOUS or kind in HOMOGENEOUS_TOTAL:
            return self._homogeneous(spec, where, returns, total=kind in HOMOGENEOUS_TOTAL)
        if kind in SEQUENCE:
            return self._sequence(spec, where, returns)
        return Profile(without_runtime={kind: name}, returns=returns)

    def _parallel(self, spec: dict[str, Any], where: str, returns: int) -> Profile:
        """The host with most to compute decides."""
        cpu, com = (_numbers(spec, key, where) for key in ("cpu", "com"))
        hosts = len(cpu) if "cpu" in spec else math.isqrt(len(com))
        if not hosts:
            raise InputError("has neither 'cpu' nor 'com', expected an amount for each host", where=where)
        if "com" in spec and len(com) != hosts * hosts:
            expected = f"{hosts * hosts} ({hosts} × {hosts} hosts)"
            raise InputError(f"'com' has {len(com)} amounts, expected {expected}", where=where)
        flops = max(cpu, default=0.0)
        return Profile(
            unread=_unread(spec, "cpu", "com"),
            fixed=flops / self._speed,
            computes=flops > 0,
            communicates=any(com),
            returns=returns,
            hosts=frozenset([hosts]),
        )

    def _homogeneous(self, spec: dict[str, Any], where: str, returns: int, *, total: bool) -> Profile:
        flops = _number(spec, "cpu", "flops", where)
        amount = _number(spec, "com", "bytes", where) if "com" in spec else 0.0
        strategy = spec.get("generation_strategy")
        if strategy is not None:
            if not isinstance(strategy, str) or strategy not in STRATEGIES:
                hint = f"expected {' or '.join(STRATEGIES)}"
                raise InputError(f"'generation_strategy' is {shown(strategy)}", where=where, hint=hint)
            total = STRATEGIES[strategy]
        seconds = flops / self._speed
        return Profile(
            unread=_unread(spec, "cpu", "com", "generation_strategy"),
            fixed=0.0 if total else seconds,
            spread=seconds if total else 0.0,
            computes=flops > 0,
            communicates=amount > 0,
            returns=returns,
        )

    def _sequence(self, spec: dict[str, Any], where: str, returns: int) -> Profile | None:
        repeat = spec.get("repeat", spec.get("nb", 1))  # nb: versions 1 and 2
        if not is_whole(repeat, 1):
            raise InputError(f"'repeat' is {shown(repeat)}, expected a whole number from 1 up", where=where)
        names = spec.get("seq")
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise InputError(f"'seq' is {shown(names)}, expected a list of names of profiles", where=where)
        parts = [self._part(name, where) for name in names]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None  # the mistake is that part's
        return Profile(
            fixed=repeat * math.fsum(part.fixed for part in known),
            spread=repeat * math.fsum(part.spread for part in known),
            computes=any(part.computes for part in known),
            communicates=any(part.communicates for part in known),
            returns=returns or next((part.returns for part in known if part.returns), 0),
            hosts=frozenset().union(*(part.hosts for part in known)),
            cores=max(part.cores for part in known),
            memory=max(part.memory for part in known),
            unread=_unread(spec, "seq", "repeat", "nb").union(*(part.unread for part in known)),
            without_runtime={kind: name for part in known for kind, name in part.without_runtime.items()},
        )

    def _part(self, name: str, where: str) -> Profile | None:
        if name not in self._table:
            hint = did_you_mean(name, self._table, "expected the name of a profile of the file")
            raise InputError(f"'seq' has '{name}', which is not there", where=where, hint=hint)
        if name in self._open:
            circle = " → ".join([*self._open[self._open.index(name) :], name])
            raise InputError(f"'seq' comes back to itself: {circle}", where=where)
        if len(self._open) >= MOST_NESTED:
            raise InputError(f"sequences are nested more than {MOST_NESTED} deep", where=where)
        return self.get(name)


def _with_pods(profile: Profile, spec: dict[str, Any]) -> Profile:
    """The cores and the memory of each host, which Batkube's profiles name as pods do; a whole job may hold them."""
    cores, memory = quantity(spec.get("cpu")), quantity(spec.get("memory"))
    read = ["delay"]
    if cores is not None and 0 < cores <= MOST_CORES:
        profile = replace(profile, cores=cores)
        read.append("cpu")
    if memory is not None:
        profile = replace(profile, memory=math.ceil(memory))
        read.append("memory")
    return replace(profile, unread=_unread(spec, *read))


def _unread(spec: dict[str, Any], *read: str) -> frozenset[str]:
    return frozenset(spec.keys() - {"type", "ret", *read})


def reason(kind: str) -> str:
    """Why profiles of this type have no runtime."""
    return NO_RUNTIME.get(kind, UNKNOWN)


def unknown_hint(kind: str) -> str:
    return "" if kind in NO_RUNTIME else _types_hint(kind)


def is_whole(value: Any, lowest: int) -> bool:
    return type(value) is int and lowest <= value < 2**63


def shown(value: Any) -> str:
    """A value as the file has it, cut where it gets long."""
    import json

    if value is None:
        return "missing"
    if isinstance(value, int) and value.bit_length() > 256:  # Python refuses to print thousands of digits
        return "a number of more than 70 digits"
    text = json.dumps(value, ensure_ascii=False) if not isinstance(value, list | dict) else _outline(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _outline(value: list[Any] | dict[str, Any]) -> str:
    kind = "a list" if isinstance(value, list) else "an object"
    return f"{kind} of {len(value)}" if value else f"an empty {kind.split()[1]}"


def _number(spec: dict[str, Any], key: str, unit: str, where: str) -> float:
    value: Any = spec.get(key)
    if type(value) not in (int, float) or not 0 <= value <= LARGEST_AMOUNT:
        raise InputError(f"'{key}' is {shown(value)}, expected a number of {unit}, at least 0", where=where)
    return float(value)


def _numbers(spec: dict[str, Any], key: str, where: str) -> list[float]:
    """The amounts of a list that may be missing."""
    values = spec.get(key, [])
    if not isinstance(values, list):
        raise InputError(f"'{key}' is {shown(values)}, expected a list of numbers", where=where)
    for place, value in enumerate(values):
        if type(value) not in (int, float) or not 0 <= value <= LARGEST_AMOUNT:
            raise InputError(f"'{key}[{place}]' is {shown(value)}, expected a number, at least 0", where=where)
    return values


def _types_hint(kind: str) -> str:
    current = (DELAY[0], PARALLEL[0], HOMOGENEOUS[0], HOMOGENEOUS_TOTAL[0], SEQUENCE[0])
    known = [*DELAY, *PARALLEL, *HOMOGENEOUS, *HOMOGENEOUS_TOTAL, *SEQUENCE, *NO_RUNTIME]
    return did_you_mean(kind, known, f"types that have a run time: {', '.join(current)}")
