"""A small scenario, simulated and told: the engine decides, its plan and its reasons are put into words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from schedlab.analysis.core_rows import Machine, job_bars
from schedlab.generate.triggers.inject import FIRST_ID
from schedlab.model.run import Run
from schedlab.model.states import YES
from schedlab.policy.spec import PolicySpec, parse_policy
from schedlab.web.play import words
from schedlab.web.play.record import Instant, Intended, record
from schedlab.web.play.rows import PlannedRows
from schedlab.web.play.small import Small
from schedlab.web.play.told import Bar, News, Node, Play, PlayedJob, Reserved, Running, Start, Step, Wait

Rows = list[tuple[int, int]]


def play(small: Small) -> Play:
    """From the first instant to the last."""
    run, instants = record(small)
    return _Teller(small, run, instants).play()


class _Teller:
    def __init__(self, small: Small, run: Run, instants: list[Instant]) -> None:
        self._small, self._run, self._instants = small, run, instants
        self._spec: PolicySpec = parse_policy(small.policy)
        self._machine = Machine(run.cluster)
        self._jobs = {job.id: job for job in _played_jobs(small, run)}
        self._order = [int(job) for job in run.jobs.sort("sequence")["job"]]
        self._bars = list(self._found_bars())
        self._backfilled = _backfilled(run)
        self._reasons = _reasons(run)
        self._rates = run.table("rates").select("job", "time", "rate").rows()
        self._counted = not self._spec.exclusive and self._spec.fraction is None

    def play(self) -> Play:
        steps = list(self._steps())
        names = ["cores"] if self._machine.pool else self._machine.names
        sizes = zip(names, self._machine.first.tolist(), self._machine.sizes.tolist(), strict=False)
        return Play(
            policy=self._small.name or self._small.policy,
            machine=self._small.machine,
            nodes=[Node(*each) for each in sizes],
            jobs=list(self._jobs.values()),
            bars=self._bars,
            steps=steps,
            metrics=_metrics(self._run.summary),
            command=self._small.command,
        )

    def _found_bars(self) -> Iterator[Bar]:
        bars = job_bars(self._run, self._machine, (-np.inf, np.inf))
        for at in range(len(bars)):
            begin, end = float(bars.begin[at]), float(bars.end[at])
            yield Bar(self._order[int(bars.job[at])], begin, end, int(bars.low[at]), int(bars.high[at]))

    def _steps(self) -> Iterator[Step]:
        before: dict[int, Intended] = {}
        known: set[int] = set()
        for instant in self._instants:
            scene = words.Scene(
                self._spec,
                self._jobs,
                instant,
                before,
                self._counted,
                {job: text for job, why, who, text in self._waiting(instant.time) if text},
            )
            yield Step(
                time=instant.time,
                news=list(self._news(instant, known)),
                queue_before=instant.queue_before,
                free_before=instant.free_before,
                starts=list(self._starts(scene)),
                waits=list(self._waits(scene)),
                running=[Running(job, end, self._rate(job, instant.time)) for job, end in instant.running],
                plan=self._plan(instant),
                free=instant.free,
            )
            before = {each.job: each for each in instant.queue}

    def _news(self, instant: Instant, known: set[int]) -> Iterator[News]:
        kills = self._small.overrun == "kill"
        for kind, number in instant.events:
            job = self._jobs[number]
            if kind == "completed":
                yield News(number, "killed" if job.state == "killed" else "ended", _sentence(words.ends(job, kills)))
            elif kind == "submitted":
                what = "released" if number in known else "submitted"
                since = instant.time if number in known else job.submit
                yield News(number, what, _sentence(words.comes(job, (), since)))
                known.add(number)
        for number in instant.held:
            if number not in known:
                known.add(number)
                text = words.comes(self._jobs[number], self._waited_for(number), 0.0)
                yield News(number, "held", _sentence(text))
        for job, time, rate in self._rates:
            if time == instant.time:
                text = f"{self._jobs[job].label} works at {rate:.3g} times the speed that it has on whole nodes."
                yield News(job, "rate", _sentence(text))

    def _waited_for(self, job: int) -> list[str]:
        rows = self._run.table("predecessors")
        return [self._jobs[other].label for other in rows.filter(rows["job"] == job)["predecessor"].to_list()]

    def _starts(self, scene: words.Scene) -> Iterator[Start]:
        instant = scene.instant
        free, spare = instant.free_before, self._spare_before(scene)
        for job, _ in instant.started:
            backfilled = self._backfilled[job]
            text = words.starts(scene, job, backfilled, free, spare)
            yield Start(job, backfilled, _sentence(text))
            free -= self._jobs[job].cores
            if spare is not None and backfilled and self._lasts(scene, job):
                spare -= self._jobs[job].cores

    def _lasts(self, scene: words.Scene, job: int) -> bool:
        """Whether a job that starts may still run at the head's reservation."""
        head = scene.head
        return (
            head is not None and head.start is not None and scene.instant.time + self._jobs[job].estimate > head.start
        )

    def _spare_before(self, scene: words.Scene) -> int | None:
        """What was left over beside the head's reservation before jobs were put there in this pass."""
        if scene.head is None or scene.head.spare is None:
            return None
        lasting = (job for job, _ in scene.instant.started if self._backfilled[job] and self._lasts(scene, job))
        return scene.head.spare + sum(self._jobs[job].cores for job in lasting)

    def _waiting(self, time: float) -> list[tuple[int, str, int | None, str | None]]:
        return [(job, why, who, text) for job, begin, end, why, who, text in self._reasons if begin <= time < end]

    def _waits(self, scene: words.Scene) -> Iterator[Wait]:
        place = {each.job: at for at, each in enumerate(scene.instant.queue)}
        found = sorted(self._waiting(scene.instant.time), key=lambda row: place.get(row[0], len(place) + row[0]))
        for job, why, who, _ in found:
            yield Wait(job, why, who, _sentence(words.waits(scene, job, why, who)))

    def _rate(self, job: int, time: float) -> float | None:
        told = [rate for number, since, rate in self._rates if number == job and since <= time]
        return told[-1] if told else None

    def _plan(self, instant: Instant) -> list[Reserved]:
        rows = PlannedRows(self._machine)
        running = dict(instant.running)
        for bar in self._bars:
            if bar.job in running and bar.begin <= instant.time < bar.end:
                rows.occupy([(bar.low, bar.high)], max(running[bar.job], np.nextafter(instant.time, np.inf)))
        found = {}
        planned = [each for each in instant.queue if each.start is not None and each.end is not None]
        for each in sorted(planned, key=lambda one: one.start or 0.0):
            start, end = float(each.start or 0.0), float(each.end or 0.0)
            place = rows.place(start, end, self._jobs[each.job].cores, each.nodes, self._spec.exclusive)
            found[each.job] = Reserved(each.job, start, end, each.spare, place)
        return [found[each.job] for each in planned]


