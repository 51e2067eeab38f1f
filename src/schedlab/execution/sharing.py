"""Nodes that are shared: a constant slow-down for jobs that have company, the simplest model of interference."""

from __future__ import annotations

from typing import Any

from schedlab import _core
from schedlab.engine.execution import Execution
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError


class Sharing(Execution):
    """Jobs that share a node with another one work at `rate` (0.8: a quarter longer); computed in the core."""

    name = "sharing"

    def __init__(self, rate: float = 0.8) -> None:
        if not 0 < rate <= 1e9:
            raise InputError(f"sharing: rate cannot be {rate!r}", hint="give a number above 0, such as 0.8")
        self._rate = float(rate)

    def native(self, owner: str, cluster: Cluster) -> _core.Execution:
        if cluster.pool:
            hint = f"give nodes: --cluster {cluster.cores}x1, or fewer with more cores each"
            raise InputError("sharing: a pool has no nodes that could be shared", hint=hint)
        return _core.sharing(owner, self._rate)

    def facts(self) -> dict[str, Any]:
        return {"model": "sharing", "rate": self._rate}
