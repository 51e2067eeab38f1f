"""kubectl and Kubernetes' client for Python against a cluster that stands by itself; and jobs, as on a real one."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.commands import schedlab

from schedlab.bridge.kubernetes.standing import stand
from schedlab.bridge.kubernetes.transport import new_loop
from schedlab.model.cluster import Cluster, NodeGroup

SMALL = (sys.executable, "-m", "tests.small_scheduler", "{kubeconfig}")
PATIENCE = 30  # seconds


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cluster of two nodes with a scheduler, in a thread of its own."""
    path = tmp_path_factory.mktemp("kube") / "kubeconfig"
    cluster = Cluster((NodeGroup("n", 2, {"cores": 2}),))  # nothing is said of memory
    loop = new_loop()
    ready = threading.Event()
    task = loop.create_task(stand(cluster, lambda *_: ready.set(), command=SMALL, kubeconfig=path))

    def serve() -> None:
        with pytest.raises(asyncio.CancelledError):
            loop.run_until_complete(task)

    thread = threading.Thread(target=serve)
    thread.start()
    assert ready.wait(PATIENCE)
    yield path
    loop.call_soon_threadsafe(task.cancel)
    thread.join(PATIENCE)
    loop.close()


@pytest.fixture(scope="module")
def core(kubeconfig: Path) -> Any:
    kubernetes = pytest.importorskip("kubernetes")
    return kubernetes.client.CoreV1Api(kubernetes.config.new_client_from_config(str(kubeconfig)))


def kubectl(kubeconfig: Path, *words: str, given: str = "") -> str:
    program = shutil.which("kubectl")
    if program is None:
        pytest.skip("needs kubectl (Debian: kubernetes-client)")
    command = [program, "--kubeconfig", str(kubeconfig), "--cache-dir", str(kubeconfig.parent / "cache"), *words]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def sleeper(name: str, seconds: float, cpu: str = "1") -> dict[str, Any]:
    container = {"name": "c", "image": "busybox", "command": ["sleep", str(seconds)]}
    container["resources"] = {"requests": {"cpu": cpu}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}


def test_kubectl_shows_nodes(kubeconfig: Path) -> None:
    lines = kubectl(kubeconfig, "get", "nodes").splitlines()
    assert [line.split()[:2] for line in lines] == [["NAME", "STATUS"], ["n1", "Ready"], ["n2", "Ready"]]
    wide = kubectl(kubeconfig, "get", "nodes", "-o", "wide")
    assert "CONTAINER-RUNTIME" in wide
    described = kubectl(kubeconfig, "describe", "node", "n1")
    assert "Allocatable:" in described and "schedlab.io/group=n" in described
    assert json.loads(kubectl(kubeconfig, "get", "node", "n1", "-o", "json"))["metadata"]["name"] == "n1"


def test_kubectl_creates_watches_and_deletes_pods(kubeconfig: Path) -> None:
    made = kubectl(kubeconfig, "create", "-f", "-", given=json.dumps(sleeper("short", 0.2)))
    assert made == "pod/short created\n"
    kubectl(kubeconfig, "wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/short", "--timeout=20s")
    (row,) = [line.split() for line in kubectl(kubeconfig, "get", "pods", "-o", "wide").splitlines() if "short" in line]
    assert row[1:3] == ["0/1", "Completed"] and row[6] in ("n1", "n2")
    assert "cpu:        1" in kubectl(kubeconfig, "describe", "pod", "short")
    assert kubectl(kubeconfig, "delete", "pod", "short", "--wait=true").startswith('pod "short"')
    assert "short" not in kubectl(kubeconfig, "get", "pods")


def test_kubectl_describes_a_pod_that_names_its_node_and_asks_for_memory(kubeconfig: Path) -> None:
    """No scheduler has a part in it; a node of which no memory is known has plenty."""
    pod = sleeper("named", 600)
    pod["spec"] |= {"nodeName": "n2", "schedulerName": "nobody"}
    pod["spec"]["containers"][0]["resources"]["requests"]["memory"] = "512Mi"
    kubectl(kubeconfig, "create", "-f", "-", given=json.dumps(pod))
    kubectl(kubeconfig, "wait", "--for=condition=Ready", "pod/named", "--timeout=20s")
    described = kubectl(kubeconfig, "describe", "node", "n2")
    (row,) = [line.split() for line in described.splitlines() if " named " in line]
    assert row[:6] == ["default", "named", "1", "(50%)", "0", "(0%)"]
    assert row[6:10] == ["512Mi", "(0%)", "0", "(0%)"]
    assert "0001" not in described  # every date is one
    kubectl(kubeconfig, "delete", "pod", "named")


def test_kubectl_get_w_follows_a_pod(kubeconfig: Path) -> None:
    program = shutil.which("kubectl")
    if program is None:
        pytest.skip("needs kubectl (Debian: kubernetes-client)")
    kubectl(kubeconfig, "create", "-f", "-", given=json.dumps(sleeper("before", 600)))
    watching = subprocess.Popen(
        [program, "--kubeconfig", str(kubeconfig), "get", "pods", "-w"], stdout=subprocess.PIPE, text=True
    )
    states: list[str] = []
    assert watching.stdout is not None
    for line in watching.stdout:
        if line.startswith("before") and not states:  # it is watching now
            kubectl(kubeconfig, "create", "-f", "-", given=json.dumps(sleeper("watched", 0.2)))
        if line.startswith("watched"):
            states.append(line.split()[2])
            if states[-1] == "Completed":
                break
    watching.kill()
    watching.wait()
    watching.stdout.close()
    assert states[0] == "Pending" and states[-2:] == ["Running", "Completed"]
    kubectl(kubeconfig, "delete", "pod", "watched", "before")


