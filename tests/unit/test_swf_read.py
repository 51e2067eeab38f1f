"""read_workload: files of all kinds as workloads."""

import gzip
import hashlib
import math
import random
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pytest
from tests.swf_files import log, row

from schedlab.model.errors import InputError
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.workload import JOB_COLUMNS
from schedlab.workload.read import read_workload
from schedlab.workload.reorder import OutOfOrderError, ReorderWindow
from schedlab.workload.swf.header import header_number, parse_header


def ids(workload) -> list[int]:
    return [job for batch in workload.batches() for job in batch.id.tolist()]


def assert_same(left, right) -> None:
    """The same jobs in the same order, however they are cut into batches."""
    lefts, rights = list(left.batches()), list(right.batches())
    for name in JOB_COLUMNS:
        np.testing.assert_array_equal(
            np.concatenate([getattr(batch, name) for batch in lefts]),
            np.concatenate([getattr(batch, name) for batch in rights]),
        )
    names = [sum(((b.names or ()) for b in batches), ()) for batches in (lefts, rights)]
    assert names[0] == names[1]


def test_plain_gzip_and_zstd_are_the_same(tmp_path):
    text = "\n".join(["; MaxProcs: 8", *(row(job=n, submit=n) for n in range(1, 1000))]).encode()
    plain, packed, zstd = tmp_path / "a.swf", tmp_path / "b.swf.gz", tmp_path / "c.swf.zst"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text[:500]) + gzip.compress(text[500:]))  # several members, as pigz and cat make
    with pa.CompressedOutputStream(str(zstd), "zstd") as stream:
        stream.write(text)
    for path in (plain, packed, zstd):
        workload = read_workload(path)
        assert ids(workload) == list(range(1, 1000))
        assert workload.content_hash == hashlib.sha256(path.read_bytes()).hexdigest()
        assert workload.header == {"MaxProcs": "8"}
        assert workload.name == path.name[0]
    misnamed = tmp_path / "d.swf"
    misnamed.write_bytes(packed.read_bytes())
    assert ids(read_workload(str(misnamed))) == list(range(1, 1000))


def test_header_and_origin(tmp_path):
    path = log(
        tmp_path / "a.swf",
        ";      Version: 2.2",
        "; UnixStartTime: 1027839845",
        "; MaxNodes: 338 (batch partition; 512 total)",
        "; MaxProcs: -1",
        "; Information: http://one/",
        ";              http://two/",
        "; Queue: 1  [fque:1]   ",
        "; Queue: 2 - second",
        ";",
        "; a sentence without label",
        row(),
    )
    workload = read_workload(path)
    assert workload.header == {
        "Version": "2.2",
        "UnixStartTime": "1027839845",
        "MaxNodes": "338 (batch partition; 512 total)",
        "MaxProcs": "-1",
        "Information": "http://one/\nhttp://two/",
        "Queue": "1  [fque:1]\n2 - second",
        "Note": "a sentence without label",
    }
    assert workload.origin == datetime(2002, 7, 28, 7, 4, 5, tzinfo=UTC)
    assert header_number(workload.header, "MaxNodes") == 338
    assert header_number(workload.header, "MaxProcs") is None
    assert header_number(workload.header, "MaxJobs") is None


def test_origin_where_the_header_does_not_say(tmp_path):
    assert read_workload(log(tmp_path / "a.swf", row())).origin is None
    absolute = log(tmp_path / "b.swf", "; UnixStartTime: 1356996147", row(submit=1356996147))
    assert read_workload(absolute).origin == datetime(1970, 1, 1, tzinfo=UTC)
    assert read_workload(log(tmp_path / "c.swf", "; UnixStartTime: 999999999999999999", row())).origin is None
    assert parse_header(["; UnixStartTime:"]) == {"UnixStartTime": ""}


def test_sorted_by_submit_time_then_job_number(tmp_path):
    submits = [50, 20, 20, 90, 20, 0]
    path = log(tmp_path / "a.swf", *(row(job=j, submit=t) for j, t in zip([1, 5, 3, 2, 4, 6], submits, strict=True)))
    workload = read_workload(path)
    assert ids(workload) == [6, 3, 4, 5, 1, 2]
    assert workload.report.out_of_order == 3  # 20 after 50, 20 after 90, 0 after 20


def test_batches_again(tmp_path):
    path = log(tmp_path / "a.swf", *(row(job=n, submit=n) for n in range(10)))
    for settings in ({}, {"in_memory": False}, {"in_memory": False, "window": 3}):
        workload = read_workload(path, **settings)
        assert ids(workload) == ids(workload) == list(range(10))
        assert len(workload) == 10
    assert workload.jobs["submit"].to_list() == list(range(10))


