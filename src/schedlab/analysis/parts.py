"""Every resource of every part of a machine: of its partitions, of its node groups, or of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.fragmentation import fragmentation
from schedlab.analysis.machine import Machine
from schedlab.analysis.resources import asked_by_requests, load_of_jobs, ratio
from schedlab.analysis.series import window
from schedlab.analysis.stays import Floats, find_stays, group_of_node
from schedlab.analysis.trim import Selection, keeps
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.resources import resources_of
from schedlab.model.run import Run
from schedlab.model.suggest import did_you_mean

if TYPE_CHECKING:
    import polars as pl

Part = Literal["machine", "partition", "group"]
PARTS: tuple[str, ...] = get_args(Part)


def resources_by_part(run: Run, by: Part = "partition", *, trim: Selection | None = None) -> pl.DataFrame:
    """One row per part and resource that it has: `part`, `resource`, `total`, `load`, `utilisation`, `queue_mean`,
    `queue_max`, `fragmentation`, as the summary defines them.

    What waits and what was submitted is that of the jobs which ask for the partition; a node group has no queue of its
    own, so there these are null.
    """
    import polars as pl

    if by not in PARTS:
        hint = did_you_mean(by, PARTS, f"parts: {', '.join(PARTS)}")
        raise InputError(f"a machine has no parts by '{by}'", hint=hint)
    machine, cluster = Machine.of_run(run), run.cluster
    begin, end = window(run, trim)
    stays = find_stays(run.tables, cluster)
    torn = fragmentation(run.tables, machine, stays, begin, end)
    seconds = np.clip(stays.end, begin, end) - np.clip(stays.begin, begin, end)
    group = group_of_node(cluster)[stays.node]
    waits = _waits(run)
    kept = keeps(trim.of(run), run.tables) if trim else np.ones(len(run.tables.column("submit")), bool)
    rows = []
    for resource in resources_of(cluster):
        asked = asked_by_requests(resource, machine.requests)
        used = np.bincount(group, stays.amount(resource, machine.requests) * seconds, len(cluster.groups))
        there = np.array([each.count * resource.there(each.resources) for each in cluster.groups])
        for name, inside, requests in _parts(machine, by):
            total = float(there[inside].sum())
            if not total:
                continue
            fragments, free = (float(areas[inside].sum()) for areas in torn[resource.name])
            rows.append(
                {
                    "part": name,
                    "resource": resource.name,
                    "total": total,
                    "load": None if requests is None else load_of_jobs(run.tables, asked * requests, total, kept),
                    "utilisation": ratio(float(used[inside].sum()), total * (end - begin)) if asked.any() else None,
                    **_queue(waits, None if requests is None else asked * requests, begin, end),
                    "fragmentation": ratio(fragments, free),
                }
            )
    numbers = ("total", "load", "utilisation", "queue_mean", "queue_max", "fragmentation")
    schema = {"part": pl.String, "resource": pl.String, **dict.fromkeys(numbers, pl.Float64)}
    return pl.DataFrame(rows, schema, orient="row")


def _parts(machine: Machine, by: str) -> Sequence[tuple[str, NDArray[np.bool_], NDArray[np.bool_] | None]]:
    """Name, which node groups belong to it, and which requests are for it (None: nobody asks for it by name)."""
    cluster = machine.cluster
    names = [group.name for group in cluster.groups]
    if by == "machine":
        return [(cluster.name, np.ones(len(names), bool), np.ones(max(len(machine.requests), 1), bool))]
    if by == "group":
        return [(name, np.arange(len(names)) == at, None) for at, name in enumerate(names)]
    if not cluster.partitions:
        raise InputError("the cluster has no partitions", where=cluster.name, hint="look at its node groups")
    wanted = [_partition_of(cluster, request.partition) for request in machine.requests] or [None]
    return [
        (
            partition.name,
            np.array([name in partition.groups for name in names]),
            np.array([name == partition.name for name in wanted]),
        )
        for partition in cluster.partitions
    ]


def _partition_of(cluster: Cluster, asked: str | None) -> str | None:
    """The one that a request is for: the default if it names none."""
    return asked if asked is not None else next((p.name for p in cluster.partitions if p.default), None)


def _waits(run: Run) -> Mapping[str, NDArray[Any]]:
    """From when a job was eligible until it first started or left; and after each time that it was requeued."""
    import polars as pl

    jobs, pieces = run.jobs, run.pieces.with_row_index("at")
    first = pieces.sort("at").group_by("sequence").agg(first=pl.col("begin").first())
    left = pl.coalesce("first", "start", "end")
    waits = (
        jobs.filter(pl.col("eligible").is_not_null() & (pl.col("state") != "held"))
        .join(first, on="sequence", how="left")
        .select("request", "count", begin="eligible", end=left)
    )
    again = (
        pieces.with_columns(next=pl.col("begin").shift(-1).over("sequence", order_by="at"))
        .filter(pl.col("how") == "requeued")
        .join(jobs.select("sequence", leaves="end"), on="sequence", how="left")
        .select("request", "count", begin="end", end=pl.coalesce("next", "leaves"))
    )
    return {name: column.to_numpy() for name, column in pl.concat([waits, again]).to_dict().items()}


def _queue(
    waits: Mapping[str, NDArray[Any]], asked: Floats | None, begin: float, end: float
) -> dict[str, float | None]:
    """What is asked for by jobs that wait: its mean over the time, and the most after any instant."""
    if asked is None:
        return {"queue_mean": None, "queue_max": None}
    amount = asked[waits["request"]] * waits["count"]
    low, high = np.clip(waits["begin"], begin, end), np.clip(waits["end"], begin, end)
    times, which = np.unique(np.concatenate([waits["begin"], waits["end"]]), return_inverse=True)
    levels = (
        np.cumsum(np.bincount(which, np.concatenate([amount, -amount]), len(times))).round(6) + 0.0
    )  # thousandths add up
    first = max(int(np.searchsorted(times, begin, side="right")) - 1, 0)
    inside = levels[first : int(np.searchsorted(times, end, side="right"))]
    return {
        "queue_mean": ratio(float((amount * (high - low)).sum()), end - begin),
        "queue_max": float(inside.max(initial=0.0)),
    }
