"""Interference: how fast a job works depends on who sits beside it, as a heatmap of applications says."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab import _core
from schedlab._core import Job, View
from schedlab.engine.execution import Execution
from schedlab.heatmap.applications import Applications
from schedlab.heatmap.read import read_heatmap
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.heatmap import AVERAGE, Heatmap
from schedlab.model.suggest import did_you_mean
from schedlab.model.workload import JobBatch, Workload

COMPOSITIONS = ("min", "product")
MAXIMUM = "maximum"

Compose = Callable[[list[float]], float]  # what several neighbours on one node do to a job


class Interference(Execution):
    """A job's rate is the least over its nodes of what its neighbours there let it have; computed in the core.

    `heatmap`: a `Heatmap` or a file that has one. `missing`: what a pair counts that nobody measured, "average" (of the
    known pairs of its row), a number, or "refuse". `alone`: the speed-up of a job that has a part of each of its nodes
    and no neighbour, where the heatmap does not have it for that part: "maximum" (of its row), or a number. `compose`:
    several neighbours on one node count as the worst of them ("min"), as the "product", or as a function of the list of
    speed-ups says. `cap`: never faster than the row's maximum. `applications`: which application a job is, by the name
    of its "executable", drawn for each job ("random(7)") or for each executable ("executables(7)"), uniformly or by
    `frequencies`. Jobs that have their nodes alone and whole work at rate 1.
    """

    name = "interference"

    def __init__(
        self,
        heatmap: Heatmap | str | os.PathLike[str],
        missing: str | float = AVERAGE,
        alone: str | float = MAXIMUM,
        compose: str | Compose = "min",
        cap: bool = True,
        applications: str = "executable",
        frequencies: Mapping[str, float] | None = None,
    ) -> None:
        self.heatmap = heatmap if isinstance(heatmap, Heatmap) else read_heatmap(heatmap)
        self._filled = self.heatmap.filled(missing)
        if isinstance(compose, str) and compose not in COMPOSITIONS:
            hint = did_you_mean(compose, COMPOSITIONS, f"one of {', '.join(COMPOSITIONS)}, or a function")
            raise InputError(f"interference: compose cannot be '{compose}'", hint=hint)
        if not (alone == MAXIMUM or (isinstance(alone, int | float) and 0 < alone <= 1e9)):
            raise InputError(f"interference: alone cannot be {alone!r}", hint=f'"{MAXIMUM}", or a speed-up such as 1')
        self._applications = Applications.parse(applications, self.heatmap, frequencies)
        self._rules: dict[str, Any] = {"missing": missing, "alone": alone, "cap": bool(cap)}
        self._compose = compose
        self._told = {"applications": applications, **({"frequencies": dict(frequencies)} if frequencies else {})}
        self._fraction = 1.0
        self._on_its_own = np.ones(len(self.heatmap))
        self._place = {name: place for place, name in enumerate(self.heatmap.names)}

    def pairs(self, fraction: float) -> _core.Pairs:
        self._fraction, self._on_its_own = fraction, self._without_neighbours(fraction)
        return _core.Pairs(
            names=list(self.heatmap.names),
            speedups=self._filled.ravel().tolist(),
            alone=self._on_its_own.tolist(),
            multiply=self._compose == "product",
            cap=self._rules["cap"],
        )

    def applications(self, workload: Workload) -> Callable[[JobBatch], NDArray[np.int32]]:
        passed = 0

        def of(batch: JobBatch) -> NDArray[np.int32]:
            nonlocal passed
            labels = workload.labels.get("executable", ())
            found = self._applications.of(batch.executable, labels, passed)
            passed += len(batch)
            return found.astype(np.int32)

        return of

    def native(self, owner: str, cluster: Cluster) -> _core.Execution | None:
        if cluster.pool:
            hint = f"give nodes: --cluster {cluster.cores}x1, or fewer with more cores each"
            raise InputError("interference: a pool has no nodes that could be shared", hint=hint)
        return None if callable(self._compose) else _core.interference(owner, self.pairs(self._fraction))

    def rate(self, view: View, job: Job, neighbours: list[Job]) -> float:
        """The same in Python, where a function says what several neighbours on a node do."""
        assert callable(self._compose)
        if job.application is None:
            return 1.0
        row = self._filled[self._place[job.application]]
        worst = float("inf")
        for node, _ in job.nodes:
            here = [other.application for other in view.jobs_on(node) if other != job]
            if here:
                speedups = [1.0 if name is None else float(row[self._place[name]]) for name in here]
                worst = min(worst, self._compose(speedups))
        if worst == float("inf"):
            return float(self._on_its_own[self._place[job.application]]) if job.spread else 1.0
        return min(worst, float(row.max())) if self._rules["cap"] else worst

    def facts(self) -> dict[str, Any]:
        compose = self._compose
        if callable(compose):
            compose = f"function {getattr(compose, '__qualname__', '')}".strip()
        filled = {"filled": self._filled.tolist(), "on_its_own": self._on_its_own.tolist()}
        return {
            "model": "interference",
            **self._rules,
            "compose": compose,
            **self._told,
            "heatmap": self.heatmap.to_dict(),
            **filled,
        }

    def _without_neighbours(self, fraction: float) -> NDArray[np.float64]:
        """Of each application: as it was measured for this part of a node, or as `alone` says."""
        rule = self._rules["alone"]
        otherwise = self._filled.max(axis=1) if rule == MAXIMUM else np.full(len(self.heatmap), float(rule))
        measured = self.heatmap.alone.get(fraction, np.full(len(self.heatmap), np.nan))
        return np.where(np.isnan(measured), otherwise, measured)
