"""Fuzz the Kubernetes server: whatever bytes come, each request has an answer that clients understand; patches and
selectors mean what the simple ones of `kube_reference` mean, and no request takes long or much, whatever is in it.

python -m tests.fuzz_kube --seconds 600 --seed 1
"""

from __future__ import annotations

import copy
import json
import random
import resource
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tests import kube_reference as reference
from tests.fuzzing import main, mutate
from tests.kube_cluster import Cluster, pod

from schedlab.bridge.kubernetes.http import HttpReader, RefusedError, response_bytes
from schedlab.bridge.kubernetes.kinds import PODS
from schedlab.bridge.kubernetes.messages import Response, failure
from schedlab.bridge.kubernetes.patches import (
    JSON_PATCH,
    MERGE_PATCH,
    PATCHES,
    STRATEGIC_MERGE_PATCH,
    apply_patch,
    strategic_merge,
)
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.status import StatusError
from schedlab.bridge.kubernetes.store import Watch

PLACES = (
    *("/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/pods/a", "/api/v1/pods", "/api/v1/nodes/n1"),
    *("/api/v1/namespaces/default/pods/a/binding", "/api/v1/namespaces/default/pods/b/status", "/api/v1/nodes"),
    *("/apis/events.k8s.io/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events/e"),
    *("/api/v1/namespaces/default/bindings", "/api/v1/namespaces/default/pods/a/eviction", "/apis/apps/v1"),
    *("/apis/scheduling.k8s.io/v1/priorityclasses", "/openapi/v3/api/v1", "/version", "/"),
)
QUERIES = (
    *("", "watch=true", "watch=1&resourceVersion=3", "limit=1", "fieldSelector=status.phase!%3DFailed", "dryRun=All"),
    *("labelSelector=a in (b)", "resourceVersion=99", "watch=1&sendInitialEvents=true", "continue=WzEsIiIsIiJd"),
    "gracePeriodSeconds=0",
)
MEDIA = (
    *("application/json", "application/strategic-merge-patch+json", "application/merge-patch+json", "text/plain"),
    *("application/json-patch+json", ""),
)
ODD = [
    *("", "0", "-1", "1e400", "null", "true", '"', "{", "}", "[", "]", ",", ":", "\r\n", "\0", "ä", "9" * 30, "%", "/"),
    *('"metadata"', '"name"', '"$patch"', '"delete"', '"spec"', "\\ud800", "chunked", "HTTP/1.1", "?", "&", "=", "!="),
]
BODIES: tuple[Any, ...] = (
    *({}, pod("a"), pod("b", priorityClassName="high"), {"target": {"name": "n1"}, "metadata": {"name": "a"}}),
    {"status": {"conditions": [{"type": "PodScheduled", "status": "False"}], "nominatedNodeName": "n1"}},
    {"metadata": {"labels": {"x": "1"}, "resourceVersion": "3"}, "spec": {"taints": [{"key": "k"}]}},
    [{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}, {"op": "test", "path": "/kind", "value": "Pod"}],
    {"metadata": {"name": "e"}, "regarding": {"name": "a"}, "note": "x"},
    {"metadata": {"name": "high"}, "value": 10, "globalDefault": True},
    {"gracePeriodSeconds": 1, "preconditions": {"uid": "x"}},
)


def message(chance: random.Random) -> bytes:
    body = mutate(json.dumps(chance.choice(BODIES)).encode(), chance, ODD, (0, 0, 0, 1, 2))
    query = chance.choice(QUERIES)
    head = (
        f"{chance.choice(('GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'))} {chance.choice(PLACES)}"
        f"{'?' + query.replace(' ', '%20') if query else ''} HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n"
        f"Content-Type: {chance.choice(MEDIA)}\r\nAccept: {chance.choice(('application/json', '*/*', TABLE))}\r\n\r\n"
    )
    return head.encode() + body


TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


def fuzz(chance: random.Random, _: Path) -> bool:
    """A dozen messages to one cluster; whether the last of them was understood as HTTP."""
    cluster = Cluster("n1", "n2", history=20)
    reader, watches, sent = HttpReader(), list[Watch](), list[bytes]()
    try:
        for _number in range(12):
            data = mutate(message(chance), chance, ODD, (0, 0, 0, 0, 1, 2))
            sent.append(data)
            try:
                requests = reader.feed(data)
            except RefusedError as refused:
                assert json.loads(failure(refused.error).body)["kind"] == "Status"
                reader = HttpReader()
                continue
            for request in requests:
                answer = cluster.api.handle(request)
                if isinstance(answer, Watch):
                    watches.append(answer)
                    continue
                assert isinstance(answer, Response) and response_bytes(answer)
                if answer.content_type == "application/json":
                    found = json.loads(answer.body)
                    if answer.code >= 400:
                        assert (found["kind"], found["code"]) == ("Status", answer.code), found
        check_sound(cluster, watches)
    except Exception:
        print(f"failed after {sent!r}", file=sys.stderr)
        raise
    return bool(requests)


