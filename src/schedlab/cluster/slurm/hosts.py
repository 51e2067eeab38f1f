"""Lists of names as Slurm writes them: `n[001-087],login,r[1-2]n[01-16]`. A ValueError says what is wrong with one."""

from __future__ import annotations

import itertools
import math
import re

MOST_NAMES = 65_536  # in one list

_ITEM = re.compile(r"((?:[A-Za-z0-9_.-]|\[[0-9][0-9,-]*\])+)(?:,(?=.)|$)")
_PIECE = re.compile(r"\[([^\[\]]*)\]|([^\[\]]+)")
_RANGE = re.compile(r"([0-9]{1,12})(?:-([0-9]{1,12}))?")
_NAME = re.compile(r"(.*?)([0-9]*)([^0-9]*)")
_EXPECTED = "expected names such as n1,n[001-087] or r[1-2]n[01-16]"


def host_names(text: str) -> list[str]:
    """The names that a list stands for, in its order."""
    found: list[str] = []
    position = 0
    while position < len(text) or not text:
        item = _ITEM.match(text, position)
        if item is None:
            raise ValueError(_EXPECTED)
        choices = [_numbers(ranges) if ranges else [plain] for ranges, plain in _PIECE.findall(item[1])]
        if len(found) + math.prod(map(len, choices)) > MOST_NAMES:
            raise ValueError(f"more than {MOST_NAMES:,} names")
        found += ["".join(parts) for parts in itertools.product(*choices)]
        position = item.end()
    return found


def _numbers(ranges: str) -> list[str]:
    """`001-003,007` as 001, 002, 003, 007."""
    found: list[str] = []
    for part in ranges.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ValueError(f"'{part[:40]}' is not a number or a range")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"the range '{part}' goes backwards")
        if len(found) + last - first >= MOST_NAMES:
            raise ValueError(f"more than {MOST_NAMES:,} names")
        found += [f"{number:0{len(match[1])}d}" for number in range(first, last + 1)]
    return found


def split_host(name: str) -> tuple[str, str, str]:
    """What comes before the last number of a name, that number ("" if there is none), and what follows it."""
    match = _NAME.fullmatch(name)
    assert match is not None
    before, digits, after = match.groups()
    return (before, digits, after) if digits else (name, "", "")
