"""How fast running jobs work, who makes them slower or faster, and what is believed of their ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.oracle.company import Heat
from tests.oracle.jobs import Change, Job

if TYPE_CHECKING:
    from tests.oracle.simulator import Simulation


class Pace:
    def __init__(
        self,
        sim: Simulation,
        follow_rates: bool = False,
        changes: Sequence[Change] = (),
        speeds: Sequence[float] = (),
        sharing: float = 1.0,
        heat: Heat | None = None,
    ) -> None:
        self.sim, self.follow_rates = sim, follow_rates
        self.changes, self.made = changes, 0
        self.speeds, self.sharing, self.heat = speeds, sharing, heat

    @property
    def kills(self) -> bool:
        return self.sim.options.overrun == "kill"

    def begin(self, job: Job) -> None:
        """It has taken its nodes."""
        slowest = min((self.speeds[node] for node in job.nodes), default=1.0) if self.speeds else 1.0
        job.since, job.left, job.ran, job.factors = self.sim.now, job.runtime / slowest, 0.0, {}
        job.follows_rates = False
        job.end = self.end_of(job)

    def end_of(self, job: Job) -> float:
        needed = job.left / job.rate if job.rate else math.inf
        return job.since + (min(needed, job.limit - job.ran) if self.kills else needed)

    def done(self, job: Job) -> bool:
        """Whether its work is done when it ends."""
        return not self.kills or job.left <= job.rate * (job.limit - job.ran)

    def make_changes(self) -> None:
        while self.made < len(self.changes) and self.changes[self.made].time <= self.sim.now:
            change = self.changes[self.made]
            self.made += 1
            for job in self.sim.running:
                if job.id == change.job and not job.released:
                    self.set_factor(job, change.owner, change.factor)

    def time_it_ran(self, job: Job) -> float:
        simple = not job.factors and not self.speeds
        return self.sim.time_it_runs(job) if simple else job.end - job.start

    def look_at_neighbours(self) -> bool:
        """After a pass. Says whether it has changed what is believed of somebody."""
        if self.sharing == 1.0 and self.heat is None:
            return False
        there = [job for job in self.sim.running if not job.released]
        before = [job.believed_end for job in there]
        for job in there:
            company = any(job.nodes.keys() & other.nodes.keys() for other in there if other is not job)
            self.set_factor(job, "sharing", self.sharing if company else 1.0)
            if self.heat is not None:
                self.set_factor(job, "interference", self.heat.factor(job, there))
        return before != [job.believed_end for job in there]

    def set_factor(self, job: Job, owner: str, factor: float) -> None:
        if job.factors.get(owner, 1.0) == factor:
            return
        if not job.factors:
            job.left_as_believed = job.believed
        elapsed = self.sim.now - job.since
        job.left -= job.rate * elapsed
        job.left_as_believed -= job.rate * elapsed
        job.ran += elapsed
        job.since = self.sim.now
        job.factors[owner] = factor
        job.end = self.end_of(job)
        job.attempt += 1  # its old end is not to come
        self.sim.set_event("completion", job.end, job)
        if self.follow_rates:
            self.believe(job)
        self.sim.expect_correction(job)

    def corrected(self, job: Job, more: float) -> None:
        """The work that it was believed to be is done, and it goes on: there is so much more, as one believes now."""
        if job.follows_rates:
            job.left_as_believed = job.rate * (self.sim.now - job.since) + more
            self.believe(job)

    def believe(self, job: Job) -> None:
        if job.end == self.sim.now:  # it is about to leave
            return
        before = job.believed_end
        job.follows_rates = True
        left = job.left_as_believed / job.rate if job.rate else math.inf
        job.estimated_end = job.since + (min(left, job.limit - job.ran) if self.kills else left)
        self.sim.reservations.remake |= job.estimated_end != before
