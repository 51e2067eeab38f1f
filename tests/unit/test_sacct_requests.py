"""What jobs of accounting dumps ask for: cores, nodes, memory, GPUs, features, and what only Slurm understands."""

import pytest
from tests.sacct_rows import HEADER, job, reader, row

from schedlab.model.request import SINGLE_CORE, Request

MIB = 2**20


@pytest.fixture
def read(tmp_path):
    return reader(tmp_path)


REQUEST_HEADER = f"{HEADER}|NCPUS|NNodes|ReqMem|ReqTRES|AllocTRES|Constraints|Partition"


def asked(read, ncpus="", nodes="", reqmem="", tres="", allocated="", features="", cpus="", **options):
    """The number of chunks, the request, and what was filled in."""
    fields = [row(cpus=cpus), ncpus, nodes, reqmem, tres, allocated, features, "gpu"]
    workload = read(REQUEST_HEADER, "|".join(fields), **options)
    return job(workload)["count"], workload.requests[job(workload)["request"]], workload.report.filled


def test_requests_of_cores(read):
    assert asked(read, cpus="8") == (8, SINGLE_CORE, {})
    assert asked(read, cpus="1", nodes="1") == (1, SINGLE_CORE, {})
    assert asked(read, cpus="8", nodes="1") == (1, Request({"cores": 8}), {})
    assert asked(read, cpus="8", nodes="2") == (2, Request({"cores": 4}, per_node_max=1), {})
    rounded = {"cores: rounded up to whole equal shares": 1}
    assert asked(read, cpus="9", nodes="2") == (2, Request({"cores": 5}, per_node_max=1), rounded)


def test_requested_or_allocated(read):
    both = {"cpus": "1", "ncpus": "2", "tres": "cpu=1,node=1", "allocated": "cpu=2,node=1"}
    assert asked(read, **both)[1] == SINGLE_CORE
    assert asked(read, **both, procs="allocated")[1] == Request({"cores": 2})
    other = {"processors: the other of requested and allocated": 1}
    assert asked(read, ncpus="3") == (3, SINGLE_CORE, other)
    assert asked(read, cpus="3", procs="allocated") == (3, SINGLE_CORE, other)
    assert asked(read, cpus="3", tres="cpu=4,node=1")[1] == Request({"cores": 4})


def test_a_job_may_get_more_nodes_than_the_least_it_asked_for(read):
    found = asked(read, tres="cpu=64,node=1", allocated="cpu=64,node=2")
    assert found == (2, Request({"cores": 32}, per_node_max=1), {})


def test_requests_of_gpus(read):
    tres = "billing=8,cpu=8,gres/gpu=4,gres/gpu:v100=4,node=2"
    typed = Request({"cores": 4, "gpus": 2, "gpu:v100": 2}, per_node_max=1)
    assert asked(read, tres=tres) == (2, typed, {})
    count, request, filled = asked(read, tres="cpu=8,gres/gpu=3,node=2")
    assert (count, request.chunk["gpus"], filled) == (2, 2, {"gpus: rounded up to whole equal shares": 1})
    count, request, filled = asked(read, tres="cpu=8,gres/gpu=3")
    assert (count, request) == (1, Request({"cores": 8, "gpus": 3}))
    assert list(filled.values()) == [1]
    # A whole node brings GPUs that nobody asked for.
    assert "gpus" not in asked(read, tres="cpu=8,node=1", allocated="cpu=8,gres/gpu=4,node=1")[1].chunk


@pytest.mark.parametrize(
    ("settings", "count", "memory"),
    [
        ({"tres": "cpu=8,mem=4000M,node=2"}, 2, 2000),
        ({"cpus": "8", "nodes": "2", "reqmem": "2800Mc"}, 2, 4 * 2800),
        ({"cpus": "8", "nodes": "2", "reqmem": "4000Mn"}, 2, 4000),
        ({"cpus": "8", "nodes": "2", "reqmem": "500G"}, 2, 256_000),
        ({"cpus": "8", "reqmem": "500M"}, 8, 62.5),
        ({"cpus": "8", "reqmem": "100Mc"}, 8, 100),
        ({"cpus": "8", "reqmem": "4000Mn"}, 1, 4000),
    ],
)
def test_requests_of_memory(read, settings, count, memory):
    found, request, _ = asked(read, **settings, requests="full")
    assert (found, request.chunk["memory"], request.partition) == (count, memory * MIB, "gpu")
    plain = asked(read, **settings)[1]
    assert "memory" not in plain.chunk
    assert plain.partition is None


def test_all_the_memory_of_a_node_cannot_be_told(read):
    _, request, filled = asked(read, cpus="8", nodes="1", reqmem="0", requests="full")
    assert "memory" not in request.chunk
    assert filled == {"memory: none, it is unknown or all of a node": 1}


def test_constraints(read):
    assert asked(read, cpus="1", features="a&b")[1] == Request(features=frozenset("ab"))
    count, request, filled = asked(read, cpus="1", features="[a*2]")
    assert (count, request) == (1, Request(sbatch=(("constraint", "[a*2]"),)))
    assert filled == {}


def test_what_only_slurm_understands_is_kept_for_it(read):
    header = f"{HEADER}|Partition|Licenses|SubmitLine|ReqTRES|ReqMem|Constraints"
    line = "sbatch --exclusive --nice=50 -w n7 -L ansys run.sh"
    workload = read(
        header,
        f"{row('1')}|cpu|matlab:2||cpu=4,mem=8G,node=1,gres/nvme=2|2Gc|a|b",
        f"{row('2')}|cpu,gpu||{line}|cpu=4,mem=8G,node=1|8G|a&b",
        f"{row('3')}|cpu|||cpu=4,gres/gpu:a100=2,gres/gpu=2,license/x=3,node=2||",
        requests="full",
    )
    asked = [workload.requests[place] for place in workload.jobs["request"].to_list()]
    assert [dict(request.sbatch) for request in asked] == [
        {"constraint": "a|b", "licenses": "matlab:2", "mem-per-cpu": "2048M"},
        {"exclusive": "", "licenses": "ansys", "nice": "50", "nodelist": "n7", "partition": "cpu,gpu"},
        {"licenses": "x:3"},
    ]
    assert [request.exclusive for request in asked] == [False, True, False]
    assert asked[0].chunk == {"cores": 4, "memory": 8 << 30, "nvme": 2}
    assert asked[2].chunk == {"cores": 2, "gpus": 1, "gpu:a100": 1}
    assert workload.report.for_slurm == {
        "licences: not used": 3,
        "constraints with alternatives or counts: not used": 1,
        "lists of partitions: not used": 1,
        "option --nice: not used": 1,
        "option --nodelist: not used": 1,
    }


@pytest.mark.parametrize(
    ("option", "exclusive", "noted"),
    [
        ("--exclusive", True, {}),
        ("--exclusive=user", True, {"--exclusive=user: nodes of its own": 1}),
        ("--exclusive=topo", True, {"--exclusive=topo: nodes of its own": 1}),
        ("--exclusive=odd", False, {"option --exclusive: not used": 1}),
    ],
)
def test_whole_nodes(read, option, exclusive, noted):
    """As for a line of an event file."""
    workload = read(f"{HEADER}|SubmitLine", f"{row()}|sbatch {option} run.sh")
    assert workload.requests[job(workload)["request"]].exclusive is exclusive
    assert workload.report.for_slurm == noted
