"""What a job asks for: `count` identical chunks of resources."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from schedlab.model.arguments import check_fields, shown
from schedlab.model.errors import InputError

MOST_AMOUNT = 2**63 - 1  # of a resource


@dataclass(frozen=True, slots=True)
class Request:
    """One chunk, and where chunks may go. How many chunks is the job's own number (`count`).

    `SINGLE_CORE`, a chunk of one core that may go anywhere, is what a processor of an SWF log means. `sbatch` has what
    only the real Slurm understands, as options of its sbatch: ("constraint", "fast|large"). `spread`: a chunk is a part
    of every socket of a node, as a co-scheduler has laid it out.
    """

    chunk: dict[str, int] = field(default_factory=lambda: {"cores": 1})
    per_node_min: int = 0
    per_node_max: int = 0
    features: frozenset[str] = frozenset()
    partition: str | None = None
    exclusive: bool = False
    spread: bool = False
    sbatch: tuple[tuple[str, str], ...] = ()

    def plain(self) -> Request:
        """Without what only some clusters have: memory, features, partitions."""
        chunk = {name: amount for name, amount in self.chunk.items() if name in ("cores", "gpus")}
        return replace(self, chunk=chunk, features=frozenset(), partition=None, sbatch=())

    def anywhere(self) -> Request:
        """On a machine whose nodes do not matter: without bounds per node, without whole nodes."""
        return replace(self, per_node_min=0, per_node_max=0, exclusive=False)

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for requests that ask for the same."""
        where = (
            self.per_node_min,
            self.per_node_max,
            self.features,
            self.partition,
            self.exclusive,
            self.spread,
            self.sbatch,
        )
        return (*self.chunk.items(), *where)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready form that leaves out what is at its default."""
        found: dict[str, Any] = {"chunk": dict(self.chunk)}
        if self.per_node_min:
            found["per_node_min"] = self.per_node_min
        if self.per_node_max:
            found["per_node_max"] = self.per_node_max
        if self.features:
            found["features"] = sorted(self.features)
        if self.partition is not None:
            found["partition"] = self.partition
        if self.exclusive:
            found["exclusive"] = True
        if self.spread:
            found["spread"] = True
        if self.sbatch:
            found["sbatch"] = dict(self.sbatch)
        return found

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Request:
        own = {**data}
        own["features"], own["sbatch"] = frozenset(own.get("features", ())), tuple(own.get("sbatch", {}).items())
        return cls(**own)


SINGLE_CORE = Request()


def refuse_nonsense(request: Request) -> None:
    """What no cluster can make sense of: other types, negative amounts."""
    if not isinstance(request, Request):
        raise InputError(f"{shown(request)} is not a Request", hint="Request({'cores': 4, 'gpus': 1})")
    check_fields(request)
    for name, amount in request.chunk.items():
        if not isinstance(name, str) or not isinstance(amount, int) or not 0 <= amount <= MOST_AMOUNT:
            hint = "whole numbers from 0 on, memory in bytes: Request({'cores': 4, 'memory': 8 * 2**30})"
            raise InputError(f"a chunk has {shown(amount)} of {shown(name)}", where="Request", hint=hint)
    for name in ("per_node_min", "per_node_max"):
        if not 0 <= (number := getattr(request, name)) < 2**31:
            raise InputError(f"{name} is {number}", where="Request", hint="chunks on a node; 0: any number")
