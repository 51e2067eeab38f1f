"""Which cores each job had, and when: rows of Gantt charts, resources of other tools. A node has as many as cores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab._core import expand_sets, gantt_rows
from schedlab.analysis.resources import asked_by_requests
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.jobs import in_pieces, rows_of_jobs
from schedlab.model.nodeset import expand
from schedlab.model.resources import resources_of
from schedlab.model.run import Run, Where

if TYPE_CHECKING:
    import pyarrow as pa

Ints = NDArray[np.int64]
SmallInts = NDArray[np.int32]
Floats = NDArray[np.float64]
Span = tuple[float, float]  # seconds of the run
_WHOLE_NODES = -1  # instead of the cores of a chunk


@dataclass(frozen=True, slots=True)
class Bars:
    """Rectangles: `low` to `high` are rows, of a stay; stays: `begin` to `end` are seconds, `job` a place in the table.

    A run of a million jobs has several million rectangles: what is the same for all of a stay is kept once.
    """

    stay: SmallInts
    low: SmallInts
    high: SmallInts
    job_of: Ints
    begin_of: Floats
    end_of: Floats

    @classmethod
    def of(cls, job: Ints, begin: Floats, end: Floats, low: Ints, high: Ints) -> Bars:
        """Each a stay of its own."""
        return cls(np.arange(len(job), dtype=np.int32), low.astype(np.int32), high.astype(np.int32), job, begin, end)

    @property
    def job(self) -> Ints:
        return self.job_of[self.stay]

    @property
    def begin(self) -> Floats:
        return self.begin_of[self.stay]

    @property
    def end(self) -> Floats:
        return self.end_of[self.stay]

    def __len__(self) -> int:
        return len(self.stay)


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
    """The rectangles of all jobs that ran in the span, in the order of their beginning."""
    with ThreadPoolExecutor(1) as beside:  # to read sets takes as long as all the rest, and no lock of Python's
        reading = beside.submit(_pool) if machine.pool else beside.submit(_node_sets, run, machine, span)
        stays = _stays(run, span)
        nodes, sets = reading.result()
    exclusive = np.array([request.exclusive for request in run.requests] or [False])
    chunk = np.ceil(stays.cores / np.maximum(stays.count, 1)).astype(np.int64)
    shares = np.ceil(asked_by_requests(resources_of(run.cluster)[0], run.requests)).astype(np.int64)  # of cores
    chunk = np.where(chunk > 0, chunk, shares[stays.request])
    if machine.pool:
        which, chunk = np.zeros(len(stays.at), np.int64), stays.cores.astype(np.int64)
    else:
        whole = exclusive[stays.request]
        which, chunk, sets = _granted(run, stays, whole, nodes[stays.at], np.where(whole, _WHOLE_NODES, chunk), sets)
    sequence, begin, end = stays.sequence, stays.begin, stays.end
    del stays, nodes, reading  # while rows are dealt out, memory is at its highest
    found = gantt_rows(machine.first, sets.ends, sets.first, sets.last, sets.chunks, begin, end, which, chunk)
    del sets, which, chunk
    at, low, high = (np.asarray(column) for column in found)
    return Bars(at, low, high, rows_of_jobs(run.tables, sequence), begin, end)


def closed_bars(run: Run, machine: Machine, span: Span) -> Bars:
    """The rectangles of nodes that were not up; `job` is -1."""
    if not len(run.tables.column("time", "nodes")):
        none = np.empty(0, np.int64)
        return Bars.of(none, np.empty(0), np.empty(0), none, none)
    changes = run.nodes.filter(run.nodes["node"].is_in(machine.names)).sort("node", "time", maintain_order=True)
    node, time = changes["node"], changes["time"].to_numpy()
    lasts = (node.shift(-1) != node).fill_null(True).to_numpy()
    until = np.where(lasts, span[1], np.roll(time, -1))
    closed = (changes["state"].cast(str) != "up").to_numpy() & (until > span[0]) & (time < span[1])
    number = np.array([machine.number[name] for name in node], np.int64)[closed]
    low = machine.first[number]
    return Bars.of(np.full(len(low), -1), time[closed], until[closed], low, low + machine.sizes[number])


_BEGINS = {
    "jobs": "start",
    "pieces": "begin",
}  # tables that tell of stays, and what their columns of beginnings are called


def _within(table: str, span: Span) -> Where:
    return {_BEGINS[table]: (-np.inf, span[1]), "end": (span[0], np.inf)}


@dataclass(frozen=True, slots=True)
class _Stays:
    """When jobs ran: of each stay its columns, in the order in which they began. `at` is its row, of the jobs and then
    of the pieces that are looked at because of the span."""

    sequence: NDArray[Any]
    begin: Floats
    end: Floats
    cores: NDArray[Any]
    count: NDArray[Any]
    request: NDArray[Any]
    at: Ints


_OF_STAYS: dict[str, type] = {
    "sequence": np.int64,
    "begin": np.float64,
    "end": np.float64,
    "cores": np.int32,
    "count": np.int32,
    "request": np.int32,
    "at": np.int64,
}


def _stays(run: Run, span: Span) -> _Stays:
    """The stretches of jobs that have some; of others simply from start to end."""
    found: list[dict[str, NDArray[Any]]] = [{name: np.empty(0, kind) for name, kind in _OF_STAYS.items()}]
    row = 0
    for table, begins in _BEGINS.items():
        names = ("sequence", begins, "end", "cores", "count", "request")
        for batch in run.tables.batches(names, table, _within(table, span)):
            begin, end = batch[begins], batch["end"]
            chosen = (begin < span[1]) & (end > span[0]) & (end > begin)  # those without a beginning are not
            at = np.flatnonzero(chosen)
            some = {name: values[at] for name, values in batch.items()}
            found.append(some | {"begin": some[begins], "at": at + row})
            row += len(chosen)
        if table == "jobs":
            own = {name: np.concatenate([piece[name] for piece in found]) for name in _OF_STAYS}
            simple = ~in_pieces(run.tables, own["sequence"])
            found = [own if simple.all() else {name: values[simple] for name, values in own.items()}]
    columns = {name: np.concatenate([piece.pop(name) for piece in found]) for name in _OF_STAYS}
    order = np.lexsort((columns["sequence"], columns["begin"]))
    return _Stays(**{name: values[order] for name, values in columns.items()})


@dataclass(frozen=True, slots=True)
class _Sets:
    """Sets of nodes, one behind the other: of each set the end; neighbouring nodes, from the first to before the last,
    and the chunks on each of them."""

    ends: Ints
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    chunks: NDArray[np.int32]


def _pool() -> tuple[Ints, _Sets]:
    """A machine of one node, which everybody has."""
    one = np.ones(1, np.int32)
    return np.empty(0, np.int64), _Sets(np.ones(1, np.int64), np.zeros(1, np.int32), one, one)


def _node_sets(run: Run, machine: Machine, span: Span) -> tuple[Ints, _Sets]:
    """Which set each row of the jobs, then of the pieces, has (-1: none), and the sets."""
    texts = _node_texts(run, span)
    which = np.arange(len(texts))
    if texts.null_count:
        which[~_known(texts)] = -1
    return which, _sets(machine, texts)


def _known(texts: pa.StringArray) -> NDArray[np.bool_]:
    """Not by pyarrow.compute, which takes longer to be imported than a million sets to be read."""
    told = np.frombuffer(texts.buffers()[0], np.uint8)
    return np.unpackbits(told, count=texts.offset + len(texts), bitorder="little")[texts.offset :].astype(bool)


def _node_texts(run: Run, span: Span) -> pa.StringArray:
    import pyarrow as pa

    tables = [run.tables.arrow(name, ["nodes"], _within(name, span)) for name in _BEGINS]
    chunks = [chunk for table in tables if table is not None for chunk in table["nodes"].chunks]
    texts = [chunk if chunk.type == pa.string() else chunk.cast(pa.string()) for chunk in chunks if len(chunk)]
    if len(texts) == 1:
        return texts[0]
    return pa.concat_arrays(texts) if texts else pa.array([], pa.string())


def _sets(machine: Machine, texts: pa.StringArray) -> _Sets:
    """To read a set that comes again is quicker than to find out that it was there. One that is missing has no
    letters, and no nodes."""
    _, offsets, letters = texts.buffers()
    if not len(texts) or letters is None:
        return _Sets(np.empty(0, np.int64), *(np.empty(0, np.int32) for _ in range(3)))
    ends = np.frombuffer(offsets, np.int32, len(texts) + 1, 4 * texts.offset).astype(np.int64)
    first = int(ends[0])
    try:
        found = expand_sets(np.frombuffer(letters, np.uint8)[first:], ends[1:] - first, machine.names)
    except ValueError as error:
        raise _unknown_nodes(machine, str(error)) from None
    return _Sets(*(np.asarray(column) for column in found))


def _unknown_nodes(machine: Machine, text: str) -> InputError:
    """Whether it is no node set, or which node there is not."""
    missing = next((name for name, _ in expand(text) if name not in machine.number), "")
    return InputError(f"the machine has no node '{missing}'", where=f"node set '{text[:80]}'")


def _granted(
    run: Run, stays: _Stays, whole: NDArray[np.bool_], which: Ints, chunk: Ints, sets: _Sets
) -> tuple[Ints, Ints, _Sets]:
    """The cores that places tell of, where they do."""
    if not len(run.tables.column("sequence", "places")):
        return which, chunk, sets
    told: dict[tuple[int, float], list[tuple[int, int]]] = {}
    for sequence, begin, node, cores in run.places.select("sequence", "from", "node", "cores").iter_rows():
        told.setdefault((sequence, begin), []).append((node, cores))
    keys = zip(stays.sequence.tolist(), stays.begin.tolist(), strict=True)
    ends, more = sets.ends.tolist(), list[tuple[int, int]]()
    for stay, (key, alone) in enumerate(zip(keys, whole.tolist(), strict=True)):
        if alone or key not in told:
            continue
        more += told[key]
        which[stay], chunk[stay] = len(ends), 1
        ends.append(len(sets.first) + len(more))
    node, cores = np.array(more, np.int32).reshape(-1, 2).T
    columns = ((sets.first, node), (sets.last, node + 1), (sets.chunks, cores))
    return which, chunk, _Sets(np.array(ends, np.int64), *(np.concatenate(column) for column in columns))
