"""Which cores each job had, and when: rows for a Gantt chart. A node has as many rows as cores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.resources import asked_by_requests
from schedlab.model.cluster import Cluster
from schedlab.model.nodeset import expand
from schedlab.model.resources import resources_of
from schedlab.model.run import Run
from schedlab.plot.times import Floats, Span

if TYPE_CHECKING:
    import polars as pl

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Bars:
    """Rectangles: `low` to `high` are rows, `begin` to `end` seconds, `job` a place in the table of jobs."""

    job: Ints
    begin: Floats
    end: Floats
    low: Ints
    high: Ints

    def __len__(self) -> int:
        return len(self.job)


class Machine:
    """Where the rows of each node begin."""

    def __init__(self, cluster: Cluster) -> None:
        self.pool = cluster.pool
        sizes = [max(group.resources.get("cores", 0), 1) for group in cluster.groups for _ in range(group.count)]
        self.names = cluster.node_names()
        self.sizes = np.array(sizes, np.int64)
        self.first = np.concatenate([[0], np.cumsum(self.sizes)])
        self.rows = int(self.first[-1])
        self.number = {name: number for number, name in enumerate(self.names)}


def job_bars(run: Run, machine: Machine, span: Span) -> Bars:
    """The rectangles of all jobs that ran in the span."""
    stays = _stays(run, span)
    exclusive = np.array([request.exclusive for request in run.requests] or [False])
    whole = exclusive[stays["request"].to_numpy()]
    chunk = np.ceil(stays["cores"].to_numpy() / np.maximum(stays["count"].to_numpy(), 1)).astype(np.int64)
    shares = np.ceil(asked_by_requests(resources_of(run.cluster)[0], run.requests)).astype(np.int64)  # of cores
    chunk = np.where(chunk > 0, chunk, shares[stays["request"].to_numpy()])
    begin, end = stays["begin"].to_numpy(), stays["end"].to_numpy()
    if machine.pool:
        wanted: Iterator[list[tuple[int, int]]] = ([(0, int(cores))] for cores in stays["cores"])
    else:
        by_chunks = _wanted(machine, stays["nodes"].to_list(), chunk.tolist(), whole.tolist())
        wanted = _granted(run, stays, whole.tolist(), by_chunks)
    found = _pack(machine, begin.tolist(), end.tolist(), wanted)
    at, low, high = np.array(found, np.int64).reshape(-1, 3).T
    return Bars(stays["job"].to_numpy().astype(np.int64)[at], begin[at], end[at], low, high)


def closed_bars(run: Run, machine: Machine, span: Span) -> Bars:
    """The rectangles of nodes that were not up; `job` is -1."""
    changes = run.nodes.filter(run.nodes["node"].is_in(machine.names)).sort("node", "time", maintain_order=True)
    node, time = changes["node"], changes["time"].to_numpy()
    lasts = (node.shift(-1) != node).fill_null(True).to_numpy()
    until = np.where(lasts, span[1], np.roll(time, -1))
    closed = (changes["state"].cast(str) != "up").to_numpy() & (until > span[0]) & (time < span[1])
    number = np.array([machine.number[name] for name in node], np.int64)[closed]
    low = machine.first[number]
    return Bars(np.full(len(low), -1), time[closed], until[closed], low, low + machine.sizes[number])


def _stays(run: Run, span: Span) -> pl.DataFrame:
    """When and where jobs ran, in the order in which they began: their stretches, or simply from start to end."""
    import polars as pl

    columns = ("sequence", "begin", "end", "cores", "count", "request", "nodes")
    jobs = run.jobs.with_row_index("job_row").rename({"start": "begin"})
    pieces = run.pieces
    simple = jobs.join(pieces, on="sequence", how="anti").filter(pl.col("begin").is_not_null())
    places = jobs.select("sequence", job=pl.col("job_row").cast(pl.Int64))
    stays = pl.concat([simple.select(columns), pieces.select(columns)]).join(places, on="sequence")
    running = (pl.col("begin") < span[1]) & (pl.col("end") > span[0]) & (pl.col("end") > pl.col("begin"))
    return stays.filter(running).sort("begin", "sequence")


def _wanted(
    machine: Machine, texts: list[str | None], chunks: list[int], whole: list[bool]
) -> Iterator[list[tuple[int, int]]]:
    """The nodes of each stay and the cores it has there. Jobs come back to the same nodes: each text is read once."""
    known: dict[str, list[tuple[int, int]]] = {}
    for text, chunk, alone in zip(texts, chunks, whole, strict=True):
        if text is None:
            yield []
            continue
        if text not in known:
            known[text] = [(machine.number[name], count) for name, count in expand(text)]
        if alone:
            yield [(node, machine.rows) for node, _ in known[text]]
        else:
            yield [(node, count * chunk) for node, count in known[text]]


def _granted(
    run: Run, stays: pl.DataFrame, whole: list[bool], by_chunks: Iterator[list[tuple[int, int]]]
) -> Iterator[list[tuple[int, int]]]:
    """The cores that places tell of, where they do."""
    told: dict[tuple[int, float], list[tuple[int, int]]] = {}
    for sequence, begin, node, cores in run.places.select("sequence", "from", "node", "cores").iter_rows():
        told.setdefault((sequence, begin), []).append((node, cores))
    keys = zip(stays["sequence"].to_list(), stays["begin"].to_list(), strict=True)
    for key, alone, usual in zip(keys, whole, by_chunks, strict=True):
        yield usual if alone else told.get(key, usual)


def _pack(
    machine: Machine, begin: list[float], end: list[float], wanted: Iterator[list[tuple[int, int]]]
) -> list[tuple[int, int, int]]:
    """Stay, first row and row after the last, for each unbroken set of rows that a stay gets."""
    first, sizes = machine.first.tolist(), machine.sizes.tolist()
    free: dict[int, list[tuple[int, int]]] = {}  # of nodes that jobs share: rows that are free, in order
    leaving: list[tuple[float, int, list[tuple[int, int, int]]]] = []
    found: list[tuple[int, int, int]] = []
    for stay, nodes in enumerate(wanted):
        while leaving and leaving[0][0] <= begin[stay]:
            for node, low, high in heappop(leaving)[2]:
                _give_back(free[node], low, high)
        shared: list[tuple[int, int, int]] = []
        lows = highs = -1  # the set of rows that is being built
        for node, cores in nodes:
            top, size = first[node], sizes[node]
            if cores >= size:
                taken = [(top, top + size)]
            else:
                taken = _take(free.setdefault(node, [(top, top + size)]), max(cores, 1))
                shared += [(node, low, high) for low, high in taken]
            for low, high in taken:
                if low != highs:
                    if highs > lows:
                        found.append((stay, lows, highs))
                    lows = low
                highs = high
        if highs > lows:
            found.append((stay, lows, highs))
        if shared:
            heappush(leaving, (end[stay], stay, shared))
    return found


def _take(free: list[tuple[int, int]], cores: int) -> list[tuple[int, int]]:
    """The smallest free set of neighbouring rows that is large enough; if there is none, the first free rows."""
    sizes = [(high - low, at) for at, (low, high) in enumerate(free) if high - low >= cores]
    if sizes:
        fitting = min(sizes)[1]
        low, high = free[fitting]
        free[fitting : fitting + 1] = [(low + cores, high)] if high - low > cores else []
        return [(low, low + cores)]
    taken = []
    while cores and free:
        low, high = free.pop(0)
        used = min(cores, high - low)
        taken.append((low, low + used))
        cores -= used
        if low + used < high:
            free.insert(0, (low + used, high))
    return taken


def _give_back(free: list[tuple[int, int]], low: int, high: int) -> None:
    at = 0
    while at < len(free) and free[at][0] < low:
        at += 1
    if at < len(free) and free[at][0] == high:
        high = free.pop(at)[1]
    if at and free[at - 1][1] == low:
        low = free.pop(at - 1)[0]
        at -= 1
    free.insert(at, (low, high))
