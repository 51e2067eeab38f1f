"""Lists and watches: versions, selectors, bookmarks, what is too old."""

from __future__ import annotations

import json

import pytest
from tests.kube_cluster import Cluster, told

PODS = "/api/v1/namespaces/default/pods"
LIVE = "status.phase!=Succeeded,status.phase!=Failed"


def test_a_watch_tells_what_happens_after_the_version_of_a_list() -> None:
    cluster = Cluster("n1")
    cluster.add_pod("a")
    version = cluster.ask("GET", "/api/v1/pods", resourceVersion=0, limit=500)[1]["metadata"]["resourceVersion"]
    cluster.add_pod("b")
    watch = cluster.watch("/api/v1/pods", resourceVersion=version)
    assert told(watch) == [("ADDED", "b")]
    cluster.bind("a", "n1")
    cluster.ask("DELETE", f"{PODS}/b")
    assert told(watch) == [("MODIFIED", "a"), ("DELETED", "b")]
    assert told(watch) == []


def test_versions_grow_by_one_over_all_kinds_and_a_deletion_has_its_own() -> None:
    cluster = Cluster("n1")
    made = int(cluster.add_pod("a")["metadata"]["resourceVersion"])
    node = cluster.ask("PATCH", "/api/v1/nodes/n1", {"spec": {"unschedulable": True}}, headers=STRATEGIC)[1]
    assert int(node["metadata"]["resourceVersion"]) == made + 1
    gone = cluster.ask("DELETE", f"{PODS}/a")[1]
    assert int(gone["metadata"]["resourceVersion"]) == made + 2 == cluster.store.version


STRATEGIC = {"content-type": "application/strategic-merge-patch+json"}


