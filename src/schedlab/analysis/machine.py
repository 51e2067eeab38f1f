"""The machine of a run, and what was asked of it: what the metrics of resources need besides the tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from schedlab.model.cluster import Cluster
from schedlab.model.request import Request
from schedlab.model.run import Run


@dataclass(frozen=True, slots=True)
class Machine:
    cluster: Cluster
    requests: Sequence[Request]
    exclusive: bool  # the policy gives every job whole nodes
    contiguous: bool  # and neighbouring ones

    @classmethod
    def of(cls, cluster: Cluster, requests: Sequence[Request], policy: str) -> Machine:
        def says(setting: str) -> bool:
            return re.search(rf"[:,]{setting}(,|$)", policy) is not None

        return cls(cluster, requests, says("nodes=exclusive"), says("place=contiguous"))

    @classmethod
    def of_run(cls, run: Run) -> Machine:
        return cls.of(run.cluster, run.requests, run.policy)
