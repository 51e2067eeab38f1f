"""The judge: a run written by hand passes, and each kind of corruption is found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import schedlab
from schedlab.engine.check import check
from schedlab.model.cluster import Cluster, NodeGroup, Partition
from schedlab.model.errors import InputError
from schedlab.model.request import SINGLE_CORE, Request

Row = dict[str, Any]
Change = Callable[[dict[int, Row]], None]

CLUSTER = Cluster(
    (
        NodeGroup("thin", 2, {"cores": 4, "memory": 8}),
        NodeGroup("fat", 1, {"cores": 4, "gpus": 2}, prefix="g", features=frozenset({"big"})),
    ),
    (Partition("usual", ("thin", "fat"), default=True), Partition("gpu", ("fat",))),
)
REQUESTS = [
    SINGLE_CORE,
    Request({"cores": 1, "gpus": 1}, features=frozenset({"big"}), partition="gpu"),
    Request(exclusive=True),
    Request(per_node_min=2, per_node_max=2),
]


def job(number: int, submit: float, count: int, runtime: float, **columns: Any) -> Row:
    """A job that starts when it is submitted and runs to its end, unless `columns` say otherwise."""
    eligible = columns.get("eligible", submit)
    start = columns.get("start", eligible)
    end = None if start is None else start + runtime
    rest = {"state": "completed", "request": 0, "limit": runtime, "nodes": None, "after": None, "think": 0.0}
    times = {"submit": submit, "eligible": eligible, "start": start, "end": end, "runtime": runtime}
    return {"job": number, "sequence": number - 1, "count": count, "cores": count, **times, **rest, **columns}


def good_jobs() -> dict[int, Row]:
    jobs = [
        job(1, 0.0, 6, 10.0, nodes="n1*4,n2*2"),
        job(2, 0.0, 2, 9.0, limit=5.0, end=5.0, state="killed", request=1, nodes="g1*2"),
        job(3, 1.0, 1, 8.0, after=1, think=2.0, eligible=12.0, request=2, nodes="n1"),
        job(4, 2.0, 12, 5.0, start=None, end=7.0, state="cancelled"),
        job(5, 3.0, 99, 5.0, eligible=None, start=None, end=3.0, state="rejected"),
        job(6, 4.0, 2, 4.0, request=3, nodes="n2*2"),
        job(7, 12.0, 4, 0.0, nodes="n2*4"),
    ]
    return {row["job"]: row for row in jobs}


# Job 3 is held until 12, so it never queues; job 7 has no length.
TIMELINE = {
    "time": [0.0, 2.0, 4.0, 5.0, 7.0, 8.0, 10.0, 12.0, 20.0],
    "running": [2, 2, 3, 2, 2, 1, 0, 1, 0],
    "queued": [0, 1, 1, 1, 0, 0, 0, 0, 0],
    "used_cores": [8, 8, 10, 8, 8, 6, 0, 1, 0],
    "queued_cores": [0, 12, 12, 12, 0, 0, 0, 0, 0],
}


def write(
    folder: Path,
    jobs: list[Row],
    timeline: dict[str, list[Any]] = TIMELINE,
    cluster: Cluster = CLUSTER,
    policy: str = "easy",
    kept: int | None = 7,
) -> Path:
    folder.mkdir()
    nodes = pa.array([row["nodes"] for row in jobs], pa.string())
    columns = {name: [row[name] for row in jobs] for name in jobs[0] if name != "nodes"}
    pq.write_table(pa.table({**columns, "nodes": nodes}), folder / "jobs.parquet")
    pq.write_table(pa.table(timeline), folder / "timeline.parquet")
    names = ("jobs.parquet", "timeline.parquet")
    description = {
        "policy": policy,
        "options": {"estimate": "limit", "overrun": "kill", "passes": "instant", "dependencies": "follow"},
        "cluster": cluster.to_dict(),
        "workload": {"report": {"kept": kept}},
        "requests": [request.to_dict() for request in REQUESTS],
        "files": {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names},
    }
    (folder / "run.json").write_text(json.dumps(description))
    return folder


def kinds(folder: Path) -> set[str]:
    return {offence.kind for offence in check(folder)}


def test_a_good_run_passes(tmp_path: Path) -> None:
    assert check(write(tmp_path / "run", list(good_jobs().values()))) == []


def set_(number: int, **columns: Any) -> Change:
    return lambda jobs: jobs[number].update(columns)


@pytest.mark.parametrize(
    ("change", "kind", "number"),
    [
        pytest.param(set_(1, start=-1.0, end=9.0), "start too early", 1, id="before submission"),
        pytest.param(set_(3, start=11.0, end=19.0), "start too early", 3, id="before eligible"),
        pytest.param(set_(6, eligible=3.0), "start too early", 6, id="eligible before submission"),
        pytest.param(set_(6, eligible=None), "start too early", 6, id="never eligible"),
        pytest.param(set_(3, eligible=11.0), "dependency", 3, id="dependency"),
        pytest.param(set_(6, eligible=4.5, start=4.5, end=8.5), "eligible too late", 6, id="eligible late"),
        pytest.param(set_(1, end=11.0), "wrong end", 1, id="end"),
        pytest.param(set_(5, end=4.0), "wrong end", 5, id="rejected late"),
        pytest.param(set_(4, end=1.0), "wrong end", 4, id="left before it came"),
        pytest.param(set_(2, end=4.0), "wrong end", 2, id="killed before the limit"),
        pytest.param(set_(1, state="killed"), "killed", 1, id="killed within the limit"),
        pytest.param(set_(2, state="completed", end=9.0), "not killed", 2, id="ran past the limit"),
        pytest.param(set_(4, start=3.0), "state", 4, id="cancelled but started"),
        pytest.param(set_(1, start=None), "state", 1, id="ran without a start"),
        pytest.param(set_(1, state="lost"), "state", 1, id="unknown state"),
        pytest.param(set_(4, nodes="n1"), "nodes", 4, id="cancelled but on a node"),
        pytest.param(set_(1, nodes=None), "nodes", 1, id="ran nowhere"),
        pytest.param(set_(1, nodes="n1*4,n9*2"), "nodes", 1, id="unknown node"),
        pytest.param(set_(1, nodes="n1*4,n1*2"), "nodes", 1, id="node twice"),
        pytest.param(set_(1, nodes="n[1"), "nodes", 1, id="not a node set"),
        pytest.param(set_(1, nodes="n[1-,2]"), "nodes", 1, id="not a range"),
        pytest.param(set_(1, nodes="n[1-999999999]*6"), "nodes", 1, id="endless range"),
        pytest.param(set_(1, nodes="n1*6,n2*0"), "nodes", 1, id="no chunks"),
        pytest.param(set_(1, nodes=""), "nodes", 1, id="empty node set"),
        pytest.param(set_(6, nodes="n1*2"), "over-full", 6, id="cores"),
        pytest.param(set_(7, submit=9.0, eligible=9.0, start=9.0, end=9.0), "over-full", 7, id="no length, no room"),
        pytest.param(set_(2, count=3, cores=3, nodes="g1*3"), "over-full", 2, id="gpus"),
        pytest.param(set_(6, nodes="n2"), "size", 6, id="chunks missing"),
        pytest.param(set_(6, cores=3), "size", 6, id="cores of the job"),
        pytest.param(set_(6, count=3, cores=3, nodes="g1*3"), "size", 6, id="too many chunks on a node"),
        pytest.param(set_(6, nodes="g1,n2"), "size", 6, id="too few chunks on a node"),
        pytest.param(set_(2, nodes="n2*2"), "unsuitable node", 2, id="feature"),
        pytest.param(set_(2, request=0, nodes="g1*2"), "", 0, id="allowed by default"),
        pytest.param(set_(6, start=13.0, end=17.0, nodes="n1*2"), "not exclusive", 6, id="exclusive"),
        pytest.param(set_(6, request=9), "request", 6, id="unknown request"),
        pytest.param(set_(6, sequence=4), "missing job", None, id="position missing"),
        pytest.param(set_(6, sequence=4), "duplicate job", 6, id="position twice"),
        pytest.param(set_(6, job=5), "duplicate job", 5, id="id twice"),
        pytest.param(lambda jobs: jobs.pop(7), "missing job", None, id="row missing"),
        pytest.param(lambda jobs: jobs.pop(3), "missing job", None, id="row missing inside"),
        pytest.param(lambda jobs: jobs.update({8: jobs[1]}), "duplicate job", 1, id="row twice"),
    ],
)
def test_corruption(tmp_path: Path, change: Change, kind: str, number: int | None) -> None:
    jobs = good_jobs()
    change(jobs)
    offences = check(write(tmp_path / "run", list(jobs.values())))
    if kind:
        assert (kind, number) in {(offence.kind, offence.job) for offence in offences}
    else:
        assert offences == []


def test_wrong_partition(tmp_path: Path) -> None:
    without = Cluster(CLUSTER.groups, (Partition("usual", ("thin",), default=True), Partition("gpu", ("thin",))))
    offences = check(write(tmp_path / "run", list(good_jobs().values()), cluster=without))
    assert [(offence.kind, offence.job) for offence in offences] == [("unsuitable node", 2)]
    assert offences[0].message == "nodes of group fat are not in partition gpu"


def test_every_job_is_alone_with_exclusive_nodes(tmp_path: Path) -> None:
    offences = check(write(tmp_path / "run", list(good_jobs().values()), policy="easy:nodes=exclusive"))
    assert [(offence.kind, offence.job, offence.time) for offence in offences] == [("not exclusive", 6, 4.0)]


def test_pool(tmp_path: Path) -> None:
    timeline = {"time": [0.0, 5.0, 9.0], "running": [2, 1, 0], "queued": [0, 0, 0]}
    timeline |= {"used_cores": [8, 4, 0], "queued_cores": [0, 0, 0]}
    jobs = [job(1, 0.0, 4, 5.0), job(2, 0.0, 4, 9.0)]
    assert check(write(tmp_path / "good", jobs, timeline, Cluster.of_cores(8), kept=2)) == []
    (offence,) = check(write(tmp_path / "bad", jobs, timeline, Cluster.of_cores(7), kept=2))
    assert (offence.kind, offence.job, offence.time) == ("over-full", 2, 0.0)
    assert str(offence) == "over-full: job 2 at 0: the pool would have to hold 8 cores, it has 7"


def test_jobs_that_end_make_room_for_those_that_start(tmp_path: Path) -> None:
    timeline = {"time": [0.0, 5.0, 9.0], "running": [1, 1, 0], "queued": [0, 0, 0]}
    timeline |= {"used_cores": [4, 4, 0], "queued_cores": [0, 0, 0]}
    jobs = [job(1, 0.0, 4, 5.0), job(2, 5.0, 4, 0.0), job(3, 5.0, 4, 4.0)]
    assert check(write(tmp_path / "run", jobs, timeline, Cluster.of_cores(4), kept=3)) == []


@pytest.mark.parametrize("name", ["running", "queued", "used_cores", "queued_cores"])
def test_lying_timeline(tmp_path: Path, name: str) -> None:
    timeline = {**TIMELINE, name: [value + (row == 3) for row, value in enumerate(TIMELINE[name])]}
    (offence,) = check(write(tmp_path / "run", list(good_jobs().values()), timeline))
    assert (offence.kind, offence.time) == ("timeline", 5.0)


def test_timeline_with_a_gap(tmp_path: Path) -> None:
    timeline = {name: values[:3] + values[4:] for name, values in TIMELINE.items()}
    assert kinds(write(tmp_path / "run", list(good_jobs().values()), timeline)) == {"timeline"}


def test_timeline_that_goes_back(tmp_path: Path) -> None:
    timeline = {name: values[::-1] for name, values in TIMELINE.items()}
    assert kinds(write(tmp_path / "run", list(good_jobs().values()), timeline)) == {"timeline"}


def test_tampered_files(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", list(good_jobs().values()))
    jobs = pq.read_table(folder / "jobs.parquet")
    pq.write_table(jobs, folder / "jobs.parquet", compression="gzip")
    assert kinds(folder) == {"file"}
    (folder / "jobs.parquet").write_bytes(b"junk")
    assert kinds(folder) == {"file"}
    (folder / "timeline.parquet").unlink()
    assert {offence.message for offence in check(folder) if "missing" in offence.message} == {
        "timeline.parquet is missing"
    }


def test_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run here"):
        check(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(InputError, match="cannot read the run"):
        check(tmp_path)


@pytest.mark.parametrize("key", ["cluster", "requests"])
def test_a_description_without_sense(tmp_path: Path, key: str) -> None:
    folder = write(tmp_path / "run", list(good_jobs().values()))
    description = json.loads((folder / "run.json").read_text())
    description[key] = {"no": "sense"}
    (folder / "run.json").write_text(json.dumps(description))
    with pytest.raises(InputError, match="cannot make sense of the run"):
        check(folder)


def test_many_offences_are_counted_and_some_listed(tmp_path: Path) -> None:
    jobs = [job(number, 0.0, 1, 5.0, end=6.0) for number in range(1, 31)]
    offences = check(write(tmp_path / "run", jobs, cluster=Cluster.of_cores(30), kept=30))
    wrong = [offence for offence in offences if offence.kind == "wrong end"]
    assert len(wrong) == 21
    assert (wrong[-1].job, wrong[-1].message) == (None, "30 in all")


def test_runs_of_the_engine(tmp_path: Path) -> None:
    jobs = schedlab.Workload.of(submit=[0, 1, 2, 3], runtime=[10, 10, 8, 100], count=[6, 8, 3, 1])
    run = schedlab.simulate(jobs, Cluster.uniform(5, cores=2), "easy")
    assert check(run) == []
    assert check(run.save(tmp_path / "saved")) == check(str(tmp_path / "saved")) == []
    assert check(schedlab.read_run(tmp_path / "saved")) == []
