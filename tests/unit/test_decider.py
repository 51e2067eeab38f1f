"""The decider protocol, from Python: what a policy sees, what it may do, and what it is refused."""

from __future__ import annotations

import math
import runpy
from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import schedlab as sl
from schedlab.analysis.compare import summary_of
from schedlab.cli.main import app
from schedlab.engine.checkpoint import Checkpoint
from schedlab.model.errors import DecisionError

ROOT = Path(__file__).parents[2]


def simulated(decide: Any, *, cores: int = 4, nodes: int = 1, **columns: Any) -> list[dict[str, Any]]:
    """Start, end and state of each job under a policy that is a function."""
    policy = type("Policy", (), {"decide": staticmethod(decide)})()
    cluster = sl.Cluster.of_cores(cores) if nodes == 1 else sl.Cluster.uniform(nodes, cores=cores)
    run = sl.simulate(sl.Workload.of(**columns), cluster, policy, validate=True)
    return run.jobs.select("start", "end", "state", "nodes").rows(named=True)


def start_all(view: Any, events: Any) -> None:
    for job in view.queue:
        view.start(job)


def test_easy_in_python_gives_the_native_schedule() -> None:
    easy = runpy.run_path(str(ROOT / "examples" / "easy_in_python.py"))["Easy"]
    jobs, cluster = sl.read_workload(ROOT / "examples" / "demo.swf"), sl.Cluster.uniform(64, cores=4)
    mine, native = sl.simulate(jobs, cluster, easy()), sl.simulate(jobs, cluster, "easy")
    assert mine.jobs["start"].to_list() == native.jobs["start"].to_list()
    assert mine.jobs["nodes"].to_list() == native.jobs["nodes"].to_list()
    assert sl.check(mine) == []


def test_a_policy_sees_what_it_may_and_no_runtime() -> None:
    seen: list[Any] = []

    def decide(view: Any, events: Any) -> None:
        (kind, job) = events[0]
        seen.append(
            (view.now, kind, job.id, view.free_cores, view.cluster.free.tolist(), len(view.queue), len(view.running))
        )
        if kind == "submitted":
            assert (job.cores, job.limit, job.estimate, job.user, job.state) == (3, 50.0, 50.0, 7, "waiting")
            assert math.isnan(job.start) and not hasattr(job, "runtime") and not hasattr(job, "end")
            assert view.fits(job) and view.start(job)
            assert (job.state, job.start, job.estimated_end, job.nodes) == ("running", 5.0, 55.0, [(0, 2), (1, 1)])
            assert view.cluster.free.tolist() == [0, 1]

    simulated(decide, cores=2, nodes=2, submit=[5], runtime=[20], limit=[50], count=[3], user=[7])
    assert seen == [(5.0, "submitted", 1, 4, [2, 2], 1, 0), (25.0, "completed", 1, 4, [2, 2], 0, 0)]


def test_nodes_by_hand() -> None:
    def decide(view: Any, events: Any) -> None:
        for job in view.queue:
            assert view.start(job, nodes=[(2, 1), (0, 2)])

    (job,) = simulated(decide, cores=2, nodes=3, submit=[0], runtime=[1], count=[3])
    assert job["nodes"] == "n3,n1*2"


def test_rates() -> None:
    """20 s of work: 4 s at full speed, 10 s at half, 6 s standing still, the rest at double speed: 4+10+6+5.5."""
    plan = {4.0: 0.5, 14.0: 0.0, 20.0: 2.0}

    def decide(view: Any, events: Any) -> None:
        if view.queue:
            view.start(view.queue[0])
            for time in plan:
                view.wake_at(time)
        elif view.now in plan:
            view.set_rate(view.running[0], plan[view.now])

    (job,) = simulated(decide, submit=[0], runtime=[20], limit=[100], count=[1])
    assert (job["end"], job["state"]) == (25.5, "completed")


def test_the_limit_counts_wall_clock_not_work() -> None:
    def decide(view: Any, events: Any) -> None:
        for job in view.queue:
            view.start(job)
            view.set_rate(job, 0.5)

    (job,) = simulated(decide, submit=[0], runtime=[20], limit=[30], count=[1])
    assert (job["end"], job["state"]) == (30.0, "killed")


