"""Amounts that jobs were granted: told for every node of a stay, enough for what they asked for, no device twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.offences import Offences
from schedlab.engine.check.record import Record
from schedlab.engine.check.stays import Stays

if TYPE_CHECKING:
    from schedlab.engine.check.places import Places

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Amounts:
    """What was held at each place, by resource; and which stays were granted something else than chunks."""

    of: dict[str, Numbers]
    granted: NDArray[np.bool_]  # of each stay

    def of_stays(self, resource: str, places: Places) -> Numbers:
        """What each stay had in all."""
        found = np.zeros(len(self.granted), np.int64)
        np.add.at(found, places.stay, self.of[resource])
        return found


def with_amounts(record: Record, stays: Stays, places: Places, offences: Offences) -> Places:
    """Chunks of the request, unless the table of places says otherwise."""
    chunk = {
        name: np.array([request.chunk.get(name, 0) for request in record.requests] or [0], np.int64)
        for name in dict.fromkeys((*record.cluster.resource_names, *(n for r in record.requests for n in r.chunk)))
    }
    request = stays.request[places.stay]
    held = {name: each[request] * places.chunks for name, each in chunk.items()}
    granted = np.zeros(len(stays), bool)
    told = record.told
    if not len(told) and not record.all_places:
        return replace(places, amounts=Amounts(held, granted))

    entry, row = _matched(record, stays, places, offences)
    if record.cluster.pool:  # whose jobs have no node sets that would say it
        chunks = places.chunks.copy()
        chunks[entry] = told.chunks[row]
        places = replace(places, chunks=chunks)
    for name, amounts in told.amounts.items():
        granted[places.stay[entry[held[name][entry] != amounts[row]]]] = True
        held[name] = held[name].copy()
        held[name][entry] = amounts[row]
    given = np.zeros(len(stays), np.int64)
    np.add.at(given, places.stay, places.chunks)
    granted[places.stay[entry]] |= (given != stays.count)[places.stay[entry]]
    found = Amounts(held, granted)
    _check_chunks(record, stays, places, found, entry, row, chunk, offences)
    _check_devices(record, entry, row, offences)
    return replace(places, amounts=found)


def _matched(record: Record, stays: Stays, places: Places, offences: Offences) -> tuple[Numbers, Numbers]:
    """Places and the rows of the table that tell of them: same job, node and times, the n-th beside the n-th."""
    told, job = record.told, record.sequence
    stay = places.stay
    entries = np.stack([stays.sequence[stay], places.node, stays.begin[stay], stays.end[stay]], axis=1).astype(float)
    rows = np.stack([job[told.row], told.node, told.begin, told.end], axis=1).astype(float)
    codes = np.unique(np.concatenate([entries, rows]), axis=0, return_inverse=True)[1].reshape(-1)
    entry_key, row_key = (_ranked(some) * len(codes) + some for some in np.split(codes, [len(entries)]))
    _, entry, row = np.intersect1d(entry_key, row_key, assume_unique=True, return_indices=True)

    names = record.cluster.node_names()
    strange = np.ones(len(told), bool)
    strange[row] = False
    offences.add_where(
        "places",
        strange,
        told.job,
        told.begin,
        lambda i: f"it is told to have been on {_node(names, told.node[i])} until {told.end[i]:.15g}, which it was not",
    )
    untold = np.ones(len(stay), bool)
    untold[entry] = False
    partly = np.zeros(len(stays), bool)
    partly[stay[entry]] = True
    missing = untold & (partly[stay] | record.all_places)
    offences.add_where(
        "places",
        missing,
        stays.job[stay],
        stays.begin[stay],
        lambda i: f"nothing tells what it had on {_node(names, places.node[i])}",
    )
    other = told.job[row] != stays.job[stay[entry]]
    offences.add_where(
        "places", other, told.job[row], told.begin[row], lambda i: f"it is job {stays.job[stay[entry[i]]]}"
    )
    return entry, row


def _ranked(codes: Numbers) -> Numbers:
    """How often a code has occurred before."""
    order = np.argsort(codes, kind="stable")
    rank = np.empty(len(codes), np.int64)
    rank[order] = np.arange(len(codes)) - np.searchsorted(codes[order], codes[order])
    return rank


def _check_chunks(
    record: Record,
    stays: Stays,
    places: Places,
    amounts: Amounts,
    entry: Numbers,
    row: Numbers,
    chunk: dict[str, Numbers],
    offences: Offences,
) -> None:
    """Amounts that hold what was asked for; and chunks and cores that follow from them."""
    told, stay = record.told, places.stay
    for name, values in told.amounts.items():
        offences.add_where("places", values < 0, told.job, told.begin, lambda i, n=name, v=values: f"{v[i]} of {n}")  # type: ignore[misc]
    same = told.chunks[row] == places.chunks[entry]
    offences.add_where(
        "places",
        ~same,
        told.job[row],
        told.begin[row],
        lambda i: f"its node set has {places.chunks[entry[i]]} chunks where its place has {told.chunks[row[i]]}",
    )
    request, unbounded = stays.request[stay], np.iinfo(np.int32).max
    held = np.full(len(stay), unbounded, np.int64)
    for name, each in chunk.items():
        wanted = each[request]
        held = np.where(wanted > 0, np.minimum(held, amounts.of[name] // np.maximum(wanted, 1)), held)
    most = np.array([one.per_node_max for one in record.requests] or [0], np.int64)[request]
    in_all = np.zeros(len(stays), np.int64)
    np.add.at(in_all, stay, np.where(most > 0, np.minimum(held, most), held))
    if not record.own_amounts:
        less = amounts.granted & (in_all < stays.count)
        offences.add_where(
            "size",
            less,
            stays.job,
            stays.begin,
            lambda i: f"it was granted {in_all[i]} of the {stays.count[i]} chunks that it asked for",
        )
    expected = np.maximum(np.where(held == unbounded, stays.count[stay], held), 1)
    wrong = amounts.granted[stay] & (places.chunks != expected)
    offences.add_where(
        "size",
        wrong,
        stays.job[stay],
        stays.begin[stay],
        lambda i: f"what it was granted holds {expected[i]} chunks, not {places.chunks[i]}",
    )
    cores = amounts.of_stays("cores", places)
    complete = np.zeros(len(stays), bool)
    complete[stay[entry]] = True
    offences.add_where(
        "size",
        complete & (cores != stays.cores),
        stays.job,
        stays.begin,
        lambda i: f"it has {stays.cores[i]} cores, on its nodes {cores[i]}",
    )


def _check_devices(record: Record, entry: Numbers, row: Numbers, offences: Offences) -> None:
    """Devices that exist, as many as the amount, and none that two jobs have at once."""
    told, cluster = record.told, record.cluster
    group_of = np.repeat(np.arange(len(cluster.groups)), [group.count for group in cluster.groups])
    names = cluster.node_names()
    holders: dict[tuple[int, str, int], list[tuple[float, float, int]]] = {}
    for at in row.tolist():
        if not (text := told.devices[at]):
            continue
        job, node, begin = int(told.job[at]), int(told.node[at]), float(told.begin[at])
        has = cluster.groups[group_of[node]].resources
        for part in text.split(";"):
            name, _, listed = part.partition("=")
            numbers = _numbers(listed)
            where = f"{name} of {_node(names, node)}"
            if len(set(numbers)) < len(numbers) or not all(0 <= n < has.get(name, 0) for n in numbers):
                offences.add("devices", f"{where}: there are no such devices: {part}", job, begin)
                continue
            if name not in told.amounts or len(numbers) != told.amounts[name][at]:
                offences.add("devices", f"{where}: {len(numbers)} are named, it has another number of them", job, begin)
            for number in numbers:
                holders.setdefault((node, name, number), []).append((begin, float(told.end[at]), job))
    for (node, name, number), stays in holders.items():
        stays.sort()
        until, holder = -np.inf, -1
        for begin, end, job in stays:
            if begin < until:
                message = f"{name} {number} of {_node(names, node)} is job {holder}'s until {until:.15g}"
                offences.add("devices", message, job, begin)
            if end > until:
                until, holder = end, job


def _numbers(text: str) -> list[int]:
    """0-2,5 is 0, 1, 2, 5; what cannot be read is -1, which no device is."""
    found: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        good = low.isdigit() and (high or low).isdigit() and int(low) <= int(high or low) < 1 << 20
        found += range(int(low), int(high or low) + 1) if good else [-1]
    return found


def _node(names: list[str], number: int) -> str:
    return f"node {names[number]}" if 0 <= number < len(names) else f"a node {number}, which there is not"
