"""Alibaba's GPU trace: pods and nodes."""

import pytest

from schedlab.cluster import alibaba as nodes
from schedlab.engine.simulate import simulate
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.request import Request
from schedlab.workload.options import ReadOptions
from schedlab.workload.table.alibaba import looks_like, read_alibaba, read_alibaba_shares

TITLES = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
)
PODS = """pod-0,12000,16384,1,1000,,LS,Running,0,100,10
pod-1,6100,12288,1,460,T4,BE,Failed,5,25,5
pod-2,1000,1024,0,0,,BE,Succeeded,6,9,7
pod-3,8000,2048,8,1000,A10|T4,LS,Succeeded,7,70,8
pod-4,1000,1024,1,500,,LS,Pending,8,60,
"""


@pytest.fixture
def pods(tmp_path):
    path = tmp_path / "pods.csv"
    path.write_text(TITLES + PODS)
    return path


def test_pods_with_whole_cores_and_gpus(pods):
    workload = read_alibaba(pods, ReadOptions(requests="cores"))
    (jobs,) = workload.batches()
    assert jobs.names == ("pod-0", "pod-1", "pod-2", "pod-3")
    assert jobs.submit.tolist() == [0, 5, 6, 7]
    assert jobs.wait.tolist() == [10, 0, 1, 1]
    assert jobs.runtime.tolist() == [90, 20, 2, 62]
    assert jobs.status.tolist() == [-1, 0, 1, 1]
    assert [workload.requests[place] for place in jobs.request] == [
        Request({"cores": 12, "gpus": 1}),
        Request({"cores": 7, "gpus": 1}, features=frozenset({"T4"})),
        Request({"cores": 1}),
        Request({"cores": 8, "gpus": 8}),
    ]
    assert [workload.labels["queue"][number] for number in jobs.queue] == ["LS", "BE", "BE", "LS"]
    assert workload.report.dropped == {"cancelled before it started": 1}
    assert workload.report.filled == {
        "limit: run time": 4,
        "cores: rounded up to whole ones": 1,
        "gpus: rounded up to whole ones": 1,
        "status: not in the lists, counts as unknown": 1,
        "features: alternatives cannot be asked for, left out": 1,
    }


def test_a_pod_that_never_ran_is_withdrawn(pods):
    (jobs,) = read_alibaba(pods, ReadOptions(clean="none")).batches()
    assert jobs.cancel.tolist()[-1] == 60


def test_exact_shares(pods):
    workload = read_alibaba_shares(pods, ReadOptions(requests="full"))
    (jobs,) = workload.batches()
    assert [workload.requests[place].chunk for place in jobs.request] == [
        {"cpu_milli": 12000, "gpu_milli": 1000, "memory": 16 * 2**30},
        {"cpu_milli": 6100, "gpu_milli": 460, "memory": 12 * 2**30},
        {"cpu_milli": 1000, "memory": 2**30},
        {"cpu_milli": 8000, "gpu_milli": 8000, "memory": 2 * 2**30},
    ]


def test_pods_without_times(tmp_path):
    path = tmp_path / "pods.csv"
    path.write_text("name,cpu_milli,memory_mib,num_gpu,gpu_milli\npod-0,1,2,3,4\n")
    with pytest.raises(InputError, match="a list of pods without times"):
        read_alibaba(path, ReadOptions())


NODES = """sn,cpu_milli,memory_mib,gpu,model
n-07,32000,262144,0,
n-08,32000,262144,0,
n-09,96500,1024,2,T4
n-11,96500,1024,2,T4
"""


def test_nodes(tmp_path):
    path = tmp_path / "nodes.csv"
    path.write_text(NODES)
    cluster = nodes.read_alibaba(path)
    assert cluster.node_names() == ["n-07", "n-08", "n-09", "n-11"]
    assert [(group.name, group.count) for group in cluster.groups] == [("n-07", 2), ("n-09", 1), ("n-11", 1)]
    assert cluster.groups[1].resources == {
        "cores": 96,
        "memory": 2**30,
        "gpus": 2,
        "cpu_milli": 96500,
        "gpu_milli": 2000,
    }
    assert cluster.groups[1].features == frozenset({"T4"})


def test_mistakes_in_nodes(tmp_path):
    path = tmp_path / "nodes.csv"
    path.write_text(NODES + "n-07,1,1,1,\nabc,1,1,1,\nn-20,x,1,1,\nn-21,1\n")
    with pytest.raises(InputErrors) as error:
        nodes.read_alibaba(path)
    assert [str(one) for one in error.value.errors] == [
        f'{path}, line 6: there is a node "n-07" above',
        f'{path}, line 7: sn is "abc", expected a name that ends in a number',
        f'{path}, line 8: cpu_milli is "x", expected a whole number',
        f'{path}, line 9: memory_mib is "", expected a whole number',
    ]
    path.write_text("sn,cpu\n")
    with pytest.raises(InputError, match="has no column cpu_milli, memory_mib, gpu, model"):
        nodes.read_alibaba(path)


@pytest.mark.parametrize(("name", "alternatives"), [("default", 0), ("gpuspec33", 378)])
def test_the_trace(traces, name, alternatives):
    path = traces / "gpu" / f"alibaba-gpu-v2023-openb_pod_list_{name}.csv.gz"
    report = read_alibaba(path, ReadOptions(clean="none")).report
    assert report.records == report.kept == 8152
    assert report.filled.get("features: alternatives cannot be asked for, left out", 0) == alternatives
    assert read_alibaba(path, ReadOptions()).report.kept == 8152 - 897  # never scheduled


@pytest.mark.parametrize(("name", "count"), [("all", 1523), ("gpu", 1213)])
def test_the_nodes_of_the_trace(traces, name, count):
    cluster = nodes.read_alibaba(traces / "gpu" / f"alibaba-gpu-v2023-openb_node_list_{name}_node.csv.gz")
    assert cluster.nodes == count
    assert cluster.total("gpus") == 6212
    assert cluster.node_names()[:2] == ["openb-node-0000", "openb-node-0001"]


def test_all_pods_fit_the_nodes(traces):
    cluster = nodes.read_alibaba(traces / "gpu" / "alibaba-gpu-v2023-openb_node_list_all_node.csv.gz")
    pods = traces / "gpu" / "alibaba-gpu-v2023-openb_pod_list_default.csv.gz"
    run = simulate(read_alibaba_shares(pods, ReadOptions(requests="full")), cluster)
    assert set(run.jobs["state"]) == {"completed"}


def test_looks_like():
    assert looks_like(TITLES + PODS, "pods.csv")
    assert not looks_like(NODES, "nodes.csv")
    assert nodes.looks_like(NODES, "nodes.csv")
    assert not nodes.looks_like(TITLES, "pods.csv")
