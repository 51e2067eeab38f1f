"""The cluster as a map: a cell for each node, or for several; how full it is, or why it is closed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from rich.text import Text

from schedlab.engine.snapshot import Snapshot
from schedlab.model.cluster import NodeGroup

# Shape and colour say the same: the one is for whoever cannot see the other. The colours are the terminal's own, which
# its theme has made readable.
FREE, FULL, PARTLY = ("·", "dim"), ("▇", "green"), ("▁▂▃▄▅▆", "cyan")  # even the full leave a seam between two rows
CLOSED = {
    "down": ("x", "bold red"),
    "off": ("o", "dim"),
    "booting": ("b", "cyan"),
    "maintenance": ("m", "magenta"),
    "drained": ("d", "magenta"),
}
LONGEST_LABEL = 12

Cell = tuple[str, str]  # a character and its style


SIZES = ((4, 1), (3, 1), (2, 1), (1, 1), (1, 0))  # how a cell is drawn: columns, and columns between two


@dataclass(frozen=True, slots=True)
class Grid:
    """How nodes are laid out."""

    nodes: int  # of a cell
    cells: int  # of a row
    size: tuple[int, int]
    rows: int


def node_map(snapshot: Snapshot, width: int, usual: int, most: int) -> list[Text]:
    """The map and what its signs mean, in `most` lines; in `usual` ones if that is enough for large cells."""
    groups = _groups(snapshot, most - 1)
    ends = [_label(group, node, groups) for group in groups for node in (0, group.count - 1)]
    labels = min(max(map(len, ends)), LONGEST_LABEL)
    grid = _grid([group.count for group in groups], width - labels - 1, usual - 1, max(most - 1, 1))
    lines: list[Text] = []
    begin = 0
    for group in groups:
        cells = list(_cells(snapshot, begin, begin + group.count, grid.nodes))
        for first in range(0, len(cells), grid.cells):
            label = _label(group, first * grid.nodes, groups)
            lines.append(_row(label, labels, cells[first : first + grid.cells], grid))
        begin += group.count
    return [*lines, _legend(snapshot, grid, labels)][:most]


def closed(snapshot: Snapshot) -> str:
    """`3 down, 1 off`; empty if all are up."""
    found = Counter(state for state in snapshot.states if state != "up")
    return ", ".join(f"{number:,} {state}" for state, number in found.items())


def _groups(snapshot: Snapshot, rows: int) -> tuple[NodeGroup, ...]:
    """Those of the cluster; all nodes as one where there are more groups than rows."""
    groups = snapshot.facts.cluster.groups
    if len(groups) <= max(rows, 1):
        return groups
    return (NodeGroup("all", snapshot.facts.cluster.nodes, {}, prefix="", first=1),)


def _grid(counts: Sequence[int], width: int, usual: int, most: int) -> Grid:
    """The fewest nodes in a cell for which there is room, then the largest cells."""
    nodes = 1
    while True:
        for size in SIZES:
            grid = _arranged([-(-count // nodes) for count in counts], nodes, size, width)
            if grid.rows <= (usual if size[0] > 1 else most):
                return grid
        nodes = _next(nodes)


def _arranged(cells: Sequence[int], nodes: int, size: tuple[int, int], width: int) -> Grid:
    """Rows of a round number of cells: as few as possible, then as full as possible."""
    columns, gap = size
    longest = max((width + gap) // (columns + gap), 1)
    numbers = {number for step in (8, 10) for number in range(step, longest + 1, step)}
    if longest >= max(cells) or not numbers:
        numbers.add(min(longest, max(cells)))

    def rows(number: int) -> int:
        return sum(-(-count // number) for count in cells)

    best = min(numbers, key=lambda number: (rows(number), number))
    return Grid(nodes, best, size, rows(best))


def _next(nodes: int) -> int:
    """1, 2, 5, 10, 20, 50, …"""
    leading = int(str(nodes)[0])
    return nodes * 5 // 2 if leading == 2 else nodes * 2


def _cells(snapshot: Snapshot, begin: int, end: int, nodes: int) -> Iterator[Cell]:
    states = np.array(snapshot.states[begin:end] or ["up"])
    up = np.broadcast_to(states == "up", end - begin)
    edges = np.arange(0, end - begin, nodes)
    total = np.add.reduceat(np.where(up, snapshot.total[begin:end], 0), edges)
    free = np.add.reduceat(np.where(up, snapshot.free[begin:end], 0), edges)
    open_nodes = np.add.reduceat(up.astype(np.int64), edges)
    for number, first in enumerate(edges):
        size = min(nodes, end - begin - int(first))
        if 2 * open_nodes[number] < size:
            (state, _), *_ = Counter(str(state) for state in states[first : first + size] if state != "up").most_common(
                1
            )
            yield CLOSED[state]
        else:
            yield _filled(int(total[number] - free[number]), int(total[number]))


def _filled(busy: int, total: int) -> Cell:
    if busy <= 0:
        return FREE
    if busy >= total:
        return FULL
    levels, style = PARTLY
    return levels[min(-(-busy * 7 // total), len(levels)) - 1], style


def _label(group: NodeGroup, node: int, groups: Sequence[NodeGroup]) -> str:
    """The group where it begins, else the first node of the row."""
    return group.name if node == 0 and len(groups) > 1 else group.node_name(node)


def _row(label: str, labels: int, cells: Sequence[Cell], grid: Grid) -> Text:
    columns, gap = grid.size
    line = Text(no_wrap=True)
    line.append(f"{label if len(label) <= labels else label[: labels - 1] + '…':<{labels}} ", "dim")
    for style, run in groupby(cells, key=lambda cell: cell[1]):
        line.append("".join(sign * columns + " " * gap for sign, _ in run), style)
    if gap:
        line.right_crop(gap)
    return line


def _legend(snapshot: Snapshot, grid: Grid, labels: int) -> Text:
    line = Text(" " * (labels + 1), no_wrap=True)
    signs = [(FREE, "free"), (("▄", PARTLY[1]), "partly"), (FULL, "full")]
    signs += [(sign, state) for state, sign in CLOSED.items() if state in snapshot.states]
    for (sign, style), name in signs:
        line.append(sign, style).append(f" {name}  ", "dim")
    if grid.nodes > 1:
        line.append(f"one cell is {grid.nodes:,} nodes")
    return line
