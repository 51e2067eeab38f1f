"""Finding and removing flurries."""

from pathlib import Path

import numpy as np
import pytest

from schedlab.model.errors import InputError
from schedlab.model.random import random_stream
from schedlab.model.workload import Workload
from schedlab.workload.flurries import find_flurries, flurry_rows, remove_flurries
from schedlab.workload.read import read_workload

DAY, WEEK = 86_400, 604_800


def quiet_log(*extra: tuple[int, np.ndarray], labels: dict[str, list[str]] | None = None) -> Workload:
    """20 weeks of 10 users with 4 jobs a day each: 280 jobs a week, 252 of them by the others; and what is added."""
    draws = random_stream(7, "test")
    times = [np.sort(np.floor(draws.random(140 * 4) * 140 * DAY)) for _ in range(10)]
    times[0][0] = 0  # weeks begin here
    users = [np.full(len(one), number) for number, one in enumerate(times)]
    for user, more in extra:
        times.append(more)
        users.append(np.full(len(more), user))
    submit = np.concatenate(times)
    return Workload.of(submit=submit, runtime=np.full(len(submit), 60.0), user=np.concatenate(users), labels=labels)


def test_a_usual_log_has_no_flurries() -> None:
    log = quiet_log()
    assert find_flurries(log) == []
    assert remove_flurries(log) is log


def test_an_injected_flurry_is_found_and_removed_exactly() -> None:
    burst = 50 * DAY + np.arange(1500) * 90.0  # a day and a half
    log = quiet_log((42, burst))
    (flurry,) = find_flurries(log)
    assert (flurry.user, flurry.begin, flurry.end, flurry.jobs) == (42, burst[0], burst[-1], 1500)
    assert flurry.share > 0.9
    assert 250 < flurry.typical < 310
    cleaned = remove_flurries(log)
    (jobs,) = cleaned.batches()
    assert len(jobs) == 5600
    assert 42 not in jobs.user
    assert cleaned.report.dropped == {"in a flurry": 1500}
    assert "user 42 from 4320000 to 4454910 s (1500 jobs)" in cleaned.header["Note"]
    assert find_flurries(cleaned) == []


def test_what_the_user_did_before_and_after_stays() -> None:
    burst = 50 * DAY + np.arange(1000) * 60.0
    before = 50 * DAY - np.arange(2, 8) * DAY * 1.0  # a job a day in the week before
    after = burst[-1] + np.arange(2, 8) * DAY
    log = quiet_log((3, burst), (3, before), (3, after))
    kept_of_the_user = 560 + 12
    (flurry,) = find_flurries(log)
    (jobs,) = remove_flurries(log).batches()
    # Those of the user's usual jobs that are within a day of the burst cannot be told from it.
    assert flurry.begin > 49 * DAY
    assert flurry.end < burst[-1] + DAY
    assert kept_of_the_user - 15 <= (jobs.user == 3).sum() <= kept_of_the_user


def test_two_bursts_far_apart_are_two_flurries_and_a_long_one_is_one() -> None:
    twice = np.concatenate([20 * DAY + np.arange(900) * 60.0, 90 * DAY + np.arange(700) * 60.0])
    assert [one.jobs for one in find_flurries(quiet_log((50, twice)))] == [900, 700]
    steady = 30 * DAY + np.arange(42 * 150) * 576.0  # 150 a day for six weeks
    assert [one.jobs for one in find_flurries(quiet_log((50, steady)))] == [6300]


@pytest.mark.parametrize(
    ("jobs", "options"),
    [
        (290, {"factor": 0.5}),  # fewer than `least`
        (500, {}),  # less than twice what the others do in a week
        (700, {"share": 0.8}),  # 700 of about 980 in the week
    ],
)
def test_each_condition_is_needed(jobs: int, options: dict[str, float]) -> None:
    log = quiet_log((42, 50 * DAY + np.arange(jobs) * 60.0))
    assert find_flurries(log, **options) == []  # type: ignore[arg-type]
    assert len(find_flurries(log, least=100, factor=1.5, share=0.5)) == (jobs > 450)


def test_the_table_names_users_and_dates() -> None:
    labels = {"user": [f"user{number}" for number in range(10)] + ["alice"]}
    log = quiet_log((10, 50 * DAY + np.arange(1500) * 60.0), labels=labels)
    (row,) = flurry_rows(find_flurries(log))
    assert row[:4] == ("alice", "day 50.0", "1.0", "1,500")


def test_jobs_without_a_user_and_nonsense() -> None:
    assert find_flurries(Workload.of(submit=np.arange(1000.0), runtime=np.ones(1000))) == []
    with pytest.raises(InputError, match="no flurries can be found with least=0"):
        find_flurries(quiet_log(), least=0)


@pytest.mark.parametrize(
    "name",
    [
        *("CEA-Curie-2011-2.1-cln", "CTC-SP2-1996-3.1-cln", "KTH-SP2-1996-2.1-cln", "LANL-CM5-1994-4.1-cln"),
        *("LLNL-Atlas-2006-2.1-cln", "NASA-iPSC-1993-3.1-cln", "SDSC-DS-2004-2.1-cln"),
    ],
)
def test_logs_that_the_archive_has_cleaned(traces: Path, name: str) -> None:
    """None in these. SDSC-SP2 and HPC2N still have some, see docs/transforms.md."""
    assert find_flurries(read_workload(traces / f"{name}.swf.gz")) == []


def test_a_log_that_nobody_has_cleaned(traces: Path) -> None:
    log = read_workload(traces / "UniLu-Gaia-2014-2.swf.gz")
    flurries = find_flurries(log)
    assert sum(flurry.jobs for flurry in flurries) > 0.4 * log.report.kept
    assert all(flurry.share > 0.5 for flurry in flurries)
