"""What the judge finds: the first few offences of each kind, and how many there were."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LISTED = 20  # of each kind


@dataclass(frozen=True, slots=True)
class Offence:
    """Something that cannot have happened; `job` (its id) and `time` where it is about a job or a moment."""

    kind: str
    job: int | None
    time: float | None
    message: str

    def __str__(self) -> str:
        return self.described()

    def described(self, names: Mapping[int, str] | None = None) -> str:
        """With the job as its log writes it, if that is known."""
        job = "" if self.job is None else f" job {(names or {}).get(self.job, self.job)}"
        time = "" if self.time is None else f" at {self.time:.15g}"
        return f"{self.kind}{':' if job or time else ''}{job}{time}: {self.message}"


class Offences:
    """Collects offences by kind."""

    def __init__(self) -> None:
        self._found: dict[str, list[Offence]] = {}
        self._count: dict[str, int] = {}

    def expect(self, *kinds: str) -> None:
        """Offences of these kinds are listed before those of kinds that come later."""
        for kind in kinds:
            self._found.setdefault(kind, [])
            self._count.setdefault(kind, 0)

    def add(self, kind: str, message: str, job: int | None = None, time: float | None = None) -> None:
        self._count[kind] = self._count.get(kind, 0) + 1
        found = self._found.setdefault(kind, [])
        if len(found) < LISTED:
            found.append(Offence(kind, job, time, message))

    def add_where(
        self,
        kind: str,
        wrong: NDArray[np.bool_],
        job: NDArray[np.int64],
        time: NDArray[np.float64],
        message: Callable[[int], str],
    ) -> None:
        """One offence for each position where `wrong` is true; `message` gets the position."""
        positions = np.flatnonzero(wrong)
        self._count[kind] = self._count.get(kind, 0) + len(positions)
        found = self._found.setdefault(kind, [])
        for position in positions[: max(LISTED - len(found), 0)].tolist():
            found.append(Offence(kind, int(job[position]), _known(time[position]), message(position)))

    def add_more(self, kind: str, number: int) -> None:
        """So many more, without saying which."""
        self._count[kind] = self._count.get(kind, 0) + number
        self._found.setdefault(kind, [])

    def add_all(self, others: Offences) -> None:
        for kind, found in others._found.items():
            mine = self._found.setdefault(kind, [])
            mine += found[: max(LISTED - len(mine), 0)]
            self._count[kind] = self._count.get(kind, 0) + others._count[kind]

    def listed(self) -> list[Offence]:
        offences: list[Offence] = []
        for kind, found in self._found.items():
            offences += found
            if self._count[kind] > len(found):
                offences.append(Offence(kind, None, None, f"{self._count[kind]:,} in all"))
        return offences


def _known(time: Any) -> float | None:
    return None if np.isnan(time) else float(time)
