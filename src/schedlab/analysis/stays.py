"""Who had which nodes from when to when, as arrays: for what the timeline does not tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.model.cluster import Cluster
from schedlab.model.nodeset import expand
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

    number = {name: at for at, name in enumerate(cluster.node_names())}
    different = texts.drop_nulls().unique()
    sets = [expand(text) for text in different]
    of_text = np.repeat(np.arange(len(sets)), [len(nodes) for nodes in sets])
    node = pl.Series([number[name] for nodes in sets for name, _ in nodes], dtype=pl.Int64)
    chunks = pl.Series([count for nodes in sets for _, count in nodes], dtype=pl.Int64)
    return pl.DataFrame({"nodes": different.gather(of_text), "node": node, "chunks": chunks})


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
