"""Logs and machine files of Alea and AleaNG."""

import gzip

import pytest

from schedlab.cluster import alea as machines
from schedlab.engine.simulate import simulate
from schedlab.model.cluster import Cluster, NodeGroup, Partition
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.request import Request
from schedlab.workload.alea.read import looks_like, read_alea
from schedlab.workload.alea.requests import wish
from schedlab.workload.options import ReadOptions

ROW = "{job} {submit} 5 100 {procs} 1 1024 {procs} 200 {memory} 1 3 1 1 {queue} 1 1 1 {extra}\n"


def log(path, *rows):
    usual = {"submit": 0, "procs": 1, "memory": 2048, "queue": -1}
    path.write_text("".join(ROW.format(**{**usual, "job": job, **row}) for job, row in enumerate(rows)))
    return path


def found(path, **options):
    workload = read_alea(path, ReadOptions(**options))
    (jobs,) = workload.batches()
    asked = [(int(count), workload.requests[place]) for count, place in zip(jobs.count, jobs.request, strict=True)]
    return workload, jobs, asked


@pytest.mark.parametrize(
    ("text", "processors", "count", "request_"),
    [
        ("1:ppn=8", 8, 1, Request({"cores": 8})),
        ("2:ppn=4", 8, 2, Request({"cores": 4}, per_node_max=1)),
        ("8:ppn=8:x86_64:cl_zegox", 64, 8, Request({"cores": 8}, per_node_max=1, features=frozenset({"cl_zegox"}))),
        ("1:ppn=64:cl_zewura#excl", 64, 1, Request({"cores": 64}, features=frozenset({"cl_zewura"}), exclusive=True)),
        ("2", 6, 2, Request({"cores": 3}, per_node_max=1)),
        ("1:ppn=1.5:brno", 1, 1, Request({"cores": 1})),
        ("zewura19.cerit-sc.cz:ppn=12:brno", 12, 1, Request({"cores": 12})),
        ("1:zewura15.cerit-sc.cz:ppn=12", 12, 1, Request({"cores": 12})),
        ("1:ppn=1+2:ppn=2", 5, 5, Request({"cores": 1}, per_node_max=2)),
        ("4:ppn=12", 12, 12, Request({"cores": 1})),  # says 48: the log's own number counts
    ],
)
def test_node_specifications(text, processors, count, request_):
    one = wish(("{1,1}", "q", text), processors, 0)
    assert (one.count, one.request, one.queue) == (count, request_, "q")


@pytest.mark.parametrize(
    ("gpus", "text", "processors", "count", "request_"),
    [
        ("0", "all", 4, 4, Request({"cores": 1}, per_node_max=1)),
        ("8", "normal", 4, 4, Request({"cores": 1, "gpus": 2}, per_node_max=1, features=frozenset({"normal"}))),
        ("5", "all", 4, 4, Request({"cores": 1, "gpus": 2}, per_node_max=1)),
        ("1", "all", 1, 1, Request({"cores": 1, "gpus": 1})),
        ("0", "fast:2x8", 16, 2, Request({"cores": 8}, per_node_max=1, features=frozenset({"fast"}))),
    ],
)
def test_wishes_of_aleang(gpus, text, processors, count, request_):
    one = wish((gpus, "60", text), processors, 0)
    assert (one.count, one.request, one.queue) == (count, request_, "")


def test_a_log_of_alea(tmp_path):
    path = log(
        tmp_path / "log.swf",
        {"procs": 2, "extra": "{7,7} q_1d 1:ppn=2:brno"},
        {"procs": 4, "submit": 3, "extra": "{7,8} q_2h 2:ppn=2:^zewura12.cerit-sc.cz:mem=2gb"},
        {"procs": 3, "submit": 4, "extra": "{7} q_1d 1:ppn=1+1:ppn=2"},
    )
    workload, jobs, asked = found(path, requests="full")
    assert asked == [
        (1, Request({"cores": 2, "memory": 2048})),  # bytes a node
        (2, Request({"cores": 2, "memory": 2048}, per_node_max=1)),
        (3, Request({"cores": 1, "memory": 1024}, per_node_max=2)),
    ]
    assert [workload.labels["queue"][number] for number in jobs.queue] == ["q_1d", "q_2h", "q_1d"]
    assert jobs.predecessors is None
    assert workload.report.filled == {
        "node specification: properties other than a cluster left out": 1,
        "node specification: names of nodes left out": 1,
        "node specification: mem=… and the like left out": 1,
        "node specification: several parts, single cores instead": 1,
        "preceding job: Alea does not use it, left out": 3,
    }


