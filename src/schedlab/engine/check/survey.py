"""A first look at all jobs: every one is there once; and what has to be known before they are judged part by part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schedlab.engine.check.columns import numbers, optional, require, vocabulary
from schedlab.engine.check.files import Files
from schedlab.engine.check.offences import Offences

TIMES = ("eligible", "start", "end")
NEEDED = (
    *("job", "sequence", "cores", "count", "request", "submit", "eligible", "start", "end", "runtime", "limit"),
    *("state", "nodes"),
)


@dataclass(frozen=True)
class Survey:
    bounds: list[float]  # of each part of the jobs: when the last of them, or of those before, did something
    last_end: float
    beliefs: bool  # an estimate is told of every job
    reasons: set[str]  # words that are known to whoever wrote the run
    timeline_parts: int
    in_order: bool  # the times of the timeline increase


def survey(files: Files, at_once: int | None, offences: Offences) -> Survey:
    """Of parts of about so many jobs each; None: all in one."""
    config, jobs = files.config, files.jobs
    require("jobs", jobs.schema.names, NEEDED)
    parts = jobs.parts(at_once or 1 << 62)
    told = [name for name in ("estimate", "reason") if name in jobs.schema.names]
    identity = _Identity(len(jobs), offences)
    bounds, last_end, bound, beliefs, reasons = [], -np.inf, -np.inf, True, set[str]()
    for part in range(parts):
        table = jobs.read(part, ["job", "sequence", *TIMES, *told])
        times = {name: numbers(table[name], np.nan, np.float64) for name in TIMES}
        for name, values in times.items():
            known = np.nan_to_num(values, nan=np.inf if name == "end" else -np.inf, posinf=np.inf, neginf=-np.inf)
            bound = max(bound, float(known.max(initial=-np.inf)))
        bounds.append(bound)
        last_end = float(np.maximum(last_end, times["end"].max(initial=-np.inf)))
        beliefs = beliefs and not np.isnan(optional(table, "estimate")).any()
        if "reason" in told:
            reasons |= vocabulary(table["reason"])
        identity.add(_called(table), times["end"])
    if far := identity.far():
        seen: dict[str, set[int]] = {name: set() for name in far}
        for part in range(parts):
            table = jobs.read(part, ["job", "sequence", "end"])
            identity.add_far(far, _called(table), numbers(table["end"], np.nan, np.float64), seen)
    incomplete = bool(config.get("incomplete") or "until" in config)
    submitted = files.rare.get("submitted")
    kept = config.get("workload", {}).get("report", {}).get("kept")
    identity.finish(kept, 0 if submitted is None else len(submitted), incomplete=incomplete)
    return Survey(bounds, last_end, beliefs, reasons, *_timeline(files, at_once))


def _called(table: pa.Table) -> dict[str, NDArray[np.int64]]:
    return {
        "position": numbers(table["sequence"], -1, np.int64),
        "id": numbers(table["job"], -1, np.int64),
    }


def _timeline(files: Files, at_once: int | None) -> tuple[int, bool]:
    rows, before, in_order = files.timeline, np.empty(0), True
    parts = rows.parts(at_once or 1 << 62)
    for part in range(parts):
        time = rows.read(part, ["time"])["time"].to_numpy()
        time = np.append(before, time)
        in_order = in_order and bool((np.diff(time) > 0).all())
        before = time[-1:]
    return parts, in_order


class _Identity:
    """No job is missing, none is there twice."""

    def __init__(self, jobs: int, offences: Offences) -> None:
        self._jobs, self._offences = jobs, offences
        self._seen = {"position": _Numbers(jobs), "id": _Numbers(jobs)}
        offences.expect("missing job", "unknown job")

    def add(self, rows: dict[str, NDArray[np.int64]], end: NDArray[np.float64]) -> None:
        for name, values in rows.items():
            self._report(name, self._seen[name].again(values), rows["id"], end)

    def _report(self, name: str, again: NDArray[np.bool_], job: NDArray[np.int64], end: NDArray[np.float64]) -> None:
        message = f"its {name} is there more than once"
        self._offences.add_where("duplicate job", again, job, end, lambda i: message)

    def finish(self, kept: int | None, submitted: int, *, incomplete: bool) -> None:
        promised = self._jobs if kept is None or incomplete else kept + submitted
        missing, further = self._seen["position"].missing(promised)
        for number in missing.tolist():
            self._offences.add("missing job", f"the job at position {number} of the workload is not in the results")
        self._offences.add_more("missing job", further)
        if not incomplete and kept and self._jobs > promised:  # a workload in memory need not say how many
            self._offences.add("unknown job", f"there are {self._jobs} jobs, but {promised} were submitted")

    def far(self) -> dict[str, NDArray[np.int64]]:
        """Numbers that are there more than once, and are too far from the others to be found at once."""
        return {name: found for name, numbers in self._seen.items() if len(found := numbers.far_again())}

    def add_far(
        self,
        far: dict[str, NDArray[np.int64]],
        rows: dict[str, NDArray[np.int64]],
        end: NDArray[np.float64],
        seen: dict[str, set[int]],
    ) -> None:
        for name, values in far.items():
            again = np.isin(rows[name], values)
            for row in np.flatnonzero(again).tolist():
                number = int(rows[name][row])
                again[row] = number in seen[name]
                seen[name].add(number)
            self._report(name, again, rows["id"], end)


class _Numbers:
    """Which whole numbers have been seen: a mark for each of as many as there are jobs, and the others one by one."""

    def __init__(self, jobs: int) -> None:
        self._near = np.zeros(2 * jobs + 1024, bool)
        self._far: list[NDArray[np.int64]] = []

    def again(self, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each one was there before. Of those that are far away this is not known yet."""
        near = (values >= 0) & (values < len(self._near))
        if not near.all():
            self._far.append(values[~near])
        found = np.zeros(len(values), bool)
        some = values[near]
        found[near] = self._near[some]
        self._near[some] = True
        ordered = np.sort(some)
        if (ordered[1:] == ordered[:-1]).any():
            rows = np.flatnonzero(near)
            repeated = np.ones(len(rows), bool)
            repeated[np.unique(some, return_index=True)[1]] = False
            found[rows[repeated]] = True
        return found

    def far_again(self) -> NDArray[np.int64]:
        ordered = np.sort(np.concatenate([*self._far, np.empty(0, np.int64)]))
        return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])

    def missing(self, promised: int) -> tuple[NDArray[np.int64], int]:
        """Of the numbers from 0 up to the largest, and of so many: those that are not there; and how many more."""
        far = np.unique(np.concatenate([*self._far, np.empty(0, np.int64)]))
        far = far[far >= 0]
        largest = int(far[-1]) if len(far) else int(np.flatnonzero(self._near)[-1]) if self._near.any() else -1
        expected = max(promised, largest + 1)
        near = min(expected, len(self._near))
        return np.flatnonzero(~self._near[:near]), expected - near - len(far)
