"""Node-set strings such as `n[001-002]*2,n003`, read by the judge itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from schedlab.engine.check.columns import ranges
from schedlab.model.cluster import Cluster

NUMBERS = r"\d{1,9}(?:-\d{1,9})?"
RANGE = re.compile(NUMBERS)
ITEM = re.compile(rf"([^\[\],*]*)(?:\[({NUMBERS}(?:,{NUMBERS})*)\])?(?:\*(\d{{1,9}}))?(?:,|$)")
# What stands between two commas: `n003*2`, `n[001-002]*2`, `n[001-002`, `005` inside of brackets, `007]*2`.
BETWEEN = re.compile(r"(?:([^\[\],*]*)(\[))?([^\[\],*]*)(\])?(?:\*(\d{1,9}))?")

MOST = 100_000  # that are remembered

Integers = NDArray[np.int64]


class NodeSetError(Exception):
    """A text that does not name a set of the cluster's nodes; says why."""


@dataclass(frozen=True)
class Sets:
    """The nodes of many texts, in one long list, and how many chunks each holds."""

    first: Integers  # of each text: where its nodes begin,
    length: Integers  # and how many there are
    node: Integers
    chunks: Integers
    problems: dict[int, str]  # texts that name no set of nodes, which have none


class _Places:
    """Texts and where each stands among those that have occurred."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self.texts)

    def of(self, text: str) -> int:
        number = self._numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number


class NodeSets:
    """Reads the sets of one cluster. The same brackets come again and again, so they are remembered."""

    def __init__(self, cluster: Cluster) -> None:
        self._numbers = {name: number for number, name in enumerate(cluster.node_names())}
        self._known: dict[tuple[str, str | None], list[int]] = {}
        self._pieces: dict[str, int] = {}  # where each is among the rows that tell of pieces
        self._rows = np.empty((0, 5), np.int64)
        self._prefixes, self._bodies = _Places(), _Places()

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

    def read_all(self, texts: pa.StringArray) -> Sets:
        """The same of many at once; those that look strange are read one by one, as above."""
        if not len(texts):
            none = np.empty(0, np.int64)
            return Sets(none, none, none, none, {})
        found = self._read_usual(texts)
        nodes, chunks, size, problems = [found.node], [found.chunks], len(found.node), {}
        for position in np.flatnonzero(found.length == 0).tolist():
            try:
                own, each = self.read(texts[position].as_py())
            except NodeSetError as problem:
                problems[position] = str(problem)
                continue
            nodes.append(np.array(own, np.int64))
            chunks.append(np.array(each, np.int64))
            found.first[position], found.length[position] = size, len(own)
            size += len(own)
        return Sets(found.first, found.length, np.concatenate(nodes), np.concatenate(chunks), problems)

    def _read_usual(self, texts: pa.StringArray) -> Sets:
        """Whatever is not as usual, or not in the order of the nodes, has no nodes here."""
        split = pc.split_pattern(texts, ",")
        begin = split.offsets.to_numpy()[:-1].astype(np.int64) - split.offsets[0].as_py()
        encoded = split.flatten().dictionary_encode()
        told, indices = self._told(encoded.dictionary.to_pylist()), encoded.indices.to_numpy()
        opens, closes, prefix, body, times = (column[indices] for column in np.ascontiguousarray(told.T))

        # Between a piece that opens brackets and the one that closes them prefix and times are theirs.
        change = opens - closes
        deep = np.cumsum(change)
        parts = np.diff(begin, append=len(deep))
        before = deep - change
        depth = before - np.repeat(before[begin], parts)
        good = np.where(opens == 1, depth == 0, (depth == 1) | ((depth == 0) & (closes == 0)))
        inside = (depth == 1) | (opens == 1)
        here = np.arange(len(deep), dtype=np.int32)
        opened = np.maximum.accumulate(np.where(opens == 1, here, 0))
        closed = np.minimum.accumulate(np.where(closes == 1, here, len(here) - 1)[::-1])[::-1]
        good &= ~(inside & (closes == 0) & (times >= 0))
        times = np.where(inside, times[closed], times)
        good &= times != 0
        depth_at_end = (depth + change)[begin + parts - 1]

        key = np.where(inside, prefix[opened] + 1, 0) * len(self._bodies) + body
        keys = pa.array(key).dictionary_encode()
        sets = [self._nodes(*divmod(each, len(self._bodies))) for each in keys.dictionary.to_pylist()]
        size = np.array([len(nodes) for nodes in sets], np.int64)
        which = keys.indices.to_numpy().astype(np.int64)
        good &= size[which] > 0
        flat = np.fromiter(chain.from_iterable(sets), np.int64)
        part, where = ranges((np.cumsum(size) - size)[which], size[which])
        node, chunks = flat[where], np.abs(times)[part]

        length = np.add.reduceat(size[which], begin)
        first = np.cumsum(length) - length
        falls = np.append(node[1:] <= node[:-1], False)
        falls[(first + length)[length > 0] - 1] = False  # between two texts
        usual = np.logical_and.reduceat(good, begin) & (depth_at_end == 0)
        usual[np.searchsorted(first, np.flatnonzero(falls), side="right") - 1] = False
        return Sets(first, np.where(usual, length, 0), node, chunks, {})

    def _told(self, texts: list[str]) -> Integers:
        """A row for each of these pieces, as `_piece` tells of it; what comes again is looked up."""
        places = [self._pieces.get(text, -1) for text in texts]
        if -1 in places:
            if len(self._pieces) > MOST:
                self._pieces, self._rows = {}, self._rows[:0]
            new = [text for text in texts if text not in self._pieces]
            self._pieces.update(zip(new, range(len(self._rows), len(self._rows) + len(new)), strict=True))
            self._rows = np.concatenate([self._rows, np.array([self._piece(text) for text in new], np.int64)])
            places = [self._pieces[text] for text in texts]
        return self._rows[places]

    def _piece(self, text: str) -> tuple[bool, bool, int, int, int]:
        """Whether it opens and closes brackets, prefix, what is in it, and the chunks: 0 is wrong, -1 is unsaid."""
        match = BETWEEN.fullmatch(text)
        prefix, opens, body, closes, times = match.groups() if match else ("", None, "", None, "0")
        own = self._prefixes.of(prefix or ""), self._bodies.of(body)
        return bool(opens), bool(closes), *own, int(times or -1)

    def _nodes(self, prefix: int, body: int) -> list[int]:
        """Nothing for what is not there."""
        name = self._bodies.texts[body]
        key = (self._prefixes.texts[prefix - 1], name) if prefix else (name, None)
        if key not in self._known:
            if prefix and not RANGE.fullmatch(name):
                return []
            if len(self._known) > MOST:
                self._known.clear()
            try:
                self._known[key] = self._expand(*key)
            except NodeSetError:
                return []
        return self._known[key]

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