def test_kill_and_requeue() -> None:
    def decide(view: Any, events: Any) -> None:
        if view.now == 10.0:
            first, second = sorted(view.running, key=lambda job: job.id)
            view.kill(first)
            view.requeue(second)
            view.wake_at(30)
        elif view.now < 1:
            view.wake_at(10)
        if view.now != 10.0:
            start_all(view, events)

    first, second = simulated(decide, submit=[0, 0], runtime=[25, 25], limit=[99, 99], count=[1, 1])
    assert (first["start"], first["end"], first["state"]) == (0.0, 10.0, "killed")
    assert (second["start"], second["end"], second["state"]) == (30.0, 55.0, "completed")


def test_a_policy_that_starts_nothing_leaves_jobs_waiting() -> None:
    (job,) = simulated(lambda view, events: None, submit=[3], runtime=[1], count=[1])
    assert (job["start"], job["end"], job["state"]) == (None, 3.0, "waiting")


def again(view: Any, job: Any) -> None:
    view.start(job)
    view.start(job)


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (again, "cannot start job 8 at 2 s: it is not waiting"),
        (lambda view, job: view.kill(job), "cannot kill job 8 at 2 s: it is not running"),
        (lambda view, job: view.requeue(job), "cannot requeue job 8 at 2 s: it is not running"),
        (lambda view, job: view.set_rate(job, 2), "cannot change the rate of job 8 at 2 s: it is not running"),
        (lambda view, job: view.start(job, nodes=[(9, 2)]), "there is no such node"),
        (lambda view, job: view.start(job, nodes=[(0, 3)]), "a node has not enough free"),
        (lambda view, job: view.start(job, nodes=[(0, 1)]), "the nodes given do not hold what it asked for"),
        (lambda view, job: view.wake_at(2), "not in the future"),
    ],
)
def test_impossible_decisions_are_refused(act: Any, message: str) -> None:
    with pytest.raises(sl.DecisionError, match=message):
        simulated(
            lambda view, events: act(view, view.queue[0]),
            cores=2,
            nodes=2,
            id=[8],
            submit=[2],
            runtime=[9],
            count=[2],
        )


def test_a_job_that_has_left_cannot_be_looked_at_for_ever() -> None:
    kept: list[Any] = []

    def decide(view: Any, events: Any) -> None:
        kept.extend(view.queue)
        start_all(view, events)
        if len(kept) == 2:
            assert kept[0].cores  # its slot serves the second job now

    with pytest.raises(sl.DecisionError, match="left the system"):
        simulated(decide, submit=[0, 10], runtime=[1, 1], count=[1, 1])


class Failing(sl.Policy):
    """Starts the first job and fails on the second."""

    def decide(self, view: Any, events: Any) -> None:
        for job in view.queue:
            view.start(job)
            if job.id == 2:
                raise ZeroDivisionError("in my policy")


@pytest.mark.parametrize("out", [False, True])
def test_an_error_in_a_policy_names_their_line_and_keeps_what_was_simulated(tmp_path: Path, out: bool) -> None:
    jobs = sl.Workload.of(submit=[0, 10, 20], runtime=[5, 30, 1], count=[1, 1, 1])
    with pytest.raises(sl.PolicyError) as caught:
        sl.simulate(jobs, sl.Cluster.of_cores(4), Failing(), out=tmp_path / "run" if out else None)
    error = caught.value
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert (error.time, error.job) == (10.0, 2)
    assert "test_decider.py, line" in str(error) and 'raise ZeroDivisionError("in my policy")' in str(error)
    run = sl.read_run(tmp_path / "run") if out else error.run
    assert run is not None and "ZeroDivisionError" in run.incomplete
    assert run.jobs.select("job", "start", "end", "state").rows() == [
        (1, 0.0, 5.0, "completed"),
        (2, 10.0, 10.0, "running"),
    ]


@pytest.mark.parametrize(("second", "told"), [(10.0, "10 s (2020-01-01 00:00:10)"), (1e60, "1e+60 s,")])
def test_an_error_in_a_policy_has_its_date_where_there_is_one(second: float, told: str) -> None:
    jobs = sl.Workload.of(submit=[0, second], runtime=[5, 30], count=[1, 1])
    with pytest.raises(sl.PolicyError) as caught:
        sl.simulate(replace(jobs, origin=datetime(2020, 1, 1, tzinfo=UTC)), sl.Cluster.of_cores(4), Failing())
    assert f"at simulated time {told}" in str(caught.value)