def test_a_watch_list_has_everything_and_then_a_bookmark_that_says_so() -> None:
    cluster = Cluster("n2", "n1")
    watch = cluster.watch(
        "/api/v1/nodes", sendInitialEvents="true", allowWatchBookmarks="true", resourceVersionMatch="NotOlderThan"
    )
    frames = [json.loads(frame) for frame in watch.frames()]
    assert [frame["object"]["metadata"].get("name") for frame in frames] == ["n1", "n2", None]
    last = frames[-1]
    assert last["type"] == "BOOKMARK" and last["object"]["kind"] == "Node"
    assert last["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert last["object"]["metadata"]["resourceVersion"] == str(cluster.store.version)


def test_a_watch_without_a_version_begins_with_what_there_is() -> None:
    cluster = Cluster("n1")
    assert told(cluster.watch("/api/v1/nodes")) == [("ADDED", "n1")]
    assert told(cluster.watch("/api/v1/nodes", resourceVersion=0)) == [("ADDED", "n1")]


def test_who_leaves_a_selector_is_deleted_to_those_who_watch_through_it() -> None:
    cluster = Cluster("n1")
    watch = cluster.watch("/api/v1/pods", fieldSelector=LIVE, resourceVersion=cluster.store.version)
    everything = cluster.watch("/api/v1/pods", resourceVersion=cluster.store.version)
    waiting = cluster.watch("/api/v1/pods", fieldSelector="spec.nodeName=", resourceVersion=cluster.store.version)
    cluster.add_pod("a")
    cluster.bind("a", "n1")
    cluster.ask("PATCH", f"{PODS}/a/status", {"status": {"phase": "Succeeded"}}, headers=STRATEGIC)
    cluster.ask("DELETE", f"{PODS}/a")
    assert told(watch) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
    assert told(waiting) == [("ADDED", "a"), ("DELETED", "a")]
    assert told(everything) == [("ADDED", "a"), ("MODIFIED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


def test_a_replay_looks_through_the_selector_as_the_watch_itself_did() -> None:
    cluster = Cluster("n1")
    begin = cluster.store.version
    cluster.add_pod("a")
    cluster.bind("a", "n1")
    watch = cluster.watch("/api/v1/pods", fieldSelector="spec.nodeName=", resourceVersion=begin)
    assert told(watch) == [("ADDED", "a"), ("DELETED", "a")]


def test_what_is_forgotten_is_gone_for_watches_and_for_lists() -> None:
    cluster = Cluster("n1", history=3)
    begin = cluster.store.version
    for name in "abcde":
        cluster.add_pod(name)
    watch = cluster.watch("/api/v1/pods", resourceVersion=begin)
    assert told(watch) == [("ERROR", "410")] and watch.ended
    code, status = cluster.ask("GET", "/api/v1/pods", resourceVersion=begin, resourceVersionMatch="Exact")
    assert (code, status["reason"]) == (410, "Expired")
    kept = cluster.watch("/api/v1/pods", resourceVersion=cluster.store.version - 3)
    assert told(kept) == [("ADDED", name) for name in "cde"]


def test_pages_of_a_list_are_those_of_one_moment() -> None:
    cluster = Cluster()
    for name in "abcd":
        cluster.add_pod(name)
    first = cluster.ask("GET", PODS, limit=2)[1]
    assert [one["metadata"]["name"] for one in first["items"]] == ["a", "b"]
    assert first["metadata"]["remainingItemCount"] == 2
    cluster.ask("DELETE", f"{PODS}/c")
    cluster.add_pod("e")
    cluster.ask("PATCH", f"{PODS}/d", {"metadata": {"labels": {"new": "yes"}}}, headers=STRATEGIC)
    second = cluster.ask("GET", PODS, **{"limit": 2, "continue": first["metadata"]["continue"]})[1]
    assert [one["metadata"]["name"] for one in second["items"]] == ["c", "d"]
    assert second["metadata"] == {"resourceVersion": first["metadata"]["resourceVersion"]}
    assert "labels" not in second["items"][1]["metadata"]


def test_a_list_of_any_age_is_whole() -> None:
    cluster = Cluster("n1", "n2", "n3")
    assert len(cluster.ask("GET", "/api/v1/nodes", limit=1, resourceVersion=0)[1]["items"]) == 3


def test_a_version_of_the_future_is_a_time_out_that_clients_know() -> None:
    cluster = Cluster()
    code, status = cluster.ask("GET", PODS, resourceVersion=10**6)
    assert code == 504 and status["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ("zone=a", ["n1"]),
        ("zone==a", ["n1"]),
        ("zone!=a", ["n2", "n3"]),
        ("zone", ["n1", "n2"]),
        ("!zone", ["n3"]),
        ("zone in (a, b)", ["n1", "n2"]),
        ("zone notin (a)", ["n2", "n3"]),
        ("zone in (a,b),disk=ssd", ["n2"]),
        ("", ["n1", "n2", "n3"]),
    ],
)
def test_labels_select(labels: str, names: list[str]) -> None:
    cluster = Cluster("n1", "n2", "n3")
    for name, given in (("n1", {"zone": "a"}), ("n2", {"zone": "b", "disk": "ssd"})):
        cluster.ask("PATCH", f"/api/v1/nodes/{name}", {"metadata": {"labels": given}}, headers=STRATEGIC)
    found = cluster.ask("GET", "/api/v1/nodes", labelSelector=labels)[1]["items"]
    assert [one["metadata"]["name"] for one in found] == names


@pytest.mark.parametrize(
    "query",
    [
        {"labelSelector": "a b c"},
        {"labelSelector": "zone in a"},
        {"fieldSelector": "spec.containers=1"},
        {"fieldSelector": "nothing"},
        {"resourceVersion": "new"},
        {"limit": "-1"},
        {"continue": "?"},
        {"continue": "bm9uc2Vuc2U="},
    ],
)
def test_nonsense_is_a_bad_request(query: dict[str, str]) -> None:
    code, status = Cluster().ask("GET", PODS, **query)
    assert (code, status["kind"], status["reason"]) == (400, "Status", "BadRequest")


def test_events_are_forgotten_after_an_hour() -> None:
    cluster = Cluster()
    events = "/api/v1/namespaces/default/events"
    about = {"involvedObject": {"kind": "Pod", "name": "a"}, "reason": "Scheduled"}
    for name, later in (("e1", 0), ("e2", 1800), ("e3", 1801)):
        cluster.now += later
        assert cluster.ask("POST", events, {"metadata": {"name": name}, **about})[0] == 201
    assert [one["metadata"]["name"] for one in cluster.ask("GET", events)[1]["items"]] == ["e2", "e3"]


def test_events_have_two_forms() -> None:
    cluster = Cluster()
    new = {
        "metadata": {"name": "e"},
        "regarding": {"kind": "Pod", "name": "a"},
        "note": "bound",
        "reportingController": "default-scheduler",
    }
    watch = cluster.watch("/apis/events.k8s.io/v1/events", resourceVersion=cluster.store.version)
    code, made = cluster.ask("POST", "/apis/events.k8s.io/v1/namespaces/default/events", new)
    assert (code, made["note"], made["apiVersion"]) == (201, "bound", "events.k8s.io/v1")
    found = cluster.ask("GET", "/api/v1/events", fieldSelector="involvedObject.name=a")[1]["items"]
    assert [(one["message"], one["reportingComponent"], one["apiVersion"]) for one in found] == [
        ("bound", "default-scheduler", "v1")
    ]
    path = "/apis/events.k8s.io/v1/namespaces/default/events/e"
    merge = {"content-type": "application/merge-patch+json"}
    assert cluster.ask("PATCH", path, {"note": "bound twice"}, headers=merge)[1]["note"] == "bound twice"
    frames = [json.loads(frame)["object"]["note"] for frame in watch.frames()]
    assert frames == ["bound", "bound twice"]
