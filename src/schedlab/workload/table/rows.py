"""Which rows of a table become jobs, and what stands in for what they lack: the rules of SWF logs (docs/swf.md)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from schedlab.workload.notes import ODD
from schedlab.workload.options import ReadOptions
from schedlab.workload.table.columns import MOST_SECONDS, Cells
from schedlab.workload.table.mapping import Mapping

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(slots=True)
class Times:
    """When the jobs of a chunk come and how long they take; NaN is unknown, for `cancel` infinite is never."""

    submit: Floats
    end: Floats
    runtime: Floats
    limit: Floats
    wait: Floats
    think: Floats
    cancel: Floats
    filled: dict[str, Mask] = field(default_factory=dict)


def times(cells: Cells, mapping: Mapping) -> Times:
    """From what columns there are: run time is end − start, wait is start − submit."""
    columns, unknown = mapping.columns, np.full(cells.rows, np.nan)
    least, most = (-np.inf, np.inf) if mapping.own else (0.0, MOST_SECONDS)

    def point(name: str) -> Floats:
        return cells.times(name, columns[name], least) if name in columns else unknown

    def length(name: str) -> Floats:
        return cells.durations(name, columns[name], most) if name in columns else unknown

    submit, start, end = point("submit"), point("start"), point("end")
    runtime, limit, think = (length(name) for name in ("runtime", "limit", "think"))
    if "runtime" in columns or "start" in columns:
        wait, odd = cells.unneeded(lambda: length("wait"))
    else:
        wait, odd = length("wait"), np.zeros(cells.rows, bool)  # the run time is from there to the end
    if "start" in columns and "wait" not in columns:
        wait = start - submit
    elif "start" not in columns:
        start = submit + wait
    if "runtime" not in columns:
        runtime = end - start
        cells.note(runtime < 0, lambda row: f"ends {start[row] - end[row]:.15g} s before it starts")
    early = wait < 0
    cancel = point("cancel")
    filled = {"wait: starts before it is submitted, counts as unknown": early, f"wait: {ODD}": odd}
    wait = np.where(early, np.nan, wait)
    return Times(submit, end, runtime, limit, wait, think, np.where(np.isnan(cancel), np.inf, cancel), filled)


def drops(
    found: Times, status: NDArray[np.int32], count: NDArray[np.int64], cores: NDArray[np.int64], options: ReadOptions
) -> dict[str, Mask]:
    """Rows to leave out by reason; the first that applies counts."""
    idle = ~(found.runtime > 0)
    cleaned, strict = options.clean != "none", options.clean == "strict"
    never = np.zeros(len(status), bool)
    return {
        "submit time unknown": np.isnan(found.submit),
        "processors unknown": count < 1,
        "larger than the machine": (cores > options.max_procs) if strict and options.max_procs else never,
        "cancelled before it started": idle & (status == 5) if cleaned else never,
        "run time 0 or unknown": idle if cleaned else never,
        "requested time 0 or unknown": ~(found.limit > 0) if strict else never,
    }


def complete(found: Times, status: NDArray[np.int32], options: ReadOptions) -> None:
    """Put something in the place of what is unknown."""
    given = None if isinstance(options.missing_limit, str) else float(options.missing_limit)
    idle, unlimited = ~(found.runtime > 0), ~(found.limit > 0)
    withdrawn = idle & (status == 5) & np.isinf(found.cancel)
    left = np.fmax(found.submit, np.where(np.isnan(found.wait), found.end, found.submit + found.wait))
    found.cancel = np.where(withdrawn, left, found.cancel)
    found.filled["run time: unknown counts as 0"] = np.isnan(found.runtime)
    found.runtime = np.nan_to_num(found.runtime)
    if given is None:
        found.filled["limit: run time"] = unlimited & (found.runtime > 0)
        found.filled["limit: 0, run time unknown too"] = unlimited & ~(found.runtime > 0)
    else:
        found.filled["limit: given number"] = unlimited
    found.limit = np.where(unlimited, found.runtime if given is None else given, found.limit)
    if options.clean == "strict":
        longer = found.runtime > found.limit
        found.filled["run time: cut to the requested time"] = longer
        found.runtime = np.where(longer, found.limit, found.runtime)
    found.think = np.nan_to_num(found.think)


class Seen:
    """Job numbers that have occurred, as runs of consecutive ones: dense numbers take next to no memory."""

    def __init__(self) -> None:
        self._begin = np.zeros(0, np.int64)
        self._end = np.zeros(0, np.int64)

    def repeated(self, ids: NDArray[np.int64]) -> Mask:
        """Which of these have occurred before, here or in an earlier call."""
        order = np.argsort(ids, kind="stable")
        values = ids[order]
        run = np.searchsorted(self._begin, values, "right") - 1
        before = np.zeros(len(values), bool)
        if len(self._begin):
            before = (run >= 0) & (values < self._end[run])
        again = before | np.concatenate([[False], values[1:] == values[:-1]])[: len(values)]
        new = values[~again]
        self._merge(new, new + 1)
        repeated = np.zeros(len(ids), bool)
        repeated[order] = again
        return repeated

    def _merge(self, begin: NDArray[np.int64], end: NDArray[np.int64]) -> None:
        begin, end = np.concatenate([self._begin, begin]), np.concatenate([self._end, end])
        order = np.argsort(begin, kind="stable")
        begin, end = begin[order], end[order]
        fresh = np.concatenate([[True], begin[1:] > end[:-1]])[: len(begin)]
        self._begin, self._end = begin[fresh], end[np.roll(fresh, -1)]
