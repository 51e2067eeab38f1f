"""A fill phase before a workload: small jobs that occupy the machine and queue up, so that what follows has to wait."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from schedlab.generate.load import noted, take_over, together
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.random import random_stream
from schedlab.model.request import SINGLE_CORE
from schedlab.model.workload import JobBatch, Phase, ReadReport, Workload
from schedlab.workload.phases import with_phases

SAMPLE = 20_000  # jobs at the beginning of the workload that say how long fill jobs run
INTERVAL = 10.0  # seconds between fill jobs that take the machine within the wait
MOST_FILL = 10_000_000  # fill jobs
FILL = 2 * 10**12  # fill jobs are numbered from here on: far from those of any log

Floats = NDArray[np.float64]


def fill(
    workload: Workload,
    capacity_cores: int,
    *,
    wait: float,
    experiment: float,
    job_cores: int | None = None,
    node_cores: int = 1,
    interval: float = INTERVAL,
    length: float = 3600.0,
    stabilisation: float | None = None,
    drain: float | None = None,
    backlog: float | None = None,
    seed: int = 0,
) -> Workload:
    """The workload behind a fill phase that makes its jobs wait about `wait` seconds, with its phases marked.

    Fill jobs of `job_cores` (as `fill_job_cores` has it, unless given) come within `length` seconds; the workload
    follows, for the stabilisation (six times the wait unless given), the experiment and the drain (twice the wait
    unless given), and is cut there. `backlog`, seconds of work for the whole machine that shall be queued at the end of
    the fill phase, is `wait` unless given.
    """
    stabilisation, drain = phase_lengths(wait, stabilisation, drain)
    backlog = wait if backlog is None else backlog
    durations = {"wait": wait, "experiment": experiment, "length": length, "stabilisation": stabilisation}
    if job_cores is None:
        job_cores = fill_job_cores(capacity_cores, wait, interval, node_cores)
    _refuse_nonsense(workload, capacity_cores, job_cores, durations | {"drain": drain, "backlog": backlog})
    first, sample = _sample(workload, capacity_cores)
    jobs = _fill_jobs(sample, capacity_cores, job_cores, length, backlog, seed)
    phases = _phases({"fill": length, "stabilisation": stabilisation, "experiment": experiment, "drain": drain})
    end = phases[-1].end
    note = f"{len(jobs)} fill jobs of {job_cores} cores for a wait of {wait:g} s, seed {seed}; cut at {end:.15g} s"
    filled = with_phases(replace(workload, content_hash="", report=ReadReport(), header=noted(workload, note)), phases)
    filled.requests = [SINGLE_CORE]
    if workload.origin is not None:
        filled.origin = workload.origin + timedelta(seconds=first - length)
    filled.source = lambda: _batches(workload, filled, jobs, length - first)
    return filled


def phase_lengths(wait: float, stabilisation: float | None, drain: float | None) -> tuple[float, float]:
    """How long stabilisation and drain are: six times and twice the wait, unless given."""
    return 6 * wait if stabilisation is None else stabilisation, 2 * wait if drain is None else drain


def fill_job_cores(capacity_cores: int, wait: float, interval: float = INTERVAL, node_cores: int = 1) -> int:
    """The cores of a fill job: one every `interval` seconds takes the whole machine within the wait (as in ScSF).

    In whole nodes: 133,824 cores in nodes of 24 and a wait of 4 hours give 1,440 jobs of 96 cores.
    """
    if not (wait > 0 and interval > 0):
        return 1  # the mistake is told with the others
    nodes = math.ceil(capacity_cores * min(interval / wait, 1.0) / node_cores)
    return min(max(nodes, 1) * node_cores, capacity_cores)


@dataclass(frozen=True, slots=True)
class _Sample:
    """Jobs of the workload, sorted by run time."""

    runtime: Floats
    limit: Floats
    cores: Floats

    def draw(self, weights: Floats, number: int) -> NDArray[np.intp]:
        """Evenly spread over the jobs, as often as their weights say: the same means as the jobs themselves have."""
        share = np.cumsum(weights) / weights.sum()
        return np.minimum(np.searchsorted(share, (np.arange(number) + 0.5) / number), len(weights) - 1)


def _sample(workload: Workload, capacity_cores: int) -> tuple[float, _Sample]:
    """The first submission, and the first jobs that fit the machine and run at all."""
    found: JobBatch | None = None
    for batch in workload.batches():
        found = batch if found is None else together(found, batch)
        if len(found) >= SAMPLE:
            break
    if found is None or not len(found):
        raise InputError("there are no jobs to fill the machine for", where=workload.name)
    runtime, cores = np.minimum(found.runtime, found.limit), workload.cores(found)
    useful = np.flatnonzero((runtime > 0) & (cores > 0) & (cores <= capacity_cores))
    if not len(useful):
        raise InputError("no job at its beginning fits the machine and runs", where=workload.name)
    order = useful[np.argsort(runtime[useful], kind="stable")]
    return float(found.submit[0]), _Sample(runtime[order], found.limit[order], cores[order].astype(np.float64))


def _fill_jobs(sample: _Sample, capacity: int, job_cores: int, length: float, backlog: float, seed: int) -> JobBatch:
    """Jobs that occupy the machine from second 0 on, and jobs that queue up behind them."""
    random = random_stream(seed, "fill")
    # As if the workload had always been running: a core is busy with a job as often as jobs are wide and long, and any
    # part of that job may be over.
    occupying = -(-capacity // job_cores)
    running = random.permutation(sample.draw(sample.cores * sample.runtime, occupying))
    over = np.floor(sample.runtime[running] * random.random(occupying))
    # What the machine does during the fill phase, and what shall be left at its end. A core sees jobs as often as they
    # are wide.
    mean = float((sample.cores * sample.runtime).sum() / sample.cores.sum())
    queueing = max(1, round((backlog + length) * capacity / (job_cores * mean)))
    if occupying + queueing > MOST_FILL:
        found = f"{occupying + queueing:,} fill jobs of {job_cores} cores, at most {MOST_FILL:,} are possible"
        raise InputError(found, where="fill", hint="a shorter wait, or larger fill jobs")
    cores = np.full(occupying + queueing, job_cores)
    queued = random.permutation(sample.draw(sample.cores, queueing))
    cores[occupying - 1] = capacity - job_cores * (occupying - 1)
    return JobBatch.of(
        id=FILL + 1 + np.arange(occupying + queueing),
        submit=np.concatenate([np.zeros(occupying), np.arange(queueing) * length / queueing]),
        runtime=np.concatenate([sample.runtime[running] - over, sample.runtime[queued]]),
        limit=np.concatenate([sample.limit[running] - over, sample.limit[queued]]),
        count=cores,
    )


def _phases(lengths: dict[str, float]) -> list[Phase]:
    phases: list[Phase] = []
    begin = 0.0
    for name, length in lengths.items():
        phases.append(Phase(name, begin, begin + length))
        begin += length
    return phases


def _batches(workload: Workload, filled: Workload, jobs: JobBatch, shift: float) -> Iterator[JobBatch]:
    experiment, end = filled.phases[-2], filled.phases[-1].end
    kept, last = len(jobs), 0.0
    yield jobs
    for batch in workload.batches():
        filled.requests.extend(workload.requests[len(filled.requests) - 1 :])
        submit = batch.submit + shift
        whole = int(np.searchsorted(submit, end))
        if len(batch):
            last = float(submit[-1])
        moved = replace(batch, submit=submit, cancel=batch.cancel + shift, request=batch.request + np.int32(1))
        kept += whole
        yield moved if whole == len(batch) else moved.take(np.arange(whole))
        if whole < len(batch):
            break
    if last < experiment.end:
        raise InputError(
            f"the last job comes at {last:.15g} s, the experiment ends at {experiment.end:.15g} s",
            where=workload.name,
            hint="generate a longer workload, or ask for a shorter experiment",
        )
    take_over(filled.report, workload.report, kept, filled={"fill jobs before the workload": len(jobs)})


def _refuse_nonsense(workload: Workload, capacity_cores: int, job_cores: int, durations: dict[str, float]) -> None:
    wrong = []
    if workload.flexible:
        wrong.append(InputError("jobs that may have several shapes have no fixed amount of work", where=workload.name))
    if workload.phases:
        wrong.append(InputError("the workload has phases already", where=workload.name))
    if not 1 <= job_cores <= capacity_cores:
        found = f"fill jobs of {job_cores} cores cannot fill a machine of {capacity_cores}"
        wrong.append(InputError(found, where="job_cores"))
    for name, seconds in durations.items():
        if not 0 < seconds < math.inf:
            wrong.append(InputError(f"{name} is {seconds}, expected seconds above 0", where="fill"))
    if wrong:
        raise InputErrors(wrong)
