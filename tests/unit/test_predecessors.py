"""Jobs that wait for others, by hand: conditions, delays, any and all, and what is remembered."""

import numpy as np
import pytest

import schedlab as sl
from schedlab.engine import simulate as engine
from schedlab.engine.references import References
from schedlab.model.predecessors import COMPLETED, ENDED, NOT_COMPLETED, STARTED, Predecessor, Predecessors
from schedlab.model.states import NEVER_SATISFIED

POOL = sl.Cluster.of_cores(4)


def follow(predecessors, any=None, cluster=POOL, policy="easy", **columns):
    """The first job runs 10 s from 0 on; whoever waits was submitted at 1 and runs 5 s."""
    jobs = len(predecessors) + 1
    columns = {
        "submit": [0.0] + [1.0] * (jobs - 1),
        "runtime": [10.0] + [5.0] * (jobs - 1),
        "limit": [20.0] * jobs,
        **columns,
    }
    suffices = None if any is None else [False, *any]
    workload = sl.Workload.of(predecessors=[[], *predecessors], any=suffices, **columns)
    run = sl.simulate(workload, cluster, policy, dependencies="follow", validate=True)
    assert sl.check(run) == []
    return run


def starts(run):
    return run.jobs["start"].to_list()[1:]


def test_conditions_and_delays():
    waits = [[Predecessor(1, ENDED, 2.0)], [Predecessor(1, COMPLETED)], [Predecessor(1, STARTED, 3.0)], [1, 2]]
    assert starts(follow(waits)) == [12, 10, 3, 17]


def test_a_condition_that_can_never_hold():
    """What waits for the job that leaves leaves too, or goes on, at the same moment."""
    waits = [[Predecessor(1, NOT_COMPLETED)], [Predecessor(2, COMPLETED)], [Predecessor(3, NOT_COMPLETED)], [2]]
    run = follow(waits)
    assert run.jobs["state"].to_list() == ["completed", "cancelled", "cancelled", "completed", "completed"]
    assert run.jobs["reason"].to_list() == [None, NEVER_SATISFIED, NEVER_SATISFIED, None, None]
    assert run.jobs["end"].to_list() == [10, 10, 10, 15, 15]
    assert run.jobs["eligible"].to_list() == [0, None, None, 10, 10]
    assert run.summary["reasons"] == {NEVER_SATISFIED: 2}


def test_one_suffices():
    waits = [
        [Predecessor(1, ENDED, 50.0), Predecessor(1, STARTED, 20.0)],
        [Predecessor(1, NOT_COMPLETED), Predecessor(1, ENDED)],
        [Predecessor(1, NOT_COMPLETED), Predecessor(99, STARTED)],
        [Predecessor(99)],
    ]
    run = follow(waits, any=[True] * 4)
    assert starts(run) == [20, 10, None, 1]
    assert run.jobs["reason"][3] == NEVER_SATISFIED


def test_killed_at_its_limit_is_not_completed():
    waits = [[Predecessor(1, NOT_COMPLETED)], [Predecessor(1, COMPLETED)]]
    assert starts(follow(waits, limit=[8.0, 20.0, 20.0])) == [8, None]


def test_rejected_and_cancelled_predecessors():
    waits = [[Predecessor(1, STARTED, 1.0)], [Predecessor(1, NOT_COMPLETED)], [Predecessor(1, COMPLETED)]]
    assert starts(follow(waits, count=[9, 1, 1, 1])) == [1, 1, None]


def test_later_jobs_and_oneself_have_no_say():
    run = follow([[2], [4], []])
    assert starts(run) == [1, 1, 1]
    assert run.predecessors["known"].to_list() == [False, False]
    assert run.predecessors["condition"].to_list() == ["ended", "ended"]
    assert run.workload["unknown_predecessors"] == 2


