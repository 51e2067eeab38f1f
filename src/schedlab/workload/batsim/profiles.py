"""The profiles of a Batsim workload, read and checked: `docs/formats/batsim.md` has the types and their fields."""

from __future__ import annotations

import math
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.workload.batsim.kinds import (
    Composed,
    Delay,
    Homogeneous,
    Parallel,
    Profile,
    Replay,
    Staging,
    Storage,
    Unsupported,
)
from schedlab.workload.batsim.quantity import quantity
from schedlab.workload.batsim.values import is_whole, number, numbers, shown, text

MOST_NESTED = 100  # sequences inside sequences
MOST_CORES = 1e6  # of a host

# Names of Batsim 3 and 4, of versions 1 and 2 (msg_…), of the versions between (ptask…), and of version 5 (…Profile).
DELAY = ("delay", "DelayProfile")
PARALLEL = ("parallel", "msg_par", "ptask", "ParallelTaskProfile")
HOMOGENEOUS = ("parallel_homogeneous", "msg_par_hg", "ptask_homogeneous", "ParallelTaskHomogeneousProfile")
HOMOGENEOUS_TOTAL = ("parallel_homogeneous_total", "msg_par_hg_tot")
SEQUENCE = ("composed", "sequence", "SequentialCompositionProfile")
STORAGE = ("parallel_homogeneous_pfs", "msg_par_hg_pfs", "msg_par_hg_pfs0", "ParallelTaskOnStorageHomogeneousProfile")
TIERS = ("parallel_homogeneous_pfs_multiple_tiers", "msg_par_hg_pfs_tiers")
STAGING = ("data_staging", "ParallelTaskDataStagingBetweenStoragesProfile")
REPLAY = ("smpi", "usage_trace", "TraceReplayProfile")
STRATEGIES = {"DefinedAmountsUsedForEachValue": False, "DefinedAmountsSpreadUniformly": True}
DIRECTIONS = ("from_storage", "to_storage")

_MESSAGE = "its time depends on what the scheduler answers"
_UNDEFINED = "Batsim names this type and does not run it"
UNSUPPORTED = {
    "send": _MESSAGE,
    "recv": _MESSAGE,
    "ForkJoinCompositionProfile": _UNDEFINED,
    "ParallelTaskMergeCompositionProfile": _UNDEFINED,
}
UNKNOWN = "Batsim has no such type"
Common = tuple[str, str, int]  # what all have: name, type, exit code


class Profiles:
    """The profiles of one workload. `mistakes` has what is wrong with those that have been asked for."""

    def __init__(self, table: dict[str, Any], file: str) -> None:
        self.mistakes: list[InputError] = []
        self.file = file
        self._table = table
        self._known: dict[str, Profile | None] = {}
        self._open: list[str] = []  # sequences that are being looked at, outermost first

    def names(self) -> list[str]:
        return list(self._table)

    def __contains__(self, name: str) -> bool:
        return name in self._table

    def add(self, name: str, spec: Any) -> None:
        """One more, under a name that is not taken."""
        self._table[name] = spec

    def get(self, name: str) -> Profile | None:
        """The profile of that name, which has to be there; None if it is wrong."""
        if name not in self._known:
            self._open.append(name)
            try:
                self._known[name] = self._profile(name, self._table[name])
            except InputError as mistake:
                self.mistakes.append(mistake)
                self._known[name] = None
            self._open.pop()
        return self._known[name]

    def _profile(self, name: str, spec: Any) -> Profile | None:
        where = f"{self.file}, profile '{name}'"
        if not isinstance(spec, dict):
            raise InputError(f"is {shown(spec)}, expected an object with a type", where=where)
        kind = spec.get("type")
        if not isinstance(kind, str):
            raise InputError(f"'type' is {shown(kind)}, expected a text", where=where, hint=types_hint(""))
        returns = spec.get("ret", 0)
        if not is_whole(returns, -(2**31)):
            raise InputError(f"'ret' is {shown(returns)}, expected a whole number", where=where)
        common = (name, kind, returns)
        if kind in DELAY:
            return _delay(common, spec, where)
        if kind in PARALLEL:
            return _parallel(common, spec, where)
        if kind in HOMOGENEOUS or kind in HOMOGENEOUS_TOTAL:
            return _homogeneous(common, spec, where, total=kind in HOMOGENEOUS_TOTAL)
        if kind in SEQUENCE:
            return self._composed(common, spec, where)
        if kind in STORAGE or kind in TIERS:
            return _storage(common, spec, where)
        if kind in STAGING:
            return _staging(common, spec, where)
        if kind in REPLAY:
            return _replay(common, spec, where)
        return Unsupported(*common)

    def _composed(self, common: Common, spec: dict[str, Any], where: str) -> Profile | None:
        repeat = spec.get("repeat", spec.get("nb", 1))  # nb: versions 1 and 2
        if not is_whole(repeat, 1):
            raise InputError(f"'repeat' is {shown(repeat)}, expected a whole number from 1 up", where=where)
        names = spec.get("seq")
        if not isinstance(names, list) or not names or not all(isinstance(part, str) for part in names):
            raise InputError(f"'seq' is {shown(names)}, expected a list of names of profiles", where=where)
        parts = [self._part(part, where) for part in names]
        known = tuple(part for part in parts if part is not None)
        if len(known) < len(parts):
            return None  # the mistake is that part's
        return Composed(*common, _unread(spec, "seq", "repeat", "nb"), known, repeat)

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


