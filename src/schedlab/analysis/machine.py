"""The machine of a run, and what was asked of it: what the metrics of resources need besides the tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schedlab.model.cluster import Cluster
from schedlab.model.request import Request
from schedlab.model.run import Run


@dataclass(frozen=True, slots=True)
class Machine:
    cluster: Cluster
    requests: Sequence[Request]
    exclusive: bool  # the policy gives every job whole nodes
    contiguous: bool  # and neighbouring ones
    heatmap: bool = False  # jobs change each other's speed
    refusals: Mapping[int, str] = field(default_factory=dict)  # why the policy rejected a job, in its own words

    @classmethod
    def of(cls, cluster: Cluster, requests: Sequence[Request], config: Mapping[str, Any]) -> Machine:
        """`config` is run.json; runs of older versions tell how jobs are placed in the text of the policy alone."""

        def says(setting: str) -> bool:
            return re.search(rf"[:,]{setting}(,|$)", config["policy"]) is not None

        placed = config.get("placement", {})
        exclusive = placed.get("exclusive", says("nodes=exclusive"))
        contiguous = placed.get("name") == "contiguous" or says("place=contiguous")
        refusals = {job: words for words, jobs in config.get("refusals", {}).items() for job in jobs}
        heatmap = any("heatmap" in model for model in config.get("execution", ()))
        return cls(cluster, requests, exclusive, contiguous, heatmap, refusals)

    @classmethod
    def of_run(cls, run: Run) -> Machine:
        return cls.of(run.cluster, run.requests, run.config)