def check_sound(cluster: Cluster, watches: list[Watch]) -> None:
    """What is stored can be listed, and watches tell of it in whole lines."""
    for collection in cluster.store.collections():
        for key, version in collection.objects.items():
            metadata = version.object["metadata"]
            assert (metadata.get("namespace", ""), metadata["name"]) == key
            assert int(metadata["resourceVersion"]) == version.number <= cluster.store.version
            assert json.loads(version.json) == version.object
    for _, found in cluster.store.list(PODS):
        assert found.object["spec"].get("nodeName", "n1") in ("n1", "n2")
    for watch in watches:
        for frame in watch.frames():
            assert json.loads(frame)["type"] in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")


# Patches.

MOST_SECONDS = 3.0  # of CPU time, for one request
MOST_MEMORY = 1_500_000_000  # bytes of this process
MAPS = "/api/v1/namespaces/default/configmaps"
WORDS = ("a", "b", "name", "type", "key", "labels", "x", "", "~", "/", "metadata", "spec", "0", "-1", "ä")


def value(chance: random.Random, depth: int = 3) -> Any:
    kind = chance.randrange(10 if depth else 6)
    if kind < 6:
        return (None, True, 1, 1.0, "a", chance.choice(WORDS))[kind]
    if kind < 8:
        return [value(chance, depth - 1) for _ in range(chance.randrange(4))]
    return {chance.choice(WORDS): value(chance, depth - 1) for _ in range(chance.randrange(4))}


def document(chance: random.Random) -> Object:
    """A real object, or one of everything."""
    made: Object = chance.choice((pod("a"), {"metadata": {"name": "a", "labels": {"a": "b"}}}))
    return {**made, "conditions": [{"type": "a", "x": 1}, {"type": "b"}], "data": value(chance, 4)}


def pointer(chance: random.Random, found: Any) -> str:
    """To a place that is there, more often than not."""
    parts = []
    while chance.random() < 0.8:
        if isinstance(found, dict) and found and chance.random() < 0.9:
            part = chance.choice(list(found))
            found = found[part]
        elif isinstance(found, list) and found and chance.random() < 0.9:
            part = str(chance.randrange(len(found)))
            found = found[int(part)]
        else:
            part, found = chance.choice((*WORDS, "-", "00", "01", "1", "2", "9" * 30, "+1", " 1", "٣")), None
        parts.append(part.replace("~", "~0").replace("/", "~1"))
    return "".join(f"/{part}" for part in parts) or chance.choice(("", "", "/", "a"))


def operations(chance: random.Random, found: Any) -> list[Object]:
    made = []
    for _ in range(chance.randrange(1, 7)):
        one = {
            "op": chance.choice(("add", "remove", "replace", "test", "move", "copy")),
            "path": pointer(chance, found),
            "from": pointer(chance, found),
            "value": value(chance),
        }
        if one["op"] == "test" and chance.random() < 0.7:
            with suppress(reference.CannotPatchError):  # or the test fails
                one["value"] = reference.value_at(found, reference.keys(str(one["path"])))
        try:
            found = reference.json_patch(found, [one])
        except reference.CannotPatchError:
            if chance.random() < 0.9:
                continue  # one that does not fit ends the patch: few of them
        made.append(one)
    return made


def fuzz_patch(chance: random.Random, _: Path) -> bool:
    """A patch of each kind as the references have it, and one of any size to a server; whether a JSON patch fitted."""
    found = document(chance)
    before = copy.deepcopy(found)
    patch = operations(chance, found)
    try:
        expected = reference.json_patch(found, patch)
    except reference.CannotPatchError:
        expected = None
    try:
        told = apply_patch(JSON_PATCH, found, patch)
    except StatusError as error:
        assert error.code == 422, error
        told = None
    assert reference.text(told) == reference.text(expected if isinstance(expected, dict) else None), (found, patch)
    other = {chance.choice(WORDS): value(chance) for _ in range(3)} | {"data": value(chance, 4)}
    merged = apply_patch(MERGE_PATCH, found, other)
    assert reference.text(merged) == reference.text(reference.merge_patch(copy.deepcopy(found), other)), (found, other)
    check_strategic(chance, found, other)
    assert found == before, patch  # objects of the store are never changed in place
    check_bounds(chance)
    return told is not None


