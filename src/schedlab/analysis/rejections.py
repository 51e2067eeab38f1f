"""Why jobs were rejected: which resource is not there in such an amount."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.machine import Machine
from schedlab.model.cluster import NodeGroup
from schedlab.model.eligible import eligible_groups
from schedlab.model.jobs import job_names
from schedlab.model.request import Request
from schedlab.model.resources import THOUSANDTHS, amount, amount_of
from schedlab.model.run import Run, Tables
from schedlab.model.states import OVER_BUDGET, REASONS, STATES

REJECTED = STATES.index("rejected")


@dataclass(frozen=True, slots=True)
class Shortage:
    """What a cluster does not have: the resource (empty if it is none), and the whole story."""

    resource: str
    text: str


def rejections(tables: Tables, machine: Machine, kept: NDArray[np.bool_] | None = None) -> list[dict[str, Any]]:
    """For each reason and resource how many jobs were rejected, and the first of them in words.

    `kept` are the jobs that count. What the policy says itself of why it rejects a job is a reason of its own.
    """
    kinds: dict[tuple[int, int, int, str], _Kind] = {}
    names = ("state", "sequence", "request", "count", "reason", "job")
    row = 0
    for batch in tables.batches(names, "jobs"):
        rejected = batch["state"] == REJECTED
        if kept is not None:
            rejected &= kept[row : row + len(rejected)]
        rows = np.flatnonzero(rejected)
        if len(rows):
            _note(kinds, {name: batch[name][rows] for name in names}, rows + row, machine.refusals)
        row += len(rejected)
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    in_order = sorted(kinds.items(), key=lambda item: item[1].sequence)
    for (request, count, code, words), kind in in_order:
        short = shortage(machine, machine.requests[request], count, REASONS[code])
        key = REASONS[code], short.resource, words
        if key not in found:
            (job,) = job_names(tables, np.array([kind.row]))
            text = f"was refused: {words}" if words else short.text
            first = {"reason": REASONS[code], "resource": short.resource or None, **({"words": words} if words else {})}
            found[key] = first | {"jobs": 0, "first": f"job {job} {text}"}
        found[key]["jobs"] += kind.jobs
    return sorted(found.values(), key=lambda entry: -entry["jobs"])


@dataclass(slots=True)
class _Kind:
    """Jobs that were rejected for the same: how many, and the first one's place in the workload and in the table."""

    jobs: int
    sequence: int
    row: int


def _note(
    kinds: dict[tuple[int, int, int, str], _Kind],
    jobs: dict[str, NDArray[Any]],
    rows: NDArray[np.intp],
    refusals: Mapping[int, str],
) -> None:
    """A few jobs of many differ in what they ask for and in the reason."""
    key = np.column_stack([jobs["request"], jobs["count"], jobs["reason"]]).astype(np.int64)
    words = [""] * len(rows)
    if refusals:
        words = [refusals.get(job, "") for job in jobs["job"].tolist()]
        texts = {text: number for number, text in enumerate(dict.fromkeys(words))}
        key = np.column_stack([key, [texts[text] for text in words]])
    order = np.lexsort((jobs["sequence"], *key.T))
    ordered = key[order]
    begins = np.flatnonzero(np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1)))
    for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(order)], strict=True):
        at = int(order[begin])
        request, count, code = key[at, :3].tolist()
        sequence, kind = int(jobs["sequence"][at]), (request, count, code, words[at])
        known = kinds.setdefault(kind, _Kind(0, sequence, int(rows[at])))
        known.jobs += end - begin
        if sequence < known.sequence:
            known.sequence, known.row = sequence, int(rows[at])


def why_rejected(run: Run, job: int) -> str:
    """Why a job was rejected, in words; empty if it was not."""
    tables, machine = run.tables, Machine.of_run(run)
    at = np.flatnonzero(tables.column("job") == job)
    if not len(at) or tables.column("state")[at[0]] != REJECTED:
        return ""
    if words := machine.refusals.get(job):
        return f"was refused: {words}"
    request, count, code = (int(tables.column(name)[at[0]]) for name in ("request", "count", "reason"))
    return shortage(machine, machine.requests[request], count, REASONS[code]).text