def test_a_run_that_failed_is_replaced_and_one_that_was_ended_early_is_not(tmp_path: Path) -> None:
    jobs, machine = sl.Workload.of(submit=[0, 10, 20], runtime=[5, 30, 1], count=[1, 1, 1]), sl.Cluster.of_cores(4)
    with pytest.raises(sl.PolicyError):
        sl.simulate(jobs, machine, Failing(), out=tmp_path / "run")
    assert sl.read_run(tmp_path / "run").config["failed"] is True
    (tmp_path / "run" / "mine.txt").write_text("not of the run")
    with pytest.raises(sl.InputError, match="already holds a run and other files"):
        sl.simulate(jobs, machine, "easy", out=tmp_path / "run")
    (tmp_path / "run" / "mine.txt").unlink()
    assert not sl.simulate(jobs, machine, "easy", out=tmp_path / "run").incomplete
    stepper = sl.Stepper(jobs, machine, out=tmp_path / "early")
    stepper.finish()
    with pytest.raises(sl.InputError, match="already holds a run"):
        sl.simulate(jobs, machine, "easy", out=tmp_path / "early")


def test_two_policies_with_state_do_not_disturb_each_other() -> None:
    class Alternate(sl.Policy):
        """Starts every second job it sees, one at a time; the others when nothing else waits."""

        def __init__(self) -> None:
            self.seen: list[int] = []

        def decide(self, view: Any, events: Any) -> None:
            self.seen += [job.id for kind, job in events if kind == "submitted"]
            for job in view.queue:
                if self.seen.index(job.id) % 2 == 0 or len(view.queue) == 1:
                    view.start(job)

    jobs = sl.Workload.of(submit=range(40), runtime=[7] * 40, count=[1, 3] * 20)
    alone = [sl.simulate(jobs, sl.Cluster.of_cores(cores), Alternate()).jobs["start"].to_list() for cores in (4, 5)]
    inner: list[Any] = []

    class Nested(Alternate):
        """Runs a whole other simulation in the middle of its own."""

        def decide(self, view: Any, events: Any) -> None:
            if view.now == 20:
                inner.append(sl.simulate(jobs, sl.Cluster.of_cores(5), Alternate()).jobs["start"].to_list())
            super().decide(view, events)

    together = sl.simulate(jobs, sl.Cluster.of_cores(4), Nested()).jobs["start"].to_list()
    assert (together, inner) == (alone[0], [alone[1]])


