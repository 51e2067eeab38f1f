"""What a running job holds on each of its nodes, as slurmctld tells: CPUs, cores, memory, generic resources."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schedlab.cluster.slurm.hosts import host_names
from schedlab.files.slurm_values import gres_amounts
from schedlab.slurm.wire.buffer import WireError

MIB = 1 << 20
_MEMORY = 0x0010  # memory is handed out too, not CPUs alone
_GRES = re.compile(r"(?<![^,():])([^,():]++)(?::([0-9]*+[^,():0-9][^,():]*+))?(?::(\d++))?\((IDX|CNT):([^()]*+)\)")


@dataclass(frozen=True, slots=True)
class Held:
    """Of one node."""

    node: str
    cpus: int
    cores: tuple[int, ...]  # which ones, of the node's
    core_count: int  # of the node
    memory: int | None  # bytes; None if Slurm does not watch over memory
    gres: str  # such as gpu:a100:2(IDX:0-1),nic(CNT:1)

    def gres_amounts(self) -> dict[str, int]:
        """By the names that resources have here: gpus, gpu:a100, nic."""
        found = [
            (name, kind, int(count or 0), how, which) for name, kind, count, how, which in _GRES.findall(self.gres)
        ]
        amounts = ((n, k, int(which or 0) if how == "CNT" else count) for n, k, count, how, which in found)
        return {name: amount for name, amount in gres_amounts(amounts).items() if amount}

    def devices(self, resource: str) -> list[int]:
        """Which ones of a resource, in order; none where Slurm does not tell them apart."""
        own = "gpu" if resource == "gpus" else resource
        parts = [(which, how) for name, _, _, how, which in _GRES.findall(self.gres) if name == own]
        if any(how != "IDX" for _, how in parts):
            return []
        return sorted({number for which, _ in parts for number in _numbers(which)})


def held_by(resources: dict[str, Any] | None, gres: Sequence[str]) -> tuple[Held, ...]:
    """Of all nodes of a job; empty if it holds none."""
    if resources is None:
        return ()
    names = host_names(resources["nodes"] or "")
    sizes = [
        sockets * cores
        for sockets, cores, times in zip(
            resources["sockets_per_node"],
            resources["cores_per_socket"],
            resources["sock_core_rep_count"],
            strict=True,
        )
        for _ in range(times)
    ]
    cpus, memory = resources["cpus"], resources["memory_allocated"]
    if not len(names) == len(sizes) == len(cpus):
        raise WireError(f"resources of {len(names)} nodes, CPUs of {len(cpus)} and cores of {len(sizes)}")
    bits, watched = _bits(resources["core_bitmap"]), bool(resources["cr_type"] & _MEMORY) and len(memory) == len(names)
    found, first = [], 0
    for place, (name, size) in enumerate(zip(names, sizes, strict=True)):
        own = tuple(core for core in range(size) if bits >> (first + core) & 1)
        of_memory = memory[place] * MIB if watched else None
        text = gres[place] if place < len(gres) else ""
        found.append(Held(name, cpus[place], own, size, of_memory, text))
        first += size
    return tuple(found)


def _bits(text: str | None) -> int:
    """Of a bitmap such as 0x01FF, the first bit lowest."""
    try:
        return int(text, 16) if text else 0
    except ValueError:
        raise WireError(f"{text[:40]!r} is not a bitmap") from None  # type: ignore[index]


def _numbers(text: str) -> list[int]:
    """0-2,5 is 0, 1, 2, 5."""
    parts = [part.partition("-") for part in text.split(",") if part]
    return [number for low, _, high in parts for number in range(int(low), int(high or low) + 1)]
