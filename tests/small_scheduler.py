"""A scheduler in a hundred lines, for tests: pods in the order of their coming, each on the first node that has room.

`python -m tests.small_scheduler KUBECONFIG [NAME]`. Two watches and one connection for bindings, nothing else.
"""

from __future__ import annotations

import http.client
import json
import queue
import sys
import threading
from pathlib import Path
from typing import Any

from schedlab.files.quantity import parse_quantity


def address(kubeconfig: str) -> tuple[str, int]:
    line = next(line for line in Path(kubeconfig).read_text().splitlines() if "server:" in line)
    host, _, port = line.partition("//")[2].strip().partition(":")
    return host, int(port)


def watch(place: tuple[str, int], path: str, events: queue.Queue[tuple[str, dict[str, Any]]]) -> None:
    connection = http.client.HTTPConnection(*place)
    connection.request("GET", f"{path}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan")
    for line in connection.getresponse():
        event = json.loads(line)
        events.put((event["type"], event["object"]))
    events.put(("END", {}))


def amounts(found: dict[str, str]) -> dict[str, Any]:
    return {name: parse_quantity(text) for name, text in found.items()}


def asked(pod: dict[str, Any]) -> dict[str, Any]:
    return amounts(pod["spec"]["containers"][0].get("resources", {}).get("requests", {}))


class Scheduler:
    def __init__(self, kubeconfig: str, name: str) -> None:
        self.place, self.name = address(kubeconfig), name
        self.events: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        self.free: dict[str, dict[str, Any]] = {}
        self.bound: dict[str, tuple[str, dict[str, Any]]] = {}
        self.waiting: dict[str, dict[str, Any]] = {}
        self.bindings = http.client.HTTPConnection(*self.place)

    def run(self) -> None:
        for path in ("/api/v1/nodes", "/api/v1/pods"):
            threading.Thread(target=watch, args=(self.place, path, self.events), daemon=True).start()
        while True:
            kind, found = self.events.get()
            if kind == "END":
                return
            if kind != "BOOKMARK":
                self.hear(kind, found)
            if self.events.empty():
                self.schedule()

    def hear(self, kind: str, found: dict[str, Any]) -> None:
        name = found["metadata"]["name"]
        if found["kind"] == "Node":
            self.free.setdefault(name, amounts(found["status"]["allocatable"]))
            return
        if kind == "DELETED" or found["status"]["phase"] in ("Succeeded", "Failed"):
            self.waiting.pop(name, None)
            self.give_back(name)
        elif "nodeName" not in found["spec"] and found["spec"]["schedulerName"] == self.name:
            self.waiting.setdefault(name, found)

    def give_back(self, name: str) -> None:
        if name in self.bound:
            node, wanted = self.bound.pop(name)
            for resource, amount in wanted.items():
                self.free[node][resource] += amount

    def schedule(self) -> None:
        for name, pod in list(self.waiting.items()):
            wanted = asked(pod)
            for node, free in self.free.items():
                if all(free.get(resource, 0) >= amount for resource, amount in wanted.items()):
                    self.bind(name, pod, node, wanted)
                    break

    def bind(self, name: str, pod: dict[str, Any], node: str, wanted: dict[str, Any]) -> None:
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{name}/binding"
        body = {"metadata": {"name": name}, "target": {"kind": "Node", "name": node}}
        self.bindings.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = self.bindings.getresponse()
        answer.read()
        self.waiting.pop(name)
        if answer.status == 201:
            self.bound[name] = (node, wanted)
            for resource, amount in wanted.items():
                self.free[node][resource] -= amount


if __name__ == "__main__":
    Scheduler(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "default-scheduler").run()
