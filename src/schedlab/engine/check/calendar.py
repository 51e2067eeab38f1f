"""Nodes that were set aside for a time: nobody came who would be in the way, as it was believed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.offences import Offences
from schedlab.engine.check.places import Places
from schedlab.engine.check.record import Record, Window
from schedlab.engine.check.stays import Stays

BELIEFS = ("limit", "exact")  # estimates that the rows of the jobs tell themselves
CLEARED = ("requeue", "kill")

Times = NDArray[np.float64]


def check_estimates(record: Record, offences: Offences) -> None:
    """What was believed of jobs, where that can be told from the rest of their rows."""
    how = record.options.get("estimate")
    if how not in BELIEFS or record.flexible or not record.beliefs:
        return
    runs = np.minimum(record.runtime, record.limit) if record.kills else record.runtime
    told = record.limit if how == "limit" else runs
    believed = np.where(told > 0, told, 1.0)
    wrong = record.estimate != believed
    offences.add_where(
        "estimate", wrong, record.job, record.submit, lambda i: f"it is {record.estimate[i]}, not {believed[i]}"
    )
    pieces = record.pieces
    expected = pieces.begin + record.estimate[pieces.row]
    early = pieces.first & ~np.isnan(pieces.expected_end) & (pieces.expected_end != expected)
    offences.add_where(
        "estimate",
        early,
        pieces.job,
        pieces.begin,
        lambda i: f"it was expected to end at {pieces.expected_end[i]}, not at {expected[i]}",
    )


def check_calendar(record: Record, stays: Stays, places: Places, offences: Offences) -> None:
    """Of everybody on a node that is set aside for others: he came when, as believed, he would leave in time.

    Beliefs err: then he may still be there, unless the node was cleared.
    """
    for window in record.windows:
        there = np.isin(places.node, window.nodes) & ~np.isin(stays.user[places.stay], window.users)
        stay, node = places.stay[there], places.node[there]
        for wrong, why, time in _faults(window, stays.begin[stay], stays.end[stay], stays.expected_end[stay]):
            for entry in np.flatnonzero(wrong).tolist():
                message = f"{_described(record, window, int(node[entry]))}, {why} {time[entry]:.15g}"
                offences.add("set aside", message, int(stays.job[stay[entry]]), float(stays.begin[stay[entry]]))


def _faults(window: Window, begin: Times, end: Times, expected: Times) -> list[tuple[NDArray[np.bool_], str, Times]]:
    """Who should not have been there, why, and the time that shows it."""
    inside, before = (window.start <= begin) & (begin < window.until), begin < window.start
    faults = [
        (inside, "and it came then; it left at", end),
        (before & (window.start < expected), "and it was expected to leave at", expected),
    ]
    if window.victims in CLEARED:
        faults.append((before & (window.start < end), "and cleared then; it left at", end))
    return faults


def _described(record: Record, window: Window, node: int) -> str:
    where = "the pool" if record.cluster.pool else f"node {record.cluster.node_names()[node]}"
    return f"{where} was set aside by {window.by} from {window.start:.15g} until {window.until:.15g}"
