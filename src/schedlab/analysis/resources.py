"""What becomes of every resource of a machine: utilisation, load, queue, fragmentation (docs/semantics.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.distribution import PiecewiseSum
from schedlab.analysis.fragmentation import fragmentation
from schedlab.analysis.machine import Machine
from schedlab.analysis.stays import folded_stays
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.resources import Resource, resources_of
from schedlab.model.run import Run, Tables
from schedlab.model.suggest import did_you_mean
from schedlab.workload.offered import offered_load

MOST_JOBS = 500_000  # of which the nodes are looked at for a summary: it has no fragmentation beyond


def resource_summary(
    tables: Tables, machine: Machine, begin: float, end: float, kept: NDArray[np.bool_] | None, jobs: int
) -> dict[str, dict[str, Any]]:
    """For each resource its numbers between two moments; the load is that of the jobs which are `kept` (None: all).

    `jobs` is how many there are."""
    places = folded_stays(tables, machine.cluster) if jobs <= MOST_JOBS else None
    found: dict[str, dict[str, Any]] = {}
    for resource in resources_of(machine.cluster):
        total = resource.total(machine.cluster)
        found[resource.name] = {
            "total": _plain(total),
            **machine_over_time(tables, resource, total, begin, end),
            "load": load_of_jobs(tables, asked_by_requests(resource, machine.requests), total, kept),
            "fragmentation": None,
        }
        if not asked_by_requests(resource, machine.requests).any():  # unused, or known to somebody else: to Slurm
            found[resource.name]["utilisation"] = None
    if places is not None:
        for name, (fragments, free) in fragmentation(tables, machine, places, begin, end).items():
            found[name]["fragmentation"] = ratio(float(fragments.sum()), float(free.sum()))
    return found


def machine_over_time(
    tables: Tables, resource: Resource, total: float, begin: float, end: float
) -> dict[str, float | dict[str, float | None] | None]:
    """Integrals over the timeline: each row holds until the next one."""
    used = used_queued = queued_time = queue_area = most = 0.0
    names = ["time", "queued", *timeline_columns("used", resource), *timeline_columns("queued", resource)]
    before: dict[str, NDArray[Any]] | None = None
    for batch in tables.batches(names, "timeline"):
        piece = batch if before is None else {key: np.concatenate([before[key], batch[key]]) for key in batch}
        before = {key: column[-1:] for key, column in piece.items()}
        lengths = np.diff(np.clip(piece["time"], begin, end))
        busy, asked = (_column(piece, what, resource) for what in ("used", "queued"))
        waiting = (piece["queued"] if resource.name == "cores" else asked)[:-1] > 0
        area = busy[:-1] * lengths
        used += float(area.sum())
        used_queued += float(area[waiting].sum())
        queued_time += float(lengths[waiting].sum())
        queue_area += float((asked[:-1] * lengths).sum())
        inside = slice(max(int(np.searchsorted(piece["time"], begin, side="right")) - 1, 0), None)
        most = max(most, float(asked[inside][piece["time"][inside] <= end].max(initial=0.0)))
    if before is not None and len(before["time"]) and before["time"][0] < end:  # the last row holds until the end
        used += float(_column(before, "used", resource)[0]) * (end - max(float(before["time"][0]), begin))
    return {
        "utilisation": ratio(used, total * (end - begin)),
        "utilisation_queued": ratio(used_queued, total * queued_time),
        "queue": {"mean": ratio(queue_area, end - begin), "max": _plain(most)},
    }


def load_of_jobs(tables: Tables, asked: NDArray[Any], total: float, kept: NDArray[np.bool_] | None) -> float | None:
    """The offered load of these jobs (None: all); `asked` is what a chunk of each request asks for.

    None where nobody knows it: some have no end of their own (`view.complete`).
    """

    def pieces(*names: str) -> Iterator[list[NDArray[Any]]]:
        row = 0
        for batch in tables.batches(names, "jobs"):
            rows = slice(row, row := row + len(batch[names[0]]))
            yield [batch[name] if kept is None else batch[name][kept[rows]] for name in names]

    jobs, first, last = 0, np.inf, -np.inf
    for submit, runtime in pieces("submit", "runtime"):
        if np.isinf(runtime).any():
            return None
        jobs += len(submit)
        first, last = min(first, submit.min(initial=np.inf)), max(last, submit.max(initial=-np.inf))
    if not jobs:
        return None
    work = PiecewiseSum(jobs)
    for runtime, request, count in pieces("runtime", "request", "count"):
        work.add(asked[request] * count * runtime)
    return offered_load(work.value, total, float(last - first))


def resource_of(run: Run, name: str) -> Resource:
    """The resource of its machine that is called so."""
    known = {resource.name: resource for resource in resources_of(run.cluster)}
    if name not in known:
        hint = did_you_mean(name, known, f"it has {', '.join(known)}")
        raise InputError(f"the machine has no '{name}'", where=str(run.path or run), hint=hint)
    if name != "cores" and "resources" not in run.summary:
        hint = "simulate it again"
        raise InputError(f"the run was made by a version that did not record {name}", where=str(run.path), hint=hint)
    return known[name]


def timeline_columns(what: str, resource: Resource) -> dict[str, float]:
    """The columns of the timeline that tell what is `used` or `queued`, and how much one of each is."""
    return {f"{what}_{part}": size for part, size in resource.parts.items()}


def asked_by_requests(resource: Resource, requests: Sequence[Request]) -> NDArray[np.float64]:
    """What a chunk of each request asks for."""
    return np.array([resource.asked(request.chunk) for request in requests] or [0.0])


def ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None


def _column(piece: dict[str, NDArray[Any]], what: str, resource: Resource) -> NDArray[np.float64]:
    """Used or queued: whole ones and thousandths together."""
    parts = [piece[name] * size for name, size in timeline_columns(what, resource).items()]
    return np.asarray(parts[0] if len(parts) == 1 else sum(parts), np.float64)


def _plain(value: float) -> float | int:
    return int(value) if value == int(value) else value
