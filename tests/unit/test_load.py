"""Job pressure: measured by hand, held from below and from above."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import schedlab as sl
from schedlab.generate.base import OwnModel, generate
from schedlab.generate.load import INSERTED, core_seconds, hold_pressure, job_pressure
from schedlab.generate.store import read_model
from schedlab.model.errors import InputError
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.workload import JobBatch, Phase, Workload
from schedlab.workload.transform import set_estimates, window


def hourly(hours: int, seconds: float, cores: int = 10) -> Workload:
    """One job an hour that keeps `cores` busy for so long."""
    submit = 3600.0 * np.arange(hours)
    return Workload.of(submit=submit, runtime=np.full(hours, seconds), count=np.full(hours, cores))


def column(workload: Workload, name: str) -> Any:
    return np.concatenate([getattr(batch, name) for batch in workload.batches()])


def test_work_counts_the_cores_of_the_chunk_and_stops_at_the_limit() -> None:
    jobs = {"submit": [0, 0], "runtime": [100, 100], "limit": [200, 60], "count": [3, 2], "request": [0, 1]}
    workload = Workload.of(requests=[SINGLE_CORE, Request({"cores": 4})], **jobs)
    assert core_seconds(next(workload.batches()), workload).tolist() == [300, 480]


def test_pressure_by_hand() -> None:
    # Ten cores. 10 cores × 1800 s at 0 and at 3600: after an hour 36,000 of 36,000; after two 36,000 of 72,000.
    found = job_pressure(hourly(2, 1800.0), 10, np.array([1800.0, 3600.0, 7200.0]))
    np.testing.assert_allclose(found, [1.0, 1.0, 0.5])


def test_pressure_counts_from_the_first_submission() -> None:
    jobs = Workload.of(submit=[1000.0], runtime=[50.0], count=[2])
    np.testing.assert_allclose(job_pressure(jobs, 10, np.array([1020.0])), [0.5])


def test_a_workload_that_is_right_stays_as_it_is() -> None:
    jobs = hourly(48, 3600.0)
    held = hold_pressure(jobs, 10, slack=3600.0)
    for name in ("id", "submit", "runtime", "count"):
        assert column(held, name).tolist() == column(jobs, name).tolist()
    assert (held.report.kept, held.report.filled, held.report.dropped) == (48, {}, {})


def test_too_little_work_gets_copies() -> None:
    # Half of what 10 cores can do: of 99 hours until the last submission, 99 jobs are due instead of 50.
    jobs = hourly(100, 1800.0)
    held = hold_pressure(jobs, 10, slack=600.0)
    ids, submit = column(held, "id"), column(held, "submit")
    inserted = ids > INSERTED
    assert set(range(1, 101)) <= set(ids.tolist())  # nothing of the log is lost
    assert len(set(ids.tolist())) == len(ids)
    assert inserted.sum() == pytest.approx(98, abs=2)
    words = "jobs put in to hold the job pressure: copies of recent ones"
    assert held.report.filled == {words: int(inserted.sum())}
    assert (np.diff(submit) >= 0).all()
    assert submit[inserted].min() >= 0 and submit[inserted].max() <= 99 * 3600
    assert (column(held, "runtime") == 1800).all()
    # Never more than the slack, the jobs of a slice and one job away from 1.
    at = np.arange(3600.0, 100 * 3600, 3600)
    surplus = (job_pressure(held, 10, at) - 1) * at
    assert surplus.min() >= -600 - 600 and surplus.max() <= 2 * 1800


class Many(OwnModel):
    """Jobs of one core, each with a run time of its own: half of the work of 10 cores."""

    def batches(self, seed: int, *, jobs: int | None = None, span: float | None = None) -> Iterator[JobBatch]:
        random = np.random.default_rng(seed)
        assert jobs is not None
        yield JobBatch.of(submit=200.0 * np.arange(jobs), runtime=1000 + random.random(jobs))


def test_too_little_work_gets_new_jobs_of_the_model() -> None:
    """No job is there twice; the pressure is held as with copies."""
    held = hold_pressure(generate(Many(), jobs=2000, seed=3), 10, slack=600.0)
    ids, runtime = column(held, "id"), column(held, "runtime")
    inserted = ids > INSERTED
    assert inserted.sum() == pytest.approx(2000, rel=0.02)
    assert len(np.unique(runtime)) == len(runtime) == len(np.unique(ids))
    assert held.report.filled == {"jobs put in to hold the job pressure: new ones of the model": int(inserted.sum())}
    at = np.arange(36_000.0, 390_000, 3600)
    assert np.abs((job_pressure(held, 10, at) - 1) * at).max() <= 1800
    assert column(held, "runtime").tolist() == runtime.tolist()  # each pass has the same
    other = hold_pressure(generate(Many(), jobs=2000, seed=4), 10, slack=600.0)
    assert not np.isin(column(other, "runtime"), runtime).any()


def test_new_jobs_go_through_what_was_done_to_the_others() -> None:
    jobs = set_estimates(generate(Many(), jobs=2000, seed=3), factor=2.0)
    held = hold_pressure(jobs, 10, slack=600.0)
    assert column(held, "limit").tolist() == (2 * column(held, "runtime")).tolist()
    assert "jobs put in to hold the job pressure: new ones of the model" in held.report.filled
    # A window is about times: jobs of the model would not be like those in it.
    held = hold_pressure(window(generate(Many(), jobs=2000, seed=3), 0, 100_000), 10, slack=600.0)
    assert column(held, "id").max() > INSERTED
    assert "jobs put in to hold the job pressure: copies of recent ones" in held.report.filled


def test_copies_wait_for_nobody() -> None:
    jobs = Workload.of(submit=[0.0, 7200.0], runtime=[60.0, 60.0], after=[-1, 1], think=[0.0, 5.0], wait=[3.0, 4.0])
    held = hold_pressure(jobs, 1)
    inserted = column(held, "id") > INSERTED
    assert inserted.any()
    before = held.jobs["predecessors"].to_list()
    assert not any(some for some, new in zip(before, inserted, strict=True) if new)
    assert np.isnan(column(held, "wait")[inserted]).all()
    assert [some for some, new in zip(before, inserted, strict=True) if not new] == [[], [1]]


def test_too_much_work_loses_jobs_whatever_their_size() -> None:
    random = np.random.default_rng(5)
    number = 40_000
    count = random.choice([1, 100], number, p=[0.9, 0.1])
    submit = np.sort(random.uniform(0, 30 * 86_400, number))
    capacity = int((count * 6000.0).sum() / (2 * 30 * 86_400))  # pressure 2
    held = hold_pressure(
        Workload.of(submit=submit, runtime=np.full(number, 6000.0), count=count), capacity, slack=3600.0
    )
    kept = column(held, "count")
    assert held.report.kept == len(kept) == pytest.approx(number / 2, rel=0.03)
    assert held.report.dropped == {"left out to hold the job pressure": number - len(kept)}
    assert held.report.filled == {}
    assert (kept == 100).mean() == pytest.approx(0.1, rel=0.06)
    assert job_pressure(held, capacity, np.array([29 * 86_400.0]))[0] == pytest.approx(1, abs=0.002)


@pytest.mark.parametrize(("offered", "found"), [(0.5, 1.0), (1.05, 1.05), (2.0, 1.1)])
def test_between_two_thresholds_nothing_changes(offered: float, found: float) -> None:
    held = hold_pressure(hourly(500, 3600.0 * offered), 10, low=1.0, high=1.1, slack=3600.0)
    assert job_pressure(held, 10, np.array([498 * 3600.0]))[0] == pytest.approx(found, abs=0.01)


def test_batches_make_no_difference_and_a_seed_gives_the_same_jobs() -> None:
    random = np.random.default_rng(6)
    submit = np.sort(random.uniform(0, 20 * 86_400, 5000)).round()
    jobs = Workload.of(submit=submit, runtime=random.exponential(3000, 5000).round(), count=random.integers(1, 9, 5000))
    whole = next(jobs.batches())

    def pieces() -> Iterator[JobBatch]:
        for begin in range(0, 5000, 1300):
            yield whole.take(np.arange(begin, min(begin + 1300, 5000)))

    first = hold_pressure(jobs, 60, seed=3)
    again = hold_pressure(Workload("pieces", pieces), 60, seed=3)
    other = hold_pressure(jobs, 60, seed=4)
    assert column(first, "id").tolist() == column(again, "id").tolist() == column(first, "id").tolist()
    assert column(first, "submit").tolist() == column(again, "submit").tolist()
    assert column(first, "submit").tolist() != column(other, "submit").tolist()
    assert again.report.filled == first.report.filled != {}


def test_a_gap_is_filled_and_larger_jobs_than_the_machine_are_left_out() -> None:
    jobs = Workload.of(submit=[0.0, 10.0, 864_000.0], runtime=[600.0, 600.0, 600.0], count=[2, 5, 1])
    held = hold_pressure(jobs, 4)
    submit = column(held, "submit")
    days = np.histogram(submit, bins=np.arange(11) * 86_400)[0]
    # 4 cores × 86,400 s; copies have 1200 or 600 core-seconds.
    assert (days > 288).all() and (days < 576).all()
    assert held.report.dropped["larger than the 4 cores of the machine"] == 1
    assert len(sl.simulate(held, sl.Cluster.of_cores(4), "fcfs").jobs) == len(submit)


def test_what_was_done_is_in_the_header() -> None:
    jobs = hourly(5, 60.0)
    jobs.header["Note"] = "by hand"
    assert hold_pressure(jobs, 10, low=1.0, high=1.1, seed=7).header["Note"].splitlines() == [
        "by hand",
        "job pressure held at 1 to 1.1 of 10 cores since the first submission, seed 7",
    ]


def test_all_mistakes_at_once() -> None:
    jobs = hourly(2, 60.0)
    jobs.phases = (Phase("fill", 0, 10),)
    with pytest.raises(InputError) as error:
        hold_pressure(jobs, 0, low=1.2, high=1.1, slack=-1)
    text = str(error.value)
    for part in ("hold the pressure first, then fill", "0 cores", "low is 1.2 and high is 1.1", "slack is -1"):
        assert part in text


def test_no_jobs_stay_no_jobs() -> None:
    assert list(hold_pressure(Workload("empty", lambda: iter(())), 10).batches()) == []


@pytest.mark.parametrize("pressure", [0.05, 0.6, 2.0])
def test_no_batch_is_empty_where_all_jobs_of_a_slice_are_left_out(pressure: float) -> None:
    model = read_model("lublin(processors=256)")
    for seed in range(10):
        held = hold_pressure(generate(model, jobs=300, seed=seed), 256, low=pressure, high=pressure, seed=seed)
        sizes = [len(batch) for batch in held.batches()]
        assert all(sizes) and sum(sizes) == held.report.kept
