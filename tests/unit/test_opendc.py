"""Task tables of OpenDC."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from schedlab.model.request import Request
from schedlab.workload.options import ReadOptions
from schedlab.workload.table.opendc import looks_like, read_opendc
from schedlab.workload.table.read import read_table

TASKS = {
    "id": [5, 6],
    "submission_time": [1_600_000_000_500, 1_600_000_060_000],
    "duration": [1_500, 60_000],
    "cpu_count": [16, 1],
    "cpu_capacity": [33_600.0, 2_100.0],
    "mem_capacity": [100_000, 4_000],
}


def test_a_task_is_one_chunk(tmp_path):
    path = tmp_path / "tasks.parquet"
    pq.write_table(pa.table(TASKS), path)
    workload = read_opendc(path, ReadOptions(requests="full"))
    (jobs,) = workload.batches()
    assert jobs.submit.tolist() == [0.5, 60]
    assert jobs.runtime.tolist() == [1.5, 60]
    assert jobs.count.tolist() == [1, 1]
    assert workload.requests == [
        Request({"cores": 16, "memory": 100_000 * 10**6}),
        Request({"cores": 1, "memory": 4_000 * 10**6}),
    ]
    assert str(workload.origin) == "2020-09-13 12:26:40+00:00"
    assert read_opendc(path, ReadOptions(requests="cores")).requests == [Request({"cores": 16}), Request({"cores": 1})]


def test_time_stamps_and_gpus(tmp_path):
    path = tmp_path / "tasks.parquet"
    stamps = pa.array(TASKS["submission_time"], pa.timestamp("ms"))
    pq.write_table(pa.table(TASKS | {"submission_time": stamps, "gpu_count": [2, 0]}), path)
    workload = read_table(path, ReadOptions(requests="cores"))  # told by its columns
    (jobs,) = workload.batches()
    assert jobs.submit.tolist() == [0.5, 60]
    assert workload.requests == [Request({"cores": 16, "gpus": 2}), Request({"cores": 1})]


@pytest.mark.parametrize(
    ("name", "tasks", "origin"),
    [
        ("SURF-2022-week-tasks", 6_295, "2022-10-06 22:00:00+00:00"),
        ("SURF-2022-halfyear-tasks", 194_917, "2022-06-30 16:02:00+00:00"),
    ],
)
def test_surf(traces, name, tasks, origin):
    workload = read_opendc(traces / "slurm" / f"{name}.parquet", ReadOptions(requests="cores"))
    assert workload.report.records == workload.report.kept == tasks
    assert str(workload.origin) == origin
    assert workload.requests == [Request({"cores": 16})]


def test_looks_like():
    assert looks_like("", "surf-tasks.parquet")
    assert looks_like("id,submission_time,duration,cpu_count\n1,2,3,4\n", "x.csv")
    assert not looks_like("", "jobs.parquet")
    assert not looks_like("id,submit\n", "x.csv")
