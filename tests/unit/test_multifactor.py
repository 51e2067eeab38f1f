"""Slurm's multifactor order, usage that decays, ranks and periods of passes: small cases worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import schedlab as sl
from schedlab.engine.observer import Observer
from schedlab.model.errors import InputError
from schedlab.model.workload import JobBatch, Ranks, Workload
from schedlab.policy.spec import parse_policy


def starts(run: sl.Run) -> dict[int, float]:
    return dict(run.jobs.select("job", "start").iter_rows())


def priorities(run: sl.Run) -> dict[int, float]:
    return dict(run.jobs.select("job", "priority").iter_rows())


def test_factors_by_hand() -> None:
    # Job 1 has the machine until 100; then the others start at once, with these keys, less age * now / max_age.
    jobs = Workload.of(submit=[0, 50, 90], runtime=[100, 10, 10], limit=[100, 600, 60], count=[8, 2, 4])
    run = sl.simulate(jobs, "pool:8", "none:order=multifactor(age=1000,max_age=100,small=80,large=8)")
    assert priorities(run)[2] == pytest.approx(1000 * 1.0 - (1000 * 0.5 + 80 * (1 - 2 / 8) + 8 * 2 / 8))
    assert priorities(run)[3] == pytest.approx(1000 * 1.0 - (1000 * 0.1 + 80 * (1 - 4 / 8) + 8 * 4 / 8))
    by_time = sl.simulate(jobs, "pool:8", "none:order=multifactor(small_by_time=80)")
    assert priorities(by_time)[2] == pytest.approx(-80 * (1 - 2 / 8 / 10))  # 600 s are ten minutes
    assert priorities(by_time)[3] == pytest.approx(-80 * (1 - 4 / 8 / 1))


def test_usage_halves() -> None:
    # User 0 has 4 cores from 0 to 100, user 1 has 4 from 100 to 200. At 200, half-lives of 100 s: 50 % of 400/2, 400.
    jobs = Workload.of(
        submit=[0, 100, 150, 151], runtime=[100, 100, 10, 10], count=[4, 4, 4, 4], user=[0, 1, 0, 1], group=[7, 7, 7, 7]
    )
    run = sl.simulate(jobs, "pool:4", "none:order=multifactor(user=1,group=10),half_life=100s")
    whole = 100 / np.log(2) * 4 * 0.5  # core-seconds of a stay of a half-life, at its end
    first, second = whole / 2, whole
    share = 2 * first / (first + second)
    assert priorities(run)[3] == pytest.approx(-(2**-share + 10 / 2))
    assert starts(run)[4] == 210  # whoever has used more comes later


def test_a_job_ranked_as_another_one() -> None:
    jobs = Workload.of(submit=[0, 1, 2], runtime=[10, 5, 5], limit=[10, 5, 9], count=[2, 2, 2])
    (batch,) = jobs.batches()
    ranks = Ranks(cores=np.array([0, 0, 1]), limit=np.array([0.0, 0.0, 3.0]))
    ranked = JobBatch.of(**batch.columns(), ranks=ranks)
    jobs.source = lambda: iter((ranked,))
    assert starts(sl.simulate(jobs, "pool:2", "sjf")) == {1: 0, 3: 10, 2: 15}  # as a job of 3 s it is the shortest
    assert starts(sl.simulate(jobs, "pool:2", "fcfs")) == {1: 0, 2: 10, 3: 15}
    assert priorities(sl.simulate(jobs, "pool:2", "none:order=cores*limit"))[3] == 3


def test_who_is_ranked_is_eligible_since_its_submission() -> None:
    # Job 3 waits for job 1 until 10; then it is before job 2, which came after job 3 was submitted.
    jobs = Workload.of(submit=[0, 2, 1], runtime=[10, 5, 5], count=[2, 2, 2], predecessors=[[], [], [1]], id=[1, 2, 3])
    (batch,) = jobs.batches()
    ranked = JobBatch.of(
        **batch.columns(),
        predecessors=batch.predecessors,
        ranks=Ranks(cores=np.where(batch.id == 3, 2, 0), limit=np.full(3, 5.0)),
    )
    assert starts(sl.simulate(jobs, "pool:2", "fcfs", dependencies="follow")) == {1: 0, 2: 10, 3: 15}
    jobs.source = lambda: iter((ranked,))
    assert starts(sl.simulate(jobs, "pool:2", "fcfs", dependencies="follow")) == {1: 0, 3: 10, 2: 15}


def test_passes_at_their_times() -> None:
    # The second job may pass the third... only when there is backfilling; in order jobs start at once.
    jobs = Workload.of(submit=[0, 1, 2], runtime=[100, 50, 20], count=[3, 4, 1])
    assert starts(sl.simulate(jobs, "pool:4", "easy")) == {1: 0, 3: 2, 2: 100}
    assert starts(sl.simulate(jobs, "pool:4", "easy:backfill_every=30s")) == {1: 0, 3: 30, 2: 100}
    assert starts(sl.simulate(jobs, "pool:4", "easy:every=7s,backfill_every=14s")) == {1: 0, 3: 14, 2: 105}
    assert starts(sl.simulate(jobs, "pool:4", "none:every=7s")) == {1: 0, 2: 105, 3: 161}


@pytest.mark.parametrize("period", [0.1, 0.7, 1 / 3, 1e-3])
def test_passes_at_multiples_of_what_is_no_binary_fraction(period: float) -> None:
    # Each job is over half a period after it has started: the next one starts with the next pass.
    jobs = Workload.of(submit=[0] * 500, runtime=[period / 2] * 500, count=[1] * 500)
    for discipline in ("none", "easy", "easy-strict"):
        run = sl.simulate(jobs, "pool:1", f"{discipline}:every={period!r}")
        assert run.jobs["start"].to_list() == [k * period for k in range(500)]
    jobs = Workload.of(submit=[0, 0, 0.05], runtime=[100, 50, 20], count=[3, 4, 1])
    assert starts(sl.simulate(jobs, "pool:4", "easy:every=0.1,backfill_every=0.3")) == {1: 0, 3: 3 * 0.1, 2: 100}
    assert starts(sl.simulate(jobs, "pool:4", "easy:backfill_every=0.3")) == {1: 0, 3: 0.3, 2: 100}


def test_keys_of_an_order_are_computed_now_and_then() -> None:
    # At 12 job 3 has waited longest in relation to its size; at 0 and 5 s, when they came, nobody had waited.
    jobs = Workload.of(submit=[0, 1, 2], runtime=[12, 5, 5], count=[2, 2, 1])
    order = "none:order=-wait/cores**3"
    assert starts(sl.simulate(jobs, "pool:2", order)) == {1: 0, 3: 12, 2: 17}
    assert starts(sl.simulate(jobs, "pool:2", f"{order},keys_every=1h")) == {1: 0, 2: 12, 3: 17}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("easy:every=0", "not a time above 0"),
        ("easy:every=soon", "every"),
        ("easy:every=20,backfill_every=30", "no multiple of every"),
        ("conservative:every=30", "conservative has no key 'every'"),
        ("none:order=multifactor(agee=3)", "is not the weight of a factor"),
        ("none:order=multifactor(age=-3)", "a weight is a number from 0"),
        ("none:order=multifactor()", "at least one factor needs a weight"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_policy(text)


def test_the_canonical_text() -> None:
    text = "easy:order=multifactor( small=6e8 , age=5e7 ),backfill_every=30s,half_life=7d,keys_every=5min"
    assert str(parse_policy(text)) == (
        "easy:order=multifactor(age=50000000,small=600000000),backfill_every=30,keys_every=300"
    )


def test_usage_counts_the_same_when_somebody_looks_on():
    """Ben, who came last, has used nothing: he is next, with an observer as without one."""

    class Looking(Observer):
        def started(self, view, job, nodes):
            pass

    log = Workload.of(submit=[0, 0, 0, 5], runtime=[20] * 4, count=[4] * 4, user=[0, 0, 0, 1])
    for observers in ((), (Looking(),)):
        run = sl.simulate(log, "pool:4", "none:order=multifactor(user=1)", observers=observers)
        assert run.jobs.sort("sequence")["start"].to_list() == [0, 40, 60, 20]
