"""All nodes of the cluster, played: they register, answer, and note which jobs are launched and ended on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from schedlab.cluster.slurm.hosts import host_names
from schedlab.slurm.wire import node as wire
from schedlab.slurm.wire.header import Incoming, message
from schedlab.slurm.wire.release import Release


@dataclass(frozen=True, slots=True)
class Launch:
    """Slurm has started a job; `array` and `task` are 0 and None if it is not a task of an array."""

    number: int
    array: int
    task: int | None
    uid: int
    nodes: tuple[str, ...]
    cpus: tuple[int, ...]  # on each node


class Nodes:
    """Answers for all nodes at once. What slurmctld wants done is kept until it is taken."""

    def __init__(self, release: Release, facts: Sequence[wire.NodeFacts]) -> None:
        self._release = release
        self._facts = {fact.name: fact for fact in facts}
        self.launches: list[Launch] = []
        self._ends: set[int] = set()
        self.to_register: list[str] = []  # nodes that slurmctld wants to hear of
        self.absent: set[str] = set()  # nodes that are down: they do not register

    @property
    def busy(self) -> bool:
        """Whether slurmctld wants something done that has not been taken."""
        return bool(self.launches or self._ends)

    def take_launches(self) -> list[Launch]:
        taken, self.launches = self.launches, []
        return taken

    def take_ends(self) -> set[int]:
        """Numbers of jobs that slurmctld has told its nodes to end, for whatever reason."""
        taken, self._ends = self._ends, set()
        return taken

    def answer(self, incoming: Incoming) -> bytes:
        """The answer of all nodes that a message is for."""
        code = 0
        order = wire.order(self._release, incoming)
        match order:
            case wire.Launch():
                self.launches.append(_launch(order))
            case wire.Termination():
                self._ends.add(order.job)
                code = wire.ALREADY_COMPLETE  # nothing runs there, so Slurm need not wait for an epilogue
        if incoming.name == "REQUEST_NODE_REGISTRATION_STATUS":
            self.to_register += [name for name in self._facts if name not in self.absent]
        return wire.answer(self._release, incoming, code=code)

    def registration(self, name: str, now: int, boot_time: int) -> bytes:
        """What a node says when it registers."""
        body = wire.registration(self._release, self._facts[name], now=now, boot_time=boot_time)
        return message(self._release, "MESSAGE_NODE_REGISTRATION_STATUS", body)

    def names(self) -> list[str]:
        return list(self._facts)


def _launch(order: wire.Launch) -> Launch:
    nodes = tuple(host_names(order.nodes))
    array = order.array_job if order.array_task is not None else 0
    return Launch(order.job, array, order.array_task, order.uid, nodes, order.cpus)
