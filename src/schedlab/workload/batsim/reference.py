"""How long profiles take where only the speed of hosts is known: what a workload by itself can say of its run times."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from schedlab.workload.batsim.kinds import Composed, Delay, Homogeneous, Parallel, Profile, exit_code, rounds
from schedlab.workload.batsim.profiles import REPLAY, STAGING, STORAGE, TIERS, reason

# Floating-point operations a second of the hosts on which computations are timed: those of Batsim's `cluster512`,
# with which its workloads state their expected execution times.
REFERENCE_SPEED = 1e9

_STORAGE = "its time is that of a storage, which a workload does not tell"
_TRACE = "what it does is in a trace file of its own, which is not read"


@dataclass(frozen=True, slots=True)
class Estimate:
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

    @property
    def depends_on_machine(self) -> bool:
        """Whether it is more than delays."""
        return self.computes or self.communicates or bool(self.without_runtime)


def estimate(profile: Profile, speed: float) -> Estimate:
    """On hosts of that many flops a second, communication left out."""
    if isinstance(profile, Composed):
        parts, repeat = rounds(profile)
        return _in_turn(profile, [estimate(part, speed) for part in parts], repeat)
    known = Estimate(returns=profile.returns, unread=profile.unread)
    if isinstance(profile, Delay):
        return replace(known, fixed=profile.seconds, cores=profile.cores, memory=profile.memory)
    if isinstance(profile, Parallel):
        flops = max(profile.flops)  # the host with most to compute decides
        hosts = frozenset([len(profile.flops)])
        return replace(known, fixed=flops / speed, computes=flops > 0, communicates=bool(profile.bytes), hosts=hosts)
    if isinstance(profile, Homogeneous):
        seconds = profile.flops / speed
        fixed, spread = (0.0, seconds) if profile.total else (seconds, 0.0)
        return replace(known, fixed=fixed, spread=spread, computes=profile.flops > 0, communicates=profile.bytes > 0)
    return replace(known, without_runtime={profile.kind: profile.name})


def _in_turn(profile: Composed, parts: list[Estimate], repeat: int) -> Estimate:
    return Estimate(
        fixed=repeat * math.fsum(part.fixed for part in parts),
        spread=repeat * math.fsum(part.spread for part in parts),
        computes=any(part.computes for part in parts),
        communicates=any(part.communicates for part in parts),
        returns=exit_code(profile),
        hosts=frozenset().union(*(part.hosts for part in parts)),
        cores=max(part.cores for part in parts),
        memory=max(part.memory for part in parts),
        unread=profile.unread.union(*(part.unread for part in parts)),
        without_runtime={kind: name for part in parts for kind, name in part.without_runtime.items()},
    )


def why_none(kind: str) -> str:
    """Why a workload by itself does not say how long a profile of this type takes."""
    if kind in REPLAY:
        return _TRACE
    return _STORAGE if kind in STORAGE + TIERS + STAGING else reason(kind)