def test_streaming_is_the_same_as_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("schedlab.workload.swf.read.CHUNK", 50)
    monkeypatch.setattr("schedlab.files.bytestream.PIECE", 1000)
    shuffle = random.Random(3)
    numbers = list(range(1, 3000))
    for start in range(0, len(numbers), 40):  # locally out of order, and many ties
        part = numbers[start : start + 40]
        shuffle.shuffle(part)
        numbers[start : start + 40] = part
    path = log(
        tmp_path / "a.swf", *(row(job=n, submit=n // 3, run=shuffle.randint(0, 9), memory=n % 7) for n in numbers)
    )
    for clean in ("pwa", "none"):
        memory = read_workload(path, clean=clean, requests="full")
        streamed = read_workload(path, clean=clean, requests="full", in_memory=False, window=60)
        assert len(list(memory.batches())) == 1
        assert len(list(streamed.batches())) > 10
        assert_same(memory, streamed)
        assert_same(memory, streamed)
        assert memory.report == streamed.report
        assert memory.content_hash == streamed.content_hash


def test_a_log_too_disordered_for_the_window_is_kept_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("schedlab.workload.swf.read.CHUNK", 50)
    monkeypatch.setattr("schedlab.files.bytestream.PIECE", 1000)
    submits = [*range(1000, 2000), 5]
    path = log(tmp_path / "a.swf", *(row(job=n, submit=t) for n, t in enumerate(submits)))
    workload = read_workload(path, in_memory=False, window=100)
    assert len(list(workload.batches())) == 1
    assert ids(workload)[:2] == [1000, 0]


def test_a_log_in_order_streams_without_waiting(tmp_path, monkeypatch):
    monkeypatch.setattr("schedlab.workload.swf.read.CHUNK", 50)
    monkeypatch.setattr("schedlab.files.bytestream.PIECE", 1000)
    path = log(tmp_path / "a.swf", *(row(job=n, submit=n) for n in range(1000)))
    first = next(read_workload(path, in_memory=False, window=200).batches())
    assert len(first) < 100


def test_a_file_that_changes_between_passes(tmp_path):
    path = log(tmp_path / "a.swf", *(row(job=n, submit=n) for n in range(10)))
    workload = read_workload(path, in_memory=False, window=3)
    log(path, row())
    with pytest.raises(InputError, match="has changed since it was first read"):
        workload.batches()
    path.unlink()
    with pytest.raises(InputError, match="has changed since it was first read"):
        workload.batches()


def test_window():
    def chunk(*submits: float) -> dict:
        return {"submit": np.array(submits, float), "id": np.arange(len(submits)), "other": np.array(submits) * 2}

    window = ReorderWindow(2)
    out = [part for piece in ([3, 1], [2, 5], [4, 9]) for part in window.push(chunk(*piece))] + list(window.flush())
    assert np.concatenate([part["submit"] for part in out]).tolist() == [1, 2, 3, 4, 5, 9]
    assert np.concatenate([part["other"] for part in out]).tolist() == [2, 4, 6, 8, 10, 18]
    assert window.moved
    late = ReorderWindow(2)
    list(late.push(chunk(5, 6, 7, 8, 9)))
    with pytest.raises(OutOfOrderError, match="job 0, submitted at 1 s, comes more than 2 jobs too late"):
        list(late.push(chunk(1, 10, 11)))
    calm = ReorderWindow(0)
    assert len([part for piece in ([1, 1], [2, 3]) for part in calm.push(chunk(*piece))]) == 2
    assert not calm.moved
    assert list(calm.flush()) == []


def test_names(tmp_path):
    submits = {"7": 30, "8": 20, "8.batch": 10}
    path = log(tmp_path / "a.swf", *(row(job=name, submit=t) for name, t in submits.items()))
    for settings in ({}, {"in_memory": False, "window": 1}):
        (*batches,) = read_workload(path, **settings).batches()
        assert sum((batch.names for batch in batches), ()) == ("8.batch", "8", "7")
        assert [job for batch in batches for job in batch.id.tolist()] == [3, 2, 1]
    assert next(read_workload(log(path, row())).batches()).names is None


def test_memory_requests(tmp_path):
    amounts = [2048, -1, 1024, 2048, 0]
    path = log(tmp_path / "a.swf", *(row(job=n, submit=n, memory=m) for n, m in enumerate(amounts)))
    for settings in ({}, {"in_memory": False, "window": 2}):
        workload = read_workload(path, **settings)
        places = [place for batch in workload.batches() for place in batch.request.tolist()]
        assert places == [1, 0, 2, 1, 0]
        assert workload.requests == [
            SINGLE_CORE,
            Request({"cores": 1, "memory": 2048 * 1024}),
            Request({"cores": 1, "memory": 1024 * 1024}),
        ]
    plain = read_workload(path, requests="cores")
    assert next(plain.batches()).request.tolist() == [0] * 5
    assert plain.requests == [SINGLE_CORE]


def test_report(tmp_path):
    path = log(tmp_path / "a.swf", row(job=1), row(job=2, run="x"), row(job=3, run=0), row(job=4, limit=0))
    report = read_workload(path, bad_rows="drop").report
    assert (report.records, report.kept) == (4, 2)
    assert report.dropped == {"bad row": 1, "run time 0 or unknown": 1}
    assert report.filled == {"limit: run time": 1}
    assert report.bad_rows == [
        'line 2: run time (column 4) is "x", expected seconds from 0 to 1e12, or -1 for unknown',
    ]
    assert report.unknown["user"] == 3


def test_progress(tmp_path):
    path = log(tmp_path / "a.swf", *(row(job=n) for n in range(100)))
    seen: list[tuple[int, int]] = []
    read_workload(path, progress=lambda done, size: seen.append((done, size)))
    size = path.stat().st_size
    assert seen[-1] == (size, size)


def test_wait_is_kept(tmp_path):
    waits = next(read_workload(log(tmp_path / "a.swf", row(job=1), row(job=2, wait=-1))).batches()).wait.tolist()
    assert waits[0] == 5
    assert math.isnan(waits[1])


def test_names_that_come_after_a_dropped_row_are_streamed_as_they_are_kept(tmp_path):
    rows = [row(job=1, after="zz"), *(row(job=f"j{n}", submit=n) for n in range(9))]
    path = log(tmp_path / "a.swf", *rows)
    memory = read_workload(path, bad_rows="drop")
    streamed = read_workload(path, bad_rows="drop", in_memory=False, window=3)
    assert memory.report == streamed.report
    assert len(ids(streamed)) == streamed.report.kept
    assert_same(memory, streamed)
