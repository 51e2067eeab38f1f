"""What a scheduler wrote last: for errors."""

from __future__ import annotations

from pathlib import Path

_LAST_LINES = 6
_LONGEST_LINE = 400


def last_words(log: Path) -> str:
    """The end of what it wrote."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    said = [line[:_LONGEST_LINE] for line in lines if line.strip()][-_LAST_LINES:]
    return "\n    ".join(["it said:", *said]) if said else "it said nothing"
