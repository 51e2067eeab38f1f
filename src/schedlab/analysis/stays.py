"""Who had which nodes from when to when, as arrays: for what the timeline does not tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab._core import expand_sets
from schedlab.model.cluster import Cluster
from schedlab.model.request import Request
from schedlab.model.resources import Resource
from schedlab.model.run import Tables

if TYPE_CHECKING:
    import polars as pl

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
COLUMNS = ["end", "request", "count", "nodes"]  # that jobs and their pieces have
WANTED = ["sequence", "begin", "end", "node", "chunks", "request"]


@dataclass(frozen=True, slots=True)
class Stays:
    """An entry for each node of each stretch of time during which a job had the same nodes."""

    sequence: Numbers  # of the job
    begin: Floats
    end: Floats
    node: Numbers  # in cluster order
    chunks: Numbers
    request: Numbers
    granted: dict[str, Numbers] = field(default_factory=dict)  # by resource; -1 where it is chunks of the request

    def entries(self, nodes: int) -> Numbers:
        """How many there are of each node."""
        return np.bincount(self.node, minlength=nodes)

    def on(self, nodes: range) -> Stays:
        """Those on nodes that are neighbours."""
        which = np.flatnonzero((self.node >= nodes.start) & (self.node < nodes.stop))
        granted = {name: amounts[which] for name, amounts in self.granted.items()}
        sequence, node, chunks, request = (
            column[which] for column in (self.sequence, self.node, self.chunks, self.request)
        )
        return Stays(sequence, self.begin[which], self.end[which], node, chunks, request, granted)

    def held(self, name: str, per_chunk: Numbers) -> Numbers:
        """How much of a resource, of which chunks of each request have so much."""
        usual = per_chunk[self.request] * self.chunks
        granted = self.granted.get(name)
        return np.asarray(usual if granted is None else np.where(granted >= 0, granted, usual), np.int64)

    def amount(self, resource: Resource, requests: Sequence[Request]) -> Floats:
        """The same of what is measured under one name."""
        found = np.zeros(len(self.node))
        for part, size in resource.parts.items():
            found += size * self.held(part, np.array([request.chunk.get(part, 0) for request in requests] or [0]))
        return found


def find_stays(tables: Tables, cluster: Cluster) -> Stays:
    """Jobs that simply ran have one stretch, their row; the others those of pieces.parquet. What was granted instead of
    chunks is told in places.parquet."""
    found = folded_stays(tables, cluster)
    return found if isinstance(found, Stays) else found.on(range(cluster.nodes))


def _from_frames(tables: Tables, cluster: Cluster) -> Stays:
    import polars as pl

    columns = ["sequence", "begin", *COLUMNS]
    jobs = _jobs(tables)
    rows = jobs.filter(pl.col("begin").is_not_null())
    if len(tables.column("sequence", "pieces")):
        pieces = tables.frame("pieces")
        simple = rows.filter(~pl.col("sequence").is_in(pieces["sequence"].unique().implode()))
        rows = pl.concat([simple, pieces.select(columns)])
    granted_some = len(tables.column("sequence", "places")) > 0
    if granted_some:
        places = tables.frame("places").rename({"from": "begin", "until": "end"})
        rows = _without(rows, places)
    if cluster.pool:
        rows = rows.with_columns(node=pl.lit(0, pl.Int64), chunks=pl.col("count"))
    else:
        rows = rows.join(_nodes_of(rows["nodes"], cluster), on="nodes")
    if not granted_some:
        return _stays(rows, {})
    told = places.join(jobs.select("sequence", "request"), on="sequence")
    whole = [pl.col("node", "chunks").cast(pl.Int64)]
    both = pl.concat([rows.select(WANTED).with_columns(whole), told.select(WANTED).with_columns(whole)])
    granted = {name: np.concatenate([np.full(len(rows), -1), told[name].to_numpy()]) for name in cluster.resource_names}
    return _stays(both, granted)


@dataclass(frozen=True, slots=True)
class FoldedStays:
    """Stays of jobs of which each has one stretch, as ranges of nodes: a fraction of the memory."""

    row: NDArray[np.int32]  # of the job, for each range
    first: NDArray[np.int32]
    last: NDArray[np.int32]  # the node after it
    chunks: NDArray[np.int32]
    sequence: Numbers  # of each row
    begin: Floats
    end: Floats
    request: Numbers

    @classmethod
    def of(cls, tables: Tables, cluster: Cluster) -> FoldedStays:
        table, names, row = tables.arrow("jobs", ["nodes"]), cluster.node_names(), 0
        assert table is not None, "every run has this table"
        found = [tuple(np.empty(0, np.int32) for _ in range(4))]
        for texts in table["nodes"].chunks:
            _, offsets, letters = texts.buffers()
            if len(texts) and letters is not None:  # a text that is missing has no letters, and no nodes
                ends = np.frombuffer(offsets, np.int32, len(texts) + 1, 4 * texts.offset).astype(np.int64)
                expanded = expand_sets(np.frombuffer(letters, np.uint8)[ends[0] :], ends[1:] - ends[0], names)
                of_text, *ranges = map(np.asarray, expanded)
                rows = np.arange(row, row + len(texts), dtype=np.int32)
                found.append((np.repeat(rows, np.diff(of_text, prepend=0)), *ranges))
            row += len(texts)
        sequence, begin = tables.column("sequence"), tables.column("start")
        place = np.empty(len(sequence), np.int64)
        place[np.argsort(sequence)] = np.arange(len(sequence))
        of_range, *others = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.argsort(place[of_range], kind="stable")
        order = order[~np.isnan(begin[of_range[order]])]
        request = tables.column("request").astype(np.int64)  # of no jobs it has no type
        first, last, chunks = (column[order] for column in others)
        return cls(of_range[order], first, last, chunks, sequence, begin, tables.column("end"), request)

    def entries(self, nodes: int) -> Numbers:
        """How many there are of each node."""
        begun, over = (np.bincount(ends, minlength=nodes + 1) for ends in (self.first, self.last))
        return np.asarray(np.cumsum(begun - over)[:nodes])

    def on(self, nodes: range) -> Stays:
        """Those on nodes that are neighbours."""
        which = np.flatnonzero((self.last > nodes.start) & (self.first < nodes.stop))
        first, last = np.maximum(self.first[which], nodes.start), np.minimum(self.last[which], nodes.stop)
        rows, node, chunks = _one_by_one(self.row[which], first, last, self.chunks[which])
        return Stays(self.sequence[rows], self.begin[rows], self.end[rows], node, chunks, self.request[rows])


def folded_stays(tables: Tables, cluster: Cluster) -> Stays | FoldedStays:
    """In as little memory as there is a way to."""
    if not cluster.pool and not any(len(tables.column("sequence", name)) for name in ("pieces", "places")):
        return FoldedStays.of(tables, cluster)
    return _from_frames(tables, cluster)


def _jobs(tables: Tables) -> pl.DataFrame:
    """In the order of the workload. Only what is needed: summaries of small runs take their time here."""
    import polars as pl

    jobs = tables.arrow("jobs", ["sequence", "start", *COLUMNS])
    assert jobs is not None, "every run has this table"
    found = pl.from_arrow(jobs.rename_columns(["sequence", "begin", *COLUMNS]))
    assert isinstance(found, pl.DataFrame)
    return found.sort("sequence")


def _stays(rows: pl.DataFrame, granted: dict[str, Numbers]) -> Stays:
    sequence, begin, end, node, chunks, request = (rows[name].to_numpy() for name in WANTED)
    return Stays(sequence, begin, end, node, chunks, request, granted)


def _without(rows: pl.DataFrame, places: pl.DataFrame) -> pl.DataFrame:
    """The stretches of which places do not tell."""
    import polars as pl

    numbered = rows.with_row_index()
    told = places.select("sequence", since="begin", until="end").unique()
    inside = (pl.col("begin") >= pl.col("since")) & (pl.col("end") <= pl.col("until"))
    return numbered.join(numbered.join(told, on="sequence").filter(inside).select("index"), on="index", how="anti")


def _nodes_of(texts: pl.Series, cluster: Cluster) -> pl.DataFrame:
    """The nodes that each text names, a row for each of them."""
    import polars as pl

    different = texts.drop_nulls().unique()
    lengths = different.str.len_bytes().to_numpy().astype(np.int64)
    letters = np.frombuffer("".join(different.to_list()).encode(), np.uint8)
    ends, *ranges = map(np.asarray, expand_sets(letters, np.cumsum(lengths), cluster.node_names()))
    of_range = np.repeat(np.arange(len(different)), np.diff(ends, prepend=0))
    of_text, node, chunks = _one_by_one(of_range, *ranges)
    return pl.DataFrame({"nodes": different.gather(of_text), "node": node, "chunks": chunks})


def _one_by_one(
    of_range: NDArray[Any], first: NDArray[np.int32], last: NDArray[np.int32], chunks: NDArray[np.int32]
) -> tuple[NDArray[Any], Numbers, Numbers]:
    """Ranges of nodes (`last` is the one after them) as nodes: what each belongs to, the node, its chunks."""
    sizes = (last - first).astype(np.int64)
    begins = np.cumsum(sizes) - sizes
    node = np.repeat(first - begins, sizes) + np.arange(int(sizes.sum()))
    return np.repeat(of_range, sizes), node, np.repeat(chunks.astype(np.int64), sizes)


def closed_times(tables: Tables, cluster: Cluster) -> tuple[Floats, Floats, Numbers]:
    """When nodes were not up: from, until (infinity: to the end), and which."""
    number = {name: at for at, name in enumerate(cluster.node_names())}
    since: dict[int, float] = {}
    found: list[tuple[float, float, int]] = []
    changes = tables.frame("nodes").iter_rows() if len(tables.column("time", "nodes")) else ()
    for time, name, state in changes:
        node = number[name]
        if state == "up" and node in since:
            found.append((since.pop(node), time, node))
        elif state != "up":
            since.setdefault(node, time)
    found += [(time, np.inf, node) for node, time in since.items()]
    begin, end, nodes = (np.array(column) for column in zip(*found, strict=True)) if found else (np.empty(0),) * 3
    return begin, end, nodes.astype(np.int64)


def group_of_node(cluster: Cluster) -> Numbers:
    return np.repeat(np.arange(len(cluster.groups)), [group.count for group in cluster.groups])
