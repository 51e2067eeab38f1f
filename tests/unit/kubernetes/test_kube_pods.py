"""Jobs as pods."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import schedlab as sl
from schedlab.bridge.kubernetes.pods import PodJob, PodMaker, PodSettings, pods_of
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.request import Request
from schedlab.workload.read import read_workload

GI = 2**30


def only_pod(request: Request, count: int = 1, **job: Any) -> dict[str, Any]:
    (pod,) = pods_of(PodJob(3, "j7", count, request, **job), PodSettings())
    return pod


def test_a_job_of_one_chunk_is_a_pod() -> None:
    pod = only_pod(Request({"cores": 2, "memory": 3 * GI, "gpus": 1}))
    assert pod["metadata"]["name"] == "job-j7" and pod["metadata"]["labels"] == {"schedlab.io/job": "j7"}
    resources = pod["spec"]["containers"][0]["resources"]
    assert resources == {
        "requests": {"cpu": "2", "memory": "3Gi", "nvidia.com/gpu": "1"},
        "limits": {"nvidia.com/gpu": "1"},
    }
    assert (pod["spec"]["schedulerName"], pod["status"]["phase"]) == ("default-scheduler", "Pending")


def test_shares_of_cores_and_gpus() -> None:
    requests = only_pod(Request({"cpu_milli": 5859, "gpu_milli": 460}))["spec"]["containers"][0]["resources"][
        "requests"
    ]
    assert requests == {"cpu": "5859m", "alibabacloud.com/gpu-milli": "460"}


def test_a_gang_is_a_pod_for_each_chunk() -> None:
    pods = pods_of(PodJob(0, "5", 3, Request({"cores": 1})), PodSettings())
    assert [pod["metadata"]["name"] for pod in pods] == ["job-5-0", "job-5-1", "job-5-2"]
    assert all("affinity" not in pod["spec"] for pod in pods)


def test_chunks_that_have_to_be_together_are_one_pod() -> None:
    """`sbatch -N2 --ntasks-per-node=8`: two pods of eight, on two nodes."""
    pods = pods_of(PodJob(0, "5", 16, Request({"cores": 1}, per_node_min=8, per_node_max=8)), PodSettings())
    assert [pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] for pod in pods] == ["8", "8"]
    (term,) = pods[0]["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    assert term["labelSelector"]["matchExpressions"] == [
        {"key": "schedlab.io/job", "operator": "In", "values": ["5"]},
    ]


def test_where_a_job_may_run() -> None:
    request = Request({"cores": 1}, features=frozenset({"ssd", "fast net"}), partition="batch", exclusive=True)
    spec = only_pod(request)["spec"]
    assert spec["nodeSelector"] == {
        "feature.schedlab.io/fast-net": "true",
        "feature.schedlab.io/ssd": "true",
        "partition.schedlab.io/batch": "true",
    }
    (term,) = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert [one["operator"] for one in term["labelSelector"]["matchExpressions"]] == ["Exists", "NotIn"]


def test_what_else_a_pod_wants_is_attached() -> None:
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    wanted = {
        "metadata": {"labels": {"app": "x"}, "name": "other"},
        "spec": {"priority": 7, "topologySpreadConstraints": [spread], "tolerations": [{"operator": "Exists"}]},
    }
    pod = only_pod(Request({"cores": 1}), attachments={"pod": wanted})
    assert pod["metadata"]["labels"] == {"schedlab.io/job": "j7", "app": "x"}
    assert pod["metadata"]["name"] == "job-j7"
    assert (pod["spec"]["priority"], pod["spec"]["topologySpreadConstraints"]) == (7, [spread])
    assert pod["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "1"}}
    with pytest.raises(InputError, match="job j7, attachment 'pod'"):
        only_pod(Request({"cores": 1}), attachments={"pod": 3})


def test_queues_may_be_priorities() -> None:
    jobs = sl.Workload.of(submit=[0, 1], runtime=[1, 1], queue=[0, 1], labels={"queue": ["low", "high"]})
    maker = PodMaker(jobs, PodSettings(priorities={"high": 100}))
    assert [maker.pods(sequence)[0]["spec"]["priority"] for sequence in range(len(maker))] == [0, 100]


def batkube(path: Path, jobs: int, **profile: Any) -> Path:
    records = [{"id": str(n), "subtime": 0, "walltime": 100, "res": 1, "profile": "p"} for n in range(1, jobs + 1)]
    document = {"nb_res": 1, "jobs": records, "profiles": {"p": {"type": "delay", "delay": 10, **profile}}}
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("profile", "chunk"),
    [
        ({"cpu": "1.5", "memory": "500Mi"}, {"cpu_milli": 1500, "memory": 500 * 2**20}),
        ({"cpu": 3.516}, {"cpu_milli": 3516}),
        ({"cpu": "500m"}, {"cpu_milli": 500}),
        ({"scheduler": "default"}, {"cpu_milli": 1000}),
    ],
)
def test_batkubes_profiles_are_read_exactly(tmp_path: Path, profile: dict[str, Any], chunk: dict[str, int]) -> None:
    workload = read_workload(batkube(tmp_path / "w.json", 2, **profile), reader="batkube")  # type: ignore[arg-type]
    assert workload.requests[0].chunk == chunk and workload.report.unkept == {}


def test_batkubes_schedulers_travel_with_the_pods(tmp_path: Path) -> None:
    path = batkube(tmp_path / "w.json", 1, scheduler="random", pod={"spec": {"priority": 3}})
    (pod,) = PodMaker(read_workload(path, reader="batkube")).pods(0)  # type: ignore[arg-type]
    assert (pod["spec"]["schedulerName"], pod["spec"]["priority"]) == ("random", 3)


def test_all_mistakes_of_batkubes_profiles(tmp_path: Path) -> None:
    path = batkube(tmp_path / "w.json", 1, cpu="lots", memory="-1", scheduler=3, pod=[])
    with pytest.raises(InputErrors) as caught:
        read_workload(path, reader="batkube")  # type: ignore[arg-type]
    assert len(caught.value.errors) == 4 and "profile 'p'" in str(caught.value)


def test_batkubes_names_keep_their_order(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    profiles = {"a": {"type": "delay", "delay": 1, "cpu": "1"}, "b": {"type": "delay", "delay": 2, "cpu": "2"}}
    jobs = [
        {"id": "w0!x", "subtime": 5, "res": 1, "profile": "a"},
        {"id": "w0!y", "subtime": 1, "res": 1, "profile": "b"},
    ]
    path.write_text(json.dumps({"nb_res": 1, "jobs": jobs, "profiles": profiles}))
    maker = PodMaker(read_workload(path, reader="batkube"))  # type: ignore[arg-type]
    assert [(job.name, job.request.chunk["cpu_milli"]) for job in maker] == [("w0!y", 2000), ("w0!x", 1000)]
    assert maker.pods(0)[0]["metadata"]["name"] == "job-w0-y"
