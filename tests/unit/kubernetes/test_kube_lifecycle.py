"""How objects leave: finalizers, owners, namespaces, grace periods, generations; as kube-apiserver, its garbage
collector and its namespace controller have it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kube_cluster import Cluster, pod, told

MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
MERGE = {"content-type": "application/merge-patch+json"}
NOON = "2026-01-01T12:00:00Z"


def add(cluster: Cluster, name: str, *owners: Any, where: str = MAPS, **metadata: Any) -> dict[str, Any]:
    references = [one if "kind" in one else owner(one) for one in owners]
    body = {"metadata": {"name": name, **({"ownerReferences": references} if references else {}), **metadata}}
    code, made = cluster.ask("POST", where, body)
    assert code == 201, made
    return dict(made["metadata"])


def owner(metadata: dict[str, Any], **more: Any) -> dict[str, Any]:
    named = {"apiVersion": "v1", "kind": "ConfigMap", "name": metadata["name"], "uid": metadata["uid"]}
    return {**named, "blockOwnerDeletion": True, **more}


def own(cluster: Cluster, name: str, *owners: dict[str, Any]) -> None:
    change(cluster, f"{MAPS}/{name}", ownerReferences=[one if "kind" in one else owner(one) for one in owners])


def change(cluster: Cluster, path: str, **metadata: Any) -> dict[str, Any]:
    code, found = cluster.ask("PATCH", path, {"metadata": metadata}, headers=MERGE)
    assert code == 200, found
    return dict(found["metadata"])


def delete(cluster: Cluster, path: str, policy: str | None = None, **options: Any) -> dict[str, Any]:
    body = {**options, **({"propagationPolicy": policy} if policy else {})}
    code, found = cluster.ask("DELETE", path, body or None)
    assert code == 200, found
    return dict(found)


def names(cluster: Cluster, where: str = MAPS) -> list[str]:
    return [one["metadata"]["name"] for one in cluster.ask("GET", where)[1]["items"]]


def metadata_of(cluster: Cluster, path: str) -> dict[str, Any]:
    code, found = cluster.ask("GET", path)
    assert code == 200, found
    return dict(found["metadata"])


# Finalizers.


def test_an_object_waits_for_its_finalizers() -> None:
    cluster = Cluster()
    add(cluster, "a", finalizers=["x.io/one", "x.io/two"])
    watch = cluster.watch(MAPS, resourceVersion=cluster.store.version)
    marked = delete(cluster, f"{MAPS}/a")["metadata"]
    assert (marked["deletionTimestamp"], marked["deletionGracePeriodSeconds"]) == (NOON, 0)
    cluster.now += 5
    assert delete(cluster, f"{MAPS}/a")["metadata"]["deletionTimestamp"] == NOON  # once more changes nothing
    change(cluster, f"{MAPS}/a", finalizers=["x.io/two"])
    assert names(cluster) == ["a"]
    change(cluster, f"{MAPS}/a", finalizers=None)
    assert names(cluster) == []
    assert told(watch) == [("MODIFIED", "a"), ("MODIFIED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


def test_a_deletion_is_not_taken_back() -> None:
    cluster = Cluster()
    add(cluster, "a", finalizers=["x.io/one"])
    delete(cluster, f"{MAPS}/a")
    found = change(cluster, f"{MAPS}/a", deletionTimestamp=None, deletionGracePeriodSeconds=None)
    assert found["deletionTimestamp"] == NOON
    more = {"metadata": {"finalizers": ["x.io/one", "x.io/two"]}}
    code, status = cluster.ask("PATCH", f"{MAPS}/a", more, headers=MERGE)
    assert (code, status["reason"]) == (422, "Invalid")
    words = "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers "
    assert words + '[]string{"x.io/two"}' in status["message"]


def test_nobody_is_born_marked() -> None:
    made = add(Cluster(), "a", deletionTimestamp=NOON, deletionGracePeriodSeconds=3, finalizers=["x.io/one"])
    assert not made.keys() & {"deletionTimestamp", "deletionGracePeriodSeconds"}


def test_finalizers_are_names() -> None:
    code, status = Cluster().ask("POST", MAPS, {"metadata": {"name": "a", "finalizers": ["not a name"]}})
    assert code == 422 and "metadata.finalizers" in status["message"]


def test_a_pod_with_a_finalizer_ends_first_and_goes_then() -> None:
    """The kubelet takes 30 s, of which deletionTimestamp is the end; what is left waits for the finalizer."""
    cluster = Cluster("n1")
    cluster.add_pod("a")
    cluster.bind("a", "n1")
    change(cluster, f"{PODS}/a", finalizers=["x.io/one"])
    marked = delete(cluster, f"{PODS}/a")["metadata"]
    assert (marked["deletionTimestamp"], marked["deletionGracePeriodSeconds"]) == ("2026-01-01T12:00:30Z", 30)
    cluster.now += 3
    ended = delete(cluster, f"{PODS}/a", gracePeriodSeconds=0)["metadata"]  # as kubelets say it
    assert (ended["deletionTimestamp"], ended["deletionGracePeriodSeconds"]) == ("2026-01-01T12:00:03Z", 0)
    change(cluster, f"{PODS}/a", finalizers=[])
    assert names(cluster, PODS) == []


def test_a_finalizer_that_goes_first_leaves_the_grace_period() -> None:
    cluster = Cluster("n1")
    cluster.add_pod("a")
    cluster.bind("a", "n1")
    change(cluster, f"{PODS}/a", finalizers=["x.io/one"])
    delete(cluster, f"{PODS}/a")
    change(cluster, f"{PODS}/a", finalizers=[])
    assert names(cluster, PODS) == ["a"]
    delete(cluster, f"{PODS}/a", gracePeriodSeconds=0)
    assert names(cluster, PODS) == []


@pytest.mark.parametrize(("seconds", "told"), [(-5, 1), (10**18, 10**18)])
def test_grace_periods_of_any_size(seconds: int, told: int) -> None:
    cluster = Cluster("n1")
    cluster.add_pod("a", terminationGracePeriodSeconds=seconds)
    cluster.bind("a", "n1")
    marked = delete(cluster, f"{PODS}/a")["metadata"]
    assert marked["deletionGracePeriodSeconds"] == told
    assert marked["deletionTimestamp"] == (NOON[:-2] + "1Z" if told == 1 else "9999-12-31T23:59:59Z")


# Owners.


def test_what_is_owned_goes_with_its_last_owner() -> None:
    cluster = Cluster()
    a, b = add(cluster, "a"), add(cluster, "b")
    add(cluster, "both", a, b)
    one = add(cluster, "one", a)
    add(cluster, "grandchild", one)
    delete(cluster, f"{MAPS}/a", "Background")
    assert names(cluster) == ["b", "both"]
    assert metadata_of(cluster, f"{MAPS}/both")["ownerReferences"] == [owner(b)]
    delete(cluster, f"{MAPS}/b")
    assert names(cluster) == []


def test_orphans_stay() -> None:
    for options in ({"propagationPolicy": "Orphan"}, {"orphanDependents": True}):
        cluster = Cluster()
        a = add(cluster, "a")
        add(cluster, "b", a)
        delete(cluster, f"{MAPS}/a", **options)
        assert names(cluster) == ["b"]
        assert metadata_of(cluster, f"{MAPS}/b").get("ownerReferences") == []


def test_the_query_says_what_becomes_of_what_is_owned() -> None:
    """As a DELETE without a body has it."""
    cluster = Cluster()
    a = add(cluster, "a")
    add(cluster, "b", a)
    assert cluster.ask("DELETE", f"{MAPS}/a", propagationPolicy="Orphan")[0] == 200
    assert names(cluster) == ["b"]
    assert cluster.ask("DELETE", f"{MAPS}/b", propagationPolicy="Sideways")[0] == 422
    assert cluster.ask("DELETE", f"{MAPS}/b", orphanDependents="perhaps")[0] == 400


def test_in_the_foreground_what_is_owned_goes_first() -> None:
    cluster = Cluster()
    a = add(cluster, "a")
    b = add(cluster, "b", a)
    add(cluster, "c", b, finalizers=["x.io/one"])
    add(cluster, "loose", owner(a, blockOwnerDeletion=False), finalizers=["x.io/one"])
    watch = cluster.watch(MAPS, resourceVersion=cluster.store.version)
    marked = delete(cluster, f"{MAPS}/a", "Foreground")["metadata"]
    assert marked["finalizers"] == ["foregroundDeletion"]
    assert names(cluster) == ["a", "b", "c", "loose"]
    change(cluster, f"{MAPS}/c", finalizers=[])
    assert names(cluster) == ["loose"]  # nobody waits for it; it waits for its own finalizer
    gone = [name for what, name in told(watch) if what == "DELETED"]
    assert gone == ["c", "b", "a"]


def test_in_the_foreground_others_owners_keep_what_is_theirs() -> None:
    cluster = Cluster()
    a, b = add(cluster, "a"), add(cluster, "b")
    add(cluster, "both", a, b)
    delete(cluster, f"{MAPS}/a", "Foreground")
    assert names(cluster) == ["b", "both"]
    assert metadata_of(cluster, f"{MAPS}/both")["ownerReferences"] == [owner(b)]


@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
@pytest.mark.parametrize("length", [1, 2, 3, 50])
def test_owners_in_a_circle(policy: str, length: int) -> None:
    cluster = Cluster()
    made = [add(cluster, f"m{number}") for number in range(length)]
    for number, one in enumerate(made):
        own(cluster, one["name"], made[(number + 1) % length])
    delete(cluster, f"{MAPS}/m0", policy)
    left = [] if policy != "Orphan" else [f"m{number}" for number in range(1, length)]
    assert sorted(names(cluster)) == sorted(left)


def test_a_chain_of_owners() -> None:
    """Each step is done by itself: neither recursion nor a wait for all."""
    cluster = Cluster()
    last = add(cluster, "m0")
    for number in range(1, 2000):
        last = add(cluster, f"m{number}", last)
    delete(cluster, f"{MAPS}/m0", "Foreground")
    assert names(cluster) == []


def test_a_finalizer_of_the_garbage_collector_says_what_is_usual() -> None:
    cluster = Cluster()
    a = add(cluster, "a", finalizers=["orphan"])
    add(cluster, "b", a)
    delete(cluster, f"{MAPS}/a")
    assert names(cluster) == ["b"]
    c = add(cluster, "c", finalizers=["orphan"])
    add(cluster, "d", c)
    delete(cluster, f"{MAPS}/c", "Background")  # who deletes it has the last word
    assert names(cluster) == ["b"]
    add(cluster, "e", finalizers=["foregroundDeletion"])  # owns nothing
    delete(cluster, f"{MAPS}/e")
    assert names(cluster) == ["b"]


@pytest.mark.parametrize("wrong", [{"uid": "another"}, {"name": "z"}, {"kind": "Secret"}, {"apiVersion": "v2"}])
def test_owners_that_are_not_there_are_told(wrong: dict[str, str]) -> None:
    """A cluster would collect it a moment later; here its owner may be of a kind that is not served."""
    cluster = Cluster()
    reference = owner(add(cluster, "a"), **wrong)
    answer = cluster.answer("POST", MAPS, {"metadata": {"name": "b", "ownerReferences": [reference]}})
    assert answer.code == 201 and answer.headers[0][0] == "Warning"  # type: ignore[union-attr]
    assert "owner is not there" in answer.headers[0][1]  # type: ignore[union-attr]
    delete(cluster, f"{MAPS}/a")
    assert names(cluster) == (["b"] if "uid" in wrong else [])


def test_owners_are_of_the_same_namespace() -> None:
    cluster = Cluster()
    add(cluster, "other", where="/api/v1/namespaces")
    a = add(cluster, "a")
    elsewhere = "/api/v1/namespaces/other/configmaps"
    answer = cluster.answer("POST", elsewhere, {"metadata": {"name": "b", "ownerReferences": [owner(a)]}})
    assert "owner is not there" in answer.headers[0][1]  # type: ignore[union-attr]


def test_a_namespace_that_never_goes_is_not_collected() -> None:
    cluster = Cluster()
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    made = add(cluster, "high", where=classes)
    reference = owner(made, apiVersion="scheduling.k8s.io/v1", kind="PriorityClass")
    change(cluster, "/api/v1/namespaces/default", ownerReferences=[reference])
    for policy in ("Foreground", "Background"):
        delete(cluster, f"{classes}/high", policy)
        assert names(cluster, classes) == [] and "default" in names(cluster, "/api/v1/namespaces")
        add(cluster, "high", where=classes)


def test_one_controller_at_most() -> None:
    cluster = Cluster()
    a, b = add(cluster, "a"), add(cluster, "b")
    both = [owner(a, controller=True), owner(b, controller=True)]
    code, status = cluster.ask("POST", MAPS, {"metadata": {"name": "c", "ownerReferences": both}})
    assert code == 422 and "Only one reference can have Controller set to true" in status["message"]


# Namespaces.


SPACES = "/api/v1/namespaces"


def test_a_namespace_goes_with_what_is_in_it() -> None:
    cluster = Cluster("n1")
    add(cluster, "other", where=SPACES)
    add(cluster, "a", where=f"{SPACES}/other/configmaps")
    assert cluster.ask("POST", f"{SPACES}/other/pods", pod("b"))[0] == 201
    add(cluster, "a")
    delete(cluster, f"{SPACES}/other")
    assert cluster.ask("GET", f"{SPACES}/other")[0] == 404
    assert names(cluster) == ["a"] and names(cluster, "/api/v1/pods") == []
    add(cluster, "other", where=SPACES)
    assert names(cluster, f"{SPACES}/other/configmaps") == []


def test_a_namespace_waits_for_the_finalizers_of_what_is_in_it() -> None:
    cluster = Cluster()
    add(cluster, "other", where=SPACES, finalizers=["x.io/space"])
    inside = f"{SPACES}/other/configmaps"
    add(cluster, "a", where=inside, finalizers=["x.io/one"])
    assert delete(cluster, f"{SPACES}/other")["status"]["phase"] == "Terminating"
    code, status = cluster.ask("POST", inside, {"metadata": {"name": "b"}})
    assert (code, status["reason"]) == (403, "Forbidden")
    words = "unable to create new content in namespace other because it is being terminated"
    assert status["message"] == f'configmaps "b" is forbidden: {words}'
    assert status["details"]["causes"][0]["reason"] == "NamespaceTerminating"
    change(cluster, f"{SPACES}/other", finalizers=[])  # its own is not all that it waits for
    assert metadata_of(cluster, f"{SPACES}/other")["deletionTimestamp"] == NOON
    change(cluster, f"{inside}/a", finalizers=[])
    assert cluster.ask("GET", f"{SPACES}/other")[0] == 404


@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
def test_a_namespace_that_owns_something(policy: str) -> None:
    cluster = Cluster()
    other = add(cluster, "other", where=SPACES)
    classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
    add(cluster, "high", owner(other, kind="Namespace"), where=classes)
    delete(cluster, f"{SPACES}/other", policy)
    assert cluster.ask("GET", f"{SPACES}/other")[0] == 404
    assert names(cluster, classes) == (["high"] if policy == "Orphan" else [])


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_some_namespaces_stay(name: str) -> None:
    code, status = Cluster().ask("DELETE", f"{SPACES}/{name}")
    assert code == 403 and "this namespace may not be deleted" in status["message"]


def test_namespaces_are_deleted_one_by_one() -> None:
    cluster = Cluster()
    add(cluster, "other", where=SPACES)
    assert cluster.ask("DELETE", SPACES, labelSelector="kubernetes.io/metadata.name=other")[0] == 405
    assert "other" in names(cluster, SPACES)


# Generations.


@pytest.mark.parametrize(
    ("where", "spec"),
    [
        ("/apis/apps/v1/namespaces/default/deployments", {"replicas": 2}),
        ("/apis/policy/v1/namespaces/default/poddisruptionbudgets", {"minAvailable": 2}),
    ],
)
def test_generations_count_changes_of_the_specification(where: str, spec: dict[str, Any]) -> None:
    cluster = Cluster()
    body = {"metadata": {"name": "a", "generation": 7}, "spec": {"selector": {}}}
    code, made = cluster.ask("POST", where, body)
    assert (code, made["metadata"]["generation"]) == (201, 1)
    assert change(cluster, f"{where}/a", labels={"x": "1"}, generation=9)["generation"] == 1
    status = {"status": {"conditions": [{"type": "x", "status": "True"}]}}
    assert cluster.ask("PATCH", f"{where}/a/status", status, headers=MERGE)[1]["metadata"]["generation"] == 1
    for _ in range(2):  # the second time nothing changes
        found = cluster.ask("PATCH", f"{where}/a", {"spec": spec}, headers=MERGE)[1]
        assert found["metadata"]["generation"] == 2
    change(cluster, f"{where}/a", finalizers=["x.io/one"])
    assert delete(cluster, f"{where}/a")["metadata"]["generation"] == 3  # as kube-apiserver counts a mark


def test_pods_have_generations_and_nodes_have_none() -> None:
    cluster = Cluster("n1")
    assert cluster.add_pod("a")["metadata"]["generation"] == 1
    cluster.bind("a", "n1")
    assert cluster.pod("a")["metadata"]["generation"] == 1  # a binding is no change of what was asked for
    patch = {"spec": {"containers": [{"name": "c", "image": "y"}]}}
    strategic = {"content-type": "application/strategic-merge-patch+json"}
    assert cluster.ask("PATCH", f"{PODS}/a", patch, headers=strategic)[1]["metadata"]["generation"] == 2
    assert "generation" not in metadata_of(cluster, "/api/v1/nodes/n1")


def test_an_update_that_changes_nothing_is_none() -> None:
    cluster = Cluster("n1")
    made = cluster.add_pod("a")
    watch = cluster.watch(PODS, resourceVersion=cluster.store.version)
    for method, body, headers in (("PUT", made, {}), ("PATCH", {"metadata": {"labels": None}}, MERGE)):
        code, found = cluster.ask(method, f"{PODS}/a", body, headers=headers)
        assert code == 200 and found == made
    assert told(watch) == []
