"""The summary of a run. What each metric means is in docs/semantics.md, "Metrics".

The jobs are looked at piece by piece, in a few passes: memory does not depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.beside import beside_summary
from schedlab.analysis.distribution import FEW, Distribution, PiecewiseDistribution, PiecewiseSum, distribution
from schedlab.analysis.machine import Machine
from schedlab.analysis.rejections import rejections
from schedlab.analysis.resources import resource_summary
from schedlab.analysis.trim import InPhase, Selection, keeps
from schedlab.analysis.workflows import has_workflows, workflow_summary
from schedlab.model.resources import only_cores, resources_of
from schedlab.model.run import Tables
from schedlab.model.states import BY_DECISION, PIECE_ENDS, REASONS, STATES, TIME_LIMIT, UNSAID, YES

KILLED, REQUEUED = STATES.index("killed"), PIECE_ENDS.index("requeued")
ABOUT_JOBS = ("wait", "turnaround", "slowdown", "bounded_slowdown", "processor_slowdown")
WEIGHTED = ("wait", "turnaround")
ABOUT_OTHERS = ("wait", "turnaround", "bounded_slowdown")

SEEN = ("state", "reason", "submit", "limit", "backfilled")
OF_JOBS = ("eligible", "start", "end", "cores")

TAU = 10.0  # seconds; shorter jobs count as this long in the bounded slowdown

Floats = NDArray[np.float64]


def summarise(
    tables: Tables, cores: int, *, tau: float = TAU, trim: Selection | None = None, machine: Machine | None = None
) -> dict[str, Any]:
    """All metrics of a run on a machine of `cores`. Times in seconds, shares between 0 and 1, None where undefined.

    With a `machine` also why jobs were rejected, and what became of its other resources, if it has any.
    """
    kept = None if trim is None else keeps(trim, tables)  # the jobs that the metrics are about; None: all
    seen, of_jobs = _Seen(), JobMetrics(tau)
    for batch, counted, started in _rows(tables, (*SEEN, *OF_JOBS), kept):
        seen.add(batch, counted, started)
        of_jobs.look(batch, _both(started, counted))
    of_jobs.finish(tables, kept)
    span = seen.span(trim)
    found = {
        "jobs": seen.jobs,
        "started": seen.started,
        "states": {
            word: count
            for word, count in _counted(seen.states, STATES).items()
            if count or word not in ("running", "suspended")
        },
        "reasons": _words(seen.reasons),
        **_requeues(tables, kept),
        "tau": tau,
        "trim": None if trim is None else trim.to_dict(),
        "makespan": span.last_end - span.begin,
        **_machine(tables, cores, span),
        "throughput_per_hour": _throughput(tables, seen, span),
        "backfilled_share": _ratio(seen.backfilled, seen.started) if seen.told_backfilled else None,
        **of_jobs.found(),
    }
    if machine is None:
        return found
    found |= _of_machine(tables, machine, span, kept, seen.rows)
    if has_workflows(tables):
        every = np.ones(seen.rows, bool) if kept is None else kept
        of_workflows, others = workflow_summary(tables, machine, span.begin, span.end, every, found["utilisation"])
        found |= of_workflows | {"others": _others(tables, every & others, tau)}
    return found


def _rows(
    tables: Tables, names: Sequence[str], kept: NDArray[np.bool_] | None
) -> Iterator[tuple[dict[str, NDArray[Any]], NDArray[np.bool_] | None, NDArray[np.bool_]]]:
    """The jobs piece by piece: the columns, which rows count (None: all), and which jobs started."""
    row = 0
    for batch in tables.batches(names, "jobs"):
        rows = slice(row, row := row + len(batch["start"]))
        yield batch, None if kept is None else kept[rows], ~np.isnan(batch["start"])


def _both(started: NDArray[np.bool_], counted: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    return started if counted is None else started & counted


class _Seen:
    """What one pass over the jobs tells: how many of which kind there are, and from when until when."""

    def __init__(self) -> None:
        self.rows = self.jobs = self.started = self.ended = 0  # `ended`: of all jobs that started
        self.states, self.reasons = np.zeros(len(STATES), np.int64), np.zeros(len(REASONS), np.int64)
        self.first_submit, self.last_submit = np.inf, -np.inf
        self.first_end, self.last_end, self.last_of_all = np.inf, -np.inf, -np.inf
        self.backfilled, self.told_backfilled = 0, False

    def add(
        self, batch: dict[str, NDArray[Any]], counted: NDArray[np.bool_] | None, started: NDArray[np.bool_]
    ) -> None:
        state, reason = batch["state"], _reasons(batch)
        self.rows += len(state)
        end = batch["end"]
        self.ended += int(np.count_nonzero(started & ~np.isnan(end)))
        self.first_end = min(self.first_end, float(end.min(where=started, initial=np.inf)))
        self.last_of_all = max(self.last_of_all, float(end.max(where=started, initial=-np.inf)))
        if counted is not None:
            state, reason, started = state[counted], reason[counted], started & counted
        self.jobs += len(state)
        self.states += np.bincount(state.astype(np.uint8), minlength=len(STATES))
        self.reasons += np.bincount(reason.astype(np.uint8), minlength=len(REASONS))
        self.started += (chosen := int(np.count_nonzero(started)))
        self.last_end = max(self.last_end, float(end.max(where=started, initial=-np.inf)))
        self.first_submit = min(self.first_submit, float(batch["submit"].min(where=started, initial=np.inf)))
        self.last_submit = max(self.last_submit, float(batch["submit"].max(where=started, initial=-np.inf)))
        codes = batch["backfilled"]
        self.backfilled += int(np.count_nonzero((codes == YES) & started))
        if codes.dtype == bool:
            self.told_backfilled |= chosen > 0
        else:
            self.told_backfilled |= bool(np.any((codes != UNSAID) & started))

    def span(self, trim: Selection | None) -> _Span:
        if not self.started:
            return _Span(0.0, 0.0, 0.0)
        if isinstance(trim, InPhase):
            return _Span(trim.begin, trim.end, self.last_end)
        return _Span(self.first_submit, self.last_submit if trim and trim.cool_down else self.last_end, self.last_end)


def about_jobs(key: str) -> bool:
    """Whether it is a metric of the jobs that started (`wait.mean`), not of the machine (`utilisation`)."""
    return key.partition(".")[0] in ABOUT_JOBS


def _others(tables: Tables, chosen: NDArray[np.bool_], tau: float) -> dict[str, Any]:
    """The jobs that are not those of workflows: what these do to them."""
    found = job_metrics(tables, chosen, tau)
    return {"started": int(chosen.sum()), **{name: found[name] for name in ABOUT_OTHERS}}


def _reasons(batch: dict[str, NDArray[Any]]) -> NDArray[Any]:
    """Codes; also of jobs that were killed at their limits, for which the tables have none."""
    reason: NDArray[Any] = batch["reason"]
    unsaid = (batch["state"] == KILLED) & (reason == 0)
    if not unsaid.any():
        return reason
    with np.errstate(invalid="ignore"):  # one that was killed while it was suspended and never ran
        early = batch["end"] - batch["start"] < batch["limit"]
    late = np.where(early, REASONS.index(BY_DECISION), REASONS.index(TIME_LIMIT))  # older runs do not say it
    return np.where(unsaid, late, reason)


def _requeues(tables: Tables, kept: NDArray[np.bool_] | None) -> dict[str, Any]:
    """How often jobs went back to the queue, by reason; nothing where none did."""
    again = tables.column("how", "pieces") == REQUEUED
    if not again.any():
        return {}
    reason = tables.column("reason", "pieces")
    reason[reason == 0] = REASONS.index(BY_DECISION)  # older runs do not say it
    if kept is not None:
        again &= np.isin(tables.column("sequence", "pieces"), tables.column("sequence")[kept])
    return {"requeues": _words(np.bincount(reason[again].astype(np.uint8), minlength=len(REASONS)))}


def _words(reasons: NDArray[np.int64]) -> dict[str, int]:
    return {word: count for word, count in _counted(reasons, REASONS).items() if word and count}


def _of_machine(
    tables: Tables, machine: Machine, span: _Span, kept: NDArray[np.bool_] | None, jobs: int
) -> dict[str, Any]:
    """What there is to say of resources and rejected jobs; nothing for most runs."""
    found: dict[str, Any] = {}
    if why := rejections(tables, machine, kept):
        found["rejections"] = why
    if machine.heatmap:
        every = np.ones(jobs, bool) if kept is None else kept
        found |= beside_summary(tables, machine.cluster.cores, span.begin, span.end, every)
    if only_cores(machine.cluster):
        return found
    found["resources"] = resource_summary(tables, machine, span.begin, span.end, kept, jobs)
    cores = resources_of(machine.cluster)[0]
    if len(cores.parts) > 1:  # thousandths of cores are cores too
        found |= {name: found["resources"]["cores"][name] for name in ("utilisation", "utilisation_queued")}
    return found


@dataclass(frozen=True, slots=True)
class _Span:
    """From the first submission to the last end; to the last submission if the cool-down is trimmed; or a phase."""

    begin: float
    end: float
    last_end: float

    @property
    def length(self) -> float:
        return self.end - self.begin


def job_metrics(tables: Tables, chosen: NDArray[np.bool_], tau: float) -> dict[str, Any]:
    """Distributions over the chosen jobs, which have started."""
    found = JobMetrics(tau)
    for batch, counted, started in _rows(tables, OF_JOBS, chosen):
        found.look(batch, _both(started, counted))
    found.finish(tables, chosen)
    return found.found()


class JobMetrics:
    """Distributions over jobs, in a few passes over them. Those of few jobs are kept, and not read again."""

    def __init__(self, tau: float) -> None:
        self._tau = tau
        self._kept: list[dict[str, Floats]] | None = []
        self._jobs = 0
        self._distributions = {name: PiecewiseDistribution() for name in ABOUT_JOBS}
        self._distributed: dict[str, Distribution] = {}
        self._weighted: dict[str, float | None] = {}

    def look(self, batch: dict[str, NDArray[Any]], chosen: NDArray[np.bool_]) -> None:
        """The first pass."""
        values = self._values(batch, chosen)
        self._jobs += len(values["wait"])
        if self._kept is not None:
            self._kept.append(values)
            if self._jobs <= FEW:
                return
            pieces, self._kept = self._kept, None
        else:
            pieces = [values]
        for piece in pieces:
            for name, distribution_ in self._distributions.items():
                distribution_.look(piece[name])

    def finish(self, tables: Tables, chosen: NDArray[np.bool_] | None) -> None:
        """The others; `chosen` as in the first one."""
        if self._kept is not None:
            self._finish_few()
            return
        for each in self._distributions.values():
            each.begin()
        work = PiecewiseSum(self._jobs)
        weighted = {name: PiecewiseSum(self._jobs) for name in WEIGHTED}
        first, going_on = True, dict(self._distributions)
        while going_on:
            for batch, counted, started in _rows(tables, OF_JOBS, chosen):
                values = self._values(batch, _both(started, counted))
                for name, each in going_on.items():
                    each.add(values[name])
                if first:
                    work.add(values["work"])
                    for name, total in weighted.items():
                        total.add(values[name] * values["work"])
            first, going_on = False, {name: each for name, each in going_on.items() if each.again()}
        self._distributed = {name: each.found for name, each in self._distributions.items()}
        self._weighted = {name: _ratio(total.value, work.value) for name, total in weighted.items()}

    def _finish_few(self) -> None:
        pieces, self._kept = self._kept or [], None
        values = {
            name: np.concatenate([np.empty(0), *(piece[name] for piece in pieces)]) for name in (*ABOUT_JOBS, "work")
        }
        work = values["work"]
        self._weighted = {name: _ratio(float((values[name] * work).sum()), float(work.sum())) for name in WEIGHTED}
        self._distributed = {name: distribution(values[name]) for name in ABOUT_JOBS}

    def found(self) -> dict[str, Any]:
        weighted = {name: {"weighted": value} for name, value in self._weighted.items()}
        return {name: self._distributed[name] | weighted.get(name, {}) for name in ABOUT_JOBS}

    def _values(self, batch: dict[str, NDArray[Any]], chosen: NDArray[np.bool_]) -> dict[str, Floats]:
        every = bool(chosen.all())
        eligible, start, end, cores = (batch[name] if every else batch[name][chosen] for name in OF_JOBS)
        runtime, turnaround, width = end - start, end - eligible, np.maximum(cores, 1)
        ran = runtime > 0  # a job of length 0 has no slowdown (the bounded one it has)
        bounded = np.maximum(runtime, self._tau)
        return {
            "wait": start - eligible,
            "turnaround": turnaround,
            "slowdown": turnaround / runtime if ran.all() else turnaround[ran] / runtime[ran],
            "bounded_slowdown": np.maximum(turnaround / bounded, 1.0),
            "processor_slowdown": np.maximum(turnaround / (bounded * width), 1.0),
            "work": runtime * width,
        }


def _machine(tables: Tables, cores: int, span: _Span) -> dict[str, Any]:
    """Integrals over the timeline: each row holds until the next one."""
    used = used_queued = queued_time = queue_area = 0.0
    longest = 0
    before: dict[str, NDArray[Any]] | None = None  # the last row of the previous piece
    for batch in tables.batches(("time", "queued", "used_cores"), "timeline"):
        piece = batch if before is None else {key: np.concatenate([before[key], batch[key]]) for key in batch}
        before = {key: column[-1:] for key, column in piece.items()}
        times = np.clip(piece["time"], span.begin, span.end)
        queued, busy = piece["queued"][:-1], piece["used_cores"][:-1]
        lengths = np.diff(times)
        waiting = queued > 0
        used += float((busy * lengths).sum())
        used_queued += float((busy * lengths)[waiting].sum())
        queued_time += float(lengths[waiting].sum())
        queue_area += float((queued * lengths).sum())
        longest = max(longest, _longest(piece, span))
    if before is not None and len(before["time"]) and before["time"][0] < span.end:  # the last row holds until the end
        rest = span.end - max(float(before["time"][0]), span.begin)
        used += float(before["used_cores"][0]) * rest
    return {
        "utilisation": _ratio(used, cores * span.length),
        "utilisation_queued": _ratio(used_queued, cores * queued_time),
        "queued_share": _ratio(queued_time, span.length),
        "queue_length": {"mean": _ratio(queue_area, span.length), "max": longest},
    }


def _longest(piece: dict[str, NDArray[Any]], span: _Span) -> int:
    """The longest queue in the span, including what was there when it began."""
    first = max(int(np.searchsorted(piece["time"], span.begin, side="right")) - 1, 0)
    last = int(np.searchsorted(piece["time"], span.end, side="right"))
    return int(piece["queued"][first:last].max(initial=0))


def _throughput(tables: Tables, seen: _Seen, span: _Span) -> float | None:
    """Jobs that ended in the span, per hour."""
    if span.begin <= seen.first_end and seen.last_of_all <= span.end:
        ended = seen.ended
    else:
        ended = 0
        for batch, _, started in _rows(tables, ("start", "end"), None):
            end = batch["end"]
            ended += int((started & (end >= span.begin) & (end <= span.end)).sum())
    return _ratio(3600.0 * ended, span.length)


def _counted(counts: NDArray[np.int64], words: tuple[str, ...]) -> dict[str, int]:
    return dict(zip(words, counts.tolist(), strict=True))


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None
