"""Node-set strings such as `n[001-002]*2,n003`, read by the judge itself."""

from __future__ import annotations

import re

from schedlab.model.cluster import Cluster

RANGE = r"\d{1,9}(?:-\d{1,9})?"
ITEM = re.compile(rf"([^\[\],*]*)(?:\[({RANGE}(?:,{RANGE})*)\])?(?:\*(\d{{1,9}}))?(?:,|$)")


class NodeSetError(Exception):
    """A text that does not name a set of the cluster's nodes; says why."""


class NodeSets:
    """Reads the sets of one cluster. The same brackets come again and again, so they are remembered."""

    def __init__(self, cluster: Cluster) -> None:
        self._numbers = {name: number for number, name in enumerate(cluster.node_names())}
        self._known: dict[tuple[str, str | None], list[int]] = {}

    def read(self, text: str) -> tuple[list[int], list[int]]:
        """Node numbers (positions in the cluster), and how many chunks each holds."""
        nodes: list[int] = []
        chunks: list[int] = []
        position = 0
        while position < len(text):
            item = ITEM.match(text, position)
            if item is None or item.end() == position:
                raise NodeSetError(f"'{text}' is not a set of nodes")
            prefix, ranges, times = item.groups()
            key = prefix, ranges
            if key not in self._known:
                self._known[key] = self._expand(prefix, ranges)
            found = self._known[key]
            nodes += found
            chunks += [int(times) if times else 1] * len(found)
            position = item.end()
        if not nodes or not all(chunks):
            raise NodeSetError(f"'{text}' names no nodes, or some without chunks")
        if len(set(nodes)) < len(nodes):
            raise NodeSetError(f"'{text}' names a node twice")
        return nodes, chunks

    def _expand(self, prefix: str, ranges: str | None) -> list[int]:
        if ranges is None:
            return [self._number(prefix)]
        found: list[int] = []
        for part in ranges.split(","):
            first, _, last = part.partition("-")
            numbers = range(int(first), int(last or first) + 1)
            found.extend(self._number(f"{prefix}{number:0{len(first)}d}") for number in numbers)
        return found

    def _number(self, name: str) -> int:
        if name not in self._numbers:
            raise NodeSetError(f"there is no node {name}")
        return self._numbers[name]
