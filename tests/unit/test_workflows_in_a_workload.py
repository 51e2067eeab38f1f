"""Workflows in a workload: every so often, as a share of its work, at given times; and which jobs make room."""

from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.workflow_graphs import BRANCHES, DIAMOND

from schedlab.generate.triggers.templates import FIRST_ID
from schedlab.generate.workflows import Arrivals, with_workflows
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.workflow import Task, Workflow
from schedlab.model.workload import JobBatch, Phase, Workload
from schedlab.workflow.mix import Mix, located_mix, split_mix

TEN = Mix([Workflow.of("ten", [Task("only", 1, 10, 10)])], [1])  # 10 core-seconds
BOTH = Mix([DIAMOND, BRANCHES], [3, 1])  # 75 and 28 core-seconds


def log(works: list[float], every: float = 1.0, size: int = 100, phases: tuple[Phase, ...] = ()) -> Workload:
    """Jobs of one core, so many seconds apart, in batches of so many."""
    jobs = JobBatch.of(submit=every * np.arange(len(works)), runtime=np.array(works, float))

    def source() -> Iterator[JobBatch]:
        for begin in range(0, len(jobs), size):
            yield jobs.take(np.arange(begin, min(begin + size, len(jobs))))

    return Workload("log", source, phases=phases)


def came(workload: Workload) -> tuple[list[int], list[float]]:
    """The jobs that stayed, and when workflows came."""
    jobs = workload.jobs
    assert jobs["submit"].is_sorted()
    own = jobs.filter(pl.col("id") < FIRST_ID)["id"].to_list()
    assert workload.workflows is not None and workload.workflows.complete
    assert workload.report.kept == len(jobs)
    assert len(jobs) - len(own) == sum(len(workload.workflows.kinds[kind].jobs) for kind in workload.workflows.kind)
    return own, list(workload.workflows.submit)


def test_a_period_begins_a_period_after_the_first_job():
    workload = with_workflows(log([1] * 10), Arrivals(mix=TEN, period=3))
    assert came(workload) == (list(range(1, 11)), [3, 6, 9])  # at 0, 1, … 9
    jobs = workload.jobs
    assert jobs["submit"].to_list()[3:6] == [3, 3, 4] and jobs["id"][4] == FIRST_ID  # behind the job of that time
    assert workload.report.filled == {"workflows put in": 3}


def test_a_period_is_of_the_experiment_phase():
    phases = (Phase("stabilisation", 0, 4), Phase("experiment", 4, 8), Phase("drain", 8, 12))
    for size in (1, 3, 100):
        workload = with_workflows(log([1] * 10, size=size, phases=phases), Arrivals(mix=TEN, period=1.5))
        assert came(workload) == (list(range(1, 11)), [5.5, 7.0])
        assert workload.phases == phases


def test_jobs_make_room_where_the_pressure_is_held():
    for size in (1, 2, 7, 100):
        workload = with_workflows(log([4] * 12, size=size), Arrivals(mix=TEN, period=5), make_room=True)
        own, times = came(workload)
        assert times == [5, 10]
        # 10 core-seconds are more than two jobs: three are left out behind each, until as much has come as was given.
        # After the first three, 2 are missing; the second one puts 8 too many in: two jobs.
        assert own == [1, 2, 3, 4, 5, 6, 10, 11]
        assert workload.report.dropped == {"in whose place workflows came": 4}


def test_a_share_takes_the_place_of_jobs():
    # Jobs of 4, a workflow of 10 at the first. At 1 and 2 the jobs would have been 4 and 8, less than 10:
    # they stay out. At 3 they would have been 12, at 5 they would have been 20, half of which is 10: the next workflow.
    # Now 2 × 10 + 2 × 4 = 28 have come, as many as 7 jobs are.
    for size in (1, 3, 100):
        own, times = came(with_workflows(log([4] * 11, size=size), Arrivals(mix=TEN, share=0.5)))
        assert times == [0, 5, 10]
        assert own == [4, 5, 8, 9, 10]


def test_all_of_it_are_workflows_only():
    own, times = came(with_workflows(log([4] * 12), Arrivals(mix=TEN, share=1.0)))
    assert own == []
    assert times == [0, 3, 5, 8, 10]  # whenever what was given has caught up: 10 at 12, 20 at 20, 30 at 32, 40 at 40


def test_none_is_none():
    workload = log([1] * 3)
    assert with_workflows(workload, Arrivals(mix=TEN, share=0.0)) is workload
    assert with_workflows(workload, Arrivals(mix=TEN, period=0, share=0)) is workload


