"""Heatmaps: how fast applications run beside one another, measured pair by pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedlab.model.errors import InputError, InputErrors
from schedlab.model.heatmap_cells import Cells
from schedlab.model.suggest import did_you_mean

SHOWN = 5  # of many pairs or names in a message
AVERAGE, REFUSE = "average", "refuse"


@dataclass(frozen=True, slots=True, eq=False)
class Heatmap:
    """How fast applications run beside one another: speed-ups against running alone on whole nodes."""

    names: tuple[str, ...]
    speedups: NDArray[np.float64]  # [a, b]: of a beside b; NaN where nobody measured it
    runtimes: NDArray[np.float64]  # alone on whole nodes (compact), seconds; NaN: not known
    processes: NDArray[np.int64]  # of each; 0: not known
    alone: Mapping[float, NDArray[np.float64]] = field(default_factory=dict)
    """Speed-ups spread and without neighbours, by the fraction of a node (0.5) that a job has; NaN: not measured."""
    source: str = ""

    def __post_init__(self) -> None:
        kept = {
            "names": tuple(self.names),
            "speedups": _kept(self.speedups, np.float64),
            "runtimes": _kept(self.runtimes, np.float64),
            "processes": _kept(self.processes, np.int64),
            "alone": {float(fraction): _kept(values, np.float64) for fraction, values in self.alone.items()},
        }
        for name, value in kept.items():
            object.__setattr__(self, name, value)  # frozen
        found = _mistakes(self)
        if found:
            raise InputErrors([InputError(message, where=self.source) for message in found])

    @classmethod
    def from_cells(
        cls,
        names: Sequence[str],
        speedups: Sequence[Sequence[Any]],
        *,
        runtimes: Sequence[Any] | None = None,
        processes: Sequence[Any] | None = None,
        alone: Mapping[float, Sequence[Any]] | None = None,
        source: str = "",
    ) -> Heatmap:
        """From what a file says: numbers, or None where nothing is known. All its mistakes are told at once."""
        cells = Cells(names, source)
        square = cells.square(speedups)
        times = cells.row(runtimes, "run time of {}")
        counts = cells.whole(processes, "processes of {}")
        spread = {
            share: cells.row(row, f"speed-up of {{}} alone on {share:g} of a node")
            for share, row in (alone or {}).items()
        }
        try:
            made = cls(tuple(map(str, names)), square, times, counts, spread, source)
        except InputErrors as more:
            raise InputErrors([*cells.mistakes, *more.errors]) from None
        if cells.mistakes:
            raise InputErrors(cells.mistakes)
        return made

    def __len__(self) -> int:
        return len(self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Heatmap) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.names, self.speedups.tobytes()))

    def number(self, name: str) -> int:
        """The place of an application."""
        try:
            return self.names.index(name)
        except ValueError:
            hint = did_you_mean(name, self.names, f"the heatmap has {first_of(self.names)}")
            raise InputError(
                f"the heatmap does not know the application '{name}'", where=self.source, hint=hint
            ) from None

    def friendliness(self, weights: ArrayLike | None = None) -> float:
        """The mean speed-up over all ordered pairs of two different jobs; `weights`: how many of each application.

        Without weights every pair of applications counts once, an application beside itself too. Pairs that nobody
        measured are left out; NaN if that leaves none.
        """
        pairs = self._pairs(weights)
        known = ~np.isnan(self.speedups)
        total = float(pairs[known].sum())
        return float((pairs[known] * self.speedups[known]).sum() / total) if total else float("nan")

    def known_share(self, weights: ArrayLike | None = None) -> float:
        """The share of those pairs that is measured; NaN if there is no pair."""
        pairs = self._pairs(weights)
        total = float(pairs.sum())
        return float(pairs[~np.isnan(self.speedups)].sum() / total) if total else float("nan")

    def _pairs(self, weights: ArrayLike | None) -> NDArray[np.float64]:
        """How many ordered pairs of jobs each cell stands for."""
        size = len(self)
        if weights is None:
            return np.ones((size, size))
        jobs = np.asarray(weights, np.float64)
        if jobs.shape != (size,) or not np.all((jobs >= 0) & (jobs % 1 == 0)):
            raise InputError(f"weights are numbers of jobs, 0 or more for each of the {size} applications")
        return np.outer(jobs, jobs) - np.diag(jobs)  # no job is its own neighbour

    def part(self, names: Sequence[str]) -> Heatmap:
        """The heatmap of these applications alone, in this order."""
        places = np.array([self.number(name) for name in names], np.intp)
        alone = {fraction: values[places] for fraction, values in self.alone.items()}
        square = self.speedups[np.ix_(places, places)]
        return Heatmap(tuple(names), square, self.runtimes[places], self.processes[places], alone, self.source)

    def missing(self) -> list[tuple[str, str]]:
        """The pairs (a, b) for which nobody measured how fast a runs beside b."""
        return [(self.names[a], self.names[b]) for a, b in np.argwhere(np.isnan(self.speedups))]

    def filled(self, missing: str | float) -> NDArray[np.float64]:
        """The whole matrix. A pair that is missing gets the average of its row's known values ("average"; 1 if there
        are none), or the number that is given; "refuse": it is an error."""
        square, unknown = self.speedups.copy(), np.isnan(self.speedups)
        if missing == AVERAGE:
            known = (~unknown).sum(axis=1)
            means = np.where(known > 0, np.nansum(square, axis=1) / np.maximum(known, 1), 1.0)
            return np.where(unknown, means[:, None], square)
        if missing == REFUSE:
            self._refuse_missing()
            return square
        if isinstance(missing, str) or not 0 < missing < float("inf"):
            hint = f"'{AVERAGE}' (of the known values of its row), '{REFUSE}', or a speed-up above 0, such as 1"
            raise InputError(f"{missing!r} is no rule for pairs that a heatmap does not have", hint=hint)
        square[unknown] = missing
        return square

    def _refuse_missing(self) -> None:
        pairs = self.missing()
        if pairs:
            what = "pair" if len(pairs) == 1 else "pairs"
            message = (
                f"{len(pairs)} {what} of applications not measured: {first_of([f'{a} beside {b}' for a, b in pairs])}"
            )
            hint = (
                f"missing = '{AVERAGE}' takes the mean of the application's known pairs, a number takes that speed-up"
            )
            raise InputError(message, where=self.source, hint=hint)

    def to_dict(self) -> dict[str, Any]:
        """As it is written in JSON: null where nothing is known."""
        return {
            "names": list(self.names),
            "speedups": [_nulls(row) for row in self.speedups],
            "runtimes": _nulls(self.runtimes),
            "processes": [int(count) for count in self.processes],
            "alone": {f"{fraction!r}": _nulls(values) for fraction, values in sorted(self.alone.items())},
            "source": self.source,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Heatmap:
        """What `to_dict` gave."""
        alone = {float(fraction): values for fraction, values in data.get("alone", {}).items()}
        return cls.from_cells(
            data["names"],
            data["speedups"],
            runtimes=data.get("runtimes"),
            processes=data.get("processes"),
            alone=alone,
            source=data.get("source", ""),
        )


def first_of(names: Sequence[str], most: int = SHOWN) -> str:
    """The first few, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _kept(values: ArrayLike, kind: type) -> NDArray[Any]:
    """A copy that nobody can change."""
    array: NDArray[Any] = np.array(values, kind)
    array.flags.writeable = False
    return array


