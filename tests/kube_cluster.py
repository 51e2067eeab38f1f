"""A small cluster behind an API, and requests to it, for tests of the Kubernetes server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from schedlab.bridge.kubernetes.api import Api, Listener
from schedlab.bridge.kubernetes.kinds import NODES, PODS
from schedlab.bridge.kubernetes.messages import Request, Response
from schedlab.bridge.kubernetes.store import Store, Watch

NOON = 1_767_268_800.0  # 2026-01-01T12:00:00Z


def node(name: str, cpu: str = "4", **labels: str) -> dict[str, Any]:
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"metadata": {"name": name, "labels": labels}, "spec": {}, "status": status}


def pod(name: str, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


class Cluster:
    """An API whose time stands still until it is moved."""

    def __init__(self, *nodes: str, listener: Listener | None = None, history: int = 1000) -> None:
        self.now = NOON
        self.store = Store(lambda: self.now, history)
        self.api = Api(self.store, listener)
        for name in nodes:
            self.store.create(NODES, node(name))

    def ask(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None, **query: Any
    ) -> tuple[int, Any]:
        """The code and the document of the answer."""
        answer = self.answer(method, path, body, headers=headers, **query)
        assert isinstance(answer, Response)
        return answer.code, json.loads(answer.body)

    def answer(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None, **query: Any
    ) -> Response | Watch:
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        asked = {name: str(value) for name, value in query.items()}
        return self.api.handle(Request(method, path, asked, dict(headers or {}), data))

    def watch(self, path: str, **query: Any) -> Watch:
        found = self.answer("GET", path, watch="true", **query)
        assert isinstance(found, Watch)
        return found

    def add_pod(self, name: str, **spec: Any) -> dict[str, Any]:
        code, made = self.ask("POST", "/api/v1/namespaces/default/pods", pod(name, **spec))
        assert code == 201, made
        return dict(made)

    def bind(self, name: str, node: str, **metadata: str) -> tuple[int, Any]:
        body = {"metadata": {"name": name, **metadata}, "target": {"kind": "Node", "name": node}}
        return self.ask("POST", f"/api/v1/namespaces/default/pods/{name}/binding", body)

    def pod(self, name: str) -> dict[str, Any]:
        return self.store.get(PODS, "default", name).object


def told(watch: Watch) -> list[tuple[str, str]]:
    """What the frames that are due say: (type, name); of bookmarks their version."""
    found = []
    for frame in watch.frames():
        assert frame.endswith(b"\n") and frame.count(b"\n") == 1
        event = json.loads(frame)
        metadata = event["object"].get("metadata", {})
        what = metadata.get("name") or metadata.get("resourceVersion") or str(event["object"].get("code"))
        found.append((event["type"], what))
    return found
