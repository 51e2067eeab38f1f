"""Looking on while a command simulates: a picture, lines, a pace. What nobody asks for costs nothing."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from schedlab.cli.channel import Channel, channel
from schedlab.cli.output import InterruptedError
from schedlab.cli.progress import Deciding, ReadingBar, SimulationBar, date, watched
from schedlab.cli.screen import Screen, can_watch
from schedlab.cli.signals import insist
from schedlab.cli.status import Status, deciding_line, final_line, reading_line, status_line
from schedlab.engine.scenario import Scenario
from schedlab.engine.simulate import Progress, Simulation
from schedlab.engine.snapshot import Facts, Recorder, Snapshot
from schedlab.files.bytestream import Progress as Reading
from schedlab.model.errors import InputError
from schedlab.model.units import parse_duration
from schedlab.model.workload import Workload

if TYPE_CHECKING:
    from schedlab._core import View
    from schedlab.model.run import Run

EVERY = 0.08  # seconds between two pictures; the engine calls every 0.1
NAP = 0.1  # the longest sleep, after which somebody may have to be answered
AHEAD = 0.002  # so much before its time is early enough
BEHIND = 0.1  # what is later than this is not caught up


class Monitor:
    """What was asked for on the command line, for all runs of the command."""

    def __init__(self, watch: bool, pace: str | None, status_every: str | None, quiet: bool) -> None:
        self._pace, self._every = _positive(pace, "--pace"), _positive(status_every, "--status-every")
        self._watch, self._quiet = watch and can_watch(), quiet
        self._status = Status(self._every)
        self._channel = channel()
        if self._channel is not None and self._pace is not None:
            self._channel.pace = self._pace

    def expect(self, runs: int) -> None:
        """So many runs in all, of which whoever watches is told the share that is done."""
        if self._channel is not None:
            self._channel.runs = runs

    def __enter__(self) -> Self:
        self._status.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._status.__exit__(*error)

    def read(self, scenario: Scenario) -> Scenario:
        """The same with its jobs and its machine; a bar while the log is read."""
        if isinstance(scenario.workload, Workload):
            return scenario.loaded()
        name = Path(scenario.workload).name
        try:
            with ReadingBar(name) as bar:
                return scenario.loaded(self.reading(bar if watched(self._quiet) else None, name))
        except KeyboardInterrupt:
            raise InterruptedError(f"while {scenario.workload} was being read; nothing was written") from None

    def reading(self, bar: Reading | None, name: str) -> Reading:
        """For the reader, which tells how much it has read."""

        def read(done: int, size: int) -> None:
            if bar is not None:
                bar(done, size)
            if self._channel is not None:
                self._channel.reading(name, done, size)
            if self._status.due:
                self._status.say(reading_line(name, done, size))

        return read

    def simulate(self, scenario: Scenario, label: str = "", progress: Progress | None = None) -> Run:
        """`schedlab.simulate`, looked at; with a bar, unless somebody else is told the progress."""
        workload, cluster = scenario.inputs
        begin = time.monotonic()
        name = label or str(scenario.policy)
        facts = Facts(name, workload.name, cluster, workload.report.kept, workload.origin, self._pace)
        with SimulationBar(name, workload.report.kept, workload.origin) as bar, Screen() as screen:
            shown = bar if progress is None and watched(self._quiet) and not self._watch else progress
            look = Look(facts, self._status, screen if self._watch else None, shown, self._channel)
            simulation = Simulation(
                scenario,
                progress=look.progress if self._looks else look.answer,
                watch=look.look if self._looks else None,
                within=look.within,
                brief=True,
            )
            look.view, look.set_ticks = simulation.core.view, simulation.core.set_ticks
            look.recorder.facts = replace(facts, cluster=simulation.cluster)  # a decider may have another one
            if look.paced:
                simulation.core.set_ticks(1, 0.0)
            elif simulation.in_python:  # a decider in Python, or elsewhere, may take its time
                simulation.core.set_ticks(1, EVERY)
            run = simulation.run()
        seconds = time.monotonic() - begin
        if self._every is not None or self._status.asked:
            jobs = facts.jobs + len(run.table("submitted"))
            self._status.say(final_line(facts.policy, jobs, seconds))
        if self._channel is not None:
            self._channel.ended(facts.policy, facts.jobs)
        if self._watch and not self._quiet:
            screen.leave_behind(look.recorder.closing(run, seconds))
        return run

    @property
    def _looks(self) -> bool:
        return any(asked is not None for asked in (self._watch or None, self._every, self._pace, self._channel))


class Look:
    """Looks at one run when the engine calls, and shows what is due."""

    view: View
    set_ticks: Callable[[int, float], None]

    def __init__(
        self,
        facts: Facts,
        status: Status,
        screen: Screen | None,
        bar: Progress | None,
        channel: Channel | None = None,
    ) -> None:
        self.recorder = Recorder(facts)
        self._status, self._screen, self._bar, self._channel = status, screen, bar, channel
        self._pace = None if self._asked_pace is None else Pace(self._asked_pace)
        self._latest: Snapshot | None = None
        self._early = False
        self._shown = 0.0
        self._deciding = Deciding()

    @property
    def paced(self) -> bool:
        return self._pace is not None

    @property
    def _asked_pace(self) -> float | None:
        return self.recorder.facts.pace if self._channel is None else self._channel.pace

    def progress(self, now: float, done: int) -> None:
        """How far it has come: every instant if there is a pace, else a few times a second."""
        insist()
        self._deciding.words(now)
        self._obey()
        if self._pace is not None:
            self._early = self._pace.wait(now, self._meanwhile)
        self.recorder.done = done
        self.recorder.note(now)
        self._tell(now, done)

    def look(self, view: View) -> None:
        """After that. Who is early has time for a snapshot, to show while he waits for what comes next."""
        if self._early or self._due:
            self._latest = self.recorder.take(view)
        if self._latest is not None and self._due:
            self._show(self._latest)

    def answer(self, now: float, done: int) -> None:
        """Instead of both, if nobody looks on but anybody may ask."""
        self.progress(now, done)
        if self._status.due:
            self._show(self.recorder.take(self.view))

    def within(self, now: float, done: int) -> None:
        """In the middle of a slow pass: nothing can be looked at, but the clock goes on."""
        insist()
        self._tell(now, done)
        words = self._deciding.words(now)
        if self._status.due:
            jobs = self.recorder.facts.jobs + self.view.announced
            self._status.say(deciding_line(self.recorder.facts, now, done, jobs, words))

    def _tell(self, now: float, done: int) -> None:
        if isinstance(self._bar, SimulationBar):
            self._bar.total = self.recorder.facts.jobs + self.view.announced
        if self._bar is not None:
            self._bar(now, done)
        if self._channel is not None:
            facts = self.recorder.facts
            jobs = facts.jobs + self.view.announced
            self._channel.progress(facts.policy, date(facts.origin, now), done, jobs, self._deciding.words(now))

    def _obey(self) -> None:
        """A pace that was changed from outside."""
        wanted = self._asked_pace
        if wanted == (None if self._pace is None else self._pace.pace):
            return
        if wanted is None or self._pace is None:
            self._pace = None if wanted is None else Pace(wanted)
            self._early = False
            self.set_ticks(1, EVERY if wanted is None else 0.0)
        else:
            self._pace.change(wanted)

    def _meanwhile(self, now: float) -> None:
        insist()
        if self._pace is not None and self._asked_pace != self._pace.pace:
            self._pace.change(self._asked_pace)
        if self._latest is not None and self._due:
            self._show(self._latest, now)

    def _show(self, snapshot: Snapshot, now: float | None = None) -> None:
        """This state of things, as of `now`."""
        snapshot = self.recorder.complete(snapshot, now)
        if self._status.due:
            self._status.say(status_line(snapshot))
        if self._screen is not None and self._picture_due:
            self._shown = time.monotonic()
            self._screen.draw(snapshot)
        if self._channel is not None and self._frame_due:
            self._channel.frame(snapshot)

    @property
    def _due(self) -> bool:
        return self._status.due or self._picture_due or self._frame_due

    @property
    def _frame_due(self) -> bool:
        return self._channel is not None and self._channel.frames and self._channel.due("frame")

    @property
    def _picture_due(self) -> bool:
        return self._screen is not None and time.monotonic() - self._shown >= EVERY


class Pace:
    """Lets at most so much simulated time pass in a second; at 0 it stands still, without one it does not wait."""

    def __init__(self, pace: float) -> None:
        self.pace: float | None = pace
        self._begin: tuple[float, float] | None = None  # a moment on the clock, and in the simulation
        self._shown = 0.0  # the simulated time that was told last

    def change(self, pace: float | None) -> None:
        """From now on."""
        if self._begin is not None:
            self._begin = time.monotonic(), self._shown
        self.pace = pace

    def wait(self, now: float, meanwhile: Callable[[float], None]) -> bool:
        """Until it is time for `now`; `meanwhile` is told the time again and again. Says whether there was a wait."""
        clock = time.monotonic()
        if self._begin is None:
            self._begin, self._shown = (clock, now), now
        if clock - self._due(now) > BEHIND:
            self._begin = clock, now
        early = self._due(now) - clock > AHEAD
        while self._due(now) - clock > AHEAD:
            begin, first = self._begin
            self._shown = first + (clock - begin) * (self.pace or 0.0)
            meanwhile(self._shown)
            time.sleep(min(max(self._due(now) - time.monotonic(), 0.0), NAP))
            clock = time.monotonic()
        self._shown = now
        return early

    def _due(self, now: float) -> float:
        """On the clock."""
        assert self._begin is not None
        begin, first = self._begin
        if self.pace is None or now <= first:
            return begin
        return begin + (now - first) / self.pace if self.pace > 0 else math.inf


def _positive(text: str | None, where: str) -> float | None:
    if text is None:
        return None
    seconds = parse_duration(text, where=where)
    if seconds <= 0:
        raise InputError("has to be longer than nothing", where=where)
    return seconds
