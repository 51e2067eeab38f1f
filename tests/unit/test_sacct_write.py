"""Writing Slurm accounting dumps: what is written is read back, and what is lost is said."""

import math
from datetime import UTC, datetime
from pathlib import Path

import pytest

from schedlab.model.errors import InputError
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.workload import Workload
from schedlab.workload.options import ReadOptions
from schedlab.workload.sacct.read import read_sacct
from schedlab.workload.sacct.rows import SACCT_COLUMNS, SACCT_COMMAND
from schedlab.workload.sacct.write import write_sacct

MIB = 2**20
ORIGIN = datetime(2024, 3, 1, 12, tzinfo=UTC)


def small(**columns):
    """Two jobs; more columns can be given."""
    given = {"id": [7, 9], "submit": [0, 60], "runtime": [100, 50], "limit": [3600, 86_405], "wait": [5, 0]}
    workload = Workload.of(**{**given, "status": [1, 0], **columns})
    workload.origin = ORIGIN
    return workload


def again(tmp_path, workload, name="jobs.sacct", **options):
    """What the writer said, and what is read back."""
    lost = write_sacct(tmp_path / name, workload)
    return lost, read_sacct(tmp_path / name, ReadOptions(**options))


def test_the_command_to_copy():
    page = Path(__file__).parents[2] / "docs" / "formats" / "sacct.md"
    assert f"\n{SACCT_COMMAND}\n" in page.read_text()


def test_the_lines(tmp_path):
    labels = {"user": ["ann"], "group": ["phys"], "queue": ["normal"], "partition": ["batch"]}
    workload = small(user=[0, 0], group=[0, 0], queue=[0, 0], partition=[0, 0], count=[1, 4], labels=labels)
    assert write_sacct(tmp_path / "jobs.sacct", workload) == []
    header, first, second = (tmp_path / "jobs.sacct").read_text().splitlines()
    assert header == "|".join(SACCT_COLUMNS)
    assert f"--format={','.join(SACCT_COLUMNS)} " in SACCT_COMMAND
    begin = int(ORIGIN.timestamp())
    times = f"{begin}|{begin}|{begin + 5}|{begin + 105}|00:00:00|01:00:00"
    assert first == f"7|7|ann|phys|batch|normal|COMPLETED|{times}|1|1|1|0|cpu=1,node=1|cpu=1,node=1|None||"
    assert second.split("|")[12:16] == ["1-00:00:05", "4", "4", "0"]


@pytest.mark.parametrize("name", ["jobs.sacct", "jobs.sacct.gz", "jobs.sacct.zst"])
def test_round_trip(tmp_path, name):
    requests = [
        SINGLE_CORE,
        Request({"cores": 8}),
        Request({"cores": 4, "memory": 2000 * MIB, "gpus": 2}, per_node_max=1, features=frozenset("ab")),
        Request({"cores": 1, "memory": 1536 * 1024}),
    ]
    labels = {"user": ["ann", "bob"], "group": ["phys"], "queue": ["normal"], "partition": ["batch", "gpu"]}
    workload = Workload.of(
        requests=requests,
        labels=labels,
        id=[3, 4, 5, 6, 8],
        submit=[0, 0, 10, 20, 90],
        runtime=[100, 5, 1, 86_400, 0],
        limit=[3600, 5, 60, 200_000, 60],
        wait=[0, 12, 0, 7, math.nan],
        count=[16, 1, 3, 2, 1],
        request=[0, 1, 2, 3, 0],
        user=[0, 1, 0, -1, 1],
        group=[0, 0, -1, 0, 0],
        queue=[0] * 5,
        partition=[0, 0, 1, 0, 1],
        status=[1, 0, 5, 1, 5],
        cancel=[math.inf] * 4 + [120],
    )
    workload.origin = ORIGIN
    lost, found = again(tmp_path, workload, name, clean="none", requests="full")
    assert lost == []
    assert found.jobs.drop("request").equals(workload.jobs.drop("request"), null_equal=True)
    assert found.labels == labels
    assert found.origin == ORIGIN
    # Read with all detail, requests also have the partition.
    for was, now in zip(workload.jobs["request"], found.jobs["request"], strict=True):
        before, after = requests[was], found.requests[now]
        assert (before.chunk, before.per_node_max, before.features) == (
            after.chunk,
            after.per_node_max,
            after.features,
        )
        assert after.partition in ("batch", "gpu")


def test_what_is_not_known_is_said(tmp_path):
    workload = Workload.of(submit=[0.5], runtime=[0.2], user=[7], executable=[3], after=[1])
    lost, found = again(tmp_path, workload)
    assert lost == [
        "recorded waits (1 job): not known, written as 0",
        "programs (1 job): there is no place for them",
        "predecessors (1 job): there is no place for them",
        "statuses (1 job): not known, or of a part of a job; written as COMPLETED",
        "fractions of seconds (1 job): rounded",
        "numbers in column user: read back as names",
        "dates: not known, second 0 is written as 2000-01-01",
    ]
    assert found.jobs["runtime"].to_list() == [1]
    assert found.labels == {"user": ["7"]}


def test_requests_that_do_not_fit(tmp_path):
    requests = [
        Request({"cores": 4}, exclusive=True),
        Request({"cores": 2, "shared tokens": 1}, per_node_min=2),
        Request({"cores": 0, "memory": 1500}, features=frozenset(["a|b"])),
    ]
    workload = small(
        id=[1, 2, 3],
        submit=[0, 1, 2],
        runtime=[9] * 3,
        limit=[9] * 3,
        wait=[0] * 3,
        status=[1] * 3,
        count=[3, 2, 1],
        request=[0, 1, 2],
        requests=requests,
    )
    lost, found = again(tmp_path, workload)
    assert lost == [
        "cores grouped on nodes (2 jobs): only their number remains",
        "requests without cores (1 job): written with one",
        "requests for whole nodes (1 job): there is no place for them",
        "features (1 job): they cannot be written as a constraint",
        "other resources (1 job): there is no place for them",
        "memory (1 job): rounded up to whole kilobytes",
    ]
    assert found.jobs["count"].to_list() == [12, 4, 1]


def test_numbers_that_slurm_does_not_have(tmp_path):
    lost, found = again(tmp_path, small(id=[2**40, 5]))
    assert "job numbers: Slurm's have 32 bits; jobs are numbered anew, from 1" in lost
    assert found.jobs["id"].to_list() == [1, 2]


def test_names_with_a_bar(tmp_path):
    lost, found = again(tmp_path, small(user=[0, 0], labels={"user": ["a|b\n"]}))
    assert "names with | or a line break: written with _ instead" in lost
    assert found.labels["user"] == ["a_b_"]


def test_a_limit_without_end(tmp_path):
    lost, found = again(tmp_path, small(limit=[math.inf, 60]))
    assert lost == ["limits (1 job): 0 or endless, written as UNLIMITED"]
    assert found.jobs["limit"].to_list() == [100, 60]


def test_a_date_before_1970(tmp_path):
    workload = small()
    workload.origin = datetime(1969, 1, 1, tzinfo=UTC)
    with pytest.raises(InputError, match="before 1970"):
        write_sacct(tmp_path / "jobs.sacct", workload)
    assert list(tmp_path.iterdir()) == []
