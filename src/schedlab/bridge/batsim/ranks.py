"""What ranks do: the actions of a trace as messages, computations and waiting, one generator for each rank.

Collective operations are made of messages as in SimGrid's simple algorithms: a binomial tree for broadcasts, everybody
to or from the root for the others, everybody to everybody where there is no root.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from schedlab.bridge.batsim.traces import USAGE, Action
from schedlab.model.errors import InputError

# Bytes of MPI's data types, by the numbers that traces have for them.
SIZES: tuple[int, ...] = (
    *(8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32),  # those of C
    *(8, 8, 8, 16, 16, 8, 8, 8, 16, 16),  # addresses and offsets, pairs
    *(4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 1, 8, 16, 32),  # those of Fortran and C++
)
DOUBLE, BYTE = 0, 6
DETACHED = 65_536  # bytes, below which a sender does not wait for its message to arrive
COLLECTIVE = -1  # the tag of messages of collective operations


class Waitable(Protocol):
    done: bool


class World(Protocol):
    """Where ranks act."""

    def compute(self, rank: int, flops: float, cores: int = 1) -> Waitable: ...
    def sleep(self, rank: int, seconds: float) -> Waitable: ...
    def send(self, source: int, target: int, tag: int, size: float, *, detached: bool) -> Waitable: ...
    def receive(self, source: int, target: int, tag: int) -> Waitable: ...
    def cores(self, rank: int) -> int: ...


class Rank:
    """The program of one rank; `run` yields what it waits for."""

    def __init__(self, rank: int, size: int, actions: Sequence[Action], world: World) -> None:
        self._rank, self._size, self._actions, self._world = rank, size, actions, world
        self._type = BYTE
        self._pending: dict[tuple[int, int, int], list[Waitable]] = {}  # by sender, receiver, tag

    def run(self) -> Iterator[Sequence[Waitable]]:
        for action in self._actions:
            yield from self._do(action)
        yield [one for some in self._pending.values() for one in some]

    def _do(self, action: Action) -> Iterator[Sequence[Waitable]]:
        name, numbers = action.name, action.numbers
        if name == USAGE:
            share, flops = numbers
            cores = max(int(share * self._world.cores(self._rank) + 0.5), 1)
            yield [self._world.compute(self._rank, flops, cores)]
        elif name == "init":
            self._type = DOUBLE if action.words > 2 else BYTE
        elif name == "compute":
            yield [self._world.compute(self._rank, numbers[0])]
        elif name == "sleep":
            yield [self._world.sleep(self._rank, numbers[0])]
        elif name in ("send", "isend", "recv", "irecv", "sendRecv"):
            yield from self._message(name, numbers)
        elif name in ("wait", "test"):
            yield from self._wait(name, numbers)
        elif name == "waitall":
            yield [one for some in self._pending.values() for one in some]
            self._pending.clear()
        elif name not in ("finalize", "comm_size", "comm_split", "comm_dup", "location"):
            yield from self._collective(name, numbers)

    def _bytes(self, count: float, numbers: Sequence[float], place: int) -> float:
        """Of so many items of the type that is written at that place, or of the usual one."""
        kind = int(numbers[place]) if place < len(numbers) else self._type
        if not 0 <= kind < len(SIZES):
            raise InputError(f"rank {self._rank}: there is no data type {kind}")
        return count * SIZES[kind]

    def _message(self, name: str, numbers: Sequence[float]) -> Iterator[Sequence[Waitable]]:
        if name == "sendRecv":
            size = self._bytes(numbers[0], numbers, 4)
            yield [self._send(int(numbers[1]), 0, size), self._receive(int(numbers[3]), 0)]
            return
        partner, tag = int(numbers[0]), int(numbers[1])
        sends = name.endswith("send")
        request = (
            self._send(partner, tag, self._bytes(numbers[2], numbers, 3)) if sends else self._receive(partner, tag)
        )
        if name in ("send", "recv"):
            yield [request]
        else:
            key = (self._rank, partner, tag) if sends else (partner, self._rank, tag)
            self._pending.setdefault(key, []).append(request)

    def _wait(self, name: str, numbers: Sequence[float]) -> Iterator[Sequence[Waitable]]:
        some = self._pending.get((int(numbers[0]), int(numbers[1]), int(numbers[2])), [])
        if some and (name == "wait" or some[0].done):
            yield [some.pop(0)]

    def _send(self, target: int, tag: int, size: float) -> Waitable:
        wrapped = (int(size) + 2**31) % 2**32 - 2**31  # SimGrid compares a number of 32 bits
        return self._world.send(self._rank, target, tag, size, detached=wrapped < DETACHED)

    def _receive(self, source: int, tag: int) -> Waitable:
        return self._world.receive(source, self._rank, tag)

    def _others(self) -> list[int]:
        return [rank for rank in range(self._size) if rank != self._rank]

    def _collective(self, name: str, numbers: Sequence[float]) -> Iterator[Sequence[Waitable]]:
        count = self._size
        if name == "barrier":
            yield from self._to_root([0.0] * count, 0)
            yield from self._from_root([0.0] * count, 0)
        elif name == "bcast":
            root = int(numbers[1]) if len(numbers) > 1 else 0
            yield from self._broadcast(self._bytes(numbers[0], numbers, 2), root)
        elif name in ("reduce", "allreduce"):
            root = int(numbers[2]) if name == "reduce" and len(numbers) > 2 else 0
            size = self._bytes(numbers[0], numbers, 3 if name == "reduce" else 2)
            yield from self._to_root([size] * count, root)
            if name == "allreduce":
                yield from self._broadcast(size, 0)
            yield from self._reduced(numbers[1])
        elif name in ("gather", "scatter"):
            root = int(numbers[2]) if len(numbers) > 2 else 0
            sizes = [self._bytes(numbers[0], numbers, 3)] * count
            yield from self._to_root(sizes, root) if name == "gather" else self._from_root(sizes, root)
        elif name in ("alltoall", "allgather"):
            yield self._everybody([self._bytes(numbers[0], numbers, 2)] * count)
        else:
            yield from self._uneven(name, numbers)

    def _uneven(self, name: str, numbers: Sequence[float]) -> Iterator[Sequence[Waitable]]:
        """Collective operations with an amount for each rank, and scans."""
        count = self._size
        if name in ("scan", "exscan"):
            size = self._bytes(numbers[0], numbers, 2)
            received = [self._receive(other, COLLECTIVE) for other in range(self._rank)]
            yield received + [self._send(other, COLLECTIVE, size) for other in range(self._rank + 1, count)]
            yield from self._reduced(numbers[1])
            return
        least = {"gatherv": count + 1, "allgatherv": count + 1, "scatterv": count + 1, "reducescatter": count + 1}
        if len(numbers) < least.get(name, 2 * count + 2):
            raise InputError(f"rank {self._rank}: '{name}' has {len(numbers)} numbers, too few for {count} ranks")
        if name in ("gatherv", "allgatherv"):
            size = self._bytes(numbers[0], numbers, count + (2 if name == "gatherv" else 1))
            if name == "allgatherv":
                yield self._everybody([size] * count)
            else:
                root = int(numbers[count + 1]) if len(numbers) > count + 1 else 0
                yield from self._to_root([size] * count, root)
        elif name == "scatterv":
            root = int(numbers[count + 1]) if len(numbers) > count + 1 else 0
            yield from self._from_root([self._bytes(one, numbers, count + 2) for one in numbers[:count]], root)
        elif name == "reducescatter":
            sizes = [self._bytes(one, numbers, count + 1) for one in numbers[:count]]
            yield from self._to_root([sum(sizes)] * count, 0)
            yield from self._from_root(sizes, 0)
            yield from self._reduced(numbers[count])
        else:  # alltoallv: the size of the buffer, then an amount for each rank
            yield self._everybody([self._bytes(one, numbers, 2 * count + 2) for one in numbers[1 : count + 1]])

    def _reduced(self, flops: float) -> Iterator[Sequence[Waitable]]:
        if flops > 0:
            yield [self._world.compute(self._rank, flops)]

    def _to_root(self, sizes: Sequence[float], root: int) -> Iterator[Sequence[Waitable]]:
        if self._rank == root:
            yield [self._receive(other, COLLECTIVE) for other in self._others()]
        else:
            yield [self._send(root, COLLECTIVE, sizes[self._rank])]

    def _from_root(self, sizes: Sequence[float], root: int) -> Iterator[Sequence[Waitable]]:
        if self._rank == root:
            yield [self._send(other, COLLECTIVE, sizes[other]) for other in self._others()]
        else:
            yield [self._receive(root, COLLECTIVE)]

    def _everybody(self, sizes: Sequence[float]) -> list[Waitable]:
        received = [self._receive(other, COLLECTIVE) for other in self._others()]
        return received + [self._send(other, COLLECTIVE, sizes[other]) for other in self._others()]

    def _broadcast(self, size: float, root: int) -> Iterator[Sequence[Waitable]]:
        """Along a binomial tree: each rank that has it sends it to the one that is half as far away as the last."""
        count, place = self._size, (self._rank - root) % self._size
        step = 1
        while step < count and not place & step:
            step *= 2
        if place:
            yield [self._receive((self._rank - step) % count, COLLECTIVE)]
        step //= 2
        while step:
            if place + step < count:
                yield [self._send((self._rank + step) % count, COLLECTIVE, size)]
            step //= 2