def _delay(common: Common, spec: dict[str, Any], where: str) -> Delay:
    """With the cores and the memory of each host, which Batkube's profiles name as pods do."""
    seconds = number(spec, "delay", "seconds", where)
    cores, memory = quantity(spec.get("cpu")), quantity(spec.get("memory"))
    read = ["delay"]
    if cores is not None and 0 < cores <= MOST_CORES:
        read.append("cpu")
    else:
        cores = 1.0
    if memory is not None:
        read.append("memory")
    return Delay(*common, _unread(spec, *read), seconds, cores, math.ceil(memory or 0))


def _parallel(common: Common, spec: dict[str, Any], where: str) -> Parallel:
    flops, sent = (numbers(spec, key, where) for key in ("cpu", "com"))
    hosts = len(flops) if "cpu" in spec else math.isqrt(len(sent))
    if not hosts:
        raise InputError("has neither 'cpu' nor 'com', expected an amount for each host", where=where)
    if "com" in spec and len(sent) != hosts * hosts:
        expected = f"{hosts * hosts} ({hosts} × {hosts} hosts)"
        raise InputError(f"'com' has {len(sent)} amounts, expected {expected}", where=where)
    read = _unread(spec, "cpu", "com")
    return Parallel(*common, read, tuple(flops) or (0.0,) * hosts, tuple(sent) if any(sent) else ())


def _homogeneous(common: Common, spec: dict[str, Any], where: str, *, total: bool) -> Homogeneous:
    flops = number(spec, "cpu", "flops", where)
    sent = number(spec, "com", "bytes", where) if "com" in spec else 0.0
    strategy = spec.get("generation_strategy")
    if strategy is not None:
        if not isinstance(strategy, str) or strategy not in STRATEGIES:
            hint = f"expected {' or '.join(STRATEGIES)}"
            raise InputError(f"'generation_strategy' is {shown(strategy)}", where=where, hint=hint)
        total = STRATEGIES[strategy]
    unread = _unread(spec, "cpu", "com", "generation_strategy")
    return Homogeneous(*common, unread, flops, sent, total, strategy is not None)


def _storage(common: Common, spec: dict[str, Any], where: str) -> Storage:
    """What is read and written, or (versions 1 and 2) a size and a direction."""
    label_key = "storage" if "storage" in spec else "host"
    label = text(spec, label_key, "the label of a storage", where) if label_key in spec else "pfs"
    if "size" in spec:
        size, direction = number(spec, "size", "bytes", where), spec.get("direction", "to_storage")
        if direction not in DIRECTIONS:
            hint = f"expected {' or '.join(DIRECTIONS)}"
            raise InputError(f"'direction' is {shown(direction)}", where=where, hint=hint)
        read, write = (size, 0.0) if direction == "from_storage" else (0.0, size)
    else:
        amounts = {key for key in ("bytes_to_read", "bytes_to_write") if key in spec}
        if not amounts:
            raise InputError("has neither 'bytes_to_read' nor 'bytes_to_write'", where=where)
        read, write = (
            number(spec, key, "bytes", where) if key in amounts else 0.0 for key in ("bytes_to_read", "bytes_to_write")
        )
    unread = _unread(spec, "bytes_to_read", "bytes_to_write", "storage", "host", "size", "direction")
    return Storage(*common, unread, read, write, label)


def _staging(common: Common, spec: dict[str, Any], where: str) -> Staging:
    sent = number(spec, "nb_bytes", "bytes", where)
    source, target = (text(spec, key, "the label of a storage", where) for key in ("from", "to"))
    return Staging(*common, _unread(spec, "nb_bytes", "from", "to"), sent, source, target)


def _replay(common: Common, spec: dict[str, Any], where: str) -> Replay:
    key = "trace" if "trace" in spec else "filename"  # filename: version 5
    trace = text(spec, key, "the path of a list of trace files", where)
    mpi = "smpi" in (spec["type"], str(spec.get("trace_type")).lower())
    return Replay(*common, _unread(spec, key, "trace_type", "mpi_size"), trace, mpi)


def _unread(spec: dict[str, Any], *read: str) -> frozenset[str]:
    return frozenset(spec.keys() - {"type", "ret", *read})


def reason(kind: str) -> str:
    """Why profiles of this type cannot be run."""
    return UNSUPPORTED.get(kind, UNKNOWN)


def types_hint(kind: str) -> str:
    usual = [names[0] for names in (DELAY, PARALLEL, HOMOGENEOUS, HOMOGENEOUS_TOTAL, SEQUENCE, STORAGE, STAGING)]
    every = [*DELAY, *PARALLEL, *HOMOGENEOUS, *HOMOGENEOUS_TOTAL, *SEQUENCE, *STORAGE, *TIERS, *STAGING, *REPLAY]
    return did_you_mean(kind, [*every, *UNSUPPORTED], f"types: {', '.join([*usual, *REPLAY[:2]])}")
