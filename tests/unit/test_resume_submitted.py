"""A run in which jobs are submitted, held and withdrawn ends the same after it was broken off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fragile import Fragile, run_until_broken

import schedlab as sl
from schedlab.engine.checkpoint import Checkpoint


class Restless(sl.Observer):
    """Submits jobs of all kinds, holds, releases and withdraws, in a way that depends on the time alone."""

    wants_attachments = True

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.chose = False

    def begin(self, view: Any) -> None:
        view.submit_many(runtime=[3.0, 4.0], at=[11.0, 12.0], attachments=[{"a": 1}, None], name=["p", "q"])
        view.wake_at(1.0)

    def submitted(self, view: Any, job: Any) -> None:
        self.seen.append((job.id, job.attachments))

    def before(self, view: Any) -> None:
        now = view.now
        if now % 3 == 0:
            request = sl.Request({"cores": 1, "memory": 1 + int(now) % 4})
            view.submit(now % 7, 1 + int(now) % 2, request, user=int(now % 2), name=f"n{now}")
            view.submit(2, at=now + 5.5, attachments={"now": now})
            named = [sl.Predecessor(job, int(job.id + now) % 4, now % 5) for job in (*view.queue, *view.held)][:3]
            view.submit(1, at=now + now % 4, predecessors=[*named, 10**12 + int(now)], any=now % 2 == 0)
            mistaken = view.submit(9, at=now + 8, predecessors=named)
            if now % 2:
                view.withdraw(mistaken)
            view.submit_many([1.0, 2.0], at=now + 7, predecessors=[named, [int(now)]], any=[True, False])
        for job in view.queue:
            if (job.id + now) % 5 == 0:
                view.hold(job)
            elif (job.id + now) % 11 == 0:
                view.withdraw(job)
        for job in view.held:
            if now - job.eligible > 6:
                view.release(job)
        if now < 60:
            view.wake_at(now + 1)

    def after(self, view: Any) -> None:
        if view.now == 20 and not self.chose:
            self.chose = True
            view.submit(1, user=9, id=12345)

    def finish(self, view: Any) -> dict[str, float]:
        return {"seen": float(len(self.seen))}


class Alarm(sl.Observer):
    """Submits a job at times of its own."""

    def begin(self, view: Any) -> None:
        view.wake_at(7.5)

    def woken(self, view: Any) -> None:
        assert view.now % 7.5 == 0
        view.submit(1.5, user=7)
        if view.now < 60:
            view.wake_at(view.now + 7.5)


@pytest.mark.parametrize(
    "policy", ["none", "easy", "easy:order=lxf,scan=sjf", "conservative", "easy:reservations=2", "skip:order=saf"]
)
@pytest.mark.parametrize("breaks", [[1], [7, 9], [30], [61]])
def test_a_run_that_is_taken_up_again_has_the_same_bytes(tmp_path: Path, policy: str, breaks: list[int]) -> None:
    cluster = sl.Cluster((sl.NodeGroup("n", 2, {"cores": 2, "memory": 4}),))
    random = np.random.default_rng(5)
    columns = {
        "submit": np.sort(random.integers(0, 50, 40)),
        "runtime": random.integers(0, 9, 40),
        "count": random.integers(1, 5, 40),
    }
    workload = sl.Workload.of(**columns, user=random.integers(0, 2, 40))

    def run(out: str, checkpoint: Checkpoint | None = None) -> bool:
        options: dict[str, Any] = {
            "observers": [Restless(), Alarm()],
            "estimate": "last-two",
            "out": tmp_path / out,
            "force": True,
        }
        scenario = sl.Scenario(workload, cluster, policy, checkpoint=checkpoint, **options)
        return run_until_broken(scenario) is not None

    run("whole")
    assert sl.check(tmp_path / "whole") == []
    assert not any([run("again", Fragile(tmp_path / "checkpoint", saves)) for saves in breaks])  # noqa: C419
    assert run("again", Checkpoint(tmp_path / "checkpoint", every=1e9))
    for table in ("jobs", "timeline", "submitted", "holds", "predecessors"):
        names = [tmp_path / which / f"{table}.parquet" for which in ("whole", "again")]
        assert names[0].read_bytes() == names[1].read_bytes(), table
