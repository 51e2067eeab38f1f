"""Writing SWF, and reading back what was written."""

import gzip
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.batches import after, think
from tests.swf_files import log, row

from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.workload import JOB_COLUMNS, JobBatch, Workload
from schedlab.workload.formats import write_workload
from schedlab.workload.read import read_workload
from schedlab.workload.swf.write import write_swf


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def test_a_schedule(tmp_path):
    table = pl.DataFrame(
        {
            "job": [1, 2, 3, 4, 5],
            "user": [7, None, 7, 7, 7],
            "queue": [1, 1, 1, 1, None],
            "submit": [0.0, 10.0, 20.5, 30.0, 40.0],
            "start": [5.0, 12.25, None, None, None],
            "end": [105.0, 22.25, 60.5, 30.0, 40.0],
            "state": pl.Series(["completed", "killed", "cancelled", "rejected", "held"], dtype=pl.Categorical),
            "cores": [4, 1, 2, 900, 3],
            "count": [2, 1, 2, 900, 3],
            "request": [1, 0, 0, 0, 0],
            "limit": [200.0, 10.0, 50.0, 50.0, 50.0],
        }
    )
    requests = [Request(), Request({"cores": 2, "memory": 4096 * 1024})]
    path = tmp_path / "out.swf"
    write_swf(path, table, {"MaxProcs": "240", "Queue": "1 a\n2 b", "Note": ""}, requests=requests)
    assert lines(path) == [
        "; Version: 2.2",
        "; MaxProcs: 240",
        "; Queue: 1 a",
        "; Queue: 2 b",
        "; Note:",
        # job submit wait run allocated cpu used requested limit memory status user group exe queue part after think
        "1 0 5 100 4 -1 -1 4 200 2048 1 7 -1 -1 1 -1 -1 -1",
        "2 10 2.25 10 1 -1 -1 1 10 -1 0 -1 -1 -1 1 -1 -1 -1",
        "3 20.5 40 0 -1 -1 -1 2 50 -1 5 7 -1 -1 1 -1 -1 -1",
        "4 30 0 0 -1 -1 -1 900 50 -1 5 7 -1 -1 1 -1 -1 -1",
        "5 40 -1 -1 -1 -1 -1 3 50 -1 -1 7 -1 -1 -1 -1 -1 -1",
    ]


def test_columns_without_a_table(tmp_path):
    path = tmp_path / "out.swf"
    write_swf(path, {"submit": [0, 3], "start": [1.0, math.nan], "end": [2.5, 3.0], "state": ["completed", "waiting"]})
    assert lines(path)[1:] == [
        "1 0 1 1.5 1 -1 -1 1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1",
        "2 3 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1",
    ]
    with pytest.raises(InputError, match="no column 'submit'"):
        write_swf(path, {"start": [1]})


def test_a_workload_keeps_its_header(tmp_path):
    text = ["; Version: 2", "; UnixStartTime: 1000", "; Queue: 1 a", "; Queue: 2 b", row(job=3, user=9, memory=64)]
    workload = read_workload(log(tmp_path / "in.swf", *text), requests="full")
    path = tmp_path / "out.swf"
    write_swf(path, workload)
    assert lines(path) == [*text[:4], "3 0 5 100 4 -1 -1 4 200 64 1 9 -1 -1 -1 -1 -1 -1"]
    write_swf(path, workload, {"Note": "other"})
    assert lines(path)[:3] == ["; Version: 2.2", "; Note: other", "; UnixStartTime: 1000"]


def test_names_become_numbers(tmp_path):
    """Job numbers are whole numbers in SWF: names do not survive, and that is said."""
    table = {
        "name": ["a b", "7", "; c"],
        "job": [1, 2, 3],
        "submit": [0, 1, 2],
        "after": [-1, 1, 99],
        "think": [0, 5, 0],
    }
    path = tmp_path / "out.swf"
    lost = write_swf(path, {**table, "start": [0, 1, 2], "end": [9, 9, 9], "cores": [1, 1, 1], "limit": [9, 9, 9]})
    assert lost == ["names of jobs: numbers remain (3 jobs)"]
    (batch,) = read_workload(path).batches()
    assert (batch.names, batch.id.tolist()) == (None, [1, 2, 3])
    assert (after(batch), think(batch)) == ([-1, 1, 99], [0, 5, 0])


def test_names_of_a_log_become_numbers(tmp_path):
    workload = read_workload(log(tmp_path / "in.swf", row(job="a.1"), row(job="b", after="a.1", submit=9)))
    path = tmp_path / "out.swf"
    assert write_workload(path, workload) == ["names of jobs: numbers remain (2 jobs)"]
    assert [line.split()[0] for line in lines(path)[1:]] == ["1", "2"]
    assert lines(path)[2].split()[16] == "1"


