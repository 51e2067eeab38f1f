"""Quotas, budgets, taints that drive away, priorities, and parameters: what is done as kube-apiserver and its
controllers do it, and what is refused in words."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kube_cluster import NOON, Cluster, pod, told

from schedlab.bridge.kubernetes.api import Listener
from schedlab.bridge.kubernetes.kinds import NODES, PODS

PLACE = "/api/v1/namespaces/default/pods"
QUOTAS = "/api/v1/namespaces/default/resourcequotas"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
STRATEGIC = {"content-type": "application/strategic-merge-patch+json"}
MERGE = {"content-type": "application/merge-patch+json"}


def quota(cluster: Cluster, **hard: str) -> tuple[int, Any]:
    named = {name.replace("_", "."): amount for name, amount in hard.items()}
    return cluster.ask("POST", QUOTAS, {"metadata": {"name": "q"}, "spec": {"hard": named}})


def status(cluster: Cluster, path: str) -> dict[str, Any]:
    return dict(cluster.ask("GET", path)[1]["status"])


def refused(answer: tuple[int, Any], code: int, words: str) -> None:
    assert answer[0] == code and words in answer[1]["message"], answer


def asking(cpu: str, memory: str | None = None, name: str = "x") -> dict[str, Any]:
    found = pod(name, cpu)
    if memory:
        found["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpu, "memory": memory}}
    return found


# Quotas.


def test_a_quota_counts_pods_and_what_they_ask_for() -> None:
    cluster = Cluster("n1")
    cluster.add_pod("before", cpu="500m")
    assert quota(cluster, requests_cpu="2", pods="3")[0] == 201
    assert status(cluster, f"{QUOTAS}/q") == {
        "hard": {"requests.cpu": "2", "pods": "3"},
        "used": {"requests.cpu": "500m", "pods": "1"},
    }
    cluster.add_pod("a", cpu="1")
    answer = cluster.ask("POST", PLACE, pod("b", cpu="1"))
    words = "exceeded quota: q, requested: requests.cpu=1, used: requests.cpu=1500m, limited: requests.cpu=2"
    refused(answer, 403, f'pods "b" is forbidden: {words}')
    assert answer[1]["reason"] == "Forbidden"
    cluster.add_pod("b", cpu="500m")
    refused(cluster.ask("POST", PLACE, pod("c", cpu="0")), 403, "requested: pods=1, used: pods=3, limited: pods=3")
    cluster.ask("DELETE", f"{PLACE}/before")
    assert status(cluster, f"{QUOTAS}/q")["used"] == {"requests.cpu": "1500m", "pods": "2"}
    ended = {"status": {"phase": "Succeeded"}}
    cluster.ask("PATCH", f"{PLACE}/a/status", ended, headers=STRATEGIC)  # who has ended asks for nothing
    assert status(cluster, f"{QUOTAS}/q")["used"] == {"requests.cpu": "500m", "pods": "1"}
    cluster.ask("PATCH", f"{QUOTAS}/q", {"spec": {"hard": {"pods": "1"}}}, headers=MERGE)
    assert status(cluster, f"{QUOTAS}/q")["hard"]["pods"] == "1"
    refused(cluster.ask("POST", PLACE, pod("d", cpu="0")), 403, "limited: pods=1")
    cluster.ask("DELETE", f"{QUOTAS}/q")
    cluster.add_pod("d", cpu="100")


def test_a_quota_is_that_of_its_namespace() -> None:
    cluster = Cluster("n1")
    cluster.ask("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})
    assert quota(cluster, pods="0")[0] == 201
    refused(cluster.ask("POST", PLACE, pod("a")), 403, "exceeded quota")
    assert cluster.ask("POST", "/api/v1/namespaces/other/pods", pod("a"))[0] == 201


def test_what_a_quota_counts_has_to_be_said() -> None:
    cluster = Cluster("n1")
    assert quota(cluster, limits_memory="1Gi", cpu="4")[0] == 201
    refused(cluster.ask("POST", PLACE, pod("a")), 403, "failed quota: q: must specify limits.memory for: c")


def test_a_container_that_runs_before_the_others_asks_for_what_it_needs_more() -> None:
    cluster = Cluster("n1")
    assert quota(cluster, cpu="4", count_pods="9")[0] == 422  # count.pods
    assert quota(cluster, cpu="4")[0] == 201
    container = {"resources": {"requests": {"cpu": "3"}}}
    cluster.add_pod("a", initContainers=[{"name": "i", **container}, {"name": "j", **container}])
    assert status(cluster, f"{QUOTAS}/q")["used"] == {"cpu": "3"}
    beside = cluster.ask(
        "POST", PLACE, pod("b", initContainers=[{"name": "s", "restartPolicy": "Always", **container}])
    )
    refused(beside, 403, "requested: cpu=4")


@pytest.mark.parametrize(
    "name", ["services", "count/configmaps", "limits.nvidia.com/gpu/x.y", "persistentvolumeclaims"]
)
def test_quotas_that_cannot_be_kept_are_refused(name: str) -> None:
    cluster = Cluster("n1")
    body = {"metadata": {"name": "q"}, "spec": {"hard": {name: "1"}}}
    refused(cluster.ask("POST", QUOTAS, body), 422, "only pods are counted here")
    body["spec"] = {"hard": {"pods": "1"}, "scopes": ["BestEffort"]}
    refused(cluster.ask("POST", QUOTAS, body), 422, "quotas count all pods of their namespace here")
    body["spec"] = {"hard": {"pods": "some"}}
    refused(cluster.ask("POST", QUOTAS, body), 422, "expected a quantity")
    body["spec"] = {"hard": {"pods": "1", "requests.nvidia.com/gpu": "2", "count/pods": "2"}}
    assert cluster.ask("POST", QUOTAS, body)[0] == 201
    body["spec"] = {"hard": {name: "1"}}
    assert cluster.ask("PUT", f"{QUOTAS}/q", body)[0] == 422


def test_sums_of_quantities_are_exact() -> None:
    cluster = Cluster("n1")
    assert quota(cluster, requests_cpu="1e999")[0] == 201
    for name, amount in (("a", "1e998"), ("b", "0.001"), ("c", "100m")):
        cluster.add_pod(name, cpu=amount)
    cluster.ask("DELETE", f"{PLACE}/a")
    assert status(cluster, f"{QUOTAS}/q")["used"] == {"requests.cpu": "101m"}


def test_quotas_and_budgets_of_a_namespace_have_a_number() -> None:
    cluster = Cluster("n1")
    for number in range(100):
        body = {"metadata": {"name": f"q{number}"}, "spec": {"hard": {"pods": "1000"}}}
        assert cluster.ask("POST", QUOTAS, body)[0] == 201
    refused(cluster.ask("POST", BUDGETS, {"metadata": {"name": "b"}, "spec": {"minAvailable": 1}}), 403, "at most 100")
    cluster.ask("DELETE", f"{QUOTAS}/q7")
    assert cluster.ask("POST", BUDGETS, {"metadata": {"name": "b"}, "spec": {"minAvailable": 1}})[0] == 201


# Budgets.


def budget(cluster: Cluster, least: Any = 2, name: str = "b", **spec: Any) -> None:
    wanted = {"minAvailable": least, "selector": {"matchLabels": {"app": "x"}}, **spec}
    code, made = cluster.ask("POST", BUDGETS, {"metadata": {"name": name}, "spec": wanted})
    assert code == 201, made


def running(cluster: Cluster, name: str, ready: str = "True", app: str = "x") -> None:
    code, made = cluster.ask("POST", PLACE, {**pod(name), "metadata": {"name": name, "labels": {"app": app}}})
    assert code == 201, made
    cluster.bind(name, "n1")
    told = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}}
    assert cluster.ask("PATCH", f"{PLACE}/{name}/status", told, headers=STRATEGIC)[0] == 200


def evict(cluster: Cluster, name: str) -> tuple[int, Any]:
    return cluster.ask("POST", f"{PLACE}/{name}/eviction", {"metadata": {"name": name}})


def test_a_budget_refuses_evictions() -> None:
    cluster = Cluster("n1")
    for name in "abc":
        running(cluster, name)
    running(cluster, "other", app="y")
    budget(cluster)
    found = status(cluster, f"{BUDGETS}/b")
    numbers = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods", "observedGeneration")
    assert [found[name] for name in numbers] == [1, 3, 2, 3, 1]
    assert evict(cluster, "a")[0] == 201
    marked = cluster.pod("a")
    assert "deletionTimestamp" in marked["metadata"]
    condition = marked["status"]["conditions"][-1]
    assert (condition["type"], condition["reason"]) == ("DisruptionTarget", "EvictionByEvictionAPI")
    answer = evict(cluster, "b")
    refused(answer, 429, "Cannot evict pod as it would violate the pod's disruption budget.")
    assert answer[1]["reason"] == "TooManyRequests"
    cause = answer[1]["details"]["causes"][0]
    assert cause == {
        "reason": "DisruptionBudget",
        "message": "The disruption budget b needs 2 healthy pods and has 2 currently",
    }
    assert evict(cluster, "a")[0] == 201  # it goes already
    assert evict(cluster, "other")[0] == 201
    assert cluster.ask("DELETE", f"{PLACE}/b", gracePeriodSeconds=0)[0] == 200  # a deletion is no eviction
    found = status(cluster, f"{BUDGETS}/b")
    assert [found[name] for name in numbers] == [0, 1, 2, 2, 1]
    cluster.ask("PATCH", f"{BUDGETS}/b", {"spec": {"minAvailable": 0}}, headers=MERGE)
    found = status(cluster, f"{BUDGETS}/b")
    assert [found[name] for name in numbers] == [1, 1, 0, 2, 2]
    assert evict(cluster, "c")[0] == 201


def test_pods_that_are_not_ready() -> None:
    """As unhealthyPodEvictionPolicy has it: they may go while enough others are ready, or always."""
    cluster = Cluster("n1")
    running(cluster, "a", ready="False")
    running(cluster, "b")
    budget(cluster, 1)
    assert evict(cluster, "a")[0] == 201
    cluster = Cluster("n1")
    running(cluster, "a", ready="False")
    budget(cluster, 1)
    assert evict(cluster, "a")[0] == 429
    cluster.ask("DELETE", f"{BUDGETS}/b")
    budget(cluster, 1, unhealthyPodEvictionPolicy="AlwaysAllow")
    assert evict(cluster, "a")[0] == 201


def test_pods_that_do_not_run_may_be_evicted() -> None:
    cluster = Cluster("n1")
    budget(cluster, 5, selector={})
    cluster.add_pod("a")
    assert evict(cluster, "a")[0] == 201


def test_two_budgets_for_a_pod_are_one_too_many() -> None:
    cluster = Cluster("n1")
    running(cluster, "a")
    budget(cluster, 0)
    budget(cluster, 0, name="c")
    refused(evict(cluster, "a"), 500, "This pod has more than one PodDisruptionBudget")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"maxUnavailable": 1}, "counted by controllers, of which none runs here"),
        ({"minAvailable": "50%"}, "give minAvailable as a number of pods"),
        ({"minAvailable": -1}, "must be greater than or equal to 0"),
        ({"selector": {"matchLabels": {"not a key": "x"}}}, "spec.selector"),
        ({"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}, "In and NotIn have values"),
        ({"selector": {"matchExpressions": [{"key": "a", "operator": "Near", "values": ["x"]}]}}, "no other operator"),
    ],
)
def test_budgets_that_cannot_be_kept_are_refused(spec: dict[str, Any], words: str) -> None:
    refused(Cluster().ask("POST", BUDGETS, {"metadata": {"name": "b"}, "spec": spec}), 422, words)


@pytest.mark.parametrize(
    ("selector", "fits"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"app": "x"}}, True),
        ({"matchExpressions": [{"key": "app", "operator": "In", "values": ["y", "z"]}]}, False),
        ({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["y"]}]}, True),
        ({"matchExpressions": [{"key": "app", "operator": "Exists"}, {"key": "b", "operator": "DoesNotExist"}]}, True),
        ({"matchLabels": {"app": "x"}, "matchExpressions": [{"key": "b", "operator": "Exists"}]}, False),
    ],
)
def test_which_pods_a_budget_is_about(selector: dict[str, Any] | None, fits: bool) -> None:
    cluster = Cluster("n1")
    running(cluster, "a")
    budget(cluster, 1, selector=selector)
    assert status(cluster, f"{BUDGETS}/b")["expectedPods"] == fits
    assert evict(cluster, "a")[0] == (429 if fits else 201)


# Taints that drive away.


class Owner(Listener):
    def __init__(self) -> None:
        self.gone: list[str] = []

    def deleting(self, pod: dict[str, Any]) -> None:
        self.gone.append(pod["metadata"]["name"])


def tainted(*tolerations: list[dict[str, Any]]) -> tuple[Cluster, Owner, list[float]]:
    """A pod with each of these on a node that has been tainted; when somebody wants to be woken."""
    owner, woken = Owner(), list[float]()
    cluster = Cluster("n1", "n2", listener=owner)
    cluster.api.evictions.wake = woken.append
    for number, one in enumerate(tolerations):
        cluster.add_pod(f"p{number}", tolerations=one)
        cluster.bind(f"p{number}", "n1")
    taint(cluster, {"key": "k", "value": "v", "effect": "NoExecute"})
    return cluster, owner, woken


def taint(cluster: Cluster, *taints: dict[str, str]) -> None:
    assert cluster.ask("PATCH", "/api/v1/nodes/n1", {"spec": {"taints": taints or None}}, headers=MERGE)[0] == 200


def stands(seconds: int | None, **more: str) -> list[dict[str, Any]]:
    found: dict[str, Any] = {"key": "k", "operator": "Exists", **more}
    return [found | ({} if seconds is None else {"tolerationSeconds": seconds, "effect": "NoExecute"})]


def test_pods_leave_when_they_have_tolerated_a_taint_for_long_enough() -> None:
    cluster, owner, woken = tainted([], stands(60), stands(None), stands(20), stands(0), stands(30, key="other"))
    assert owner.gone == ["p0", "p4", "p5"]
    assert woken == [NOON + 60, NOON + 20]
    condition = cluster.pod("p0")["status"]["conditions"][-1]
    assert (condition["type"], condition["reason"]) == ("DisruptionTarget", "DeletionByTaintManager")
    for seconds, gone in ((19, 0), (20, 1), (59, 1), (60, 2)):
        cluster.now = NOON + seconds
        cluster.api.evictions.drive()
        assert owner.gone[3:] == ["p3", "p1"][:gone]
    assert not cluster.api.evictions._due and "deletionTimestamp" not in cluster.pod("p2")["metadata"]


def test_a_taint_that_goes_drives_nobody_away() -> None:
    cluster, owner, _ = tainted(stands(60))
    cluster.now += 30
    taint(cluster)
    cluster.now += 300
    cluster.api.evictions.drive()
    assert owner.gone == []
    taint(cluster, {"key": "k", "effect": "NoExecute"})  # from now on
    cluster.now += 59
    cluster.api.evictions.drive()
    assert owner.gone == []
    cluster.now += 1
    cluster.api.evictions.drive()
    assert owner.gone == ["p0"]


def test_who_comes_to_a_node_with_a_taint_meets_it_then() -> None:
    cluster, owner, _ = tainted()
    cluster.now += 100
    cluster.add_pod("late", tolerations=stands(10))
    cluster.add_pod("never")
    cluster.bind("late", "n1")
    cluster.bind("never", "n1")
    assert owner.gone == ["never"]
    more = {"spec": {"tolerations": [*stands(10), {"key": "z", "operator": "Exists"}]}}
    assert cluster.ask("PATCH", f"{PLACE}/late", more, headers=STRATEGIC)[0] == 200
    cluster.now += 10
    cluster.api.evictions.drive()
    assert owner.gone == ["never", "late"]


def test_other_effects_drive_nobody_away() -> None:
    cluster, owner, woken = tainted()
    cluster.add_pod("a", tolerations=stands(None))
    cluster.bind("a", "n1")
    taint(cluster, {"key": "z", "effect": "NoSchedule"}, {"key": "z", "effect": "PreferNoSchedule"})
    assert owner.gone == [] and woken == []


# Priorities, and pods that are there.


def test_priorities_are_those_of_their_classes() -> None:
    cluster = Cluster("n1")
    made = {"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never", "globalDefault": True}
    assert cluster.ask("POST", CLASSES, made)[0] == 201
    spec = cluster.add_pod("a", preemptionPolicy="Never", priority=1000)["spec"]
    assert (spec["priorityClassName"], spec["priority"], spec["preemptionPolicy"]) == ("high", 1000, "Never")
    words = "the integer value of priority (7) must not be provided in pod spec; priority admission controller computed"
    refused(cluster.ask("POST", PLACE, pod("b", priority=7, priorityClassName="high")), 403, words)
    words = "the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec"
    refused(cluster.ask("POST", PLACE, pod("b", preemptionPolicy="PreemptLowerPriority")), 403, words)
    second = {"metadata": {"name": "low"}, "value": 1, "globalDefault": True}
    refused(cluster.ask("POST", CLASSES, second), 403, "PriorityClass high is already marked as default")
    assert cluster.ask("POST", CLASSES, {**second, "globalDefault": False})[0] == 201
    refused(cluster.ask("PUT", f"{CLASSES}/low", second), 403, "already marked as default")
    for field, value in (("value", 2), ("preemptionPolicy", "PreemptLowerPriority")):
        refused(cluster.ask("PATCH", f"{CLASSES}/high", {field: value}, headers=MERGE), 422, "may not be changed")
    refused(cluster.ask("POST", CLASSES, {"metadata": {"name": "x"}, "value": 10**9 + 1}), 422, "maximum allowed value")
    refused(cluster.ask("POST", CLASSES, {"metadata": {"name": "system-x"}, "value": 1}), 422, "reserved for system")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"containers": [{"name": "c", "image": "y"}]}, 200),
        ({"containers": [{"name": "c", "resources": {"requests": {"cpu": "9"}}}]}, 422),
        ({"containers": [{"name": "d", "image": "y"}]}, 422),
        ({"activeDeadlineSeconds": 5}, 200),
        ({"nodeSelector": {"a": "b"}}, 422),
        ({"schedulerName": "other"}, 422),
        ({"priority": 5}, 422),
        ({"tolerations": [{"key": "x", "operator": "Exists"}]}, 422),  # instead of the one that it has
        ({"schedulingGates": [{"name": "x.io/gate"}]}, 422),
        ({"nodeName": "n1"}, 422),
    ],
)
def test_what_of_a_pod_may_be_changed(change: dict[str, Any], code: int) -> None:
    cluster = Cluster("n1")
    cluster.add_pod("a", tolerations=[{"key": "y", "operator": "Exists"}])
    headers = MERGE if "tolerations" in change else STRATEGIC
    answer = cluster.ask("PATCH", f"{PLACE}/a", {"spec": change}, headers=headers)
    assert answer[0] == code, answer
    if code == 200:
        assert answer[1]["metadata"]["generation"] == 2


def test_a_gated_pod_may_be_kept_from_more_nodes_and_let_go() -> None:
    cluster = Cluster("n1")
    cluster.add_pod("a", schedulingGates=[{"name": "x.io/gate"}], nodeSelector={"a": "b"})
    change = {"spec": {"nodeSelector": {"c": "d"}}}
    assert cluster.ask("PATCH", f"{PLACE}/a", change, headers=MERGE)[0] == 200
    assert cluster.ask("PATCH", f"{PLACE}/a", {"spec": {"nodeSelector": {"a": None}}}, headers=MERGE)[0] == 422
    assert cluster.ask("PATCH", f"{PLACE}/a", {"spec": {"schedulingGates": None}}, headers=MERGE)[0] == 200
    assert cluster.ask("PATCH", f"{PLACE}/a", change, headers=MERGE)[0] == 200  # which changes nothing
    assert cluster.ask("PATCH", f"{PLACE}/a", {"spec": {"nodeSelector": {"e": "f"}}}, headers=MERGE)[0] == 422


def test_an_update_gets_what_is_usual_too() -> None:
    cluster = Cluster("n1")
    made = cluster.add_pod("a")
    found = cluster.ask("PUT", f"{PLACE}/a", {**pod("a"), "metadata": {"name": "a", "labels": {"x": "1"}}})[1]
    assert found["spec"] == made["spec"] and found["metadata"]["labels"] == {"x": "1"}


# Parameters.


def warnings(cluster: Cluster, method: str, path: str, body: Any, **query: str) -> list[str]:
    answer = cluster.answer(method, path, body, headers=MERGE if method == "PATCH" else {}, **query)
    assert answer.code in (200, 201)  # type: ignore[union-attr]
    return [value for name, value in answer.headers if name == "Warning"]  # type: ignore[union-attr]


def test_fields_that_nobody_looks_at_are_told() -> None:
    cluster = Cluster("n1")
    for query, some in (({"fieldValidation": "Strict"}, 1), ({"fieldValidation": "Ignore"}, 0), ({}, 0)):
        for method, path, body in (("POST", PLACE, pod(f"p{len(query)}{some}")), ("PATCH", "/api/v1/nodes/n1", {})):
            found = warnings(cluster, method, path, body, **query)
            assert len(found) == some and all('299 - "fieldValidation: ' in one for one in found)
    refused(cluster.ask("POST", PLACE, pod("z"), fieldValidation="Lax"), 422, "fieldValidation: Unsupported value")


def test_who_set_what_is_not_kept() -> None:
    cluster = Cluster("n1")
    body = {**pod("a"), "metadata": {"name": "a", "managedFields": [{"manager": "x"}]}}
    code, made = cluster.ask("POST", PLACE, body, fieldManager="kubectl")
    assert code == 201 and "managedFields" not in made["metadata"]
    refused(cluster.ask("POST", PLACE, pod("b"), fieldManager="x" * 129), 422, "fieldManager: Too long")


@pytest.mark.parametrize(
    ("method", "path"), [("POST", PLACE), ("PUT", f"{PLACE}/a"), ("DELETE", f"{PLACE}/a"), ("DELETE", PLACE)]
)
def test_a_dry_run_changes_nothing_and_is_refused(method: str, path: str) -> None:
    cluster = Cluster("n1")
    cluster.add_pod("a")
    refused(cluster.ask(method, path, pod("a"), dryRun="All"), 400, "kubectl has --dry-run=client")
    assert [one["metadata"]["name"] for one in cluster.ask("GET", PLACE)[1]["items"]] == ["a"]


def test_server_side_apply_is_refused_by_name() -> None:
    cluster = Cluster("n1")
    headers = {"content-type": "application/apply-patch+yaml"}
    answer = cluster.ask("PATCH", f"{PLACE}/a", b"{}", headers=headers, fieldManager="x")
    assert answer[0] == 404  # there is nothing to patch
    cluster.add_pod("a")
    refused(cluster.ask("PATCH", f"{PLACE}/a", b"{}", headers=headers), 415, "kubectl apply without --server-side")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"resourceVersionMatch": "Exact", "resourceVersion": "5"}, 200),
        ({"resourceVersionMatch": "NotOlderThan", "resourceVersion": "0"}, 200),
        ({"resourceVersionMatch": "Exact"}, 422),
        ({"resourceVersionMatch": "Exact", "resourceVersion": "0"}, 422),
        ({"resourceVersionMatch": "Newest", "resourceVersion": "5"}, 422),
        ({"resourceVersionMatch": "Exact", "resourceVersion": "5", "continue": "WzEsIiIsIiJd"}, 422),
        ({"resourceVersion": "5", "continue": "WzEsIiIsIiJd"}, 400),
        ({"sendInitialEvents": "true"}, 422),
        ({"watch": "1", "resourceVersionMatch": "NotOlderThan"}, 422),
        ({"watch": "1", "sendInitialEvents": "true"}, 422),
        ({"watch": "1", "sendInitialEvents": "true", "resourceVersionMatch": "Exact"}, 422),
    ],
)
def test_what_lists_and_watches_can_be_asked_for_together(query: dict[str, str], code: int) -> None:
    assert Cluster("n1").ask("GET", "/api/v1/nodes", **query)[0] == code


def test_initial_events_are_those_of_now() -> None:
    cluster = Cluster("n1", "n2")
    wanted = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    watch = cluster.watch("/api/v1/nodes", **wanted)
    assert told(watch) == [("ADDED", "n1"), ("ADDED", "n2"), ("BOOKMARK", str(cluster.store.version))]


def test_nodes_of_a_simulation_are_not_made_by_clients() -> None:
    class Simulation(Listener):
        own = frozenset({NODES})

    cluster = Cluster("n1", listener=Simulation())
    assert cluster.ask("POST", "/api/v1/nodes", {"metadata": {"name": "n2"}})[0] == 403
    for path in ("/api/v1/nodes", "/api/v1/nodes/n1"):
        refused(cluster.ask("DELETE", path), 403, "said by the simulation")
    grown = {"status": {"allocatable": {"cpu": "99"}}}
    assert cluster.ask("PATCH", "/api/v1/nodes/n1/status", grown, headers=MERGE)[0] == 403
    assert cluster.ask("PATCH", "/api/v1/nodes/n1", {"spec": {"unschedulable": True}}, headers=MERGE)[0] == 200
    assert "will never run" in warnings(cluster, "POST", PLACE, pod("a"))[0]
    made = cluster.ask("POST", CLASSES, {"metadata": {"name": "high"}})[1]["metadata"]
    owner = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "name": "high", "uid": made["uid"]}
    owned = {"metadata": {"ownerReferences": [owner]}}
    assert cluster.ask("PATCH", "/api/v1/nodes/n1", owned, headers=MERGE)[0] == 200
    assert cluster.ask("DELETE", f"{CLASSES}/high")[0] == 200
    assert cluster.ask("GET", "/api/v1/nodes/n1")[0] == 200
    assert cluster.store.list(PODS)
