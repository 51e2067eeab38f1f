"""What jobs of an accounting dump ask for: processors, nodes, GPUs and memory as chunks of a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schedlab.model.request import Request
from schedlab.workload.options import ReadOptions
from schedlab.workload.sacct.columns import Floats, Mask, Problems, Texts
from schedlab.workload.sacct.fields import (
    UNKNOWN,
    parse_count,
    parse_features,
    parse_memory,
    parse_other_tres,
    parse_tres,
)
from schedlab.workload.sacct.rows import Header
from schedlab.workload.slurm.sbatch import OptionError, whole_nodes
from schedlab.workload.stream import Known

MEBIBYTE = 1 << 20
Others: TypeAlias = tuple[tuple[str, int], ...]
Options: TypeAlias = Mapping[str, str]  # of sbatch

# What a command line may ask for that no column tells. Only whole nodes mean something to everybody.
LINE_OPTIONS = ("exclusive", "nice", "licenses", "contiguous", "switches", "spread-job", "nodelist", "exclude")
_SLURM_ONLY = {name: f"option --{name}: not used" for name in LINE_OPTIONS} | {
    "constraint": "constraints with alternatives or counts: not used",
    "licenses": "licences: not used",
    "partition": "lists of partitions: not used",
}


@dataclass
class Asked:
    """The amounts of jobs; NaN where unknown."""

    cpus: Floats
    nodes: Floats
    gpus: Floats
    memory: Floats  # bytes of the whole job
    memory_core: Floats  # bytes of each core
    memory_node: Floats  # bytes of each node
    tells_memory: Mask  # whether the dump has a column of it
    other_cpus: Mask  # allocated ones stand in for requested ones, or the other way round
    others: Floats  # the place of their further resources

    def take(self, rows: NDArray[Any]) -> Asked:
        return Asked(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


class Amounts:
    """Reads the amounts of a block, remembering what texts mean."""

    def __init__(self, header: Header, options: ReadOptions) -> None:
        self._header = header
        self._requested_first = options.procs == "requested"
        self._counts = Texts(parse_count)
        self._tres = Texts(self._parse_tres, 5)
        self._memory = Texts(parse_memory, 3)
        self.others: dict[Others, int] = {(): 0}  # resources besides processors, nodes, memory and GPUs, numbered

    def read(self, table: Any, problems: Problems) -> Asked:
        def column(what: str, texts: Texts, width: int = 0) -> Floats:
            if what not in self._header.places:
                return np.full((table.num_rows, width) if width else table.num_rows, np.nan)
            return texts.read(table.column(what).combine_chunks(), self._header.name(what), problems)

        requested, allocated = column("requested", self._tres, 5), column("allocated", self._tres, 5)
        cpus = [[requested[:, 0], column("requested_cpus", self._counts)]]
        cpus += [[allocated[:, 0], column("allocated_cpus", self._counts)]]
        least = _first_above_0([requested[:, 1], column("requested_nodes", self._counts)])
        had = _first_above_0([allocated[:, 1], column("allocated_nodes", self._counts)])
        memory = column("memory", self._memory, 3)
        if self._requested_first:
            first, second = requested, allocated
            # Slurm's number is the least that was asked for; a job that got more could do with more.
            nodes = np.fmax(least, had)
            total = _first_above_0([requested[:, 3], memory[:, 0]])
        else:
            first, second = allocated, requested
            cpus.reverse()
            nodes = _first_above_0([had, least])
            total = _first_above_0([allocated[:, 3], requested[:, 3], memory[:, 0]])
        preferred = _first_above_0(cpus[0])
        return Asked(
            cpus=_first_above_0([preferred, *cpus[1]]),
            nodes=nodes,
            gpus=np.where(np.isnan(first[:, 2]), second[:, 2], first[:, 2]),
            memory=total,
            memory_core=memory[:, 1],
            memory_node=memory[:, 2],
            tells_memory=np.full(table.num_rows, bool({"memory", "requested", "allocated"} & set(self._header.places))),
            other_cpus=np.isnan(preferred),
            others=np.nan_to_num(first[:, 4]),
        )

    def _parse_tres(self, text: str) -> tuple[float, ...]:
        """And the place of what else there is."""
        return *parse_tres(text), float(self.others.setdefault(parse_other_tres(text), len(self.others)))


def _first_above_0(columns: list[Floats]) -> Floats:
    found = np.full(len(columns[0]), np.nan)
    for column in columns:
        found = np.where(np.isnan(found) & (column > 0), column, found)
    return found


@dataclass
class Wishes:
    """What records say besides amounts: columns of texts (None where the dump has no such column)."""

    features: Any
    partition: Any
    licences: Any
    line: NDArray[np.int64]  # the place of what the command line asks for
    withdrawn: Mask  # before they started


class Requests:
    """Chunks and requests of jobs; what had to be rounded or left out is counted."""

    def __init__(
        self, known: Known, options: ReadOptions, header: Header, filled: Counter[str], for_slurm: Counter[str]
    ) -> None:
        self._known, self._header, self._filled, self._for_slurm = known, header, filled, for_slurm
        self._detailed = options.full  # whether memory and partitions are a part of the request

    def read(
        self, asked: Asked, others: Sequence[Others], wishes: Wishes, lines: Sequence[Options]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The number of chunks of each job, and the place of its request."""
        gpus = np.nan_to_num(asked.gpus)
        per_node = ~np.isnan(asked.memory_node) & self._detailed
        assumed = np.isnan(asked.nodes) & ((gpus > 0) | per_node)
        self._count("nodes: 1, their number is unknown and GPUs or memory of a node are asked for", assumed)
        nodes = np.where(assumed, 1, asked.nodes)
        count = np.where(np.isnan(nodes), asked.cpus, nodes)
        cores = np.ceil(asked.cpus / count)
        self._count("cores: rounded up to whole equal shares", cores * count != asked.cpus)
        shares = np.ceil(gpus / count)
        self._count("gpus: rounded up to whole equal shares", shares * count != gpus)
        rows = len(cores)
        keys = [
            cores.astype(np.int64),
            shares.astype(np.int64),
            self._memory_of_chunk(asked, count, cores).astype(np.int64),
            (nodes > 1).astype(np.int64),
            np.where(asked.memory_core > 0, asked.memory_core, 0).astype(np.int64),
            np.where(asked.others > 0, count, 0).astype(np.int64),  # they are shared out over so many chunks
            asked.others.astype(np.int64),
            self._codes(wishes.features, rows),
            self._codes(wishes.partition if self._detailed else None, rows),
            self._codes(wishes.licences, rows),
            wishes.line,
            wishes.withdrawn.astype(np.int64),
        ]
        return count.astype(np.int64), self._places(keys, others, wishes, lines)

    def _memory_of_chunk(self, asked: Asked, count: Floats, cores: Floats) -> Floats:
        if not self._detailed:
            return np.zeros(len(count))
        shared = np.ceil(asked.memory / count)
        stated = np.where(np.isnan(shared), asked.memory_core * cores, shared)
        stated = np.where(np.isnan(stated), asked.memory_node, stated)
        self._count("memory: none, it is unknown or all of a node", ~(stated > 0) & asked.tells_memory)
        bounded: Floats = np.minimum(np.nan_to_num(stated), 2.0**62)
        return bounded

    def _codes(self, column: Any, rows: int) -> NDArray[np.int64]:
        return np.zeros(rows, np.int64) if column is None else column.indices.to_numpy().astype(np.int64)

    def _places(
        self, keys: list[NDArray[np.int64]], others: Sequence[Others], wishes: Wishes, lines: Sequence[Options]
    ) -> NDArray[np.int32]:
        """Each different combination is looked at once."""
        _, first, inverse = np.unique(_combined(keys), return_index=True, return_inverse=True)
        features = _texts(wishes.features, self._header.whole)
        partitions, licences = _texts(wishes.partition, str), _texts(wishes.licences, str)
        places = np.zeros(len(first), np.int32)
        told: dict[str, Mask] = {}
        for which in np.argsort(first).tolist():
            cores, gpus, memory, spread, of_core, count, more, *texts = (int(key[first[which]]) for key in keys)
            feature, partition, licence, line, withdrawn = texts
            chunk, wanted = _chunk(cores, gpus, memory, count, others[more])
            if licences[licence] not in UNKNOWN:
                wanted["licenses"] = licences[licence]
            all_of = parse_features(features[feature])
            if all_of is None:
                wanted["constraint"] = features[feature]
            if partitions[partition].count(",") and self._detailed:
                wanted["partition"] = partitions[partition]
            wanted |= lines[line]
            notes = [_SLURM_ONLY[what] for what in wanted.keys() - {"exclusive"}]
            exclusive = _whole_nodes(wanted, notes)
            for what in notes:
                told.setdefault(what, np.zeros(len(first), bool))[which] = True
            if of_core and self._detailed:
                wanted["mem-per-cpu"] = f"{-(-of_core // MEBIBYTE)}M"
            if withdrawn:
                wanted["hold"] = ""
            request = Request(
                chunk,
                per_node_max=spread,
                features=all_of or frozenset(),
                partition=(partitions[partition] or None) if self._detailed and "partition" not in wanted else None,
                exclusive=exclusive,
                sbatch=tuple(sorted(wanted.items())),
            )
            places[which] = self._known.request(request)
        for what, some in told.items():
            if number := int(np.count_nonzero(some[inverse])):
                self._for_slurm[what] += number
        return places[inverse]

    def _count(self, what: str, which: Mask) -> None:
        if number := int(np.count_nonzero(which)):
            self._filled[what] += number


