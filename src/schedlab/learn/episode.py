"""A window of a log, played from choice to choice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab._core import Jobs, NativePolicy, observe
from schedlab.engine.scenario import Scenario
from schedlab.engine.stepper import Stepper
from schedlab.learn.observation import HORIZONS, LONGEST, blank
from schedlab.model.request import SINGLE_CORE
from schedlab.model.run import Run
from schedlab.model.workload import Workload

ANYWHERE = ("first-fit", "best-fit", "spread")  # placements that find room for single cores wherever they are free


@dataclass(frozen=True, slots=True)
class Rules:
    """What does not change from one episode to the next."""

    scenario: Scenario  # but for its jobs
    window: int
    backfill: bool
    placement: str


class Episode:
    """Stops wherever a waiting job could start: somebody has to choose. `queue` has the jobs that wait then.

    The agent sees the first ones, `visible` of them, and `seen` is what it sees. What a choice does to others is the
    native policy's part, with the order that was chosen: `easy`, or `none` without backfilling.
    """

    def __init__(self, jobs: Workload, rules: Rules) -> None:
        (batch,) = jobs.batches()
        self._rules = rules
        self._counting = (
            all(request == SINGLE_CORE for request in jobs.requests)
            and not rules.scenario.inputs[1].partitions
            and not rules.scenario.observers  # who may set nodes aside or close them
            and rules.placement in ANYWHERE
        )
        stepper = Stepper(replace(rules.scenario, workload=jobs, dependencies="ignore"), placement=rules.placement)
        self.view, self._advance = stepper.view, stepper.advance
        self._end = stepper.finish
        self._run: Run | None = None
        self._order = _Order(len(batch))
        self._policy = NativePolicy(
            backfill="easy" if rules.backfill else "none",
            order=(self._order, True),
            scan=None,
            depth=-1,
            reservations=1,
        )
        self._left = np.zeros(len(batch), np.bool_)
        self.jobs, self.started = len(batch), 0
        self.over = False  # whether nobody has to choose any more
        self._is_a_choice()
        self._to_next_choice()

    def pick(self, position: int) -> list[int]:
        """Run this job next: now, or as soon as it can while others are backfilled. The sequences of what started."""
        job = self.queue[min(position, self.visible - 1)]
        if self.view.start(job):
            self.started += 1
            if not self._is_a_choice():
                self._tell_policy()
                self._to_next_choice()
            return [job.sequence]
        self._order.keys[job.sequence] = -1.0
        return self._leave_to_policy()

    def rank(self, scores: NDArray[Any]) -> list[int]:
        """Try the jobs in the order of their scores, highest first, then those that are not visible."""
        keys = -np.asarray(scores[: self.visible], np.float64)
        self._order.keys.fill(np.inf)
        self._order.keys[self.queue.sequence[: self.visible]] = np.where(np.isnan(keys), np.inf, keys)
        return self._leave_to_policy()

    def finish(self) -> Run:
        """The episode as a run; as far as it got, if it is not over."""
        if self._run is None:
            while self.over and self._advance():
                pass
            self._run = self._end()
        assert self._run is not None
        return self._run

    def _leave_to_policy(self) -> list[int]:
        """The rest of this pass with the order that was chosen."""
        before = self.queue.sequence
        self._policy.decide(self.view)
        self._order.keys.fill(0.0)
        after = self.queue.sequence
        started: list[int] = []
        if len(after) < len(before):
            self._left[before] = True
            self._left[after] = False
            started = before[self._left[before]].tolist()
        self.started += len(started)
        self._to_next_choice()
        return started

    def _to_next_choice(self) -> None:
        while self.started < self.jobs and self._advance():
            if self._is_a_choice():
                return
            self._tell_policy()
        self.over = True

    def _tell_policy(self) -> None:
        """Of a pass in which nobody can start any more: the policy keeps a queue of its own, which has to follow."""
        if self.waiting:
            self._policy.decide(self.view)

    @property
    def queue(self) -> Jobs:
        return self.view.queue

    def _is_a_choice(self) -> bool:
        """Whether some job could start: any one if others are backfilled, else one that can be seen."""
        self.seen = jobs, machine = blank(self._rules.window)
        self.waiting, choice = observe(
            self.view, jobs, machine, HORIZONS, LONGEST, self._counting, self._rules.backfill
        )
        self.visible = min(self.waiting, self._rules.window)
        return choice


class _Order:
    """The key of each job of the episode, for the native policy; ties go by who came first."""

    def __init__(self, jobs: int) -> None:
        self.keys = np.zeros(jobs)

    def __call__(self, jobs: Jobs, now: float) -> NDArray[np.float64]:
        keys: NDArray[np.float64] = self.keys[jobs.sequence]
        return keys
