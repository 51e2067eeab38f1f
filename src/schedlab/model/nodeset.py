"""Node sets as text, the way resource managers write them: `n[001-003,007]`, `n[001-002]*2,n003`.

`*2` after a name or a bracket: two chunks on each of these nodes (one where nothing is said). Order is kept, so that
`expand(fold(names, chunks))` gives back exactly what went in; nodes in cluster order give the shortest text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from schedlab.model.errors import InputError

MOST_NODES = 10_000_000  # in one text; a typing error in a range should not fill the memory

_NAME = re.compile(r"([^\[\],*\s]*?)([0-9]{0,18})")  # what comes before the number, the number with its zeros
_ITEM = re.compile(r"([^\[\],*\s]*(?=\[)|[^\[\],*\s]+)(?:\[([0-9][0-9,-]*)\])?(?:\*([0-9]{1,18}))?")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")
_EXPECTED = "expected names like n001, n[001-003,007] or n[001-002]*2, separated by commas"


def fold(names: Iterable[str], chunks: Iterable[int] | None = None) -> str:
    """The node-set text of `names`; `chunks` says how many chunks each holds (1 each if it is not given)."""
    listed = list(names)
    counts = [1] * len(listed) if chunks is None else list(chunks)
    items: list[str] = []
    prefix, count, ranges = "", 0, list[tuple[str, str]]()  # the item that is being built
    for name, chunk_count in zip(listed, counts, strict=True):
        if chunk_count < 1:
            raise ValueError(f"{name} holds {chunk_count} chunks; an allocated node holds at least one")
        name_prefix, digits = split_name(name)
        if not (ranges and digits and ranges[-1][1] and name_prefix == prefix and chunk_count == count):
            if ranges:
                items.append(_item(prefix, ranges, count))
            prefix, count, ranges = name_prefix, chunk_count, [(digits, digits)]
        elif _follows(ranges[-1][1], digits):
            ranges[-1] = (ranges[-1][0], digits)
        else:
            ranges.append((digits, digits))
    if ranges:
        items.append(_item(prefix, ranges, count))
    return ",".join(items)


def expand(text: str) -> list[tuple[str, int]]:
    """`n[001-002]*2,n003` as [("n001", 2), ("n002", 2), ("n003", 1)]."""
    found: list[tuple[str, int]] = []
    position, length = 0, len(text)
    while position < length:
        item = _ITEM.match(text, position)
        if item is None:
            raise _bad(text, position, "a name is missing" if text[position] == "," else "unexpected character")
        prefix, inside, times = item.groups()
        count = int(times) if times else 1
        if count < 1:
            raise _bad(text, item.start(3), "a node of the set holds at least one chunk")
        if inside is None:
            found.append((prefix, count))
        else:
            numbers = _numbers(text, inside, item.start(2), MOST_NODES - len(found))
            found += [(prefix + number, count) for number in numbers]
        position = item.end()
        if position < length and text[position] != ",":
            raise _bad(text, position, "unexpected character")
        position += 1
    if position == length and length:
        raise _bad(text, length, "a name is missing after the last comma")
    return found


@lru_cache(maxsize=65_536)  # the same few nodes come again and again
def split_name(name: str) -> tuple[str, str]:
    """`n007` as ("n", "007"), `login` as ("login", "")."""
    match = _NAME.fullmatch(name)
    if match is None or not name:
        raise ValueError(f"{name!r} cannot be in a node set: a name has no brackets, commas, stars or spaces")
    return match.group(1), match.group(2)


def _follows(digits: str, later: str) -> bool:
    """Whether counting on from `digits`, at its width, gives `later`: 09 10, 9 10, 99 100, but not 009 10."""
    return int(later) == int(digits) + 1 and (
        len(later) == len(digits) or (len(later) == len(digits) + 1 and later[0] != "0")
    )


def _item(prefix: str, ranges: list[tuple[str, str]], count: int) -> str:
    texts = [first if first == last else f"{first}-{last}" for first, last in ranges]
    single = len(ranges) == 1 and ranges[0][0] == ranges[0][1]
    names = prefix + texts[0] if single else f"{prefix}[{','.join(texts)}]"
    return names if count == 1 else f"{names}*{count}"


def _numbers(text: str, inside: str, position: int, room: int) -> list[str]:
    """The numbers of a bracket, as written: `001-003,007`."""
    numbers: list[str] = []
    for part in inside.split(","):
        few = _few(part)
        if few is not None and len(numbers) + len(few) <= room:
            numbers += few
            position += len(part) + 1
            continue
        match = _RANGE.fullmatch(part)
        if match is None:
            raise _bad(text, position, f"'{part}' is not a number or a range")
        first, last = match.group(1), match.group(2) or match.group(1)
        low, high, width = int(first), int(last), len(first)
        if high < low or last != f"{high:0{width}d}":
            raise _bad(text, position, f"the range '{part}' goes backwards or changes its number of digits")
        if len(numbers) + high - low + 1 > room:
            raise _bad(text, position, f"more than {MOST_NODES:,} nodes")
        numbers += [f"{number:0{width}d}" for number in range(low, high + 1)]
        position += len(part) + 1
    return numbers


@lru_cache(maxsize=8192)  # the same few ranges come again and again
def _few(part: str) -> tuple[str, ...] | None:
    """The numbers of a number or a range, if it is a right one and short."""
    match = _RANGE.fullmatch(part)
    if match is None:
        return None
    first, last = match.group(1), match.group(2) or match.group(1)
    low, high, width = int(first), int(last), len(first)
    if not low <= high < low + 64 or last != f"{high:0{width}d}":
        return None
    return tuple(f"{number:0{width}d}" for number in range(low, high + 1))


def _bad(text: str, position: int, problem: str) -> InputError:
    shown = text if len(text) <= 80 else f"{text[:77]}…"
    return InputError(f"{problem} at character {position + 1}", where=f"node set '{shown}'", hint=_EXPECTED)