def _metrics(summary: dict[str, Any]) -> dict[str, str]:
    """Those of the run's summary that a small scenario is compared by."""
    return {
        "mean wait": f"{words.number(summary['wait']['mean'])} s",
        "longest wait": f"{words.number(summary['wait']['max'])} s",
        "mean bounded slowdown": f"{summary['bounded_slowdown']['mean']:.2f}",
        "makespan": f"{words.number(summary['makespan'])} s",
        "utilisation": f"{summary['utilisation']:.1%}",
    }


def _played_jobs(small: Small, run: Run) -> Iterator[PlayedJob]:
    workload = small.workload
    given: dict[int, Any] = {row["id"]: row for row in workload.jobs.iter_rows(named=True)}
    users, programs = (workload.labels.get(column, []) for column in ("user", "executable"))
    for row in run.jobs.sort("sequence").iter_rows(named=True):
        asked = given[row["job"]]
        user = users[asked["user"]] if asked["user"] >= 0 and users else ""
        program = programs[asked["executable"]] if asked["executable"] >= 0 and programs else ""
        number, label = int(row["job"]), f"job {row['job']}"
        if number >= FIRST_ID:
            name, _, task = program.partition(":")
            label, program, user = (f"task {task}" if task else f"the pilot of {name}"), "", "workflow"
        start = row["start"]
        yield PlayedJob(
            id=number,
            label=label,
            submit=float(row["submit"]),
            cores=int(row["cores"]),
            runtime=float(asked["runtime"]),
            estimate=float(row["estimate"]),
            start=None if start is None or np.isnan(start) else float(start),
            end=float(row["end"]),
            state=str(row["state"]),
            user=user,
            application=program,
        )


def _backfilled(run: Run) -> dict[int, bool]:
    columns = (run.tables.column(name).tolist() for name in ("job", "backfilled"))
    return {job: said == YES for job, said in zip(*columns, strict=True)}


def _reasons(run: Run) -> list[tuple[int, float, float, str, int | None, str | None]]:
    job = dict(zip(run.jobs["sequence"].to_list(), run.jobs["job"].to_list(), strict=True))
    rows = run.reasons.select("sequence", "from", "until", "why", "who", "words").rows()
    return [(job[sequence], begin, end, str(why), who, text) for sequence, begin, end, why, who, text in rows]


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
