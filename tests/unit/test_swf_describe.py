"""Descriptions of logs, with numbers computed by hand."""

import json
from datetime import UTC, datetime

import numpy as np
import pytest
from tests.swf_files import log, row

from schedlab.model.request import Request
from schedlab.model.workload import Workload
from schedlab.workload.describe import describe
from schedlab.workload.describe_table import duration
from schedlab.workload.tally import Tally

LINES = [
    "; Computer: Testbed\n; MaxProcs: 10\n; UnixStartTime: 1000",
    row(job=1, submit=0, run=100, requested=1, allocated=1, limit=200, user=1, queue=1, wait=0),
    row(job=2, submit=100, run=50, requested=4, allocated=4, limit=50, user=1, wait=10),
    row(job=3, submit=100, run=300, requested=3, allocated=3, limit=100, user=2, wait=-1),
    row(job=4, submit=400, run=40, requested=8, allocated=8, limit=-1, user=2, wait=50),
    row(job=5, submit=300, run=0, user=3),
]


def test_a_log(tmp_path):
    found = describe(log(tmp_path / "log.swf", *LINES))
    assert (found.records, found.jobs, found.dropped) == (5, 4, {"run time 0 or unknown": 1})
    assert (found.first_submit, found.last_submit, found.span) == (0, 400, 400)
    assert found.first_date == datetime(1970, 1, 1, 0, 16, 40, tzinfo=UTC)
    assert (found.processors, found.processors_from) == (10, "MaxProcs of the header")
    assert found.work == 100 + 200 + 900 + 320
    assert found.offered_load == 1520 / (10 * 400)
    assert (found.sizes.mean, found.sizes.min, found.sizes.max) == (4, 1, 8)
    assert found.sizes.quantiles["median"] == 3.5  # between 3 and 4
    assert (found.serial, found.power_of_two) == (0.25, 0.75)
    assert (found.runtimes.mean, found.runtimes.quantiles["median"]) == (122.5, 75)
    # Jobs 1, 2 and 3 have requests; that of job 4 is its run time. Among stand-ins the exact request of job 2 is not
    # to be told from them, so it is missing in the spread of limits, but it is counted as accurate.
    assert (found.limits.count, found.limits.min, found.limits.max) == (2, 100, 200)
    assert (found.accuracy.count, found.accuracy.min, found.accuracy.max) == (3, 0.5, 3)
    assert found.accuracy.mean == pytest.approx((0.5 + 1 + 3) / 3)
    assert (found.at_limit, found.over_limit) == (1 / 3, 1 / 3)
    assert (found.waits.count, found.waits.mean) == (3, 20)
    assert (found.interarrivals.count, found.interarrivals.mean) == (3, 400 / 3)
    assert (found.users, found.queues, found.groups, found.busiest_user) == (2, 1, 0, 0.5)
    assert found.out_of_order == 1
    assert found.unknown["requested time"] == 0.2
    assert found.unknown["queue"] == 0.8


def test_rows_and_json(tmp_path):
    found = describe(log(tmp_path / "log.swf", *LINES))
    table = {(section, name): value for section, name, value in found.table()}
    assert table["log", "computer"] == "Testbed"
    assert table["log", "jobs"] == "4 (80 %)"
    assert table["log", "dropped"] == "1 run time 0 or unknown"
    assert table["time", "first submit"] == "0 s = 1970-01-01 00:16:40 UTC"
    assert table["time", "span"] == "6.67 min"
    assert table["load", "offered load"] == "0.380"
    assert table["estimates", "exact"] == "33.3 %"
    assert table["who and where", "users"] == "2, the busiest has 50 % of the jobs"
    assert table["who and where", "groups"] == "unknown"
    assert table["unknown fields", "requested time"] == "20 % of the records"
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["span"] == 400
    assert plain["first_date"] == "1970-01-01T00:16:40+00:00"
    assert plain["sizes"]["median"] == 3.5


def test_a_workload_and_options(tmp_path):
    found = describe(Workload.of(submit=[0.0, 10.0], runtime=[5.0, 5.0], limit=[10.0, 10.0], count=[2, 6]))
    assert (found.processors, found.processors_from) == (6, "the largest job: the log does not say")
    assert (found.accuracy.mean, found.at_limit, found.unknown, found.waits) == (0.5, 0, {}, None)
    path = log(tmp_path / "log.swf", *LINES)
    assert describe(path, processors=40).offered_load == 1520 / (40 * 400)
    assert describe(path, clean="none").jobs == 5
    assert describe(path, clean="strict", max_procs=10).jobs == 3


def test_one_job_has_no_load(tmp_path):
    found = describe(log(tmp_path / "log.swf", row(limit=-1)))
    assert (found.span, found.offered_load, found.interarrivals, found.limits, found.accuracy) == (
        0,
        None,
        None,
        None,
        None,
    )
    table = {(section, name): value for section, name, value in found.table()}
    assert table["load", "offered load"] == "unknown: say how large the machine is"
    assert table["estimates", "requested time"] == "unknown"


def test_sizes_are_cores_not_chunks(tmp_path):
    """Two chunks of eight cores for 100 s: 16 processors, 1,600 processor seconds."""
    jobs = Workload.of(submit=[0, 100], runtime=[100, 100], count=[2, 2], requests=[Request({"cores": 8})])
    found = describe(jobs, processors=32)
    assert (found.sizes.max, found.serial, found.work, found.offered_load) == (16, 0, 3200, 1.0)


def test_streaming_gives_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr("schedlab.workload.swf.read.CHUNK", 50)
    monkeypatch.setattr("schedlab.files.bytestream.PIECE", 1000)
    path = log(
        tmp_path / "log.swf", *(row(job=n, submit=n * n % 7 + n * 5, run=n % 13, user=n % 3) for n in range(1000))
    )
    assert describe(path, window=100).to_dict() == describe(path, in_memory=True).to_dict()


def test_tally_is_numpy_in_pieces():
    values = np.random.default_rng(5).integers(0, 50, 1001)
    tally = Tally()
    for piece in np.array_split(values, 7):
        tally.add(piece)
    spread = tally.spread()
    assert (spread.count, spread.mean) == (1001, values.mean())
    for name, share in {"p5": 0.05, "p25": 0.25, "median": 0.5, "p95": 0.95, "p99": 0.99}.items():
        assert spread.quantiles[name] == np.quantile(values, share)
    assert Tally().spread() is None


def test_tally_stays_small(monkeypatch):
    monkeypatch.setattr("schedlab.workload.tally.MOST_VALUES", 50_000)
    values = 10 ** np.random.default_rng(6).uniform(-3, 6, 400_000)
    tally = Tally()
    for piece in np.array_split(values, 20):
        tally.add(piece)
    assert not tally.exact
    assert len(tally.values) < 90_000
    spread = tally.spread()
    assert spread.mean == pytest.approx(values.mean())
    for name, share in {"p5": 0.05, "median": 0.5, "p99": 0.99}.items():
        assert spread.quantiles[name] == pytest.approx(np.quantile(values, share), rel=1e-3)
    tally.add(np.array([0.0, np.nan, np.inf]))
    assert (len(tally), tally.spread().min) == (400_001, 0)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (0.25, "0.25 s"), (119, "119 s"), (150, "2.5 min"), (7200, "2 h"), (172800, "2 d"), (1e9, "11,574 d")],
)
def test_duration(seconds, text):
    assert duration(seconds) == text
