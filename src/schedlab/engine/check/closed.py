"""Nodes that were down, off or drained: nobody began there."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.check.offences import Offences
from schedlab.engine.check.places import Places
from schedlab.engine.check.record import NodeChanges, Record
from schedlab.engine.check.stays import Stays
from schedlab.model.states import NODE_STATES

UP = NODE_STATES.index("up")


def check_closed_nodes(record: Record, stays: Stays, places: Places, offences: Offences) -> None:
    changes = record.node_changes
    if not len(changes.time):
        return
    wrong = (changes.node < 0) | (changes.state < 0) | ~np.isfinite(changes.time)
    for row in np.flatnonzero(wrong).tolist():
        message = f"row {row} of the nodes has an unknown node ('{changes.name[row]}'), state or time"
        offences.add("node states", message)
    back = np.flatnonzero(np.diff(changes.time) < 0)
    for row in back.tolist():
        offences.add("node states", f"row {row + 1} of the nodes goes back in time", time=float(changes.time[row + 1]))
    if wrong.any() or len(back):
        return
    history, names = _History(changes), record.cluster.node_names()
    closed = ~history.open_at(places.node, stays.begin[places.stay])
    for entry in np.flatnonzero(closed).tolist():
        stay, node = places.stay[entry], places.node[entry]
        if not (stays.goes_on[stay] and _had_as_much(places, entry)):
            state = history.state_at(int(node), float(stays.begin[stay]))
            where = "the pool" if record.cluster.pool else f"node {names[node]}"
            offences.add("closed node", f"{where} was {state}", int(stays.job[stay]), float(stays.begin[stay]))


def _had_as_much(places: Places, entry: int) -> bool:
    """Whether a job in a new shape only keeps what it had on the node."""
    stay = places.stay[entry]
    first, end = np.searchsorted(places.stay, [stay - 1, stay])
    before = first + np.flatnonzero(places.node[first:end] == places.node[entry])
    assert places.amounts is not None
    return len(before) > 0 and all(held[entry] <= held[before].sum() for held in places.amounts.of.values())


class _History:
    """The changes in order of node and time, searchable by one number for both."""

    def __init__(self, changes: NodeChanges) -> None:
        order = np.lexsort((changes.time, changes.node))  # stable: changes of one instant stay in order
        self._node, self._up = changes.node[order], changes.state[order] == UP
        self._state = changes.state[order]
        self._times = np.unique(changes.time)
        self._keys = self._node * (len(self._times) + 1) + np.searchsorted(self._times, changes.time[order]) + 1

    def open_at(self, node: NDArray[np.int64], time: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether nodes were up at some moment of an instant: before its changes, between them, or after them."""
        before, until = self._changes_by(node, time, "left"), self._changes_by(node, time, "right")
        ups = np.concatenate([[0], np.cumsum(self._up)])
        first = np.searchsorted(self._node, node)
        up_before = np.append(self._up, True)[before - 1] | (before == first)  # before the first change it is up
        return np.asarray(up_before | (ups[until] > ups[before]))

    def state_at(self, node: int, time: float) -> str:
        position = int(self._changes_by(np.array([node]), np.array([time]), "right")[0])
        return NODE_STATES[self._state[position - 1]]

    def _changes_by(
        self, node: NDArray[np.int64], time: NDArray[np.float64], side: Literal["left", "right"]
    ) -> NDArray[np.int64]:
        """Where the changes of nodes up to a time end: without those of the instant itself (left), or with them."""
        rank = np.searchsorted(self._times, time, side=side)
        return np.searchsorted(self._keys, node * (len(self._times) + 1) + rank, side="right")