def _whole_nodes(wanted: Options, notes: list[str]) -> bool:
    try:
        return whole_nodes(wanted, notes)
    except OptionError:
        notes.append(_SLURM_ONLY["exclusive"])
        return False


def _chunk(cores: int, gpus: int, memory: int, count: int, others: Others) -> tuple[dict[str, int], dict[str, str]]:
    """What is asked for `count` times, and the licences of the whole job."""
    chunk = {"cores": cores} | ({"memory": memory} if memory else {}) | ({"gpus": gpus} if gpus else {})
    licences = []
    for name, amount in others:
        kind, _, licence = name.partition("/")
        if licence:
            licences.append(f"{licence}:{amount}")
        else:
            chunk[kind] = -(-amount // count)
    return chunk, {"licenses": ",".join(licences)} if licences else {}


def _combined(keys: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """One number for each combination of numbers that are not negative."""
    combined, size = np.zeros(len(keys[0]), np.int64), 1
    for key in keys:
        span = int(key.max(initial=0)) + 1
        if span == 1:
            continue  # nobody asks for it
        if size * span > 2**62:
            different, combined = np.unique(combined, return_inverse=True)
            _, key = np.unique(key, return_inverse=True)
            size, span = len(different), len(key)
        combined = combined * span + key
        size *= span
    return combined


def _texts(column: Any, parse: Any) -> list[Any]:
    if column is None:
        return [parse("")]
    return [parse(text.decode(errors="replace")) for text in column.dictionary.to_pylist()]