def test_a_log_of_aleang_with_files_beside(tmp_path):
    path = log(tmp_path / "log.swf", {"procs": 2, "queue": 1, "extra": "4 60 normal"})
    (tmp_path / "log.swf.queues").write_text("; id name\n0\tfirst\t100\n1\tsecond\t96\n")
    with gzip.open(tmp_path / "log.swf.users.gz", "wt") as file:
        file.write("0 a\n1 b\n2 c\n3 dora 1 64\n")
    workload, jobs, asked = found(path, requests="full")
    wanted = Request({"cores": 1, "gpus": 2, "memory": 2048 * 1024}, per_node_max=1, features=frozenset({"normal"}))
    assert asked == [(2, wanted)]
    assert workload.labels["queue"][jobs.queue[0]] == "second"
    assert workload.labels["user"][jobs.user[0]] == "dora"
    (tmp_path / "log.swf.groups").write_text("; id name\n1 later\n")
    with pytest.raises(InputError, match=r'log.swf.groups, line 2: "1 later" is not id 0 and its name'):
        read_alea(path, ReadOptions())


def test_rows_of_plain_swf(tmp_path):
    path = log(tmp_path / "log.swf", {"procs": 2, "extra": ""})
    workload, _, asked = found(path)
    assert asked == [(2, Request())]
    assert workload.report.filled["node specification: none, processors go anywhere"] == 1


def test_mistakes_are_those_of_swf(tmp_path):
    path = log(tmp_path / "log.swf", {"extra": "{1} q 1:ppn=1"}, {"procs": "x", "extra": "{1} q 1:ppn=1"})
    with pytest.raises(InputError, match=r"log.swf, line 2: .*\"x\""):
        read_alea(path, ReadOptions())
    assert read_alea(path, ReadOptions(bad_rows="drop")).report.dropped == {"bad row": 1}


