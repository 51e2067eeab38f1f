"""What a job of Alea asks for, from columns 19 to 21: a PBS node specification, or AleaNG's GPUs and property."""

from __future__ import annotations

import re
from dataclasses import dataclass

from schedlab.model.request import Request

_NODES_BY_CORES = re.compile(r"(?:([^:]*):)?([1-9][0-9]{0,8})x([1-9][0-9]{0,8})")
_PROCESSORS = re.compile(r"ppn=([1-9][0-9]{0,8})")

UNSPECIFIED = "node specification: none, processors go anywhere"
SEVERAL = "node specification: several parts, single cores instead"
DIFFERS = "node specification: not the job's processors, these count"
PROPERTIES = "node specification: properties other than a cluster left out"
NODES = "node specification: names of nodes left out"
SETTINGS = "node specification: mem=… and the like left out"
UNEVEN = "gpus: not the same on all nodes, rounded up"


@dataclass(frozen=True, slots=True)
class Wish:
    """So many chunks of a request, in a queue; and what could not be kept of it."""

    count: int
    request: Request
    queue: str = ""
    notes: tuple[str, ...] = ()


def wish(extra: tuple[str, str, str], processors: int, memory: int) -> Wish:
    """`memory` is column 10 times 1024, 0 to ask for none."""
    nodes, queue, specification = extra
    if not specification:
        return Wish(processors, Request(), notes=(UNSPECIFIED,))
    if nodes.isdecimal():
        return _of_aleang(int(nodes), specification, processors, memory)
    return _of_pbs(specification, queue, processors, memory // 1024)  # there column 10 is in bytes


def _of_aleang(gpus: int, wanted: str, processors: int, memory: int) -> Wish:
    """GPUs of the whole job, and a property; or `property:NxC` for N nodes of C cores. Memory is for a node."""
    split = _NODES_BY_CORES.fullmatch(wanted)
    name = (split[1] or "") if split else wanted
    nodes, cores = (int(split[2]), int(split[3])) if split else (processors, 1)
    chunk = {"cores": cores}
    if gpus:
        chunk["gpus"] = -(-gpus // nodes)
    if memory:
        chunk["memory"] = memory
    features = frozenset() if name in ("", "all", "-1") else frozenset({name})
    request = Request(chunk, per_node_max=1 if nodes > 1 else 0, features=features)
    return Wish(nodes, request, notes=(UNEVEN,) if gpus % nodes else ())


def _of_pbs(specification: str, queue: str, processors: int, memory: int) -> Wish:
    """`2:ppn=8:cl_zewura#excl`: nodes, processors of each, properties. Memory is for a node."""
    text, _, flags = specification.partition("#")
    parts = [part.split(":") for part in text.split("+")]
    features, notes = _properties([word for part in parts for word in part])
    counts = [int(part[0]) if part[0].isdecimal() else 1 for part in parts]
    found = [next((_PROCESSORS.fullmatch(word) for word in part if word.startswith("ppn=")), None) for part in parts]
    each = [int(match[1]) if match else 0 for match in found]
    odd = any(word.startswith("ppn=") and not _PROCESSORS.fullmatch(word) for word in parts[0])  # ppn=1.5
    exclusive = "excl" in flags.split("#")
    if len(parts) > 1:
        most = max(1, *each)
        chunk = {"cores": 1} | ({"memory": -(-memory // most)} if memory else {})
        request = Request(chunk, per_node_max=most, features=features, exclusive=exclusive)
        return Wish(processors, request, queue, (*notes, SEVERAL))
    nodes, cores = max(counts[0], 1), each[0]
    if not cores and not odd and processors % nodes == 0:
        cores = processors // nodes
    apart = nodes > 1
    if nodes * cores != processors:
        notes, apart = (*notes, DIFFERS), False
        nodes, cores = (1, processors) if nodes == 1 else (processors, 1)
    chunk = {"cores": cores} | ({"memory": memory} if memory else {})
    request = Request(chunk, per_node_max=1 if apart else 0, features=features, exclusive=exclusive)
    return Wish(nodes, request, queue, notes)


def _properties(words: list[str]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Clusters (`cl_zewura`) are features; other words are left out, each kind with a note."""
    features, notes = set(), []
    for word in words:
        if word.isdecimal() or word.startswith("ppn=") or not word:
            continue
        if word.startswith("cl_"):
            features.add(word)
        elif word.startswith(("^", "host=")) or "." in word:
            notes.append(NODES)
        else:
            notes.append(SETTINGS if "=" in word else PROPERTIES)
    return frozenset(features), tuple(dict.fromkeys(notes))
