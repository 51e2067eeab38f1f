"""Fuzz the Kubernetes server: whatever bytes come, each request has an answer that clients understand.

python -m tests.fuzz_kube --seconds 600 --seed 1
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

from tests.fuzzing import main, mutate
from tests.kube_cluster import Cluster, pod

from schedlab.bridge.kubernetes.http import HttpReader, RefusedError, response_bytes
from schedlab.bridge.kubernetes.kinds import PODS
from schedlab.bridge.kubernetes.messages import Response, failure
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


if __name__ == "__main__":
    main(fuzz, __doc__)
