"""The summary of a run. What each metric means is in docs/semantics.md, "Metrics".

A column at a time, with as few of them at once as the formulas allow: six million jobs take less than 200 MB.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.analysis.beside import beside_summary
from schedlab.analysis.distribution import distribution
from schedlab.analysis.machine import Machine
from schedlab.analysis.rejections import rejections
from schedlab.analysis.resources import resource_summary
from schedlab.analysis.trim import InPhase, Selection
from schedlab.analysis.workflows import has_workflows, workflow_summary
from schedlab.model.resources import only_cores, resources_of
from schedlab.model.run import Tables
from schedlab.model.states import BY_DECISION, PIECE_ENDS, REASONS, STATES, TIME_LIMIT, UNSAID, YES

KILLED, REQUEUED = STATES.index("killed"), PIECE_ENDS.index("requeued")
ABOUT_JOBS = ("wait", "turnaround", "slowdown", "bounded_slowdown", "processor_slowdown")
ABOUT_OTHERS = ("wait", "turnaround", "bounded_slowdown")

TAU = 10.0  # seconds; shorter jobs count as this long in the bounded slowdown

Floats = NDArray[np.float64]


def summarise(
    tables: Tables, cores: int, *, tau: float = TAU, trim: Selection | None = None, machine: Machine | None = None
) -> dict[str, Any]:
    """All metrics of a run on a machine of `cores`. Times in seconds, shares between 0 and 1, None where undefined.

    With a `machine` also why jobs were rejected, and what became of its other resources, if it has any.
    """
    state, reason = tables.column("state"), _reasons(tables)
    started = ~np.isnan(tables.column("start"))
    chosen, kept = started, None  # the jobs that the metrics are about
    if trim:
        kept = trim.keeps(tables)
        state, reason, chosen = state[kept], reason[kept], started & kept
    span = _span(tables, chosen, trim)
    found = {
        "jobs": len(state),
        "started": int(chosen.sum()),
        "states": {
            word: count
            for word, count in _counts(state, STATES).items()
            if count or word not in ("running", "suspended")
        },
        "reasons": _words(reason),
        **_requeues(tables, kept),
        "tau": tau,
        "trim": None if trim is None else trim.to_dict(),
        "makespan": span.last_end - span.begin,
        **_machine(tables, cores, span),
        "throughput_per_hour": _throughput(tables, started, span),
        "backfilled_share": _backfilled(tables.column("backfilled"), chosen),
        **job_metrics(tables, chosen, tau),
    }
    if machine is None:
        return found
    found |= _of_machine(tables, machine, span, kept)
    if has_workflows(tables):
        counted = np.ones(len(started), bool) if kept is None else kept
        of_workflows, others = workflow_summary(tables, machine, span.begin, span.end, counted, found["utilisation"])
        found |= of_workflows | {"others": _others(tables, chosen & others, tau)}
    return found


def about_jobs(key: str) -> bool:
    """Whether it is a metric of the jobs that started (`wait.mean`), not of the machine (`utilisation`)."""
    return key.partition(".")[0] in ABOUT_JOBS


def _others(tables: Tables, chosen: NDArray[np.bool_], tau: float) -> dict[str, Any]:
    """The jobs that are not those of workflows: what these do to them."""
    found = job_metrics(tables, chosen, tau)
    return {"started": int(chosen.sum()), **{name: found[name] for name in ABOUT_OTHERS}}


def _reasons(tables: Tables) -> NDArray[Any]:
    """Codes; also of jobs that were killed at their limits, for which the tables have none."""
    reason: NDArray[Any] = tables.column("reason")
    unsaid = (tables.column("state") == KILLED) & (reason == 0)
    if unsaid.any():
        with np.errstate(invalid="ignore"):  # one that was killed while it was suspended and never ran
            early = tables.column("end") - tables.column("start") < tables.column("limit")
        reason[unsaid & early] = REASONS.index(BY_DECISION)  # older runs do not say it
        reason[unsaid & ~early] = REASONS.index(TIME_LIMIT)
    return reason


def _requeues(tables: Tables, kept: NDArray[np.bool_] | None) -> dict[str, Any]:
    """How often jobs went back to the queue, by reason; nothing where none did."""
    again = tables.column("how", "pieces") == REQUEUED
    if not again.any():
        return {}
    reason = tables.column("reason", "pieces")
    reason[reason == 0] = REASONS.index(BY_DECISION)  # older runs do not say it
    if kept is not None:
        again &= np.isin(tables.column("sequence", "pieces"), tables.column("sequence")[kept])
    return {"requeues": _words(reason[again])}


def _words(reasons: NDArray[Any]) -> dict[str, int]:
    return {word: count for word, count in _counts(reasons, REASONS).items() if word and count}


def _of_machine(tables: Tables, machine: Machine, span: _Span, kept: NDArray[np.bool_] | None) -> dict[str, Any]:
    """What there is to say of resources and rejected jobs; nothing for most runs."""
    found: dict[str, Any] = {}
    if why := rejections(tables, machine, kept):
        found["rejections"] = why
    if kept is None:
        kept = np.ones(len(tables.column("state")), bool)
    if machine.heatmap:
        found |= beside_summary(tables, machine.cluster.cores, span.begin, span.end, kept)
    if only_cores(machine.cluster):
        return found
    found["resources"] = resource_summary(tables, machine, span.begin, span.end, kept)
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


def _span(tables: Tables, chosen: NDArray[np.bool_], trim: Selection | None) -> _Span:
    if not chosen.any():
        return _Span(0.0, 0.0, 0.0)
    submit = tables.column("submit")
    begin = float(submit.min(where=chosen, initial=np.inf))
    last_submit = float(submit.max(where=chosen, initial=-np.inf))
    last_end = float(tables.column("end").max(where=chosen, initial=-np.inf))
    if isinstance(trim, InPhase):
        return _Span(trim.begin, trim.end, last_end)
    return _Span(begin, last_submit if trim and trim.cool_down else last_end, last_end)


def job_metrics(tables: Tables, chosen: NDArray[np.bool_], tau: float) -> dict[str, Any]:
    """Distributions over the chosen jobs. Columns are read again rather than kept: three at a time at most."""
    every = bool(chosen.all())

    def column(name: str) -> NDArray[Any]:
        return tables.column(name) if every else tables.column(name)[chosen]

    found: dict[str, Any] = {}
    runtime: Floats = column("end")
    runtime -= column("start")
    work = runtime * np.maximum(column("cores"), 1)
    wait: Floats = column("start")
    wait -= column("eligible")
    weighted = _weighted(wait, work)
    found["wait"] = distribution(wait) | {"weighted": weighted}
    del wait

    turnaround: Floats = column("end")
    turnaround -= column("eligible")
    weighted = _weighted(turnaround, work)
    del work
    found["turnaround"] = distribution(turnaround.copy()) | {"weighted": weighted}

    # A job of length 0 has no slowdown (the bounded one it has).
    ran = runtime > 0
    found["slowdown"] = distribution(turnaround / runtime if ran.all() else turnaround[ran] / runtime[ran])

    np.maximum(runtime, tau, out=runtime)
    found["bounded_slowdown"] = distribution(_at_least_one(turnaround / runtime))
    cores = column("cores")
    runtime *= np.maximum(cores, 1, out=cores)
    turnaround /= runtime
    found["processor_slowdown"] = distribution(_at_least_one(turnaround))
    return found


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


def _backfilled(codes: NDArray[Any], chosen: NDArray[np.bool_]) -> float | None:
    """The share of jobs; None if nothing is said of any: the policy does not say."""
    if codes.dtype != bool and not np.any((codes != UNSAID) & chosen):
        return None
    return _ratio(int(np.count_nonzero((codes == YES) & chosen)), int(np.count_nonzero(chosen)))


def _throughput(tables: Tables, started: NDArray[np.bool_], span: _Span) -> float | None:
    """Jobs that ended in the span, per hour."""
    end = tables.column("end")
    return _ratio(3600.0 * int((started & (end >= span.begin) & (end <= span.end)).sum()), span.length)


def _counts(codes: NDArray[Any], words: tuple[str, ...]) -> dict[str, int]:
    return dict(zip(words, np.bincount(codes.astype(np.uint8), minlength=len(words)).tolist(), strict=True))


def _at_least_one(values: Floats) -> Floats:
    return np.maximum(values, 1.0, out=values)


def _weighted(values: Floats, work: Floats) -> float | None:
    """The mean over core-seconds rather than jobs (AWWT and AWRT of the literature)."""
    return _ratio(float((values * work).sum()), float(work.sum()))  # BLAS (@) would start threads, which go on spinning


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None
