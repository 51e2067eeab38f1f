"""The cells of a heatmap as files have them: numbers, text, or nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.mistakes import printable

LARGEST = 2**53  # of whole numbers: larger ones are not exact


class Cells:
    """Arrays out of cells; what is no number is remembered as a mistake and counts as not known."""

    def __init__(self, names: Sequence[str], where: str) -> None:
        self.names, self.where = names, where
        self.mistakes: list[InputError] = []

    def square(self, rows: Sequence[Sequence[Any]]) -> NDArray[np.float64]:
        """The matrix of speed-ups; as many columns as the longest row has, so that one that is not square is seen."""
        wide = max(map(len, rows), default=0)
        array = np.full((len(rows), wide), math.nan)
        partners = [*self.names, *("?" for _ in range(wide - len(self.names)))]
        for place, row in enumerate(rows):
            name = self.names[place] if place < len(self.names) else f"row {place + 1}"
            if len(row) != wide:
                self._wrong(f"the row of {name} has {len(row)} values, others have {wide}")
            array[place, : len(row)] = [
                self._number(cell, f"speed-up of {name} beside {partner}")
                for cell, partner in zip(row, partners, strict=False)
            ]
        return array

    def row(self, cells: Sequence[Any] | None, label: str) -> NDArray[np.float64]:
        """One value for each application."""
        if cells is None:
            return np.full(len(self.names), math.nan)
        labels = [label.format(name) for name in self.names] + ["?"] * (len(cells) - len(self.names))
        return np.array([self._number(cell, what) for cell, what in zip(cells, labels, strict=False)])

    def whole(self, cells: Sequence[Any] | None, label: str) -> NDArray[np.int64]:
        """One whole number for each application, 0 where it is not known."""
        counts = self.row(cells, label)
        for name, count in zip(self.names, counts, strict=False):
            if not math.isnan(count) and (abs(count) > LARGEST or count % 1 > 0):
                self._wrong(f"{label.format(name)} = {count:g}: expected a whole number")
        return np.where(np.abs(counts) <= LARGEST, counts, 0).astype(np.int64)

    def _number(self, cell: Any, label: str) -> float:
        if cell is None or (isinstance(cell, str) and not cell.strip()):
            return math.nan
        try:
            number = math.nan if isinstance(cell, bool) else float(cell)
        except (TypeError, ValueError):
            number = math.nan
        if math.isnan(number):
            found = printable(str(cell), 40)
            self._wrong(f"{label} = {found}: expected a number (leave it empty, or null, where nothing is known)")
        return number

    def _wrong(self, message: str) -> None:
        self.mistakes.append(InputError(message, where=self.where))