def check_strategic(chance: random.Random, found: Object, patch: Object) -> None:
    """Without lists it is a merge patch; twice is as once; lists that have keys have each key once."""
    plain = without_lists(patch)
    assert reference.text(strategic_merge(found, plain)) == reference.text(
        reference.merge_patch(copy.deepcopy(found), plain)
    ), (found, plain)
    elements = [{"type": chance.choice("abc"), chance.choice("xyz"): value(chance, 1)} for _ in range(4)]
    patch = {**patch, "conditions": elements}
    once = strategic_merge(found, patch)
    types = [one["type"] for one in once["conditions"]]
    assert types[:2] == ["a", "b"] and len(types) == len(set(types)), types
    for kind in set(types):
        mine = [one for one in found["conditions"] + elements if one["type"] == kind]
        expected: Object = {}
        for one in mine:
            expected = reference.merge_patch(expected, without_lists(one)) | {
                key: each for key, each in one.items() if isinstance(each, list)
            }
        (got,) = (one for one in once["conditions"] if one["type"] == kind)
        assert got == expected, (found, patch)
    assert reference.text(strategic_merge(once, patch)) == reference.text(once), (found, patch)


def without_lists(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: without_lists(one) for key, one in found.items() if not isinstance(one, list)}
    return found


def check_bounds(chance: random.Random) -> None:
    """A patch that grows, repeats or nests, to an object with much in it: an answer soon, and a sound object."""
    cluster = CLUSTERS.setdefault("large", large())
    path = chance.choice((f"{MAPS}/large", "/api/v1/nodes/n1", "/api/v1/nodes/n1/status", f"{PLACES[0]}/p"))
    many = chance.choice((1, 30, 1000, 9_000))
    kind = chance.choice(PATCHES)
    body: Any
    if kind == JSON_PATCH:
        places = (
            "/data/0",
            "/data/-",
            "/data/20000",
            "/metadata/labels",
            "/metadata/annotations/x",
            "",
            "/data",
            "/m/a",
        )
        body = [
            {"op": chance.choice(("copy", "move", "add", "remove", "test", "replace")), "path": chance.choice(places)}
            | {"from": chance.choice(places), "value": value(chance)}
            for _ in range(min(many, 60))
        ] * max(many // 60, 1)
    else:
        name = chance.choice(("conditions", "volumes", "containers", "taints", "ownerReferences", "finalizers", "x"))
        key = {"conditions": "type", "taints": "key", "ownerReferences": "uid"}.get(name, "name")
        inner = chance.choice(({"env": [{"name": "e"}]}, {"ports": [{"containerPort": 1}]}, {"$patch": "delete"}, {}))
        same = chance.random() < 0.5
        body = {name: [{key: "v" if same else f"v{number}", **inner} for number in range(many)]}
        for _ in range(chance.randrange(3)):
            body = {chance.choice(("spec", "status", "metadata", "data", "m")): body}
    data = json.dumps(body).encode()
    if chance.random() < 0.2:
        data = mutate(data, chance, ODD, (1, 2))
    before = time.thread_time()
    answer = cluster.answer("PATCH", path, data, headers={"content-type": kind})
    took = time.thread_time() - before
    assert isinstance(answer, Response)
    assert answer.code == 200 or 400 <= answer.code < 500, answer.body[:500]
    assert took < MOST_SECONDS, (took, kind, data[:500])
    assert len(answer.body) < 2_000_000
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert used < MOST_MEMORY, (used, kind, data[:500])
    if answer.code == 200:
        check_sound(cluster, [])
        CLUSTERS.pop("large")


CLUSTERS: dict[str, Cluster] = {}  # one that is used until it has been changed


def large() -> Cluster:
    cluster = Cluster("n1")
    cluster.add_pod("p")
    many = {"volumes": [{"name": "v", "env": [{"name": f"e{n}"} for n in range(5_000)]}], "data": list(range(20_000))}
    body = {"metadata": {"name": "large", "labels": {"a": "b"}}, "m": {"a": {f"k{n}": n for n in range(5_000)}}, **many}
    assert cluster.ask("POST", MAPS, body)[0] == 201
    return cluster


# Selectors.

KEYS = ("a", "b", "x.io/c", "n", "notin", "in", "A-1")
VALUES = ("a", "b", "1", "7", "12", "in", "notin", "x.y_z", "")
FIELDS = ("metadata.name", "metadata.namespace", "spec.nodeName", "spec.schedulerName", "status.phase", "status.podIP")


def labels_of(chance: random.Random) -> dict[str, str]:
    return {chance.choice(KEYS): chance.choice(VALUES) for _ in range(chance.randrange(4))}


def terms(chance: random.Random) -> list[reference.Term]:
    found = []
    for _ in range(chance.randrange(4)):
        sign = chance.choice(("", "!", "=", "==", "!=", "in", "notin", ">", "<"))
        if sign in (">", "<"):
            values = [str(chance.randrange(20))]
        else:
            values = [chance.choice(VALUES) for _ in range(chance.randrange(1, 4) if sign in ("in", "notin") else 1)]
        found.append((chance.choice(KEYS), sign, values))
    return found


def written(chance: random.Random, found: list[reference.Term]) -> str:
    def gap() -> str:
        return chance.choice(("", "", "", " ", "  ", "\t"))

    texts = []
    for key, sign, values in found:
        if sign in ("in", "notin"):
            among = ",".join(f"{gap()}{one}{gap()}" for one in values)
            texts.append(f"{gap()}{key} {gap()}{sign}{gap()}({among}){gap()}")
        elif sign in ("", "!"):
            texts.append(f"{gap()}{sign}{gap()}{key}{gap()}")
        else:
            texts.append(f"{gap()}{key}{gap()}{sign}{gap()}{values[0]}{gap()}")
    return ",".join(texts)


def fuzz_selector(chance: random.Random, _: Path) -> bool:
    """What a list and a watch are about, as the reference has it; then another text; whether that was understood."""
    cluster = Cluster("n1")
    for number in range(chance.randrange(6)):
        body = {**pod(f"p{number}"), "metadata": {"name": f"p{number}", "labels": labels_of(chance)}}
        assert cluster.ask("POST", PLACES[0], body)[0] == 201
    wanted = terms(chance)
    query: dict[str, str] = {"labelSelector": written(chance, wanted)}
    by_field: list[tuple[str, bool, str]] = []
    if chance.random() < 0.5:
        for _number in range(chance.randrange(1, 3)):
            value = chance.choice(("p1", "n1", "default", "Pending", "", "default-scheduler", "x,y", "x=y", "x\\"))
            by_field.append((chance.choice(FIELDS), chance.random() < 0.5, value))
        signs = {True: ("=", "=="), False: ("!=",)}
        query["fieldSelector"] = ",".join(
            f"{path}{chance.choice(signs[same])}{escaped(value)}" for path, same, value in by_field
        )
    watch = cluster.watch(PLACES[0], **query)
    for _number in range(4):
        name = f"p{chance.randrange(6)}"
        change = {"metadata": {"labels": {"$patch": "replace", **labels_of(chance)}}}
        place = f"{PLACES[0]}/{name}"
        what = chance.randrange(4)
        if what == 0:
            cluster.ask("DELETE", place)
        elif what == 1:
            cluster.bind(name, "n1")
        else:
            cluster.ask("PATCH", place, change, headers={"content-type": STRATEGIC_MERGE_PATCH})
    code, told = cluster.ask("GET", PLACES[0], **query)
    assert code == 200, (query, told)
    listed = [one["metadata"]["name"] for one in told["items"]]
    expected = [
        name
        for (_, name), one in cluster.store.list(PODS)
        if reference.fits(one.object["metadata"].get("labels") or {}, wanted)
        and all((reference.field(one.object, path) == value) is same for path, same, value in by_field)
    ]
    assert listed == expected, (query, listed, expected)
    watched: set[str] = set()
    for frame in watch.frames():
        event = json.loads(frame)
        name = event["object"]["metadata"]["name"]
        assert (name in watched) is (event["type"] != "ADDED"), (query, event)
        (watched.discard if event["type"] == "DELETED" else watched.add)(name)
    assert watched == set(expected), (query, watched)
    return understood(chance, cluster, query)


def escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")


def understood(chance: random.Random, cluster: Cluster, query: dict[str, str]) -> bool:
    """Whether a text that has been damaged, or repeated a thousand times, is one; an answer soon in any case."""
    text = mutate(query["labelSelector"].encode(), chance, ODD, (1, 2)).decode(errors="replace")
    text = unquote(text) * chance.choice((1, 1, 1, 10, 1000))
    before = time.thread_time()
    code, told = cluster.ask("GET", PLACES[0], **{chance.choice(("labelSelector", "fieldSelector")): text})
    took = time.thread_time() - before
    assert code in (200, 400) and took < MOST_SECONDS, (code, took, text[:500])
    assert code == 200 or told["message"], text[:500]
    return code == 200


def fuzz_all(chance: random.Random, folder: Path) -> bool:
    return chance.choice((fuzz, fuzz_patch, fuzz_patch, fuzz_selector))(chance, folder)


if __name__ == "__main__":
    main(fuzz_all, __doc__)