def shortage(machine: Machine, request: Request, count: int, reason: str) -> Shortage:
    """What stands in the way of `count` chunks of this request."""
    cluster = machine.cluster
    if reason == "rejected by the policy":
        return Shortage("", "was rejected by the policy")
    if reason == OVER_BUDGET:
        return Shortage("", "would exceed the machine's budget (a cap of power) all alone")
    if reason == "unknown resource":
        names = [name for name, n in request.chunk.items() if n > 0 and name not in cluster.resource_names]
        asked = " and ".join(amount_of(name, request.chunk[name] * count) for name in names)
        return Shortage(_shown(names), f"asks for {asked}, the cluster has none")
    if reason == "unknown partition":
        there = ", ".join(partition.name for partition in cluster.partitions) or "none"
        return Shortage("", f"asks for the partition '{request.partition}', the cluster has {there}")
    default = next((partition.name for partition in cluster.partitions if partition.default), "")
    within = f" of the default partition {default}" if default else ""
    if request.partition is not None:
        within = f" of the partition {request.partition}"
    if reason == "no node has the features":
        return Shortage("", f"asks for the features {', '.join(sorted(request.features))}, no node{within} has them")
    assert reason == "larger than the cluster", reason
    may, _ = eligible_groups(cluster, request)
    groups = [group for group, one in zip(cluster.groups, may, strict=True) if one]
    if request.features:
        within += f" with {', '.join(sorted(request.features))}"
    return _on_one_node(request, groups, within) or _in_all(machine, request, count, groups, within)


def _on_one_node(request: Request, groups: Sequence[NodeGroup], within: str) -> Shortage | None:
    """Is what has to be on one node more than any node has?"""
    least = max(request.per_node_min, 1)
    asked = {name: least * n for name, n in request.chunk.items() if n > 0}
    for name, n in asked.items():
        most = max(group.resources.get(name, 0) for group in groups)
        if n > most:
            limit = f"no node{within} has more than {amount(name, most)}" if most else f"no node{within} has any"
            return Shortage(_shown([name]), f"asks for {amount_of(name, n)} a node, {limit}")
    if any(all(group.resources.get(name, 0) >= n for name, n in asked.items()) for group in groups):
        return None
    together = " and ".join(amount_of(name, n) for name, n in asked.items())
    return Shortage(_shown(asked), f"asks for {together} a node, no node{within} has them together")


def _in_all(machine: Machine, request: Request, count: int, groups: Sequence[NodeGroup], within: str) -> Shortage:
    """Every part of it fits on some node, but not all of them at once."""
    where = within.removeprefix(" of ") if within.startswith(" of ") else f"the cluster{within}"

    def room(group: NodeGroup, name: str) -> int:
        chunks = group.resources.get(name, 0) // request.chunk[name]
        return 0 if chunks < request.per_node_min else chunks

    for name, n in request.chunk.items():
        if n > 0 and sum(group.count * room(group, name) for group in groups) < count:
            has = sum(group.count * group.resources.get(name, 0) for group in groups)
            if has < n * count:
                return Shortage(
                    _shown([name]), f"asks for {amount_of(name, n * count)}, {where} has {amount(name, has)}"
                )
            parts = sum(group.count * room(group, name) for group in groups)
            text = f"asks for {count:,} parts of {amount_of(name, n)} each, the nodes{within} have room for {parts:,}"
            return Shortage(_shown([name]), text)
    most = request.per_node_max
    nodes = sum(group.count for group in groups)
    if most and nodes * most < count:
        return Shortage("nodes", f"asks for {-(-count // most):,} nodes, {where} has {nodes:,}")
    if machine.contiguous:
        return Shortage("nodes", f"asks for {count:,} parts on neighbouring nodes, there are not so many neighbours")
    names = [name for name, n in request.chunk.items() if n > 0]
    return Shortage(_shown(names), f"asks for {count:,} parts, the nodes{within} have no room for so many at once")


def _shown(names: Sequence[str] | dict[str, int]) -> str:
    return ", ".join(dict.fromkeys(THOUSANDTHS.get(name, name) for name in names))
