"""Workloads written for Batsim: there and back, and what is lost."""

import json

import numpy as np
import pytest
from tests.batsim_workloads import job, read, save

from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import Shape, Workload
from schedlab.workload.batsim.read import write_batsim
from schedlab.workload.options import ReadOptions


@pytest.mark.parametrize("name", ["w.json", "w.json.gz", "w.json.zst"])
def test_there_and_back(tmp_path, name):
    columns = {
        "id": [5, 3, 9],
        "submit": [0.5, 0.0, 1e9 + 1 / 3],
        "runtime": [1 / 3, 10.0, 10.0],
        "limit": [1.0, 10.0, 7200.0],
        "count": [1, 4, 2],
        "user": [1, 0, 1],
        "queue": [7, -1, 7],
    }
    before = Workload.of(**columns, labels={"user": ["amy", 'b"ob']})
    path = tmp_path / name
    assert write_batsim(path, before) == []
    (written,) = before.batches()
    jobs, after = read(path)
    for column in ("id", "submit", "runtime", "limit", "count", "queue"):
        assert getattr(jobs, column).tolist() == getattr(written, column).tolist(), column
    assert [after.labels["user"][number] for number in jobs.user] == ["amy", 'b"ob', 'b"ob']
    assert after.header == {"MaxProcs": "4"}
    assert after.report.dropped == after.report.filled == {}


def test_names_there_and_back(tmp_path):
    first, _ = read(save(tmp_path, [job("b", subtime=4), job("a"), job("c é", subtime=4)]))
    path = tmp_path / "again.json"
    assert write_batsim(path, Workload("w", lambda: iter([first]), header={"MaxProcs": "64", "Note": "x"})) == []
    again, workload = read(path)
    assert (again.names, again.id.tolist()) == (("a", "b", "c é"), [1, 2, 3])
    assert workload.header == {"MaxProcs": "64", "Note": "x"}


def test_one_profile_for_each_run_time(tmp_path):
    path = tmp_path / "w.json"
    write_batsim(path, Workload.of(submit=[0, 1, 2], runtime=[10, 2.5, 10], limit=[20, 20, 20], count=[1, 1, 1]))
    written = json.loads(path.read_text())
    assert written["profiles"] == {
        "delay_10": {"type": "delay", "delay": 10},
        "delay_2.5": {"type": "delay", "delay": 2.5},
    }
    assert written["jobs"][1] == {"id": 2, "subtime": 1, "walltime": 20, "res": 1, "profile": "delay_2.5"}
    assert written["nb_res"] == 1


def test_more_jobs_than_are_written_at_a_time(tmp_path):
    path = tmp_path / "w.json"
    submit = np.arange(20_000.0)
    write_batsim(path, Workload.of(submit=submit, runtime=submit % 7 + 1, limit=submit % 7 + 2, count=[3] * 20_000))
    jobs, _ = read(path)
    np.testing.assert_array_equal(jobs.submit, submit)
    np.testing.assert_array_equal(jobs.runtime, submit % 7 + 1)


def test_what_is_lost(tmp_path):
    workload = Workload.of(
        requests=[Request(), Request({"cores": 4, "memory": 2**30})],
        submit=[0, 0],
        runtime=[0, 5],
        limit=[np.inf, 5],
        count=[1, 2],
        request=[0, 1],
        executable=[1, 2],
        status=[1, 1],
        wait=[3, 4],
        cancel=[np.inf, 9],
        after=[-1, 1],
        shapes=[[], [Shape(1, 9.0, request=1)]],
    )
    workload.header = {"Computer": "x"}
    path = tmp_path / "w.json"
    assert write_batsim(path, workload) == [
        "requests (1 job): a job asks for hosts and nothing else, one for each core",
        "executables (2 jobs): there is no place for them",
        "statuses (2 jobs): there is no place for them",
        "recorded waits (2 jobs): there is no place for them",
        "cancellations (1 job): there is no place for them",
        "predecessors (1 job): there is no place for them",
        "limits that are 0 or endless (1 job): written without walltime",
        "run times of 0 (1 job): Batsim refuses such delays",
        "other shapes (1 job): Batsim's jobs are rigid",
        "header lines (Computer): there is no place for them",
    ]
    jobs, after = read(path, ReadOptions(clean="none", missing_limit=60))
    assert (jobs.count.tolist(), jobs.limit.tolist()) == ([1, 8], [60, 5])
    assert after.header == {"MaxProcs": "8"}


def test_time_before_zero_cannot_be_written(tmp_path):
    path = tmp_path / "w.json"
    with pytest.raises(InputError, match=r"job 1 is submitted at -5\.0 s"):
        write_batsim(path, Workload.of(submit=[-5], runtime=[1], count=[1]))
    assert not path.exists()
