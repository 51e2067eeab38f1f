"""Parallel tasks: what each executor of a profile computes and sends, and how long it takes on given hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from schedlab.bridge.batsim.course import Task, Use
from schedlab.bridge.batsim.demand import Demand
from schedlab.bridge.batsim.fluid import Capacity
from schedlab.bridge.batsim.network import Pair, Traffic, everyone_to_everyone
from schedlab.bridge.batsim.platform import Platform
from schedlab.model.errors import InputError
from schedlab.workload.batsim.kinds import Homogeneous, Parallel, Profile, Staging, Storage

TASKS = (Homogeneous, Parallel, Staging, Storage)


def link_capacity(platform: Platform, name: str) -> Capacity:
    assert platform.routing is not None  # who uses a link has a route
    link = platform.routing.links[name]
    return Capacity(link.bandwidth, link.sharing == "fatpipe")


class Tasks:
    """Parallel tasks on a platform whose hosts are in these p-states (by id)."""

    def __init__(self, platform: Platform, pstates: Sequence[int] | None, storage: Mapping[str, int]) -> None:
        self._platform, self._pstates, self._storage = platform, pstates, storage

    def task(
        self, profile: Profile, executors: Sequence[int], io: Profile | None = None, io_hosts: Sequence[int] = ()
    ) -> Task:
        """`executors` are the hosts of its executors: one may have several. `io` is done together with it."""
        links = self._platform.routing.links if self._platform.routing else {}
        demand = self._demand(profile, executors)
        if io is not None:
            demand = demand.and_of(self._demand(io, io_hosts), links)
        seconds = demand.alone(self.speed, self.cores, links)
        by_load: dict[float, list[int]] = {}
        for host, amount in demand.work().items():
            by_load.setdefault(amount / seconds / (self.speed(host) * self.cores(host)), []).append(host)
        total = demand.latency + seconds
        # SimGrid's energy plugin does not see that a task begins with its latency: hosts are loaded all the time.
        uses = tuple(Use(0.0, total, load, frozenset(some)) for load, some in by_load.items())
        return Task(profile.name, total, demand.latency, uses, demand)

    def speed(self, host: int) -> float:
        one = self._platform.hosts[host]
        return one.speeds[one.pstate if self._pstates is None else self._pstates[host]]

    def cores(self, host: int) -> int:
        return self._platform.hosts[host].cores

    def _demand(self, profile: Profile, executors: Sequence[int]) -> Demand:
        if isinstance(profile, Parallel):
            if len(profile.flops) != len(executors):
                message = f"profile '{profile.name}' is for {len(profile.flops)} hosts, and was given {len(executors)}"
                raise InputError(message, hint="allocate as many, or give a mapping")
            flops = tuple((host, amount) for host, amount in zip(executors, profile.flops, strict=True) if amount > 0)
            return self.demand(flops, self._matrix(profile, executors))
        if isinstance(profile, Homogeneous):
            amount, sent = profile.shares(len(executors))
            flops = tuple((host, amount) for host in executors) if amount > 0 else ()
            return self.demand(flops, self._everyone(executors, sent))
        if isinstance(profile, Storage):
            place = self._storage_host(profile.label, profile.name, only=True)
            pairs: list[Pair] = []
            for name in self._names(executors):
                pairs += [(name, place, profile.write), (place, name, profile.read)]
            return self.demand((), self._pairs(pairs))
        assert isinstance(profile, Staging)
        source, target = (self._storage_host(label, profile.name) for label in (profile.source, profile.target))
        return self.demand((), self._pairs([(source, target, profile.bytes)]))

    @staticmethod
    def demand(flops: tuple[tuple[int, float], ...], traffic: Traffic | None) -> Demand:
        return Demand(flops) if traffic is None else Demand(flops, traffic.bytes, traffic.latency, traffic.window)

    def _names(self, executors: Sequence[int]) -> list[str]:
        hosts = self._platform.hosts
        return [hosts[host].name for host in executors]

    def _matrix(self, profile: Parallel, executors: Sequence[int]) -> Traffic | None:
        names = self._names(executors)
        count = len(names)
        amounts = enumerate(profile.bytes)
        return self._pairs([(names[at // count], names[at % count], amount) for at, amount in amounts if amount > 0])

    def _pairs(self, pairs: Sequence[Pair]) -> Traffic | None:
        if self._platform.routing is None or not pairs:
            return None
        traffic = Traffic(self._platform.routing)
        traffic.add(pairs)
        return traffic

    def _everyone(self, executors: Sequence[int], amount: float) -> Traffic | None:
        if self._platform.routing is None or not amount > 0:
            return None
        names = self._names(executors)
        if len(set(names)) == len(names):
            return everyone_to_everyone(self._platform.routing, names, amount)
        count = range(len(names))
        return self._pairs([(names[i], names[j], amount) for i in count for j in count if i != j])

    def _storage_host(self, label: str, profile: str, *, only: bool = False) -> str:
        """The host of a label; if none was given at all and there is only one storage, that one."""
        storage = self._platform.storage
        if only and not self._storage and len(storage) == 1:
            return storage[0].name
        host = self._storage.get(label)
        if host is None:
            known = ", ".join(sorted(self._storage)) or "none is"
            hint = f"say it in the storage_mapping of EXECUTE_JOB; mapped: {known}; the platform has {len(storage)}"
            raise InputError(
                f"profile '{profile}' uses the storage '{label}', which is not mapped to a host", hint=hint
            )
        first = len(self._platform.compute)
        if not first <= host < first + len(storage):
            raise InputError(f"storage '{label}' is mapped to resource {host}, which is no storage")
        return self._platform.hosts[host].name
