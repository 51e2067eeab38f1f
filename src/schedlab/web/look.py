"""What is in a log, for the page that sets up a run: the table of `schedlab inspect`, bad rows, and small figures.

Read in a process of its own, so that no log, however large or broken, costs the server more than a message:
`python -m schedlab.web.look LOG '{"bad_rows": "drop"}'` prints one JSON document.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError, SchedlabError
from schedlab.model.workload import JobBatch, Workload
from schedlab.web.aside import aside
from schedlab.web.settings import Settings
from schedlab.web.space import Space

PATIENCE = 120.0  # seconds
BARS = 96  # of the figure of arrivals
MOST_BAD_ROWS = 50
RUNTIMES = (0.0, 60.0, 600.0, 3600.0, 4 * 3600.0, 12 * 3600.0, 86400.0, 4 * 86400.0)


def look(name: str, reading: dict[str, Any], cluster: str, space: Space, settings: Settings) -> dict[str, Any]:
    """By another process; `name` and `cluster` are named from the served folder."""
    asked = [name, json.dumps(reading | {"cluster": cluster})]
    done = aside("schedlab.web.look", asked, space, settings, patience=PATIENCE)
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        why = f"its process ended with {done.returncode}" + (f": {last[0]}" if last else "")
        raise InputError(f"could not be read: {why}", where=name, hint="try schedlab inspect") from None
    if "error" in found:
        raise InputError(found["error"], hint=found["hint"])
    return found


def described(source: str | Workload, reading: dict[str, Any], cluster: str = "") -> dict[str, Any]:
    from schedlab.cluster.read import read_cluster
    from schedlab.workload.describe import describe
    from schedlab.workload.read import read_workload

    machine = read_cluster(cluster) if cluster else None
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


def _main(name: str, options: str) -> None:
    from schedlab.model.confined import confine_as_told
    from schedlab.web.errors import document

    confine_as_told()
    given = json.loads(options)
    cluster, model = given.pop("cluster", ""), given.pop("model", None)
    try:
        source = name if model is None else _made(name, **model)
        answer = described(source, {} if model is not None else given, cluster)
    except SchedlabError as error:
        answer = document(error)
    json.dump(answer, sys.stdout, allow_nan=False, default=float)


def _made(text: str, jobs: int | None, span: str, seed: int) -> Workload:
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


if __name__ == "__main__":
    _main(*sys.argv[1:3])
