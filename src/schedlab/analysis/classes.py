"""Metrics by class of jobs: small and large, short and long, user by user, queue by queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.metrics import TAU
from schedlab.analysis.resources import asked_by_requests
from schedlab.analysis.trim import Selection, keeps
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.resources import resources_named
from schedlab.model.run import Tables
from schedlab.model.suggest import did_you_mean

if TYPE_CHECKING:
    import polars as pl

Class = Literal["size", "runtime", "user", "group", "queue", "partition"]
CLASSES: tuple[str, ...] = get_args(Class)

# Each class reaches up to, and includes, its size in cores.
SIZES = (1, 4, 16, 64, 256, 1024, 4096, 16384)
SIZE_NAMES = ("1", *(f"{low + 1}-{high}" for low, high in pairwise(SIZES)), f"over {SIZES[-1]}")

# Each class reaches up to its time in seconds, and does not include it.
RUNTIMES = (60, 600, 3600, 4 * 3600, 12 * 3600, 24 * 3600)
RUNTIME_NAMES = ("under 1 min", "1-10 min", "10-60 min", "1-4 h", "4-12 h", "12-24 h", "24 h and more")


def by_class(
    tables: Tables,
    by: str,
    *,
    tau: float = TAU,
    trim: Selection | None = None,
    labels: Mapping[str, Sequence[str]] | None = None,
    requests: Sequence[Request] = (),
) -> pl.DataFrame:
    """One row per class that has jobs which started: their number, core-hours, waits (s) and slowdowns.

    Sizes and runtimes in increasing order; users, groups, queues and partitions (unknown is null) by core-hours, most
    first, under the names that `labels` has for them. `requests` tell the cores of jobs that ask for thousandths.
    """
    import polars as pl

    if by not in CLASSES:
        hint = did_you_mean(by, CLASSES, f"classes: {', '.join(CLASSES)}")
        raise InputError(f"there is no class of jobs '{by}'", hint=hint)
    start = tables.column("start")
    chosen = ~np.isnan(start)
    if trim:
        chosen &= keeps(trim, tables)

    def column(name: str) -> NDArray[Any]:
        return np.asarray(tables.column(name)[chosen])

    start, end, eligible, cores = start[chosen], column("end"), column("eligible"), column("cores")
    if requests:
        whole = resources_named(name for request in requests for name in request.chunk)[0]
        if len(whole.parts) > 1:
            cores = asked_by_requests(whole, requests)[column("request")] * column("count")
    runtime, turnaround = end - start, end - eligible
    jobs = pl.DataFrame(
        {
            "class": _classes(by, cores, runtime) if by in ("size", "runtime") else column(by),
            "core_hours": cores * runtime / 3600,
            "wait": start - eligible,
            # A job of length 0 has no slowdown (the bounded one it has).
            "slowdown": np.divide(turnaround, runtime, out=np.full(len(runtime), np.nan), where=runtime > 0),
            "bounded_slowdown": np.maximum(turnaround / np.maximum(runtime, tau), 1.0),
        }
    ).with_columns(pl.col("slowdown").fill_nan(None))
    measured = [
        expression.alias(f"{name}.{suffix}")
        for name in ("wait", "slowdown", "bounded_slowdown")
        for suffix, expression in {
            "mean": pl.col(name).mean(),
            "median": pl.col(name).median(),
            "p95": pl.col(name).quantile(0.95, "linear"),
            "max": pl.col(name).max(),
        }.items()
    ]
    found = jobs.group_by("class", maintain_order=True).agg(
        pl.len().alias("jobs"), pl.col("core_hours").sum(), *measured
    )
    if by in ("size", "runtime"):
        names = SIZE_NAMES if by == "size" else RUNTIME_NAMES
        return found.sort("class").with_columns(pl.col("class").replace_strict(dict(enumerate(names))))
    known = pl.when(pl.col("class") >= 0).then(pl.col("class")).alias("class")
    if labels and by in labels:
        known = known.replace_strict(dict(enumerate(labels[by])), return_dtype=pl.String)
    return found.sort(["core_hours", "class"], descending=[True, False]).with_columns(known)


def _classes(by: str, cores: NDArray[Any], runtime: NDArray[np.float64]) -> NDArray[np.intp]:
    if by == "size":
        return np.searchsorted(SIZES, cores, side="left")
    return np.searchsorted(RUNTIMES, runtime, side="right")
