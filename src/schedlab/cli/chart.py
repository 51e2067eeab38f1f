"""Numbers as bars of characters: how they went over time, and how much of a whole."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rich.text import Text

BLOCKS = " ▁▂▃▄▅▆▇█"
PARTS = " ▏▎▍▌▋▊▉█"

MINUTE, HOUR, DAY = 60, 3_600, 86_400
# Lengths of time that people think in; longer ones are whole weeks.
ROUND_TIMES = (
    *(MINUTE * number for number in (1, 2, 3, 5, 10, 15, 20, 30, 45)),
    *(HOUR * number for number in (1, 2, 3, 4, 6, 8, 12, 18)),
    *(DAY * number for number in (1, 2, 3, 4, 7)),
)


def round_time(seconds: float) -> float:
    """The shortest round length of time that is as long."""
    longer = [length for length in ROUND_TIMES if length >= seconds]
    return longer[0] if longer else 7 * DAY * math.ceil(seconds / (7 * DAY))


def columns(values: Iterable[float], top: float, rows: int, style: str) -> list[Text]:
    """A column for each value, so many rows high at `top`; NaN leaves a gap, and what is not zero is seen."""
    eighths = [-1 if math.isnan(value) else _eighths(value, top, rows) for value in values]
    return [
        Text("".join(_block(height - 8 * row) for height in eighths), style, no_wrap=True)
        for row in reversed(range(rows))
    ]


def bar(share: float, width: int, style: str) -> Text:
    """A bar from the left; what is left of `width` is a thin line."""
    full, part = divmod(round(min(max(share, 0.0), 1.0) * width * 8), 8)
    filled = "█" * full + (PARTS[part] if part else "")
    return Text.assemble((filled, style), ("─" * (width - len(filled)), "dim"), no_wrap=True)


def thin_bar(share: float, width: int, style: str) -> Text:
    """The same, as a line that does not catch the eye."""
    full = round(min(max(share, 0.0), 1.0) * width)
    return Text.assemble(("━" * full, style), ("─" * (width - full), "dim"), no_wrap=True)


def _eighths(value: float, top: float, rows: int) -> int:
    share = min(max(value / top, 0.0), 1.0) if top > 0 else 0.0
    return max(round(share * rows * 8), 1 if value > 0 else 0)


def _block(height: int) -> str:
    return BLOCKS[min(max(height, 0), 8)]
