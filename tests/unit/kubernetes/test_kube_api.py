"""The API, one request at a time: bindings, conflicts, deletions, and how it says that something is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kube_cluster import Cluster, pod

from schedlab.bridge.kubernetes.api import Listener
from schedlab.bridge.kubernetes.messages import Request
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.status import StatusError

PODS = "/api/v1/namespaces/default/pods"
STRATEGIC = {"content-type": "application/strategic-merge-patch+json"}


class Heard(Listener):
    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    def created(self, pod: Object) -> None:
        self.said.append(("created", pod["metadata"]["name"]))

    def bound(self, pod: Object) -> None:
        self.said.append(("bound", pod["spec"]["nodeName"]))

    def status_changed(self, pod: Object) -> None:
        self.said.append(("status", pod["status"].get("nominatedNodeName", "")))

    def deleting(self, pod: Object) -> None:
        self.said.append(("deleting", pod["metadata"]["name"]))

    def deleted(self, pod: Object) -> None:
        self.said.append(("deleted", pod["metadata"]["name"]))

    def refused(self, request: Request, error: StatusError) -> None:
        self.said.append(("refused", str(error.code)))


def test_a_binding_puts_a_pod_on_a_node_once() -> None:
    heard = Heard()
    cluster = Cluster("n1", "n2", listener=heard)
    cluster.add_pod("a")
    assert cluster.bind("a", "n1") == (
        201,
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201},
    )
    found = cluster.pod("a")
    assert found["spec"]["nodeName"] == "n1"
    assert [(one["type"], one["status"]) for one in found["status"]["conditions"]] == [("PodScheduled", "True")]
    code, status = cluster.bind("a", "n2")
    assert (code, status["reason"]) == (409, "Conflict") and "already assigned" in status["message"]
    assert cluster.pod("a")["spec"]["nodeName"] == "n1"
    assert heard.said == [("created", "a"), ("bound", "n1"), ("refused", "409")]


def test_the_older_way_to_bind() -> None:
    cluster = Cluster("n1")
    cluster.add_pod("a")
    body = {"metadata": {"name": "a"}, "target": {"name": "n1"}}
    assert cluster.ask("POST", "/api/v1/namespaces/default/bindings", body)[0] == 201
    assert cluster.pod("a")["spec"]["nodeName"] == "n1"


@pytest.mark.parametrize(
    ("pod", "body", "code", "words"),
    [
        ("a", {"target": {"name": "nowhere"}}, 404, 'nodes "nowhere" not found'),
        ("b", {"target": {"name": "n1"}}, 404, 'pods "b" not found'),
        ("a", {"target": {}}, 422, "target.name"),
        ("a", [], 422, "target.name"),
        ("a", {"target": {"name": "n1"}, "metadata": {"uid": "other"}}, 409, "UID in precondition"),
    ],
)
def test_bindings_that_cannot_be(pod: str, body: Any, code: int, words: str) -> None:
    heard = Heard()
    cluster = Cluster("n1", listener=heard)
    cluster.add_pod("a")
    found, status = cluster.ask("POST", f"{PODS}/{pod}/binding", body)
    assert found == code == status["code"] and words in status["message"]
    assert heard.said[-1] == ("refused", str(code))


def test_a_scheduler_says_why_a_pod_waits() -> None:
    heard = Heard()
    cluster = Cluster("n1", listener=heard)
    uid = cluster.add_pod("a")["metadata"]["uid"]
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}
    body = {"metadata": {"uid": uid}, "status": {"conditions": [condition], "nominatedNodeName": "n1"}}
    code, found = cluster.ask("PATCH", f"{PODS}/a/status", body, headers=STRATEGIC)
    assert code == 200 and found["status"]["conditions"] == [condition] and found["status"]["phase"] == "Pending"
    assert heard.said[-1] == ("status", "n1")
    other = {"metadata": {"uid": "other"}, "status": {}}
    assert cluster.ask("PATCH", f"{PODS}/a/status", other, headers=STRATEGIC)[0] == 409


def test_the_status_and_the_rest_are_changed_apart() -> None:
    cluster = Cluster("n1")
    cluster.add_pod("a")
    both = {"metadata": {"labels": {"x": "1"}}, "status": {"phase": "Running"}}
    cluster.ask("PATCH", f"{PODS}/a", both, headers=STRATEGIC)
    assert (cluster.pod("a")["metadata"]["labels"], cluster.pod("a")["status"]["phase"]) == ({"x": "1"}, "Pending")
    both["metadata"]["labels"]["x"] = "2"  # type: ignore[index]
    cluster.ask("PATCH", f"{PODS}/a/status", both, headers=STRATEGIC)
    assert (cluster.pod("a")["metadata"]["labels"], cluster.pod("a")["status"]["phase"]) == ({"x": "1"}, "Running")


def test_an_update_of_an_old_version_is_a_conflict() -> None:
    cluster = Cluster("n1")
    old = cluster.add_pod("a")
    assert cluster.ask("PUT", f"{PODS}/a", {**old, "metadata": {**old["metadata"], "labels": {"x": "1"}}})[0] == 200
    code, status = cluster.ask("PUT", f"{PODS}/a", old)
    assert (code, status["reason"]) == (409, "Conflict") and "has been modified" in status["message"]
    without = {**old, "metadata": {"name": "a"}}
    assert cluster.ask("PUT", f"{PODS}/a", without)[0] == 200
    patch = {"metadata": {"resourceVersion": old["metadata"]["resourceVersion"], "labels": {"x": "2"}}}
    assert cluster.ask("PATCH", f"{PODS}/a", patch, headers=STRATEGIC)[0] == 409


def test_uid_and_creation_stay() -> None:
    cluster = Cluster("n1")
    made = cluster.add_pod("a")["metadata"]
    cluster.now += 100
    found = cluster.ask("PUT", f"{PODS}/a", {**pod("a"), "status": {}})[1]["metadata"]
    assert (found["uid"], found["creationTimestamp"]) == (made["uid"], "2026-01-01T12:00:00Z")


def test_a_pod_on_a_node_has_time_to_end() -> None:
    heard = Heard()
    cluster = Cluster("n1", listener=heard)
    for name in "ab":
        cluster.add_pod(name)
    cluster.bind("a", "n1")
    code, found = cluster.ask("DELETE", f"{PODS}/a", {"gracePeriodSeconds": 5})
    assert code == 200 and found["metadata"]["deletionTimestamp"] == "2026-01-01T12:00:05Z"
    assert found["metadata"]["deletionGracePeriodSeconds"] == 5 and cluster.pod("a")
    assert cluster.ask("DELETE", f"{PODS}/a")[0] == 200  # once more changes nothing
    assert cluster.ask("DELETE", f"{PODS}/a", gracePeriodSeconds=0)[0] == 200
    assert cluster.ask("DELETE", f"{PODS}/b")[0] == 200
    assert cluster.ask("GET", PODS)[1]["items"] == []
    assert heard.said[3:] == [("deleting", "a"), ("deleted", "a"), ("deleted", "b")]


def test_an_eviction_is_a_deletion() -> None:
    cluster = Cluster("n1")
    cluster.add_pod("a")
    assert cluster.ask("POST", f"{PODS}/a/eviction", {"metadata": {"name": "a"}})[0] == 201
    assert cluster.ask("GET", f"{PODS}/a")[0] == 404


def test_a_deletion_may_be_for_one_object_only() -> None:
    cluster = Cluster("n1")
    cluster.add_pod("a")
    assert cluster.ask("DELETE", f"{PODS}/a", {"preconditions": {"uid": "other"}})[0] == 409
    assert cluster.ask("DELETE", f"{PODS}/a", {"preconditions": {"resourceVersion": "1"}})[0] == 409


def test_many_are_deleted_by_a_selector() -> None:
    cluster = Cluster("n1")
    for name in "abc":
        cluster.add_pod(name)
    cluster.ask("PATCH", f"{PODS}/b", {"metadata": {"labels": {"keep": "yes"}}}, headers=STRATEGIC)
    assert len(cluster.ask("DELETE", PODS, labelSelector="!keep")[1]["items"]) == 2
    assert [one["metadata"]["name"] for one in cluster.ask("GET", PODS)[1]["items"]] == ["b"]


def test_pods_get_what_is_usual() -> None:
    cluster = Cluster("n1")
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    cluster.ask("POST", classes, {"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"})
    spec = cluster.add_pod("a", priorityClassName="high")["spec"]
    assert (spec["priority"], spec["preemptionPolicy"], spec["schedulerName"]) == (1000, "Never", "default-scheduler")
    assert [one["key"] for one in spec["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    limits = {"containers": [{"name": "c", "resources": {"limits": {"cpu": "2"}, "requests": {"memory": "1Gi"}}}]}
    made = cluster.add_pod("b", **limits)["spec"]["containers"][0]["resources"]
    assert made["requests"] == {"cpu": "2", "memory": "1Gi"}
    code, status = cluster.ask("POST", PODS, pod("c", priorityClassName="none"))
    assert (code, status["reason"]) == (403, "Forbidden")
    cluster.ask("POST", classes, {"metadata": {"name": "usual"}, "value": 7, "globalDefault": True})
    assert cluster.add_pod("d")["spec"]["priority"] == 7


def test_all_that_is_wrong_with_a_pod_is_said_at_once() -> None:
    body = pod("a", cpu="lots")
    body["spec"]["containers"].append({"resources": {"limits": {"memory": "-1"}}})
    code, status = Cluster().ask("POST", PODS, body)
    assert (code, status["reason"]) == (422, "Invalid")
    assert [cause["field"] for cause in status["details"]["causes"]] == [
        "spec.containers[0].resources.requests[cpu]",
        "spec.containers[1].name",
        "spec.containers[1].resources.limits[memory]",
    ]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", 400),
        (b"\xff\xfe", 400),
        (b"[" * 100_000, 400),
        (b"null", 400),
        (b'"text"', 400),
        (b"[]", 400),
        (b"{}", 422),
        (b'{"metadata": 3}', 400),
        (b'{"metadata": {"name": 3}}', 400),
        (b'{"metadata": {"name": "Capital"}}', 422),
        (b'{"metadata": {"name": "a", "labels": ["x"]}}', 400),
        (b'{"metadata": {"name": "a", "namespace": "other"}}', 400),
        (b'{"metadata": {"name": "a"}}', 422),
        (b'{"metadata": {"name": "a"}, "spec": []}', 400),
        (b'{"metadata": {"name": "a"}, "spec": {"containers": 3}}', 400),
        (b'{"metadata": {"name": "a"}, "kind": "Node"}', 400),
        (b'{"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "resources": {"requests": 1}}]}}', 400),
    ],
)
def test_bodies_that_are_no_pod(body: bytes, code: int) -> None:
    cluster = Cluster()
    found, status = cluster.ask("POST", PODS, body)
    assert (found, status["kind"], status["status"], status["code"]) == (code, "Status", "Failure", code)
    assert cluster.ask("GET", PODS)[1]["items"] == []


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/api/v1/bananas", 404),
        ("GET", "/apis/apps/v2/deployments", 404),
        ("GET", "/api/v1/pods/a", 404),
        ("GET", f"{PODS}/a/log", 404),
        ("GET", f"{PODS}/a/status/deep", 404),
        ("GET", "/api/v1/namespaces/default/nodes", 404),
        ("POST", "/api/v1/pods", 405),
        ("POST", f"{PODS}/a", 405),
        ("PUT", PODS, 405),
        ("PATCH", PODS, 405),
        ("BREW", PODS, 405),
        ("POST", "/version", 405),
        ("GET", "", 200),
        ("GET", "/", 200),
        ("GET", "/api/v1/%2e%2e/nodes", 404),
    ],
)
def test_places_that_are_not_there(method: str, path: str, code: int) -> None:
    found, status = Cluster("n1").ask(method, path, {} if method != "GET" else None)
    assert found == code
    if code != 200:
        assert (status["kind"], status["status"]) == ("Status", "Failure")


def test_other_media_types() -> None:
    cluster = Cluster("n1")
    cluster.add_pod("a")
    protobuf = {"content-type": "application/vnd.kubernetes.protobuf"}
    code, status = cluster.ask("POST", f"{PODS}/a/binding", b"k8s\0", headers=protobuf)
    assert (code, status["reason"]) == (415, "UnsupportedMediaType")
    assert "contentType: application/json" in status["message"]
    apply = {"content-type": "application/apply-patch+yaml"}
    assert cluster.ask("PATCH", f"{PODS}/a", b"a: b", headers=apply)[0] == 415
    assert cluster.ask("GET", PODS, headers={"accept": "application/vnd.kubernetes.protobuf"})[0] == 406
    both = {"accept": "application/vnd.kubernetes.protobuf, application/json"}
    assert cluster.ask("GET", PODS, headers=both)[0] == 200


def test_what_is_not_served_is_said() -> None:
    cluster = Cluster("n1")
    assert cluster.ask("POST", PODS, pod("a"), dryRun="All")[0] == 400
    assert cluster.ask("POST", "/api/v1/namespaces/other/pods", pod("a"))[0] == 404
    cluster.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
    assert cluster.ask("POST", "/api/v1/namespaces/other/pods", pod("a"))[0] == 201
    assert cluster.ask("POST", "/api/v1/namespaces/other/pods", pod("a"))[1]["reason"] == "AlreadyExists"


def test_names_are_generated_alike_in_every_run() -> None:
    body = {**pod("x"), "metadata": {"generateName": "job-"}}
    names = [Cluster("n1").ask("POST", PODS, body)[1]["metadata"]["name"] for _ in range(2)]
    assert names[0] == names[1] and names[0].startswith("job-")


def test_nobody_moves_a_pod_by_hand() -> None:
    cluster = Cluster("n1")
    cluster.add_pod("a")
    patch = {"spec": {"nodeName": "n1"}}
    assert cluster.ask("PATCH", f"{PODS}/a", patch, headers=STRATEGIC)[0] == 422


def test_discovery() -> None:
    cluster = Cluster()
    assert cluster.ask("GET", "/version")[1]["major"] == "1"
    groups = [group["name"] for group in cluster.ask("GET", "/apis")[1]["groups"]]
    assert {"apps", "events.k8s.io", "policy", "storage.k8s.io", "resource.k8s.io"} <= set(groups)
    for path in ("/api/v1", "/apis/scheduling.k8s.io/v1alpha1", *(f"/apis/{name}/v1" for name in groups)):
        code, found = cluster.ask("GET", path)
        assert code == 200 and found["kind"] == "APIResourceList"
        for resource in found["resources"]:
            if "/" not in resource["name"]:  # whatever is announced can be listed
                place = f"/api/v1/{resource['name']}" if path == "/api/v1" else f"{path}/{resource['name']}"
                assert cluster.ask("GET", place)[1]["kind"] == f"{resource['kind']}List"
