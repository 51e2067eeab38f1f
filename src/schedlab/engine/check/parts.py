"""Jobs side by side: each has its part of every socket of its nodes, and no part has two owners."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from schedlab.engine.check.columns import ranges
from schedlab.engine.check.neighbours import Company
from schedlab.engine.check.offences import Offences
from schedlab.engine.check.places import Places
from schedlab.engine.check.record import Record
from schedlab.engine.check.stays import Stays
from schedlab.model.cluster import NodeGroup


def check_parts(record: Record, stays: Stays, places: Places, company: Company, offences: Offences) -> None:
    if record.fraction is None:
        return
    groups = record.cluster.groups
    sizes = [_part(group, record.fraction) for group in groups]
    of_node = np.repeat(np.arange(len(groups)), [group.count for group in groups])
    cores, jobs = (np.array(column, np.int64)[of_node] for column in zip(*sizes, strict=True))
    names = record.cluster.node_names()
    spread = np.array([request.spread for request in record.requests], bool)[stays.request[places.stay]]

    held = places.held("cores")
    stay, node = places.stay, places.node
    offences.add_where(
        "parts",
        spread & (held > cores[node]),
        stays.job[stay],
        stays.begin[stay],
        lambda i: f"it holds {held[i]} cores of {names[node[i]]}, of which a part has {cores[node[i]]}",
    )
    _, part = ranges(company.first[spread], company.length[spread])
    there = np.bincount(part, minlength=len(company.node))
    full = np.flatnonzero(there > jobs[company.node])
    for each in full.tolist():
        number = company.node[each]
        message = f"{names[number]} has {there[each]} jobs side by side and {jobs[number]} parts"
        offences.add("parts", message, time=float(company.begin[each]))


def _part(group: NodeGroup, fraction: Fraction) -> tuple[int, int]:
    """The cores of a part of a node, and how many parts a node has: as many as its scarcest socket."""
    each = [(size, size * fraction.numerator // fraction.denominator) for size in group.socket_sizes]
    return sum(part for _, part in each), min((size // part for size, part in each if part), default=0)
