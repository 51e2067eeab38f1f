"""Jobs that share nodes and change each other's speed: docs/semantics.md, "Metrics", side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.distribution import distribution
from schedlab.model.run import Tables
from schedlab.model.states import STATES

COMPLETED = STATES.index("completed")
OF_SPEEDUPS = ("start", "end", "state", "runtime")
SAME = 1e-9  # speed-ups that differ from 1 by less are those of arithmetic

Floats = NDArray[np.float64]


def speedups_of(jobs: Mapping[str, NDArray[Any]]) -> Floats:
    """The run time on whole nodes (compact) over the time from start to end; NaN of jobs that did not complete."""
    took = jobs["end"] - jobs["start"]
    found: Floats = np.full(len(took), np.nan)
    done = (jobs["state"] == COMPLETED) & (took > 0)
    np.divide(jobs["runtime"], took, out=found, where=done)
    return found


def is_slowed(speedups: Floats) -> NDArray[np.bool_]:
    return np.asarray(speedups < 1 - SAME)


def beside_summary(tables: Tables, cores: int, begin: float, end: float, kept: NDArray[Any]) -> dict[str, Any]:
    """Of a run with a heatmap: speed-ups, and what the machine did until nobody waited any more."""
    speedups = speedups_of({name: tables.column(name) for name in OF_SPEEDUPS})[kept]
    known = speedups[~np.isnan(speedups)]
    return {
        "speedup": distribution(known.copy()),
        "slowed_share": float(is_slowed(known).mean()) if len(known) else None,
        "utilisation_until_empty": _until_empty(tables, cores, begin, end),
    }


def _until_empty(tables: Tables, cores: int, begin: float, end: float) -> float | None:
    """The share of the cores in use from `begin` to the last moment at which a job waited."""
    times, queued, used = (tables.column(name, "timeline") for name in ("time", "queued", "used_cores"))
    edges = np.clip(np.append(times, end), begin, end)
    waiting = np.flatnonzero((queued > 0) & (np.diff(edges) > 0))
    if not len(waiting):
        return None
    last = int(waiting[-1]) + 1
    length = float(edges[last] - begin)
    return float((used[:last] * np.diff(edges[: last + 1])).sum()) / (cores * length)


def compact_twin(configs: Sequence[Mapping[str, Any]]) -> int:
    """Which of several runs the others are measured against: the first that gives every job whole nodes, or the first.

    `configs` are their run.json.
    """
    whole = (at for at, config in enumerate(configs) if config.get("placement", {}).get("exclusive"))
    return next(whole, 0)


def improvement(makespan: float | None, of_twin: float | None) -> dict[str, float | None]:
    """Of a makespan against another one T: `faster` is T / makespan - 1, `shorter` 1 - makespan / T."""
    if not makespan or not of_twin:
        return {"faster": None, "shorter": None}
    return {"faster": of_twin / makespan - 1, "shorter": 1 - makespan / of_twin}
