"""What becomes of incomplete records: the cleaning rules and the fallbacks, each with hand-made records."""

import math

import pytest
from tests.swf_files import row

from schedlab import _core

RECORDS = {
    "good": row(job=1),
    "no processors": row(job=2, allocated=-1, requested=0),
    "allocated only": row(job=3, requested=-1),
    "did not run": row(job=4, run=0),
    "run unknown": row(job=5, run=-1, status=0),
    "cancelled": row(job=6, run=-1, status=5, wait=40, submit=60),
    "cancelled running": row(job=7, run=10, status=5),
    "no request": row(job=8, limit=-1),
    "ran over": row(job=9, run=250),
    "submit unknown": row(job=10, submit=-1),
    "nothing known": row(job=11, run=-1, limit=-1),
    "large": row(job=12, requested=4, allocated=40),
}


def jobs(*names: str, **options):
    parser = _core.SwfParser(**options)
    assert parser.feed("\n".join(RECORDS[name] for name in names or RECORDS).encode())
    assert parser.finish()
    return parser, parser.take()


def test_pwa():
    parser, kept = jobs()
    assert kept["id"].tolist() == [1, 3, 7, 8, 9, 12]
    assert kept["runtime"].tolist() == [100, 100, 10, 100, 250, 100]
    assert kept["limit"].tolist() == [200, 200, 200, 100, 200, 200]
    assert parser.dropped == {
        "submit time unknown": 1,
        "processors unknown": 1,
        "cancelled before it started": 1,
        "run time 0 or unknown": 3,
    }
    assert parser.filled == {"processors: the other of requested and allocated": 1, "limit: run time": 1}
    assert parser.records == parser.kept + sum(parser.dropped.values())


def test_strict():
    parser, kept = jobs(clean="strict", max_procs=32)
    assert kept["id"].tolist() == [1, 3, 7, 9]
    assert kept["runtime"].tolist() == [100, 100, 10, 200]  # at most the requested time
    assert parser.dropped == {
        "submit time unknown": 1,
        "processors unknown": 1,
        "larger than the machine": 1,
        "cancelled before it started": 1,
        "run time 0 or unknown": 3,
        "requested time 0 or unknown": 1,
    }
    assert parser.filled == {
        "processors: the other of requested and allocated": 1,
        "run time: cut to the requested time": 1,
    }
    assert jobs("large", clean="strict")[0].kept == 1  # machine size unknown: not checked
    assert jobs("large", clean="strict", max_procs=40)[0].kept == 1


def test_none():
    parser, kept = jobs(clean="none")
    assert kept["id"].tolist() == [1, 3, 4, 5, 6, 7, 8, 9, 11, 12]
    assert kept["runtime"].tolist() == [100, 100, 0, 0, 0, 10, 100, 250, 0, 100]
    assert kept["limit"].tolist() == [200, 200, 200, 200, 200, 200, 100, 200, 0, 200]
    assert parser.dropped == {"submit time unknown": 1, "processors unknown": 1}
    assert parser.filled == {
        "processors: the other of requested and allocated": 1,
        "limit: run time": 1,
        "limit: 0, run time unknown too": 1,
        "run time: unknown counts as 0": 3,
    }


def test_cancelled_jobs_leave_when_they_were_cancelled():
    _, kept = jobs("cancelled", "cancelled running", "good", clean="none")
    assert kept["cancel"].tolist() == [100, math.inf, math.inf]  # 60 + 40
    parser = _core.SwfParser(clean="none")
    parser.feed(row(run=0, status=5, wait=-1, submit=60).encode())
    parser.finish()
    assert parser.take()["cancel"].tolist() == [60]  # when it was cancelled is unknown: at once


def test_processors():
    both = {"requested": [4, 8], "allocated": [40, 8]}
    for procs, expected in both.items():
        parser = _core.SwfParser(procs=procs)
        parser.feed((RECORDS["large"] + "\n" + row(job=1, requested=8, allocated=-1)).encode())
        parser.finish()
        assert parser.take()["count"].tolist() == expected
    assert parser.filled == {"processors: the other of requested and allocated": 1}


@pytest.mark.parametrize("clean", ["pwa", "none"])
def test_missing_limit(clean):
    parser, kept = jobs("good", "no request", clean=clean, missing_limit=3600)
    assert kept["limit"].tolist() == [200, 3600]
    assert parser.filled == {"limit: given number": 1}


def test_think_time():
    parser = _core.SwfParser()
    parser.feed("\n".join([row(job=1, after=7, think=30), row(job=2, after=1)]).encode())
    parser.finish()
    kept = parser.take()
    assert (kept["after"].tolist(), kept["think"].tolist()) == ([7, 1], [30, 0])


def test_memory_is_kilobytes_per_processor():
    parser = _core.SwfParser()
    parser.feed("\n".join([row(job=1, memory=2048), row(job=2), row(job=3, memory=0.5)]).encode())
    parser.finish()
    assert parser.take()["memory"].tolist() == [2 * 1024 * 1024, 0, 512]
