"""Which jobs count: without warm-up and cool-down, when the machine is not busy; those of one phase; some of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError
from schedlab.model.jobs import JobSet
from schedlab.model.run import Run, Tables
from schedlab.model.suggest import did_you_mean

TOLD = ("sequence", "submit")  # what of jobs a selection has to know
Chooser: TypeAlias = Callable[[Mapping[str, NDArray[Any]]], NDArray[np.bool_]]  # which of some jobs stay


@dataclass(frozen=True, slots=True)
class Trim:
    """Shares (0 to 1) to leave out at the beginning and at the end, of the jobs or of the time of submissions."""

    warm_up: float = 0.0
    cool_down: float = 0.0
    by: Literal["jobs", "time"] = "jobs"

    def __post_init__(self) -> None:
        if not (self.warm_up >= 0 and self.cool_down >= 0 and self.warm_up + self.cool_down < 1):
            raise InputError(f"cannot leave out {self}", hint="two shares of at least 0 % that leave something over")

    def __str__(self) -> str:
        return f"the first {100 * self.warm_up:.3g} % and the last {100 * self.cool_down:.3g} % of the {self.by}"

    @property
    def title(self) -> str:
        """Which jobs count, for the title of a table."""
        return f"without {self}"

    @classmethod
    def parse(cls, text: str, by: Literal["jobs", "time"] = "jobs") -> Trim:
        """`10%` of both ends, or `5%,10%`; `0.1` is 10 %."""
        parts = text.split(",")
        try:
            shares = [float(part[:-1]) / 100 if part.endswith("%") else float(part) for part in parts]
            warm_up, cool_down = shares * 2 if len(shares) == 1 else shares
        except ValueError:
            raise InputError(f"'{text}' is not a share to leave out", hint="write 10% or 5%,10%") from None
        if any(share >= 1 and not part.endswith("%") for part, share in zip(parts, shares, strict=True)):
            meant = ",".join(f"{part.rstrip('%')}%" for part in parts)
            raise InputError(f"'{text}' is not a share to leave out", hint=f"did you mean {meant}?")
        return cls(warm_up, cool_down, by)

    def of(self, run: Run) -> Trim:
        return self

    def to_dict(self) -> dict[str, Any]:
        return {"warm_up": self.warm_up, "cool_down": self.cool_down, "by": self.by}

    def chooser(self, tables: Tables) -> Chooser:
        if self.by == "jobs":
            jobs = sum(len(batch["sequence"]) for batch in tables.batches(("sequence",), "jobs"))
            first, last = int(self.warm_up * jobs), jobs - int(self.cool_down * jobs)
            return lambda batch: (batch["sequence"] >= first) & (batch["sequence"] < last)
        begin, end = np.inf, -np.inf
        for batch in tables.batches(("submit",), "jobs"):
            begin, end = min(begin, batch["submit"].min()), max(end, batch["submit"].max())
        span = end - begin
        begin, end = begin + self.warm_up * span, end - self.cool_down * span
        return lambda batch: (batch["submit"] >= begin) & (batch["submit"] <= end)


@dataclass(frozen=True, slots=True)
class InPhase:
    """The jobs that were submitted in one phase of the workload (fill, stabilisation, experiment, drain)."""

    name: str
    begin: float = 0.0
    end: float = 0.0

    def __str__(self) -> str:
        return f"all but the phase {self.name}"

    @property
    def title(self) -> str:
        """Which jobs count, for the title of a table."""
        return f"phase {self.name}"

    def of(self, run: Run) -> InPhase:
        """With the times that the phase has in this run."""
        phases = {phase["name"]: phase for phase in run.workload.get("phases", ())}
        if self.name not in phases:
            hint = did_you_mean(self.name, list(phases), f"its phases: {', '.join(phases) or 'none'}")
            raise InputError(f"the workload has no phase '{self.name}'", where=str(run.path or run), hint=hint)
        return InPhase(self.name, phases[self.name]["begin"], phases[self.name]["end"])

    def to_dict(self) -> dict[str, Any]:
        return {"phase": self.name, "begin": self.begin, "end": self.end}

    def chooser(self, tables: Tables) -> Chooser:
        return lambda batch: (batch["submit"] >= self.begin) & (batch["submit"] < self.end)


@dataclass(frozen=True, slots=True, eq=False)
class Among:
    """Of the jobs that would count, these."""

    jobs: JobSet
    counted: Selection | None = None

    def __str__(self) -> str:
        return f"all but {len(self.jobs):,} jobs"

    @property
    def title(self) -> str:
        """Which jobs count, for the title of a table."""
        return f"{len(self.jobs):,} jobs" + (f", {self.counted.title}" if self.counted else "")

    @property
    def cool_down(self) -> float:
        return 0.0

    def of(self, run: Run) -> Among:
        return Among(self.jobs, self.counted.of(run) if self.counted else None)

    def to_dict(self) -> dict[str, Any]:
        return {"jobs": len(self.jobs), **(self.counted.to_dict() if self.counted else {})}

    def chooser(self, tables: Tables) -> Chooser:
        counted = self.counted.chooser(tables) if self.counted else None

        def chosen(batch: Mapping[str, NDArray[Any]]) -> NDArray[np.bool_]:
            among = self.jobs.has(batch["sequence"])
            return among & counted(batch) if counted else among

        return chosen


Selection: TypeAlias = Trim | InPhase | Among


def keeps(selection: Selection, tables: Tables) -> NDArray[np.bool_]:
    """Which jobs stay, for each row of the table."""
    chosen = selection.chooser(tables)
    rows = [chosen(batch) for batch in tables.batches(TOLD, "jobs")]
    return np.concatenate([np.empty(0, bool), *rows])
