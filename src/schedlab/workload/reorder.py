"""Records out of submit order: sorted by (submit time, job number), within a window that bounds the memory.

Job numbers decide between jobs submitted at the same time because the order of the file says nothing once a log has
been written by start or end time, as the output of simulators is. In the archive's logs both are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.workload.options import WINDOW

Columns = dict[str, NDArray[Any]]  # of equal length, by name


class OutOfOrderError(InputError):
    """A job comes so late that jobs submitted after it have been handed on already. A larger window helps."""


def sort_columns(columns: Columns) -> bool:
    """Sort in place; false if there was nothing to do."""
    order = _order(columns["submit"], columns["id"])
    if order is None:
        return False
    for name in columns:  # one at a time: no second copy of everything
        columns[name] = columns[name][order]
    return True


def join(chunks: list[Columns]) -> Columns:
    """Chunks as one. Takes the columns out of the chunks as it goes: no second copy of everything."""
    if len(chunks) == 1:
        return chunks.pop()
    return {name: np.concatenate([chunk.pop(name) for chunk in chunks]) for name in list(chunks[0])}


class ReorderWindow:
    """Jobs go in in any order and come out sorted, as long as none is more than `window` jobs late (None: any)."""

    def __init__(self, window: int | None = WINDOW) -> None:
        self.window = window
        self.moved = False  # some job was not in its place
        self._waiting: list[Columns] = []
        self._length = 0
        self._last = (-np.inf, -1)  # the last job handed on

    def push(self, chunk: Columns) -> Iterator[Columns]:
        """Add jobs; gives those that nothing can come before any more."""
        self._waiting.append(chunk)
        self._length += len(chunk["submit"])
        # Twice the window, so that each job is copied about once.
        if self.window is not None and self._length > 2 * self.window:
            yield self._release(self._length - self.window)

    def flush(self) -> Iterator[Columns]:
        """No more jobs will come: gives the rest."""
        if self._length:
            yield self._release(self._length)

    def _release(self, count: int) -> Columns:
        columns = join(self._waiting)
        self.moved |= sort_columns(columns)
        first = (float(columns["submit"][0]), int(columns["id"][0]))
        if first < self._last:
            raise OutOfOrderError(
                f"job {first[1]}, submitted at {first[0]:.15g} s, comes more than {self.window:,} jobs too late",
                hint="read the whole log into memory (in_memory=True), or sort it by its second column",
            )
        self._last = (float(columns["submit"][count - 1]), int(columns["id"][count - 1]))
        self._waiting = [{name: column[count:] for name, column in columns.items()}] if count < self._length else []
        self._length -= count
        return {name: column[:count] for name, column in columns.items()}


def _order(submit: NDArray[np.float64], ids: NDArray[np.int64]) -> NDArray[np.intp] | None:
    """The sorting permutation, or None where all is in order (looking is much cheaper than sorting)."""
    early, late = submit[:-1], submit[1:]
    if bool(np.all((early < late) | ((early == late) & (ids[:-1] <= ids[1:])))):
        return None
    return np.lexsort((ids, submit))
