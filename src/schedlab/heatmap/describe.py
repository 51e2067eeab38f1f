"""What is in a heatmap: how much of it is measured, its range, best and worst pairs, averages of applications."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.heatmap import Heatmap

MOST_PAIRS = 5


@dataclass(frozen=True, slots=True)
class Pair:
    """Two applications beside each other (or one beside itself): how fast either runs, and the mean of both."""

    a: str
    b: str
    speedup_a: float
    speedup_b: float
    mean: float


@dataclass(frozen=True, slots=True)
class Average:
    """An application: its mean speed-up over its known partners, and theirs beside it; None where nothing is known."""

    name: str
    processes: int
    runtime: float | None
    speedup: float | None
    of_partners: float | None
    missing: int  # partners beside which it was not measured


@dataclass(frozen=True, slots=True)
class Description:
    source: str
    applications: int
    pairs: int  # measured, of applications²
    missing: int
    lowest: float | None
    mean: float | None
    highest: float | None
    slowed: float | None  # share of the measured pairs with a speed-up below 1
    best: tuple[Pair, ...]
    worst: tuple[Pair, ...]
    averages: tuple[Average, ...]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def describe_heatmap(heatmap: Heatmap) -> Description:
    known = heatmap.speedups[~np.isnan(heatmap.speedups)]
    pairs = _pairs(heatmap)
    some = len(known) > 0
    return Description(
        source=heatmap.source,
        applications=len(heatmap),
        pairs=len(known),
        missing=heatmap.speedups.size - len(known),
        lowest=float(known.min()) if some else None,
        mean=float(known.mean()) if some else None,
        highest=float(known.max()) if some else None,
        slowed=float((known < 1).mean()) if some else None,
        best=tuple(pairs[:MOST_PAIRS]),
        worst=tuple(pairs[MOST_PAIRS:][-MOST_PAIRS:][::-1]),
        averages=_averages(heatmap),
    )


def _pairs(heatmap: Heatmap) -> list[Pair]:
    """Those measured in both directions, the best first."""
    names, cells = heatmap.names, heatmap.speedups
    found = [
        Pair(names[a], names[b], float(cells[a, b]), float(cells[b, a]), float(cells[a, b] + cells[b, a]) / 2)
        for a in range(len(names))
        for b in range(a, len(names))
        if not math.isnan(cells[a, b] + cells[b, a])
    ]
    return sorted(found, key=lambda pair: -pair.mean)


def _averages(heatmap: Heatmap) -> tuple[Average, ...]:
    rows, columns = _means(heatmap.speedups), _means(heatmap.speedups.T)
    missing = np.isnan(heatmap.speedups).sum(axis=1).tolist()
    runtimes = [None if math.isnan(time) else time for time in heatmap.runtimes.tolist()]
    facts = zip(heatmap.names, heatmap.processes.tolist(), runtimes, rows, columns, missing, strict=True)
    return tuple(Average(*fact) for fact in facts)


def _means(cells: NDArray[np.float64]) -> list[float | None]:
    """The mean of each row's known values."""
    return [float(row[~np.isnan(row)].mean()) if not np.isnan(row).all() else None for row in cells]