@pytest.mark.parametrize("passes", ["instant", "event"])
def test_a_rate_that_is_changed_and_changed_back_ends_the_job_once(passes: Any) -> None:
    class Hesitant(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            for job in view.queue:
                view.start(job)
            if view.now in (10, 20):
                for rate in (0.5, 1.0, 2.0, 1.0):
                    view.set_rate(view.running[0], rate)
            view.wake_at(view.now + 10)

    jobs = sl.Workload.of(submit=[0, 60], runtime=[100, 10], limit=[150, 150], count=[1, 1])
    run = sl.simulate(jobs, sl.Cluster.of_cores(4), Hesitant(), passes=passes, validate=True)
    assert run.jobs.select("end", "state").rows() == [(100.0, "completed"), (70.0, "completed")]


class Elsewhere(sl.Policy):
    """A decider that stands for one in another process: it has a beginning and an end, and leaves something behind."""

    resumable = False

    def __init__(self, fails: bool = False) -> None:
        self.fails, self.told, self.ahead = fails, [], []

    def adapt(self, workload: Any, cluster: Any) -> Any:
        self.told.append("adapt")
        return replace(workload, requests=[sl.Request(chunk={"cores": 2})]), cluster

    def open(self, view: Any, next_event: Any) -> None:
        self.told.append(f"open {view.cluster.nodes}")
        self.next_event = next_event

    def decide(self, view: Any, events: Any) -> None:
        self.told.append("decide")
        self.ahead.append((view.now, self.next_event()))
        if self.fails and view.now == 10:
            raise sl.SchedlabError("the other process has died")
        for job in view.queue:
            view.start(job)

    def evidence(self) -> dict[str, bytes]:
        self.told.append("evidence")
        return {"elsewhere/log.txt": b"two jobs", "note.txt": b""}

    def close(self) -> None:
        self.told.append("close")


@pytest.mark.parametrize("out", [False, True])
def test_a_decider_elsewhere_begins_leaves_evidence_and_is_closed(tmp_path: Path, out: bool) -> None:
    jobs = sl.Workload.of(submit=[0, 10], runtime=[5, 5], count=[1, 1])
    decider = Elsewhere()
    run = sl.simulate(jobs, sl.Cluster.uniform(2, cores=4), decider, out=tmp_path / "run" if out else None)
    assert decider.told == ["adapt", "open 2", *["decide"] * 4, "evidence", "close"]
    assert decider.ahead == [(0.0, 10.0), (5.0, 10.0), (10.0, inf), (15.0, inf)]
    assert run.jobs["cores"].to_list() == [2, 2]  # as it wanted them accounted for
    copy = sl.read_run(run.save(tmp_path / "copy"), verify=True)
    for one in (run, copy):
        assert one.evidence("elsewhere/log.txt") == b"two jobs"
    assert sorted(copy.config["files"]) == ["elsewhere/log.txt", "jobs.parquet", "note.txt", "timeline.parquet"]


def test_where_a_decider_elsewhere_fails_its_own_words_evidence_and_the_run_so_far_are_kept(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0, 10], runtime=[5, 5], count=[1, 1])
    decider = Elsewhere(fails=True)
    with pytest.raises(sl.SchedlabError, match=r"^the other process has died$") as caught:
        sl.simulate(jobs, sl.Cluster.uniform(2, cores=4), decider, out=tmp_path / "run")
    assert decider.told[-2:] == ["evidence", "close"]
    run = sl.read_run(tmp_path / "run")
    assert run.incomplete == "the other process has died" and caught.value.run is not None
    assert run.evidence("elsewhere/log.txt") == b"two jobs"


def test_a_decider_elsewhere_may_not_have_checkpoints(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0], runtime=[5], count=[1])
    with pytest.raises(sl.InputError, match="Elsewhere cannot be taken up again"):
        sl.simulate(jobs, sl.Cluster.of_cores(4), Elsewhere(), checkpoint=Checkpoint(tmp_path / "c", every=1.0))


def test_a_run_with_evidence_is_replaced_whole_and_other_files_are_not_touched(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0], runtime=[5], count=[1])
    cluster = sl.Cluster.uniform(2, cores=4)
    sl.simulate(jobs, cluster, Elsewhere(), out=tmp_path / "run")
    sl.simulate(jobs, cluster, "easy", out=tmp_path / "run", force=True)
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == [
        "jobs.parquet",
        "run.json",
        "timeline.parquet",
    ]
    sl.simulate(jobs, cluster, Elsewhere(), out=tmp_path / "run", force=True)
    (tmp_path / "run" / "elsewhere" / "mine.txt").write_text("precious")
    with pytest.raises(sl.InputError, match=r"other files \(elsewhere/mine.txt\)"):
        sl.simulate(jobs, cluster, "easy", out=tmp_path / "run", force=True)


