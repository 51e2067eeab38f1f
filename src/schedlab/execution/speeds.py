"""Nodes of different speeds: a job takes as long as its slowest node lets it."""

from __future__ import annotations

from typing import Any

from schedlab import _core
from schedlab.engine.execution import Execution
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError


class Speeds(Execution):
    """A job is run time x reference / speed of its slowest node seconds of work; computed in the core.

    Speeds are those of the cluster's node groups (`speed` in its file), in any unit. `reference` is the one that the
    log's run times are for; without it, that of the slowest nodes.
    """

    name = "speeds"

    def __init__(self, reference: float | None = None) -> None:
        if reference is not None and not 0 < reference < float("inf"):
            raise InputError(
                f"speeds: reference cannot be {reference!r}", hint="give a speed, in the unit of the nodes'"
            )
        self._reference = reference

    def native(self, owner: str, cluster: Cluster) -> _core.Execution:
        for group in cluster.groups:
            if not group.speed > 0:
                hint = 'say it in the cluster\'s file: speed = 2.0 in each [[nodes]], or leave out "speeds"'
                raise InputError(f"speeds: the node group {group.name} has no speed", hint=hint)
        if self._reference is None:
            self._reference = min(group.speed for group in cluster.groups)
        relative = [group.speed / self._reference for group in cluster.groups for _ in range(group.count)]
        return _core.speeds(owner, relative)

    def facts(self) -> dict[str, Any]:
        return {"model": "speeds", "reference": self._reference}