def test_names_as_job_ids(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(
        ROW.format(job=1, submit=0, procs=2, memory=1, queue=1, extra="{1} q 1:ppn=2")
        + ROW.format(job="b", submit=1, procs=4, memory=1, queue=1, extra="{1} q 2:ppn=2")
    )
    _, jobs, asked = found(path)
    assert jobs.names == ("1", "b")
    assert asked == [(1, Request({"cores": 2, "memory": 1})), (2, Request({"cores": 2, "memory": 1}, per_node_max=1))]


def test_looks_like():
    row = ROW.format(job=0, submit=0, procs=1, memory=1, queue=1, extra="{1} q 1:ppn=1")
    assert looks_like("; Version: 1\n" + row, "log.swf")
    assert not looks_like(row.rsplit(" ", 1)[0], "log.swf")
    assert not looks_like("", "log.swf")
    assert machines.looks_like("", "log.swf.machines")


MACHINES = "; id name\n0\tzewura\t20\t80\t1\t529426432\n1 cl_2 4 1 2 256 normal 4\n"


def test_machines(tmp_path):
    path = tmp_path / "log.swf.machines"
    path.write_text(MACHINES)
    cluster = machines.read_alea(path)
    zewura, second = cluster.groups
    assert (zewura.name, zewura.count) == ("zewura", 20)
    assert zewura.resources == {"cores": 80, "memory": 529426432 * 1024}
    assert zewura.features == frozenset({"cl_zewura"})
    assert zewura.node_names()[0] == "zewura1"
    assert second.resources == {"cores": 1, "memory": 256 * 2**30, "gpus": 4}  # small amounts are GB
    assert second.features == frozenset({"cl_2", "normal"})
    assert second.node_names()[0] == "cl_2-1"
    assert cluster.notes == ("cl_2: speed 2 is kept as a property, it does not change run times",)


def test_mistakes_in_machines(tmp_path):
    path = tmp_path / "log.machines"
    path.write_text("0 a 4 8 1\n1 b x 8 1 100\n2 c 4 8 1 100\n3 c 4 8 1 100\n")
    with pytest.raises(InputErrors) as error:
        machines.read_alea(path)
    assert [str(one).split("\n")[0] for one in error.value.errors] == [
        f"{path}, line 1: has 5 columns, expected 6 to 8",
        f'{path}, line 2: the number of nodes is "x", expected a whole number from 1 to 10,000,000',
        f'{path}, line 4: there is a cluster "c" above',
    ]
    path.write_text("; nothing\n")
    with pytest.raises(InputError, match="describes no machines"):
        machines.read_alea(path)


def test_machines_are_written_and_read_back(tmp_path):
    path = tmp_path / "log.machines"
    groups = (
        NodeGroup("a", 4, {"cores": 8, "memory": 2**34, "gpus": 0}, prefix="a", features=frozenset({"cl_a"})),
        NodeGroup("b", 2, {"cores": 4, "memory": 2**30, "gpus": 2}, prefix="b", features=frozenset({"cl_b", "x"})),
    )
    assert machines.write_alea(path, Cluster(groups)) == []
    assert machines.read_alea(path).groups == groups
    plain = NodeGroup("c", 2, {"cores": 4, "memory": 2**34 + 5, "disk": 5}, features=frozenset({"x", "y"}), speed=1e9)
    lost = machines.write_alea(path, Cluster((plain,), (Partition("p", ("c",), True),)))
    assert lost == [
        "features y of c: a line has room for one",
        "disk of c: the format knows cores, memory and GPUs",
        "memory of c: rounded down to kB",
        "speed of c: written as 1",
        "partitions: the format has no place for them",
    ]


def test_cerit(traces):
    with pytest.raises(InputError, match=r'line 4186: .* is "-1359980917"'):
        read_alea(traces / "CERIT-SC-2013-wagap.swf.gz", ReadOptions())
    workload = read_alea(traces / "CERIT-SC-2013-wagap.swf.gz", ReadOptions(bad_rows="drop"))
    report = workload.report
    assert (report.records, report.kept) == (17_900, 17_898)
    assert report.filled["node specification: several parts, single cores instead"] == 12
    assert report.filled["node specification: not the job's processors, these count"] == 20  # ppn=1.5
    assert len(workload.labels["queue"]) == 11
    (jobs,) = workload.batches()
    exclusive = sum(workload.requests[place].exclusive for place in jobs.request)
    assert exclusive == 231
    cluster = machines.read_alea(traces / "CERIT-SC-2013-wagap.machines")
    assert (cluster.nodes, cluster.cores) == (68, 2176)
    run = simulate(workload, cluster, requests="cores")
    assert "rejected" not in set(run.jobs["state"])


@pytest.mark.parametrize(("load", "jobs_"), [(50, 1943), (75, 2830), (100, 4014)])
def test_aleang(traces, load, jobs_):
    path = traces / "results" / "aleang" / f"Example1-load{load}.swf.gz"
    workload = read_alea(path, ReadOptions())
    assert workload.report.kept == jobs_
    assert workload.labels == {
        "queue": ["priority_queue", "default_queue"],
        "user": ["urgent_large_user", "urgent_tiny_user", "normal_large_user", "normal_small_user"],
        "group": ["priority_group", "normal_group"],
    }
    assert str(workload.origin) == "2025-01-01 00:00:00+00:00"
    cluster = machines.read_alea(path.with_name(f"Example1-load{load}.swf.machines.gz"))
    assert (cluster.nodes, cluster.total("gpus")) == (68, 272)
    assert set(simulate(workload, cluster).jobs["state"]) == {"completed"}