class Says:
    """An estimator that answers with anything."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def estimate(self, job: object) -> object:
        return self.answer


@pytest.mark.parametrize(
    ("answer", "shown"),
    [(-5, "-5"), (math.nan, "nan"), ("12", "'12'"), ("soon", "'soon'"), (None, "None"), (np.float64(-1), "-1.0")],
)
def test_estimators_that_say_nonsense(answer: object, shown: str) -> None:
    """Neither believed nor a traceback: an error that says who said what of which job, and when."""
    jobs = sl.Workload.of(id=[7, 8], submit=[3.0, 4.0], runtime=[5.0, 5.0])
    with pytest.raises(sl.DecisionError) as caught:
        sl.simulate(jobs, sl.Cluster.of_cores(2), "easy", estimate=Says(answer))
    text = str(caught.value)
    assert text.startswith("estimator Says says ") and shown in text
    assert text.endswith("for job 7 at 3 s; expected seconds, from 0 to 1e12")


@pytest.mark.parametrize("answer", [0, 5, np.float32(5), np.int64(5), True, 1e12])
def test_estimators_that_say_a_number(answer: object) -> None:
    jobs = sl.Workload.of(submit=[3.0, 4.0], runtime=[5.0, 5.0])
    run = sl.simulate(jobs, sl.Cluster.of_cores(1), "easy", estimate=Says(answer))
    assert run.jobs["estimate"].to_list() == [max(float(answer), 1.0)] * 2  # type: ignore[arg-type]


class Starts:
    """Starts what fits, and says of it what it is told to."""

    def __init__(self, **said: bool) -> None:
        self.said = said

    def decide(self, view: Any, events: object) -> None:
        for job in view.queue:
            view.start(job, **self.said)


@pytest.mark.parametrize(
    ("said", "column", "share"),
    [({}, None, None), ({"backfilled": False}, False, 0.0), ({"backfilled": True}, True, 1.0)],
)
def test_what_a_policy_does_not_say_is_unknown(
    said: dict[str, bool], column: bool | None, share: float | None, tmp_path: Path
) -> None:
    jobs = sl.Workload.of(submit=[0.0, 1.0, 2.0], runtime=[5.0, 5.0, 5.0], count=[1, 1, 9])  # the last is too large
    kept = sl.simulate(jobs, sl.Cluster.of_cores(1), Starts(**said))
    written = sl.simulate(jobs, sl.Cluster.of_cores(1), Starts(**said), out=tmp_path / "run")
    for run in (kept, written, sl.read_run(tmp_path / "run")):
        assert run.jobs["backfilled"].to_list() == [column, column, False]
        assert run.summary["backfilled_share"] == share
    assert summary_of(sl.read_run(tmp_path / "run"), tau=5.0)["backfilled_share"] == share
    shown = CliRunner().invoke(app, ["compare", str(tmp_path / "run")], env={"COLUMNS": "200"}).output
    assert "backfilled" in shown and ("–" in shown) == (share is None)


def test_a_policy_that_builds_on_a_native_one_says_what_that_says() -> None:
    class On(sl.Policy):
        def __init__(self) -> None:
            self.native = sl.Native("easy")

        def decide(self, view: Any, events: object) -> None:
            self.native.decide(view, events)

    # Job 2 needs both cores; job 3 fits beside job 1 and ends before it.
    jobs = sl.Workload.of(submit=[0.0, 1.0, 2.0], runtime=[50.0, 5.0, 5.0], count=[1, 2, 1])
    run = sl.simulate(jobs, sl.Cluster.of_cores(2), On())
    assert run.jobs["backfilled"].to_list() == [False, False, True]
    assert run.summary["backfilled_share"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("order", ["order={}:largest_first", "order=sjf,scan={}:largest_first"])
def test_a_native_policy_inside_another_asks_its_order_in_python(tmp_path: Path, order: str) -> None:
    """Nobody computes its keys ahead."""
    (tmp_path / "mine.py").write_text("def largest_first(jobs):\n    return -jobs.cores\n")
    text = "easy:" + order.format(tmp_path / "mine.py")

    class On(sl.Policy):
        def __init__(self) -> None:
            self.native = sl.Native(text)

        def decide(self, view: Any, events: object) -> None:
            self.native.decide(view, events)

    # Job 2 needs all cores; of jobs 3 and 4, which come together, only one fits beside job 1, and 4 is the larger.
    jobs = sl.Workload.of(submit=[0.0, 1.0, 2.0, 2.0], runtime=[9.0, 1.0, 3.0, 4.0], count=[3, 6, 1, 3])
    for policy in (On(), text):
        assert sl.simulate(jobs, sl.Cluster.of_cores(6), policy).jobs["start"].to_list() == [0.0, 9.0, 6.0, 2.0]


def test_a_refused_decision_names_the_job_as_its_log_does(tmp_path: Path) -> None:
    """An element of an array, where the dump has no other number of it."""
    rows = ["JobID|State|Submit|Start|End|Timelimit|ReqCPUS", "7_3|COMPLETED|1000|1000|1060|00:10:00|1"]
    (tmp_path / "jobs.sacct").write_text("\n".join(rows) + "\n")

    def on_no_node(view: Any, events: Any) -> None:
        view.start(view.queue[0], [(9, 1)])

    policy = type("Policy", (), {"decide": staticmethod(on_no_node)})()
    with pytest.raises(DecisionError, match="cannot start job 7_3 at 0 s: there is no such node"):
        sl.simulate(sl.read_workload(tmp_path / "jobs.sacct"), "2x1", policy)