def _nulls(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _mistakes(heatmap: Heatmap) -> list[str]:
    size = len(heatmap.names)
    if not size:
        return ["a heatmap without applications"]
    found = [
        f"the application '{name}' is there {count} times"
        for name, count in Counter(heatmap.names).items()
        if count > 1
    ]
    if heatmap.speedups.shape != (size, size):
        shape = " × ".join(map(str, heatmap.speedups.shape))
        return [*found, f"the matrix of speed-ups is {shape}, not {size} × {size} as its {size} applications need"]
    for label, values in (("run times", heatmap.runtimes), ("processes", heatmap.processes)):
        if values.shape != (size,):
            return [*found, f"{len(values)} {label} for {size} applications"]
    pairs = [f"speed-up of {a} beside {b}" for a in heatmap.names for b in heatmap.names]
    found += _not_positive(pairs, heatmap.speedups.ravel(), "a speed-up above 0 (1: as fast as alone on whole nodes)")
    found += _not_positive([f"run time of {name}" for name in heatmap.names], heatmap.runtimes, "seconds above 0")
    found += [
        f"processes of {name} = {count}: 1 or more"
        for name, count in zip(heatmap.names, heatmap.processes, strict=True)
        if count < 0
    ]
    for fraction, values in heatmap.alone.items():
        if not 0 < fraction <= 1 or values.shape != (size,):
            found.append(f"alone on {fraction:g} of a node: expected a fraction up to 1 and {size} speed-ups")
        else:
            labels = [f"speed-up of {name} alone on {fraction:g} of a node" for name in heatmap.names]
            found += _not_positive(labels, values, "a speed-up above 0")
    return found


def _not_positive(labels: Sequence[str], values: NDArray[np.float64], expected: str) -> list[str]:
    wrong = np.flatnonzero((values <= 0) | np.isinf(values))
    return [f"{labels[place]} = {values[place]:g}: expected {expected}" for place in map(int, wrong)]
