"""The model of weeks: cuts, order of blocks, columns and references, files; by hand and on a real log."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.analysis.week import hour_of_week
from schedlab.generate.base import generate
from schedlab.generate.store import fit, read_model, write_model
from schedlab.generate.weeks.cut import backlogs, blocks
from schedlab.generate.weeks.model import DAY, LOST, WEEK, Weeks
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.request import Request
from schedlab.model.workload import JobBatch, Workload


def test_backlogs_by_hand() -> None:
    """On 2 processors: 20 core-seconds at 0 and 5, 4 at 100."""
    found = backlogs(np.array([0.0, 5, 100]), np.array([20.0, 20, 4]), 2, np.array([0.0, 1, 5, 6, 19, 30, 101]))
    assert found.tolist() == [0, 9, 5, 14, 1, 0, 1]


def test_blocks_by_hand() -> None:
    every = np.ones(10, bool)
    assert blocks(every, 4, 0) == [(0, 4), (4, 4), (8, 2)]
    assert blocks(every, 4, 7) == [(7, 4), (1, 4), (5, 2)]  # over the end, back to the beginning
    behind = every.copy()
    behind[[4, 5]] = False
    assert blocks(behind, 4, 0) == [(0, 6), (6, 4)]
    assert blocks(np.zeros(10, bool), 2, 0) == [(0, 8), (8, 2)]  # cut all the same after four times its length


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 5), st.integers(0, 59))
def test_every_step_is_in_one_block(may_cut: list[bool], length: int, first: int) -> None:
    found = blocks(np.array(may_cut), length, first % len(may_cut))
    steps = [(begin + place) % len(may_cut) for begin, many in found for place in range(many)]
    assert sorted(steps) == list(range(len(may_cut)))


def months(weeks: int = 40, *, origin: datetime | None = None) -> Workload:
    """Two jobs each day, at 8 and 20 h after the first midnight; the second waits for the first; size is the day."""
    days = np.arange(7 * weeks + 1)
    submit = np.sort(np.concatenate([days * DAY + 8 * 3600, days * DAY + 20 * 3600]))
    number = np.arange(len(submit))
    found = Workload.of(
        name="months",
        requests=[Request(), Request({"cores": 1, "memory": 1 << 30}, partition="big", features=frozenset({"ib"}))],
        labels={"user": ["ann", "bob", "cy"], "partition": ["small", "big"]},
        submit=submit,
        id=number + 1000,
        runtime=np.full(len(submit), 3600.0),
        limit=np.full(len(submit), 7200.0),
        count=1 + number // 2,
        request=number % 2,
        user=number % 3,
        partition=number % 2,
        executable=number % 5,
        status=np.ones(len(submit)),
        cancel=submit + 50,
        after=np.where(number % 2, number + 999, -1),
        think=np.where(number % 2, 60.0, 0.0),
    )
    found.origin = origin
    return found


def test_all_columns_of_a_job_are_kept() -> None:
    log = months()
    model = fit(log)
    made = generate(model, span=20 * WEEK, seed=3)
    assert made.requests == log.requests
    assert made.labels == log.labels
    jobs = made.jobs
    batch = JobBatch.joined(list(made.batches()))
    number = (jobs["count"].to_numpy() - 1) * 2 + batch.dependent  # of the job in the log
    for name in ("request", "user", "partition", "executable", "runtime", "limit", "status"):
        assert np.array_equal(jobs[name].to_numpy(), log.jobs[name].to_numpy()[number]), name
    assert jobs["id"].to_list() == list(range(1, len(jobs) + 1))
    assert np.array_equal(jobs["cancel"].to_numpy(), jobs["submit"].to_numpy() + 50)
    assert batch.predecessors is not None and (batch.predecessors.delay == 60).all()
    assert np.array_equal(batch.predecessors.job, batch.id[batch.dependent] - 1)
    assert np.isnan(jobs["wait"].to_numpy()).all()  # nothing was recorded of a schedule that is yet to come


def test_blocks_of_the_log_in_another_order() -> None:
    model = fit(months())
    assert (model.steps, model.block, model.step) == (40, 4, WEEK)
    made = generate(model, span=40 * WEEK, seed=1).jobs
    day = made["count"].to_numpy()[::2] - 1  # of the log
    jumps = np.flatnonzero(np.diff(day) != 1)
    assert np.array_equal(np.sort(day), np.arange(280))  # every day once
    assert not np.array_equal(day, np.arange(280))
    assert len(jumps) <= 11  # within a block, day follows day
    assert all((place + 1) % 7 == 0 for place in jumps)


def test_hours_and_weekdays_continue() -> None:
    """A log that begins on a Thursday at 8 h: generated jobs come at the same hours of the week, from a Monday on."""
    log = months(origin=datetime(2020, 1, 2, tzinfo=UTC))
    made = generate(fit(log), span=60 * WEEK, seed=2)
    hours = hour_of_week(made.jobs["submit"].to_numpy(), made.origin)
    assert hours[:2].tolist() == [8, 20]
    expected = np.tile(np.sort(np.concatenate([24 * np.arange(7) + 8, 24 * np.arange(7) + 20])), 60)
    assert np.array_equal(hours, expected)
    of_log = hour_of_week(log.jobs["submit"].to_numpy(), log.origin)[(made.jobs["count"].to_numpy() - 1) * 2]
    assert np.array_equal(of_log[::2], hours[::2])


def test_any_length_and_the_same_jobs_again() -> None:
    model = fit(months())
    long = generate(model, jobs=3000, seed=5).jobs  # five times the log
    assert len(long) == 3000
    assert long.equals(generate(model, jobs=3000, seed=5).jobs)
    assert long[:100].equals(generate(model, jobs=100, seed=5).jobs)
    assert (np.diff(long["submit"].to_numpy()) >= 0).all()
    assert generate(model, span=WEEK, seed=5).jobs["submit"].max() < WEEK
    counts = np.bincount(long["count"].to_numpy()[:2800:2])
    assert set(counts[1:281].tolist()) == {5}  # five rounds: each day as often as any other


def test_with_replacement() -> None:
    model = fit(months(), replacement=True)
    counts = np.bincount(generate(model, span=4000 * WEEK, seed=1).jobs["count"].to_numpy()[::2], minlength=282)[1:281]
    assert counts.min() > 50
    assert counts.max() < 160  # 100 on average
    assert len(set(counts.tolist())) > 10


def orders(model: Weeks, blocks_of: int, seeds: int) -> set[tuple[tuple[int, int], ...]]:
    return {tuple(islice(model.order(seed), blocks_of)) for seed in range(seeds)}


def test_no_two_seeds_give_the_same_weeks_in_the_same_order() -> None:
    for replacement in (False, True):
        assert len(orders(fit(months(), replacement=replacement), 10, 2000)) == 2000
    assert len(orders(fit(months(8)), 8, 100)) == 100  # eight weeks, one by one


@given(st.integers(0, 2**31), st.integers(0, 2**31))
def test_two_seeds_two_orders(one: int, other: int) -> None:
    model = MONTHS
    assert one == other or list(islice(model.order(one), 10)) != list(islice(model.order(other), 10))


MONTHS = fit(months())


def test_references_across_blocks_are_dropped_and_counted() -> None:
    """Each job waits for the one before it, seven days earlier."""
    days = np.arange(7 * 40 + 1)
    log = Workload.of(submit=days * DAY, runtime=np.ones(len(days)), id=days, after=days - 7, think=days * 0 + 5.0)
    model = fit(log)
    made = generate(model, span=40 * WEEK, seed=1)
    batch = JobBatch.joined(list(made.batches()))
    assert batch.predecessors is not None
    lost = int((~batch.dependent).sum())
    pieces = sum(1 if first + length <= 40 else 2 for first, length in islice(model.order(1), 10))
    assert lost == 7 * pieces
    assert (batch.predecessors.delay == 5).all()
    assert np.array_equal(batch.predecessors.job, batch.id[batch.dependent] - 7)
    # The first week of the log has no preceding jobs there either: they are not lost in generating.
    assert made.report.dropped == {LOST: lost - 7}


def test_a_cut_where_the_machine_is_behind() -> None:
    """One job a week, whose work the machine of 10 does in a day; in week 9 as much as in three weeks."""
    weeks = np.arange(41)
    count = np.where(weeks == 9, 10, 1)
    runtime = np.where(weeks == 9, 3 * WEEK, DAY)
    log = Workload.of(submit=weeks * WEEK, runtime=runtime, count=count)
    model = fit(log, processors=10)
    assert np.flatnonzero(~model.may_cut).tolist() == [10, 11]
    for seed in range(50):
        for first, length in islice(model.order(seed), 9):
            assert first not in (10, 11)
            assert (first + length) % 40 not in (10, 11)
    assert any("begin with more than 24 h of the machine's work undone" in fact for fact in model.facts())


def test_short_logs() -> None:
    assert (fit(months(30)).block, fit(months(20)).block) == (4, 1)
    two = fit(months(2))
    assert (two.step, two.steps, two.block) == (DAY, 14, 1)
    assert any("no weekly cycle is kept" in fact for fact in two.facts())
    assert len(generate(two, span=100 * DAY).jobs) == 200
    with pytest.raises(InputError, match="no two whole days"):
        fit(Workload.of(submit=[0, 100_000], runtime=[1, 1]))
    assert fit(months(), block=8 * WEEK).block == 8
    assert (fit(months(), block=3 * DAY).block, fit(months(), block=3 * DAY).step) == (3, DAY)
    for wrong in (0.0, 1.5 * DAY, 30 * WEEK):
        with pytest.raises(InputError, match="cannot be cut into blocks"):
            fit(months(), block=wrong)


def test_facts() -> None:
    said = fit(months()).facts()
    assert said[0] == "562 jobs in 280.5 days: 40 whole weeks, drawn in blocks of 4 weeks"
    assert said[1] == "the last 0.5 days (2 jobs) are no whole week and are left out"
    assert said[-1].startswith("the file holds the jobs of the log, with names of users")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    model = fit(months(origin=datetime(2020, 1, 2, tzinfo=UTC)), replacement=True)
    write_model(path, model)
    again = read_model(path)
    assert isinstance(again, Weeks)
    assert generate(again, span=50 * WEEK, seed=4).jobs.equals(generate(model, span=50 * WEEK, seed=4).jobs)
    assert again.to_dict() == model.to_dict()
    for change, words in (
        ({"jobs": "xx"}, "jobs cannot be read"),
        ({"jobs": 5}, "jobs cannot be read"),
        ({"steps": 0}, "steps = 0"),
        ({"step": 5}, "step = 5"),
        ({"replacement": 1}, "replacement = 1"),
        ({"requests": []}, "there are 0"),
        ({"blocks": 3}, "unknown key 'blocks'"),
    ):
        path.write_text(json.dumps({"schedlab": 1, "model": "weeks", **model.to_dict(), **change}))
        with pytest.raises((InputError, InputErrors), match=words):
            read_model(path)
    with pytest.raises(InputError, match="fitted to a log"):
        read_model("weeks")
