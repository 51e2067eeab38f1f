"""A cluster that stands by itself in real time: for kubectl, clients, and schedulers that one wants to look at."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from schedlab.bridge.kubernetes.api import Api
from schedlab.bridge.kubernetes.command import Command
from schedlab.bridge.kubernetes.evictions import Evictions
from schedlab.bridge.kubernetes.kinds import NODES
from schedlab.bridge.kubernetes.kubeconfig import address, write_kubeconfig
from schedlab.bridge.kubernetes.kubelet import Kubelets
from schedlab.bridge.kubernetes.nodes import node_forms, node_objects
from schedlab.bridge.kubernetes.store import QUOTA, Store
from schedlab.bridge.kubernetes.transport import Server
from schedlab.model.cluster import Cluster

PLENTY = "1Ti"
DAY = 86_400.0  # seconds: later than that, it is looked again


async def stand(
    cluster: Cluster,
    announce: Callable[[Path, str], None],
    *,
    command: Sequence[str] = (),
    host: str = "127.0.0.1",
    port: int = 0,
    names: Sequence[str] = (),
    kubeconfig: Path | None = None,
    speed: float = 1.0,
    startup: float = 0.0,
) -> None:
    """Serve until the task is cancelled, or the scheduler that `command` starts has ended.

    `names` are further ones by which clients call this machine. Pods that are bound run, `speed` times as fast as they
    say, `startup` seconds after their binding.
    """
    store = Store(quota=QUOTA)
    for node in node_objects(_with_memory(cluster), store.timestamp()):
        store.create(NODES, node)
    api = Api(store, Kubelets(store, speed, startup))
    _let_drive(api.evictions, speed)
    server = Server(api, names=names)
    found = await server.start(host, port)
    scheduler: Command | None = None
    with TemporaryDirectory(prefix="schedlab-kube-") as folder:
        path = kubeconfig or Path(folder) / "kubeconfig"
        write_kubeconfig(path, host, found)
        announce(path, address(host, found))
        try:
            if command:
                scheduler = Command(command, path, address(host, found), Path(folder) / "scheduler.log")
            while True:
                await asyncio.sleep(0.2)
                if scheduler is not None:
                    scheduler.check()
        finally:
            if scheduler is not None:
                scheduler.stop()
            await server.stop()


def _let_drive(evictions: Evictions, speed: float) -> None:
    """Pods leave nodes with taints when they have tolerated them for long enough."""
    loop = asyncio.get_running_loop()
    evictions.speed = speed
    evictions.wake = lambda due: loop.call_later(min(max(due - evictions.clock(), 0.0), DAY), evictions.drive)


def _with_memory(cluster: Cluster) -> Cluster:
    """A machine of which only cores are known has plenty of memory: pods that people write ask for some."""
    if any("memory" in form.capacity for form in node_forms(cluster)):
        return cluster
    groups = [replace(group, properties={**group.properties, "memory": PLENTY}) for group in cluster.groups]
    return replace(cluster, groups=tuple(groups))