def walked(works: list[float], share: float, kinds: list[int], of_kind: list[float]) -> tuple[list[int], list[float]]:
    """The rule, job by job."""
    given, submitted, of_workflows = 0.0, 0.0, 0.0
    stayed, times = [], []
    for place, work in enumerate(works):
        while of_workflows <= share * given:
            amount = of_kind[kinds[len(times)]]
            of_workflows += amount
            submitted += amount
            times.append(float(place))
        if submitted <= given:
            stayed.append(place + 1)
            submitted += work
        given += work
    return stayed, times


@settings(max_examples=80)
@given(
    st.lists(st.integers(0, 400), min_size=1, max_size=60),
    st.sampled_from([0.125, 0.25, 0.5, 1.0]),
    st.integers(1, 20),
)
def test_a_share_is_the_rule_job_by_job(works, share, size):
    workload = with_workflows(log(works, size=size), Arrivals(mix=BOTH, share=share), seed=3)
    own, times = came(workload)
    kinds = list(workload.workflows.kind)
    assert (own, times) == walked(works, share, [*kinds, 0], [75.0, 28.0])


def test_what_is_submitted_follows_what_was_given():
    rng = np.random.default_rng(1)
    works = np.round(rng.lognormal(2, 1, 20_000))
    workload = with_workflows(log(works.tolist(), size=5000), Arrivals(mix=BOTH, share=0.25), seed=1)
    jobs, record = workload.jobs, workload.workflows
    of_workflows = sum(kind.workflow.work for kind in (record.kinds[one] for one in record.kind))
    total = float((jobs["runtime"] * jobs["count"]).sum())
    assert of_workflows / total == pytest.approx(0.25, abs=0.002)
    assert total / works.sum() == pytest.approx(1, abs=0.002)
    assert np.mean(record.kind) == pytest.approx(0.25, abs=0.05)  # 3 diamonds for each of the others
    small = jobs.filter(pl.col("id") < FIRST_ID)["runtime"].median()
    assert small == pytest.approx(np.median(works), rel=0.02)  # whether a job stays does not depend on its size


def test_however_they_are_handled_the_same_workflows_come_at_the_same_times():
    def record(handling: str, seed: int = 5) -> tuple[list[int], list[float]]:
        workload = with_workflows(log([9] * 400), Arrivals(mix=BOTH, share=0.5, handling=handling), seed=seed)
        came(with_workflows(log([9] * 400), Arrivals(mix=BOTH, share=0.5, handling=handling), seed=seed))
        list(workload.batches())
        return list(workload.workflows.kind), list(workload.workflows.submit)

    assert record("pilot") == record("chained") == record("aware") == record("clustered(levels)")
    assert record("pilot") != record("pilot", seed=6)


def test_workflows_at_given_times():
    workload = with_workflows(log([1] * 4), Arrivals(mix=BOTH, times=[(0.5, 1), (2.0, 0), (30.0, 1)]))
    assert came(workload)[1] == [0.5, 2.0, 30.0]  # also after the last job
    assert workload.workflows.kind == [1, 0, 1]


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match="how often do they come"):
        Arrivals(mix=TEN)
    with pytest.raises(InputError, match="period and share both say how many come"):
        Arrivals(mix=TEN, period=3, share=0.5)
    with pytest.raises(InputError, match="share = 5: expected 0 to 1"):
        Arrivals(mix=TEN, share=5)
    with pytest.raises(InputErrors, match="two workflows are called diamond"):
        Mix([DIAMOND, DIAMOND], [1, 1])
    there = with_workflows(log([1]), Arrivals(mix=TEN, share=1))
    with pytest.raises(InputError, match="there are workflows among its jobs already"):
        with_workflows(there, Arrivals(mix=TEN, share=1))


def test_a_mix_in_words():
    assert split_mix("a.json") == [(None, "a.json")]
    assert split_mix("0.4 a.json, .6  chain(tasks=3, cores=2)") == [(0.4, "a.json"), (0.6, "chain(tasks=3, cores=2)")]
    assert located_mix("2 a.json, 1 b", lambda name: f"there/{name}") == "2 there/a.json, 1 there/b"
    with pytest.raises(InputError, match="only some have weights"):
        split_mix("a.json, 0.5 b.json")
    with pytest.raises(InputError, match="there are no workflows"):
        split_mix(" ")
