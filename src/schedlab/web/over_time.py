"""The machine and its queue over time, for browsers: means of steps from afar, every change from near."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.resources import timeline_columns
from schedlab.analysis.series import time_means
from schedlab.model.resources import resources_of
from schedlab.model.run import Run
from schedlab.plot.times import Span
from schedlab.web.block import Column, pack

STEPS = (2048, 32_768)  # through the whole run; a level for each
AT_ONCE = 65_536  # changes in a block

Floats = NDArray[np.float64]


class OverTime:
    """Of each resource what jobs have and what waiting ones ask for; jobs that run and wait."""

    def __init__(self, run: Run, span: Span) -> None:
        self._run, self._span = run, span
        self._sums: dict[str, dict[str, float]] = {"running": {"running": 1.0}, "queued": {"queued": 1.0}}
        told = run.summary.get("resources", {})
        self.totals: dict[str, float] = {}
        for resource in resources_of(run.cluster):
            if resource.name != "cores" and not (told.get(resource.name) or {}).get("load"):
                continue  # nobody asks for it, or the run does not tell
            self.totals[resource.name] = resource.total(run.cluster)
            self._sums[f"used_{resource.name}"] = timeline_columns("used", resource)
            self._sums[f"queued_{resource.name}"] = timeline_columns("queued", resource)
        self._parts = tuple(dict.fromkeys(part for parts in self._sums.values() for part in parts))

    def facts(self) -> dict[str, Any]:
        times = self._column("time")
        changes = [[float(times[at]), float(times[min(at + AT_ONCE, len(times) - 1)])] for at in self._begins(times)]
        levels = [steps for steps in STEPS if len(times) > steps]
        return {"totals": self.totals, "steps": levels, "changes": changes}

    def means(self, level: int) -> bytes:
        """Means of each step, and the longest queue in it."""
        edges = np.linspace(*self._span, STEPS[level] + 1)
        found = time_means(self._run.tables, self._parts, edges)
        columns: dict[str, Column | list[str]] = {
            name: Column(_sum(found, parts), single=True) for name, parts in self._sums.items()
        }
        columns["most"] = Column(self._most(edges), single=True)
        return pack(columns)

    def changes(self, number: int) -> bytes:
        """Some of the moments at which something changed, and what held from then on."""
        times = self._column("time")
        some = slice(self._begins(times)[number], self._begins(times)[number] + AT_ONCE + 1)
        found = {part: self._column(part)[some] for part in self._parts}
        columns: dict[str, Column | list[str]] = {"time": Column(times[some], delta=True)}
        columns |= {name: Column(_sum(found, parts)) for name, parts in self._sums.items()}
        return pack(columns)

    def _begins(self, times: Floats) -> range:
        return range(0, max(len(times) - 1, 1) if len(times) else 0, AT_ONCE)

    def _column(self, name: str) -> NDArray[Any]:
        parts = [batch[name] for batch in self._run.tables.batches([name], "timeline")]
        return np.concatenate(parts) if parts else np.empty(0)

    def _most(self, edges: Floats) -> Floats:
        """The longest queue of each step, also what a step begins with."""
        times, queued = self._column("time"), self._column("queued")
        if not len(times):
            return np.zeros(len(edges) - 1)
        first = np.searchsorted(times, edges[:-1], side="right") - 1
        last = np.maximum(np.searchsorted(times, edges[1:], side="left"), first + 1)
        bounds = np.stack([np.maximum(first, 0), np.minimum(last, len(times))], axis=1).ravel()
        padded = np.append(queued, 0)
        found = np.maximum.reduceat(padded, bounds)[::2].astype(np.float64)
        found[last <= 0] = 0.0
        return found


def _sum(found: dict[str, NDArray[Any]], parts: dict[str, float]) -> NDArray[Any]:
    """Whole ones and thousandths together; whole numbers stay whole."""
    values = [found[part] if size == 1 else found[part] * size for part, size in parts.items()]
    return np.asarray(values[0] if len(values) == 1 else sum(values[1:], values[0]))
