"""What is in a log, for the page that sets up a run: the table of `schedlab inspect`, bad rows, and small figures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.cluster import Cluster
from schedlab.model.workload import JobBatch, Workload

BARS = 96  # of the figure of arrivals
MOST_BAD_ROWS = 50
RUNTIMES = (0.0, 60.0, 600.0, 3600.0, 4 * 3600.0, 12 * 3600.0, 86400.0, 4 * 86400.0)


def described(source: str | Workload, reading: dict[str, Any], machine: Cluster | None = None) -> dict[str, Any]:
    from schedlab.workload.describe import describe
    from schedlab.workload.read import read_workload

    workload = source
    if isinstance(workload, str):
        workload = read_workload(workload, in_memory=False, requests="full", **reading)
    found = describe(workload, cluster=machine)
    bad = list(found.bad_rows)
    return {
        "name": found.name,
        "jobs": found.jobs,
        "span": found.span,
        "load": found.offered_load,
        "processors": found.processors,
        "processors_from": found.processors_from,
        "rows": found.table(),
        "bad_rows": bad[:MOST_BAD_ROWS],
        "more_bad_rows": max(0, len(bad) - MOST_BAD_ROWS),
        "figures": _Figures(found.first_submit, found.last_submit).of(workload),
    }


class _Figures:
    """Counted in one pass over the jobs."""

    def __init__(self, first: float, last: float) -> None:
        self.first, self.length = first, max(last - first, 1.0)
        self.arrivals = np.zeros(BARS, np.int64)
        self.sizes = np.zeros(32, np.int64)
        self.work = np.zeros(32)
        self.runtimes = np.zeros(len(RUNTIMES), np.int64)

    def of(self, workload: Workload) -> dict[str, Any]:
        from schedlab.model.resources import resources_named
        from schedlab.workload.offered import amounts

        for batch in workload.batches():
            cores = resources_named(name for request in workload.requests for name in request.chunk)[0]
            self.add(batch, amounts(cores, workload.requests, batch))
        top = int(np.flatnonzero(self.sizes).max(initial=0)) + 1
        labels = [_size_label(power) for power in range(top)]
        total = max(float(self.work.sum()), 1e-9)
        return {
            "arrivals": {"counts": self.arrivals.tolist(), "seconds": self.length / BARS},
            "sizes": {
                "labels": labels,
                "counts": self.sizes[:top].tolist(),
                "work": (self.work[:top] / total).tolist(),
            },
            "runtimes": {"from": list(RUNTIMES), "counts": self.runtimes.tolist()},
        }

    def add(self, batch: JobBatch, cores: NDArray[np.float64]) -> None:
        place = ((batch.submit - self.first) / self.length * BARS).astype(np.int64)
        self.arrivals += np.bincount(np.clip(place, 0, BARS - 1), minlength=BARS)
        power = np.clip(np.ceil(np.log2(np.maximum(cores, 1))), 0, 31).astype(np.int64)
        self.sizes += np.bincount(power, minlength=32)
        self.work += np.bincount(power, weights=cores * batch.runtime, minlength=32)
        bins = np.clip(np.searchsorted(RUNTIMES, batch.runtime, side="right") - 1, 0, len(RUNTIMES) - 1)
        self.runtimes += np.bincount(bins, minlength=len(RUNTIMES))


def _size_label(power: int) -> str:
    low, high = 2 ** (power - 1) + 1, 2**power
    return str(high) if power <= 1 else f"{low}–{high}"


def made(text: str, jobs: int | None, span: str, seed: int) -> Workload:
    """What `schedlab run MODEL --jobs N` simulates."""
    from schedlab.generate.base import generate
    from schedlab.generate.store import read_model
    from schedlab.model.units import parse_duration

    length = parse_duration(span, where="span") if span else None
    made = generate(read_model(text), jobs=jobs, span=length, seed=seed, name=text.partition("(")[0])
    batches = list(made.batches())
    made.source = lambda: iter(batches)
    made.report.kept = sum(map(len, batches))
    return made