def test_kubectl_cordons_taints_and_labels(kubeconfig: Path) -> None:
    kubectl(kubeconfig, "cordon", "n2")
    assert "Ready,SchedulingDisabled" in kubectl(kubeconfig, "get", "node", "n2")
    kubectl(kubeconfig, "uncordon", "n2")
    kubectl(kubeconfig, "taint", "node", "n2", "a=b:NoSchedule")
    kubectl(kubeconfig, "label", "node", "n2", "disk=ssd")
    node = json.loads(kubectl(kubeconfig, "get", "node", "-l", "disk=ssd", "-o", "json"))["items"][0]
    assert node["spec"]["taints"] == [{"key": "a", "value": "b", "effect": "NoSchedule"}]
    kubectl(kubeconfig, "taint", "node", "n2", "a-")
    kubectl(kubeconfig, "label", "node", "n2", "disk-")
    assert "schedlab" in kubectl(kubeconfig, "version")
    assert "poddisruptionbudgets" in kubectl(kubeconfig, "api-resources")


def test_the_python_client(core: Any) -> None:
    kubernetes = pytest.importorskip("kubernetes")
    assert [node.metadata.name for node in core.list_node().items] == ["n1", "n2"]
    version = core.create_namespaced_pod("default", sleeper("client", 0.1)).metadata.resource_version
    phases = []
    watch = kubernetes.watch.Watch()
    asked = {"field_selector": "metadata.name=client", "resource_version": version}
    for event in watch.stream(core.list_namespaced_pod, "default", **asked):
        phases.append(event["object"].status.phase)
        if phases[-1] == "Succeeded":
            watch.stop()
    assert phases == ["Pending", "Running", "Succeeded"]  # bound, running, ended
    found = core.patch_namespaced_pod("client", "default", {"metadata": {"labels": {"x": "y"}}})
    assert found.metadata.labels == {"x": "y"}
    core.delete_namespaced_pod("client", "default")
    with pytest.raises(kubernetes.client.exceptions.ApiException) as caught:
        core.read_namespaced_pod("client", "default")
    assert caught.value.status == 404 and json.loads(caught.value.body)["reason"] == "NotFound"


def test_a_scheduler_of_the_python_client_binds(core: Any) -> None:
    pytest.importorskip("kubernetes")
    own = sleeper("mine", 0.1)
    own["spec"]["schedulerName"] = "mine"
    core.create_namespaced_pod("default", own)
    body = {"metadata": {"name": "mine"}, "target": {"kind": "Node", "name": "n2", "apiVersion": "v1"}}
    core.create_namespaced_binding("default", body, _preload_content=False)
    assert core.read_namespaced_pod("mine", "default").spec.node_name == "n2"
    core.delete_namespaced_pod("mine", "default", grace_period_seconds=0)


def test_jobs_on_a_cluster_in_real_time(kubeconfig: Path, tmp_path: Path) -> None:
    """Five jobs of half a second, four at a time: the fifth starts when a place is free."""
    pytest.importorskip("kubernetes")
    jobs = [{"id": str(n), "subtime": 0, "res": 1, "profile": "d"} for n in range(1, 6)]
    profiles = {"d": {"type": "delay", "delay": 0.5, "cpu": "1", "scheduler": "default"}}
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"nb_res": 1, "jobs": jobs, "profiles": profiles}))
    done = schedlab("kube", "submit", "--kubeconfig", kubeconfig, "--workload", path, "--out", tmp_path / "real")
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "real" / "run.json").read_text())
    assert told["summary"]["jobs"] == 5 and 1 <= told["summary"]["makespan"] < 20
    assert schedlab("check", tmp_path / "real").returncode == 0
    assert (tmp_path / "real" / "pods.csv").read_text().count("\n") == 6
    again = schedlab("kube", "delays", tmp_path / "real" / "pods.csv")
    assert again.returncode == 0 and again.stdout.startswith("startup(sync=")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "there is no such file"),
        ("nonsense", "cannot be used as a kubeconfig"),
        ("server: http://127.0.0.1:1", "cannot be reached"),
    ],
)
def test_kubeconfigs_that_lead_nowhere(tmp_path: Path, content: str | None, words: str) -> None:
    pytest.importorskip("kubernetes")
    path = tmp_path / "kubeconfig"
    if content == "nonsense":
        path.write_text(content)
    elif content:
        from schedlab.bridge.kubernetes.kubeconfig import write_kubeconfig

        write_kubeconfig(path, "127.0.0.1", 1)
    (tmp_path / "w.swf").write_text("1 0 -1 5 1 -1 -1 1 5 -1 1 1 1 1 1 1 -1 -1\n")
    done = schedlab("kube", "submit", "--kubeconfig", path, "--workload", tmp_path / "w.swf")
    assert done.returncode != 0 and words in done.stderr
