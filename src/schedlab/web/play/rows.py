"""On which rows of the picture the plan is drawn: those that are free then, beside the jobs that run."""

from __future__ import annotations

from collections.abc import Iterable

from schedlab.analysis.core_rows import Machine
from schedlab.engine.observer import Nodes
from schedlab.web.play.told import Rows


class PlannedRows:
    """Reservations are added in the order of their starts. Whoever began before ends before or goes on: a row that is
    free at a start is free for good, so that there is room wherever the numbers say that there is."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._until = [float("-inf")] * machine.rows

    def occupy(self, rows: Iterable[tuple[int, int]], until: float) -> None:
        for low, high in rows:
            self._until[low:high] = [until] * (high - low)

    def place(self, start: float, end: float, cores: int, nodes: Nodes, whole: bool) -> Rows:
        """The rows of a reservation: on its nodes, or anywhere where it is a matter of counting."""
        found: list[int] = []
        chunks = sum(count for _, count in nodes)
        for node, count in nodes or [(-1, 1)]:
            rows = self._of(node)
            wanted = len(rows) if whole and nodes else cores * count // max(chunks, 1)
            found += _together([row for row in rows if self._until[row] <= start], wanted)
        chosen = _sets(sorted(found))
        self.occupy(chosen, end)
        return chosen

    def _of(self, node: int) -> range:
        if node < 0:
            return range(self._machine.rows)
        return range(int(self._machine.first[node]), int(self._machine.first[node + 1]))


def _together(free: list[int], wanted: int) -> list[int]:
    """The first neighbouring rows, or simply the first ones."""
    for low, high in _sets(free):
        if high - low >= wanted:
            return list(range(low, low + wanted))
    return free[:wanted]


def _sets(rows: list[int]) -> Rows:
    found: Rows = []
    for row in rows:
        if found and found[-1][1] == row:
            found[-1] = (found[-1][0], row + 1)
        else:
            found.append((row, row + 1))
    return found