def test_memory_is_whole_kilobytes(tmp_path):
    requests = [Request({"cores": 3, "memory": 10 * 1024}), Request({"cores": 1, "memory": 2048})]
    jobs = Workload.of(submit=[0.0, 1.0], runtime=[1.0, 1.0], request=[0, 1], requests=requests)
    path = tmp_path / "out.swf"
    lost = write_swf(path, jobs)
    assert [line.split()[9] for line in lines(path)[1:]] == ["4", "2"]
    assert lost == [
        "how cores are grouped on nodes: only their number remains",
        "memory of a processor in parts of a KB: rounded up (1 job)",
    ]


def test_what_the_log_says_and_nobody_keeps(tmp_path):
    text = row(job=1, cpu=90, used_memory=5, memory=64, allocated=8)
    lost = write_workload(tmp_path / "out.swf", read_workload(log(tmp_path / "in.swf", text), requests="cores"))
    assert lost == [
        "average CPU time (field 6) of 1 job: not kept",
        "used memory (field 7) of 1 job: not kept",
        "the other number of processors (fields 5 and 8 differ) of 1 job: not kept",
        "requested memory (field 10) of 1 job: not kept",
    ]


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_compressed_and_repeatable(tmp_path, suffix):
    workload = Workload.of(submit=np.arange(1000.0), runtime=np.full(1000, 2.5), count=np.full(1000, 3))
    one, two = tmp_path / f"a.swf{suffix}", tmp_path / f"b.swf{suffix}"
    write_swf(one, workload)
    write_swf(two, workload)
    assert one.read_bytes() == two.read_bytes()
    assert read_workload(one).jobs.equals(workload.jobs.with_columns(status=pl.lit(-1, pl.Int8)))
    if suffix == ".gz":
        assert gzip.decompress(one.read_bytes()).startswith(b"; Version: 2.2\n1 0 -1 2.5 3 ")


def test_whole_or_not_at_all(tmp_path):
    def broken():
        yield JobBatch.of(submit=[0.0], runtime=[1.0])
        raise RuntimeError("interrupted")

    path = log(tmp_path / "out.swf", "; old")
    with pytest.raises(RuntimeError, match="interrupted"):
        write_swf(path, Workload("w", broken))
    assert lines(path) == ["; old"]
    assert list(tmp_path.iterdir()) == [path]


def test_places_that_cannot_be_written(tmp_path):
    workload = Workload.of(submit=[0.0], runtime=[1.0])
    for path, problem, hint in (
        (tmp_path / "no" / "a.swf", "No such file or directory", f"make the folder {tmp_path / 'no'} first"),
        (tmp_path, "Is a directory", "name a file, not a folder"),
    ):
        with pytest.raises(InputError) as caught:
            write_swf(path, workload)
        assert (caught.value.where, caught.value.message) == (str(path), f"cannot be written: {problem}")
        assert caught.value.hint == hint


def test_full_disk(tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match="No space left on device") as caught:
        write_swf(tmp_path / "a.swf", Workload.of(submit=[0.0], runtime=[1.0]))
    assert caught.value.hint == "the disk is full: free some space, or write elsewhere"
    assert list(tmp_path.iterdir()) == []


times = st.one_of(st.integers(0, 10**9).map(float), st.floats(0, 1e11))
labels = st.integers(-1, 2**30 - 1)


@st.composite
def jobs(draw):
    size = draw(st.integers(1, 12))

    def many(values):
        return draw(st.lists(values, min_size=size, max_size=size))

    cancelled = many(st.booleans())
    preceding = many(st.integers(-1, 50))
    return {
        "id": draw(st.lists(st.integers(0, 10**18 - 1), min_size=size, max_size=size, unique=True)),
        "submit": many(times),
        "runtime": [0.0 if gone else draw(times) for gone in cancelled],
        "limit": many(times.filter(lambda value: value > 0)),
        "count": many(st.integers(1, 10**9)),
        "status": [5 if gone else draw(st.sampled_from([-1, 0, 1])) for gone in cancelled],
        "wait": many(st.one_of(st.just(math.nan), times)),
        "after": preceding,
        "think": [draw(times) if job >= 0 else 0.0 for job in preceding],
        **{name: many(labels) for name in ("user", "group", "queue", "partition", "executable")},
        "cancelled": cancelled,
    }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(jobs())
def test_round_trip(tmp_path, columns):
    gone = np.array(columns.pop("cancelled"))
    submit = np.array(columns["submit"])
    waited = np.where(np.isnan(columns["wait"]), 0, columns["wait"])
    columns["cancel"] = np.where(gone, submit + waited, np.inf)
    columns["wait"] = np.where(gone, columns["cancel"] - submit, columns["wait"])  # the rounding of the sum
    columns["cancel"] = np.where(gone, submit + columns["wait"], np.inf)
    workload = Workload.of(**columns)
    path = tmp_path / "log.swf"
    write_swf(path, workload)
    (written,), (found,) = workload.batches(), read_workload(path, clean="none").batches()
    order = np.lexsort((written.id, written.submit))
    for name in JOB_COLUMNS:
        np.testing.assert_array_equal(getattr(found, name), getattr(written, name)[order], err_msg=name)
