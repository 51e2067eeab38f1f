"""A Gantt chart seen from afar: of each cell (some rows, some time) how much of it jobs have, and which one most of it.

Drawing a million rectangles takes a browser seconds; a tile of cells takes it milliseconds, whatever is in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab._core import gantt_cells
from schedlab.analysis.core_rows import Bars

BINS = 1024  # of a tile, across
MOST_ROWS = 512  # of cells, down
FACTOR = 4  # by which a level is finer than the one above
MOST_DRAWN = 30_000  # rectangles that a browser draws one by one in a frame; tiles are for more


@dataclass(frozen=True, slots=True)
class Tile:
    """Cells row by row: the job that has most of it (-1: none), and the share of it that jobs have, 0 to 255."""

    who: NDArray[np.int32]
    cover: NDArray[np.uint8]


def levels(bars: int) -> int:
    """How many levels a chart of so many rectangles needs: none, if they can be drawn one by one."""
    found = int(bars > MOST_DRAWN)
    while found and 2 * MOST_DRAWN * FACTOR ** (found - 1) < bars:
        found += 1
    return found


def tile(bars: Bars, rows: int, begin: float, end: float, *, bins: int = BINS, most_rows: int = MOST_ROWS) -> Tile:
    """The cells between two moments, of all rows."""
    down = max(min(rows, most_rows), 1)
    stays = bars.job_of, bars.begin_of, bars.end_of
    who, cover = gantt_cells(
        bars.stay, bars.low, bars.high, *stays, span=(begin, end), rows=rows, across=bins, down=down
    )
    return Tile(np.asarray(who), np.asarray(cover))
