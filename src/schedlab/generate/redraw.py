"""Random numbers within limits: what falls outside is drawn again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from schedlab.model.random import random_stream

Stream = Callable[[str], np.random.Generator]  # the generator of this name
Draw = Callable[[Stream, NDArray[np.intp]], NDArray[np.float64]]  # a number for each of these rows

_MOST_ROUNDS = 100  # whatever is outside after that is put on the limit


class Redraw:
    """Each round of drawing again has streams of its own, so that batches of any size give the same numbers."""

    def __init__(self, seed: int, *names: str) -> None:
        self._seed, self._names = seed, names
        self._streams: dict[tuple[int, str], np.random.Generator] = {}

    def within(self, low: float, high: float, rows: int, draw: Draw) -> NDArray[np.float64]:
        values = draw(lambda name: self._stream(0, name), np.arange(rows))
        for turn in range(1, _MOST_ROUNDS):
            outside = np.flatnonzero((values < low) | (values > high))
            if not outside.size:
                return values
            values[outside] = draw(lambda name, turn=turn: self._stream(turn, name), outside)  # type: ignore[misc]
        return np.clip(values, low, high)

    def _stream(self, turn: int, name: str) -> np.random.Generator:
        key = turn, name
        if key not in self._streams:
            self._streams[key] = random_stream(self._seed, *self._names, name, str(turn))
        return self._streams[key]
