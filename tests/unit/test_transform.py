"""Workloads made of other workloads, and the command that does it."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.batches import after
from tests.swf_files import log, row

from schedlab.cli.transform import transform as command
from schedlab.model.errors import InputError
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.workload import JobBatch, Phase, Shape, Workload
from schedlab.workload.formats import write_workload
from schedlab.workload.read import read_workload
from schedlab.workload.transform import (
    duplicate,
    merge,
    nodes_to_cores,
    rescale,
    round_limits,
    sample_users,
    select,
    set_estimates,
    shuffle,
    split_by,
    split_time,
    stretch,
    thin,
    window,
)
from schedlab.workload.transform.derive import LOST_DEPENDENCY
from schedlab.workload.transform.steps import parse_estimates, parse_range, parse_window

ORIGIN = datetime(2020, 1, 1, tzinfo=UTC)


def columns(workload: Workload) -> dict[str, list[Any]]:
    return {name: column.to_list() for name, column in workload.jobs.to_dict().items()}


def in_pieces(workload: Workload, size: int) -> Workload:
    """The same in batches of so many jobs."""
    (whole,) = workload.batches()

    def source() -> Iterator[JobBatch]:
        for start in range(0, len(whole), size):
            yield whole.take(np.arange(start, min(start + size, len(whole))))

    workload.source = source
    return workload


def small(**more: Any) -> Workload:
    """Five jobs, ten seconds apart; the fourth waits for the second."""
    made = Workload.of(
        **{
            "submit": [100, 110, 120, 130, 140],
            "runtime": [10, 20, 30, 40, 50],
            "limit": [60, 60, 90, 100, 600],
            "count": [1, 2, 3, 4, 8],
            "user": [0, 1, 0, 1, 2],
            "after": [-1, -1, -1, 2, -1],
            "think": [0, 0, 0, 5, 0],
            **more,
        }
    )
    made.origin = ORIGIN
    made.header = {"MaxProcs": "8", "MaxJobs": "5", "Note": "as it was", "UnixStartTime": "1577836800"}
    made.labels = {"user": ["ann", "bob", "cy"]}
    return made


def random_log(jobs: int = 3000) -> Workload:
    draws = np.random.default_rng(5)
    submit = np.sort(np.floor(draws.random(jobs) * 30 * 86_400))
    return Workload.of(
        submit=submit,
        runtime=np.floor(draws.random(jobs) * 5000) + 1,
        count=draws.integers(1, 65, jobs),
        user=draws.integers(0, 40, jobs),
    )


TRANSFORMS = {
    "window": lambda w: window(w, 5 * 86_400, 20 * 86_400),
    "stretch": lambda w: stretch(w, 0.37),
    "thin": lambda w: thin(w, 0.4, 3),
    "duplicate": lambda w: duplicate(w, 0.5, 3, jitter=86_400),
    "rescale": lambda w: rescale(w, 100, 64),
    "nodes_to_cores": lambda w: nodes_to_cores(w, 8),
    "select": lambda w: select(w, sizes=(4, 32), runtimes=(60, np.inf)),
    "sample_users": lambda w: sample_users(w, 0.5, 3),
    "shuffle": lambda w: shuffle(w, 3),
    "round_limits": lambda w: round_limits(w, 900),
    "set_estimates": lambda w: set_estimates(w, factor=5, spread=True, seed=3),
    "merge": lambda w: merge([w, w]),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_batches_do_not_matter_and_the_result_is_in_order(name: str) -> None:
    whole, pieces = TRANSFORMS[name](random_log()), TRANSFORMS[name](in_pieces(random_log(), 177))
    assert whole.jobs.equals(pieces.jobs)
    jobs = columns(pieces)
    keys = list(zip(jobs["submit"], jobs["id"], strict=True))
    assert keys == sorted(keys)
    assert len(set(jobs["id"])) == len(jobs["id"])
    # A second pass gives the same, and counts nothing twice.
    assert sum(len(batch) for batch in pieces.batches()) == pieces.report.kept == len(keys)


@pytest.mark.parametrize("name", [name for name in TRANSFORMS if name != "merge"])
def test_the_header_says_what_was_done(name: str) -> None:
    original = random_log()
    original.header = {"MaxJobs": "3000", "Computer": "Cray", "Note": "as it was"}
    found = TRANSFORMS[name](original)
    assert found.header["Computer"] == "Cray"
    assert "MaxJobs" not in found.header
    assert found.header["Note"].startswith("as it was\n")
    assert original.header["Note"] == "as it was"


def test_window_begins_time_anew() -> None:
    cut = window(small(cancel=[np.inf, np.inf, 500, np.inf, np.inf]), 15, 35)
    jobs = columns(cut)
    assert jobs["id"] == [3, 4]
    assert jobs["submit"] == [5, 15]  # 120 and 130, from 115
    assert jobs["cancel"][0] == 385
    assert jobs["predecessors"] == [[], []]  # job 2 is not there
    assert cut.origin == datetime(2020, 1, 1, 0, 1, 55, tzinfo=UTC)
    assert cut.header["UnixStartTime"] == "1577836915"
    assert cut.report.dropped == {"outside the window": 3}
    assert cut.report.filled == {LOST_DEPENDENCY: 1}
    assert cut.labels == {"user": ["ann", "bob", "cy"]}


def test_window_by_date() -> None:
    log = small(submit=[0, 86_400, 90_000, 172_800, 200_000])
    assert columns(window(log, date(2020, 1, 2), date(2020, 1, 3)))["id"] == [2, 3]
    assert columns(window(log, datetime(2020, 1, 2, 1)))["submit"] == [0, 82_800, 110_000]
    log.origin = None
    with pytest.raises(InputError, match="does not say when it began"):
        window(log, date(2020, 1, 2))
    with pytest.raises(InputError, match="the window is empty"):
        window(log, 50, 50)


def test_window_and_stretch_move_phases() -> None:
    log = small()
    log.phases = (Phase("fill", 100, 120), Phase("steady", 120, 150))
    assert window(log, 10, 30).phases == (Phase("fill", 0, 10), Phase("steady", 10, 20))
    assert stretch(log, 2).phases == (Phase("fill", 100, 140), Phase("steady", 140, 200))


def test_stretch_keeps_the_beginning_and_whole_seconds() -> None:
    jobs = columns(stretch(small(cancel=[np.inf, 150, np.inf, np.inf, np.inf]), 0.55))
    assert jobs["submit"] == [100, 106, 111, 116, 122]  # 5.5 and 16.5 are rounded to even
    assert jobs["cancel"][1] == 146  # still 40 s later
    assert jobs["runtime"] == [10, 20, 30, 40, 50]
    assert columns(stretch(small(submit=[100, 110.5, 120, 130, 140]), 0.5))["submit"][1] == 105.25
    # Jobs that fall on the same second are in the order of their numbers.
    assert columns(stretch(small(id=[5, 4, 3, 2, 1]), 0.001))["id"] == [1, 2, 3, 4, 5]


def test_thin_and_duplicate_change_the_number_of_jobs() -> None:
    log = random_log()
    assert 1100 < len(thin(log, 0.4)) < 1300
    assert len(thin(log, 0)) == 0
    assert thin(log, 1).jobs.equals(log.jobs)
    assert not thin(log, 0.5, seed=1).jobs.equals(thin(log, 0.5, seed=2).jobs)
    twice = duplicate(log, 1.0, jitter=0)
    jobs = columns(twice)
    assert len(jobs["id"]) == 6000
    assert sum(jobs["runtime"]) == 2 * sum(columns(log)["runtime"])
    assert sorted(jobs["id"])[3000] == 10_000  # copies are numbered beyond all others
    assert twice.report.filled == {"job that is there twice": 3000}


def test_copies_come_within_the_jitter() -> None:
    log = Workload.of(submit=np.arange(100) * 10_000.0, runtime=np.ones(100))
    jobs = duplicate(log, 1.0, jitter=600).jobs
    gaps = jobs.filter(jobs["id"] >= 1000)["submit"].to_numpy() - np.arange(100) * 10_000.0
    assert gaps.min() >= 0
    assert gaps.max() < 600
    assert len(np.unique(gaps)) > 50


def test_rescale_rounds_up_within_the_machine() -> None:
    assert columns(rescale(small(), 4))["count"] == [1, 1, 2, 2, 4]
    found = rescale(small(), 20)
    assert columns(found)["count"] == [3, 5, 8, 10, 20]
    assert found.header["MaxProcs"] == "20"
    too_large = rescale(small(), 6, old=4)
    assert columns(too_large)["count"] == [2, 3, 5, 6, 6]
    assert too_large.report.filled == {"size: cut to the machine": 1}
    with pytest.raises(InputError, match="how large its machine is"):
        rescale(random_log(), 100)
    flexible = Workload.of(submit=[0], runtime=[1], shapes=[[Shape(2, 1.0)]])
    with pytest.raises(InputError, match="several shapes"):
        rescale(flexible, 2, 1)


def test_nodes_become_cores_of_one_node() -> None:
    log = small()
    log.requests = [Request({"cores": 1, "memory": 7}, exclusive=True)]
    found = nodes_to_cores(log, 16)
    assert found.requests == [Request({"cores": 16, "memory": 7}, exclusive=True)]
    assert columns(found)["count"] == [1, 2, 3, 4, 8]
    assert found.header["MaxProcs"] == "128"
    log.requests.append(Request({"cores": 2}))  # as a reader finds it
    list(found.batches())
    assert found.requests[1] == Request({"cores": 32})


def test_select_by_name_number_size_and_run_time() -> None:
    assert columns(select(small(), users=["ann", "cy"]))["id"] == [1, 3, 5]
    assert columns(select(small(), users=[1], sizes=(3, 8)))["id"] == [4]
    assert columns(select(small(), runtimes=(20, 40)))["id"] == [2, 3, 4]
    found = select(small(), sizes=(3, np.inf))
    assert columns(found)["predecessors"] == [[], [], []]
    assert found.report.filled == {LOST_DEPENDENCY: 1}
    assert found.header["Note"].endswith("only the jobs with size from 3")
    log = small()
    assert select(log) is log
    with pytest.raises(InputError, match="did you mean 'ann'"):
        select(small(), users=["anm"])
    with pytest.raises(InputError, match="numbers for each queue, not names"):
        select(small(), queues=["long"])


def test_dependencies_on_jobs_that_stay_stay() -> None:
    assert columns(select(small(), users=["bob"]))["predecessors"] == [[], [2]]
    far = 1 << 40
    log = Workload.of(id=[far, far + 1, far + 2], submit=[0, 1, 2], runtime=[1, 1, 1], after=[-1, far, far + 1])
    assert columns(window(log, 1))["predecessors"] == [[], [far + 1]]


def test_sampled_users_keep_all_their_jobs() -> None:
    log = random_log()
    found = sample_users(log, 0.5, 1)
    kept, before = columns(found)["user"], columns(log)["user"]
    assert 10 < len(set(kept)) < 30
    assert all(before.count(user) == kept.count(user) for user in set(kept))


def test_shuffle_permutes_jobs_over_the_times() -> None:
    log = random_log()
    (mixed,), (before,) = shuffle(log, 1).batches(), log.batches()
    np.testing.assert_array_equal(mixed.submit, before.submit)
    assert sorted(mixed.id) == before.id.tolist()
    assert mixed.id.tolist() != before.id.tolist()
    alone = np.flatnonzero(~np.isin(mixed.submit, mixed.submit[1:][np.diff(mixed.submit) == 0]))
    np.testing.assert_array_equal(mixed.runtime[alone], before.runtime[np.searchsorted(before.id, mixed.id[alone])])
    kinds = [sorted(zip(batch.runtime, batch.count, batch.user, strict=True)) for batch in (mixed, before)]
    assert kinds[0] == kinds[1]


def test_shuffle_of_jobs_that_come_at_once() -> None:
    """Their order is that of their numbers: these are exchanged, and dependencies follow."""
    number = np.arange(1, 21)
    log = Workload.of(submit=np.zeros(20), runtime=number.astype(float), after=np.where(number > 2, 1, -1))
    mixed = shuffle(log, 1)
    (batch,) = mixed.batches()
    assert batch.id.tolist() == number.tolist()
    assert batch.runtime.tolist() != number.tolist() and sorted(batch.runtime) == number.tolist()
    exchanged = "job number: exchanged with a job submitted at the same time"
    assert mixed.report.filled[exchanged] == int((batch.runtime != batch.id).sum())
    (first,) = batch.id[batch.runtime == 1]  # the number that job 1 has now
    bound = batch.dependent
    assert bound.any() and set(after(batch)) == {-1, first} and (batch.id[bound] > first).all()


def test_shuffle_drops_dependencies_that_point_forward() -> None:
    jobs = 200
    chain = Workload.of(submit=np.arange(jobs) * 1.0, runtime=np.ones(jobs), after=[-1, *range(1, jobs)])
    found = shuffle(chain, 1)
    (mixed,) = found.batches()
    place = {number: position for position, number in enumerate(mixed.id.tolist())}
    left = [(place[before], place[own]) for own, before in zip(mixed.id, after(mixed), strict=True) if before >= 0]
    assert all(before < own for before, own in left)
    assert len(left) + found.report.filled[LOST_DEPENDENCY] == jobs - 1
    assert 50 < len(left) < 150


def test_limits() -> None:
    rounded = round_limits(small(), 60)
    assert columns(rounded)["limit"] == [60, 60, 120, 120, 600]
    assert rounded.report.filled == {"limit: rounded up": 2}
    log = small(runtime=[10, 20, 0, 100, 2.5])
    log.report.filled = {"limit: run time": 3, "other": 1}
    exact = set_estimates(log)
    assert columns(exact)["limit"] == [10, 20, 90, 100, 2.5]
    assert exact.report.filled == {"other": 1, "limit: made from the run time": 4}
    assert columns(set_estimates(log, factor=1.1))["limit"] == [11, 22, 90, 110, 2.75]
    with pytest.raises(InputError, match=r"cannot be 0\.5"):
        set_estimates(log, factor=0.5)


def test_the_f_model_is_uniform() -> None:
    jobs = 4000
    log = Workload.of(submit=np.arange(jobs) * 1.0, runtime=np.full(jobs, 1000.0))
    factors = set_estimates(log, factor=5, spread=True).jobs["limit"].to_numpy() / 1000
    assert factors.min() >= 1
    assert factors.max() <= 5
    assert abs(factors.mean() - 3) < 0.1
    assert abs(np.mean(factors < 2) - 0.25) < 0.03


def test_limits_of_other_shapes() -> None:
    log = Workload.of(submit=[0], runtime=[100], limit=[130], shapes=[[Shape(2, 60, 70), Shape(4, 40, 45)]])
    (doubled,), (rounded,) = set_estimates(log, factor=2).batches(), round_limits(log, 60).batches()
    assert doubled.shapes is not None
    assert doubled.shapes.limit.tolist() == [120, 80]
    assert rounded.shapes is not None
    assert rounded.shapes.limit.tolist() == [120, 60]
    (twice,) = duplicate(log, 1.0, jitter=0).batches()
    assert twice.shapes is not None
    assert twice.shapes.end.tolist() == [2, 4]
    assert twice.shapes.count.tolist() == [2, 4, 2, 4]


def test_split_by_time() -> None:
    parts = split_time(small(), 4)  # 40 s: 10 s each; the last job belongs to the last part
    assert [columns(part)["id"] for part in parts] == [[1], [2], [3], [4, 5]]
    assert [columns(part)["submit"] for part in parts] == [[0], [0], [0], [0, 10]]
    assert parts[2].origin == datetime(2020, 1, 1, 0, 2, tzinfo=UTC)
    with pytest.raises(InputError, match="nothing to split"):
        split_time(small(submit=[3] * 5), 2)


def test_split_by_user() -> None:
    parts = split_by(small(), "user")
    assert {name: columns(part)["id"] for name, part in parts.items()} == {"ann": [1, 3], "bob": [2, 4], "cy": [5]}
    assert columns(parts["bob"])["submit"] == [110, 130]
    with pytest.raises(InputError, match="did you mean 'queue'"):
        split_by(small(), "queues")


def test_merge_at_the_start() -> None:
    other = Workload.of(
        name="other",
        id=[1, 2, 9],
        submit=[5, 5, 200],
        runtime=[1, 1, 1],
        user=[0, 1, 1],
        after=[-1, 1, -1],
        request=[0, 1, 0],
        requests=[Request(), Request({"gpus": 1})],
        labels={"user": ["bob", "dora"]},
    )
    found = merge([small(), other])
    jobs = columns(found)
    assert jobs["submit"] == [0, 0, 0, 10, 20, 30, 40, 195]
    assert jobs["id"] == [1, 11, 12, 2, 3, 4, 5, 19]  # 10 is beyond 5
    assert jobs["predecessors"] == [[], [], [11], [], [], [2], [], []]
    assert [found.labels["user"][number] for number in jobs["user"]] == [
        *("jobs:ann", "other:bob", "other:dora", "jobs:bob", "jobs:ann", "jobs:bob", "jobs:cy", "other:dora"),
    ]
    assert found.requests == [Request(), Request(), Request({"gpus": 1})]
    assert jobs["request"] == [0, 1, 2, 0, 0, 0, 0, 1]
    assert found.name == "jobs+other"
    assert found.header["MaxProcs"] == "8"
    assert found.header["Note"] == "as it was\nmerged, aligned by start: jobs, other"
    assert found.report.kept == 8
    together = merge([small(), other], same_site=True)
    assert together.labels["user"] == ["ann", "bob", "cy", "dora"]
    assert columns(together)["user"] == [0, 1, 3, 1, 0, 1, 2, 3]


def test_merge_by_date() -> None:
    one, two = small(), small(id=[6, 7, 8, 9, 10], after=[-1, -1, -1, 7, -1])
    two.origin = datetime(2019, 12, 31, 23, 59, 30, tzinfo=UTC)
    found = merge([one, two], align="date")
    jobs = columns(found)
    assert found.origin == datetime(2020, 1, 1, 0, 1, 10, tzinfo=UTC)  # 100 s after the earlier origin
    assert jobs["submit"] == [0, 10, 20, 30, 30, 40, 40, 50, 60, 70]
    assert jobs["id"] == [6, 7, 8, 1, 9, 2, 10, 3, 4, 5]  # numbers that do not clash stay
    one.origin = None
    with pytest.raises(InputError, match="does not say when it began"):
        merge([one, two], align="date")


def test_merged_users_without_names_are_kept_apart() -> None:
    parts = [Workload.of(submit=[0, 1], runtime=[1, 1], user=[3, -1], queue=[0, 0]) for _ in range(2)]
    assert columns(merge(parts))["user"] == [3, 13, -1, -1]
    assert columns(merge(parts, same_site=True))["user"] == [3, 3, -1, -1]
    named = Workload.of(submit=[0], runtime=[1], user=[2**30])
    assert columns(merge([named, named]))["user"] == [2**30, 2**30 + 1]


def test_merge_of_named_jobs() -> None:
    (batch,) = Workload.of(submit=[0], runtime=[1]).batches()
    named = Workload("a", lambda: iter([JobBatch(names=("x",), **batch.columns())]))
    (joined,) = merge([named, Workload.of(name="b", submit=[0], runtime=[1])]).batches()
    assert joined.names == ("a:x", "b:1")


# The command.


@pytest.fixture
def kth(tmp_path: Path) -> str:
    rows = [
        row(job=n, submit=3600 * n, run=600 + n, requested=n % 8 + 1, limit=1000, user=n % 5) for n in range(1, 241)
    ]
    return str(log(tmp_path / "kth.swf", "; MaxProcs: 8", "; UnixStartTime: 1577836800", *rows))


def test_the_command_does_what_is_asked_for(kth: str, tmp_path: Path) -> None:
    out = tmp_path / "out.swf.gz"
    command([kth], out, window="1d..3d", sizes="1-4", estimates="exact", round_limits="15m", stretch=0.5)
    found = read_workload(out)
    assert found.report.kept == 24  # half of 48 hours
    assert found.origin == datetime(2020, 1, 2, 1, tzinfo=UTC)
    assert set(found.jobs["limit"]) == {900.0}
    assert found.header["Note"].splitlines() == [
        "the jobs submitted from 1d to 3d after the first submittal",
        "only the jobs with size from 1 to 4",
        "times between submittals × 0.5",
        "limits are run times × 1",
        "limits rounded up to multiples of 15m",
    ]
    with pytest.raises(InputError, match="is already there"):
        command([kth], out)
    command([kth], out, force=True)
    assert read_workload(out).report.kept == 240


def test_the_command_splits_and_merges(kth: str, tmp_path: Path) -> None:
    command([kth], tmp_path / "part.swf", split="user")
    parts = [tmp_path / f"part-{user}.swf" for user in range(5)]
    assert [read_workload(part).report.kept for part in parts] == [48] * 5
    command([str(part) for part in parts], tmp_path / "again.swf", same_site=True, align="date")
    again, before = read_workload(tmp_path / "again.swf").jobs, read_workload(kth).jobs
    assert sorted(again["runtime"]) == sorted(before["runtime"])
    assert sorted(set(again["user"])) == [0, 1, 2, 3, 4]
    command([kth], tmp_path / "slice.swf.zst", split="3")
    assert [read_workload(tmp_path / f"slice-{n}.swf.zst").report.kept for n in (1, 2, 3)] == [80, 80, 80]


def test_the_command_reports_flurries_without_writing(kth: str, capsys: pytest.CaptureFixture[str]) -> None:
    command([kth], flurries=True)
    with pytest.raises(InputError, match="where to"):
        command([kth])


def test_ranges_as_they_are_written() -> None:
    assert parse_range("1-64", "--sizes") == (1, 64)
    assert parse_range("8", "--sizes") == (8, 8)
    assert parse_range("1m..", "--runtimes") == (60, np.inf)
    assert parse_range("..2h", "--runtimes") == (0, 7200)
    assert parse_window("30d..60d", "--window") == (30 * 86_400, 60 * 86_400)
    assert parse_window("2012-03-01..", "--window") == (datetime(2012, 3, 1, tzinfo=UTC), None)
    assert parse_estimates("f-model:5", "--estimates") == (5, True)
    assert parse_estimates("2", "--estimates") == (2, False)
    for wrong, option in (("..", "--sizes"), ("x..2", "--sizes"), ("1x..", "--runtimes")):
        with pytest.raises(InputError, match=option):
            parse_range(wrong, option)
    with pytest.raises(InputError, match="is not a date"):
        parse_window("2012-13-01..", "--window")
    with pytest.raises(InputError, match="no way to estimate"):
        parse_estimates("good", "--estimates")


def test_a_real_log_in_a_month(traces: Path) -> None:
    kth = read_workload(traces / "KTH-SP2-1996-2.1-cln.swf.gz")
    month = window(kth, 30 * 86_400, 60 * 86_400)
    jobs = month.jobs
    assert 1500 < len(jobs) < 4000
    assert 0 <= jobs["submit"].min() < 86_400
    assert jobs["submit"].max() < 30 * 86_400


def test_rescaling_jobs_of_several_cores_a_chunk() -> None:
    """A job of two nodes of 32 cores on 640 cores is one of 32 cores on 320, wherever these are, with their memory."""
    requests = [Request({"cores": 32, "memory": 64}, per_node_max=1, partition="gpu")]
    jobs = Workload.of(submit=[0.0], runtime=[10.0], count=[2], requests=requests)
    half = rescale(jobs, 320, 640)
    (batch,) = half.batches()
    assert half.cores(batch).tolist() == [32]
    assert half.requests == [Request({"cores": 1, "memory": 2})]
    assert half.report.filled == {
        "cores that were grouped on nodes: may go anywhere now": 1,
        "requests for GPUs, features or a partition: dropped": 1,
    }


def test_what_is_lost_is_what_the_jobs_of_the_window_have(tmp_path):
    """The only job with GPUs and alternatives comes later: nothing of it is lost."""
    special = Request({"cores": 1, "gpus": 2}, sbatch=(("constraint", "a|b"),))
    workload = Workload.of(submit=[0, 100], runtime=[5, 5], request=[0, 1], requests=[SINGLE_CORE, special])
    whole = write_workload(tmp_path / "whole.swf", workload)
    assert whole == ["requests for gpus", "what only Slurm understands: constraint"]
    assert write_workload(tmp_path / "part.swf", window(workload, 0, 50)) == []
