"""The progress bar of a run in which jobs are submitted: its total is what is known to come, and its end is the end."""

from __future__ import annotations

from typing import Any

import pytest

import schedlab as sl
from schedlab.cli import watch
from schedlab.cli.watch import Monitor
from schedlab.engine.scenario import Scenario


class TwoMore(sl.Observer):
    """After each of the first ten starts two jobs are submitted, one of them for later."""

    def started(self, view: Any, job: Any, nodes: Any) -> None:
        if job.id <= 10:
            view.submit_many([5.0, 5.0], at=[view.now, view.now + 7])


@pytest.mark.parametrize("looks", [True, False])
def test_the_total_grows_with_what_is_submitted(looks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []

    class Seen(watch.SimulationBar):
        def __call__(self, now: float, done: int) -> None:
            seen.append((done, self.total))

    class Ticking(watch.Simulation):
        def run(self) -> sl.Run:
            self.core.set_ticks(1, 0.0)
            return super().run()

    monkeypatch.setattr(watch, "SimulationBar", Seen)
    monkeypatch.setattr(watch, "Simulation", Ticking)
    monkeypatch.setattr(watch, "watched", lambda quiet: True)
    jobs = sl.Workload.of(submit=[10.0 * number for number in range(20)], runtime=[5.0] * 20)
    scenario = Scenario(jobs, sl.Cluster.uniform(1, 1), "easy", observers=[TwoMore()])
    with Monitor(False, "400d" if looks else None, None, False) as monitor:
        run = monitor.simulate(scenario)
    assert len(run.jobs) == 40
    totals = [total for _, total in seen]
    assert totals == sorted(totals) and totals[0] < 40 and seen[-1] == (40, 40)
    assert all(done <= total for done, total in seen)