class RequeueOnce(sl.Policy):
    def __init__(self):
        self.done = False

    def decide(self, view, events):
        for job in view.running:
            if view.now >= 4 and not self.done:
                self.done = True
                view.requeue(job)
                view.wake_at(20)
                return
        if not self.done:
            view.wake_at(4)
        if view.now < 4 or view.now >= 20:
            for job in view.queue:
                view.start(job)


def test_a_start_counts_once():
    """The job that is requeued at 4 has started at 0."""
    run = follow([[Predecessor(1, STARTED, 9.0)], [1]], policy=RequeueOnce())
    assert run.jobs["eligible"].to_list() == [0, 9, 30]


def test_ignored():
    workload = sl.Workload.of(submit=[0, 1], runtime=[10, 5], predecessors=[[], [1]])
    run = sl.simulate(workload, POOL, "easy")
    assert starts(run) == [1]
    assert run.predecessors.is_empty()


def test_nonsense_is_refused():
    with pytest.raises(sl.InputError, match=r"job 2: a delay of its predecessors is -1\.0, expected a duration"):
        sl.Workload.of(submit=[0, 1], runtime=[1, 1], predecessors=[[], [Predecessor(1, ENDED, -1.0)]])
    with pytest.raises(sl.InputError, match="has the condition 'failed', expected ended, completed"):
        sl.Workload.of(submit=[0, 1], runtime=[1, 1], predecessors=[[], [sl.Predecessor(1, "failed")]])
    with pytest.raises(sl.InputError, match="predecessors are given for 1 jobs, there are 2"):
        sl.Workload.of(submit=[0, 1], runtime=[1, 1], predecessors=[[1]])


def test_a_long_chain_that_breaks():
    """All leave in one instant, one after the other, however many they are."""
    jobs = 100_000
    before = Predecessors.single(np.arange(jobs))
    assert before is not None
    chain = Predecessors(**{**_columns(before), "condition": np.full(len(before.job), COMPLETED, np.uint8)})
    workload = sl.Workload.of(
        id=np.arange(1, jobs + 1),
        submit=np.zeros(jobs),
        runtime=np.full(jobs, 5.0),
        limit=np.ones(jobs),
        predecessors=chain,
    )
    run = sl.simulate(workload, POOL, "easy", dependencies="follow")
    assert run.summary["states"] == {"completed": 0, "killed": 1, "cancelled": jobs - 1} | {
        state: 0 for state in run.summary["states"] if state not in ("completed", "killed", "cancelled")
    }
    assert set(run.jobs["end"].to_list()) == {1.0}


def _columns(before):
    return {name: getattr(before, name) for name in ("end", "job", "condition", "delay", "any")}


@pytest.mark.parametrize("piece", [7, 1000])
def test_memory_follows_what_can_still_be_referred_to(piece):
    """Of 20,000 jobs, each of which waits for the one before it, few are remembered at any time."""
    jobs = 20_000
    workload = sl.Workload.of(
        id=np.arange(1, jobs + 1), submit=np.arange(jobs) * 1.0, runtime=np.ones(jobs), after=np.arange(jobs)
    )
    (whole,) = workload.batches()
    workload.source = lambda: (whole.take(np.arange(at, min(at + piece, jobs))) for at in range(0, jobs, piece))
    seen = []
    simulation = engine.Simulation(
        sl.Scenario(workload, POOL, "easy", dependencies="follow"),
        progress=lambda now, ended: seen.append(simulation.core.remembered),
    )
    simulation.core.set_ticks(50, 0.0)
    run = simulation.run()
    assert run.summary["states"]["completed"] == jobs
    assert len(seen) > 100 and max(seen) <= 3


def test_references():
    workload = sl.Workload.of(submit=[0, 1, 2, 3, 4], runtime=[1] * 5, predecessors=[[9], [1], [1, 2], [5], [3]])
    found = References.of(workload)
    assert found is not None
    assert found.last(np.array([1, 2])).tolist() == [2, 2]
    assert found.last(np.array([3, 4, 5])).tolist() == [4, -1, 3]  # 4 refers to a job that comes later
    assert References.of(sl.Workload.of(submit=[0], runtime=[1])) is None
