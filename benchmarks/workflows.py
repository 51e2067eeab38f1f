"""Tasks of workflows against the same jobs without an order; and large single workflows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import schedlab as sl
from benchmarks import subject
from benchmarks.measure import Spent, call, interleaved
from benchmarks.report import Line
from benchmarks.settings import Settings
from benchmarks.workload import LogSpec, columns
from schedlab.generate.triggers.inject import AtTimes, inject
from schedlab.model.workflow import Task, Workflow
from schedlab.model.workload import Workload
from schedlab.workflow.handling import handled

MACHINE = "pool:40"  # so many are busy for four fifths of the time
EVERY = 3600.0  # seconds from one workflow to the next


def mosaic(images: int) -> Workflow:
    """A graph like Montage's: project each image, fit each overlap of two, and after all of these correct each."""
    overlaps = [(first, second) for first in range(images) for second in (first + 1, first + 2) if second < images]
    projects = [Task(f"project{n}", 1, 60.0 + n % 7, 120) for n in range(images)]
    fits = [Task(f"fit{n}", 1, 20.0 + n % 5, 60, (f"project{a}", f"project{b}")) for n, (a, b) in enumerate(overlaps)]
    model = Task("model", 4, 300.0, 600, tuple(task.id for task in fits))
    corrects = [Task(f"correct{n}", 1, 30.0 + n % 3, 60, (f"project{n}", "model")) for n in range(images)]
    add = Task("add", 16, 600.0, 900, tuple(task.id for task in corrects))
    return Workflow.of("mosaic", [*projects, *fits, model, *corrects, add])


def lines(settings: Settings) -> Iterator[Line]:
    workflow = mosaic(25)
    number = max(settings.jobs(100_000) // len(workflow), 1)
    nothing = Workload.of(submit=[], runtime=[])
    spec = LogSpec(settings.jobs(200_000))
    log_jobs, machine = subject.in_memory(columns(spec)), f"{spec.nodes}x{spec.cores}"
    for handling in ("chained", "aware"):
        times = AtTimes([EVERY / 8 * n for n in range(number)])
        tasks = _in_memory(inject(nothing, times, [handled(workflow, handling)]))
        plain = _plain(sl.simulate(tasks, MACHINE, "easy"))
        runs = (partial(_time, tasks), partial(_time, plain), partial(_time, log_jobs, machine))
        found = interleaved(settings.repeats, *runs)
        ordered, without, log = (min(one.on(settings.clock) for one in some) for some in found)
        tasks_each, plain_each = (1e6 * seconds / (len(workflow) * number) for seconds in (ordered, without))
        log_each = 1e6 * log / spec.jobs
        what = f"{len(workflow) * number:,} tasks of {number:,} workflows, {handling}, easy: time of one, against"
        note = f"{tasks_each:.2f} µs : {log_each:.2f} µs"
        yield Line(
            "workflows", f"{what} that of a job of a log of {spec.jobs:,}", tasks_each / log_each, at_most=2, note=note
        )
        note = f"{tasks_each:.2f} µs : {plain_each:.2f} µs; each submitted when it became eligible there"
        yield Line("workflows", f"{what} that of the same jobs without an order", tasks_each / plain_each, note=note)
    for images in (500, 2500):
        large = mosaic(images)
        jobs = _in_memory(inject(nothing, AtTimes([0.0]), [handled(large, "chained")]))
        (found,) = interleaved(settings.repeats, partial(_time, jobs))
        seconds = min(one.on(settings.clock) for one in found)
        note = "one workflow, chained, easy"
        yield Line("workflows", f"a workflow of {len(large):,} tasks", 1000 * seconds, unit=" ms", note=note)


def _in_memory(workload: Workload) -> Workload:
    batches = list(workload.batches())
    workload.source = lambda: iter(batches)
    return workload


def _time(jobs: Workload, machine: str = MACHINE) -> Spent:
    return call(lambda: sl.simulate(jobs, machine, "easy"))[0]


def _plain(run: sl.Run) -> Workload:
    """The same jobs without an order, each submitted when it became eligible."""
    jobs = run.jobs.sort("eligible", "sequence")
    columns = ("runtime", "limit", "count")
    return Workload.of(submit=jobs["eligible"].to_numpy(), **{name: jobs[name].to_numpy() for name in columns})
