"""Predecessors in one cell of a table: `7`, `completed:7+60,started:8` (all of them), `7?not-completed:9` (any)."""

from __future__ import annotations

import re

from schedlab.model.predecessors import CONDITIONS, ENDED, Predecessor, Predecessors
from schedlab.workload.stream import Before

EXPECTED = "jobs such as 7, completed:7+60 or started:8, joined by , (all) or ? (any)"
_WORDS = tuple(condition.replace(" ", "-") for condition in CONDITIONS)
_ONE = re.compile(r"(?:(?P<word>[a-z-]+):)?(?P<job>-?[0-9]{1,18})(?:\+(?P<delay>[0-9][0-9.e+-]*))?")


def to_texts(before: Predecessors) -> list[str | None]:
    """For each job; None if it has none."""
    return [
        ("?" if suffices else ",").join(map(_text, some)) or None
        for some, suffices in zip(before.lists(), before.any.tolist(), strict=True)
    ]


def from_text(text: str) -> Before | None:
    """None for the empty text; a ValueError for one that says something else."""
    if not text:
        return None
    suffices = "?" in text
    return Before(tuple(map(_parsed, text.split("?" if suffices else ","))), suffices)


def _text(one: Predecessor) -> str:
    word = "" if one.condition == ENDED else f"{_WORDS[int(one.condition)]}:"
    delay = "" if not one.delay else f"+{int(one.delay) if one.delay.is_integer() else one.delay!r}"
    return f"{word}{one.job}{delay}"


def _parsed(text: str) -> Predecessor:
    found = _ONE.fullmatch(text)
    if found is None or (found["word"] or _WORDS[0]) not in _WORDS:
        raise ValueError(EXPECTED)
    delay = float(found["delay"] or 0)
    if not delay < float("inf"):
        raise ValueError(EXPECTED)
    return Predecessor(int(found["job"]), _WORDS.index(found["word"] or _WORDS[0]), delay)
