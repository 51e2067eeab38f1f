"""How many pods a second the API server keeps up with, free running; and what of that is its own work."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.report import Line
from benchmarks.settings import Settings
from schedlab.bridge.kubernetes.api import Api, Listener
from schedlab.bridge.kubernetes.build import build, kube_scheduler
from schedlab.bridge.kubernetes.kinds import NODES, PODS
from schedlab.bridge.kubernetes.kubeconfig import write_kubeconfig
from schedlab.bridge.kubernetes.nodes import node_objects
from schedlab.bridge.kubernetes.pods import PodJob, PodSettings, pods_of
from schedlab.bridge.kubernetes.selectors import Object
from schedlab.bridge.kubernetes.store import Store
from schedlab.bridge.kubernetes.transport import Server, new_loop
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.request import Request

CONFIGURATION = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {contentType: application/json, acceptContentTypes: application/json, qps: 100000, burst: 100000,
  kubeconfig: "%s"}
"""
QUICK = {"GOGC": "400"}  # it collects garbage less often, and waits less for itself on few cores
SETTLED = 2.0  # seconds that the scheduler has to read everything
LONGEST = 120.0
FEW, MANY_NODES = 300, 5000


@dataclass
class Spent:
    ready: float  # seconds until the scheduler watched pods
    seconds: float
    cpu: float  # of the server's process
    memory: int  # of the scheduler


class Counted(Listener):
    bound_pods = 0
    last = 0.0

    def bound(self, pod: Object) -> None:
        self.bound_pods += 1
        self.last = time.perf_counter()


def lines(settings: Settings) -> Iterator[Line]:
    try:
        program = build(kube_scheduler())
    except InputError as error:
        yield Line("kube", "not measured: there is no kube-scheduler", 0.0, unit="", note=str(error).partition("\n")[0])
        return
    pods = settings.jobs(3000)
    what = f"{pods:,} pods on 100 nodes bound by the stock kube-scheduler, in real time"
    usual = min(_in_loop(bind_all(program, pods)).seconds for _ in range(settings.repeats))
    yield Line("kube", what, pods / usual, unit="pods/s", note=f"{usual:.2f} s, the best of {settings.repeats}")
    found = [_in_loop(bind_all(program, pods, **QUICK)) for _ in range(settings.repeats)]
    best, least = min(one.seconds for one in found), min(one.cpu for one in found)
    what = "the same with less of the scheduler's own work (GOGC=400), which is most of it"
    yield Line("kube", what, pods / best, unit="pods/s", at_least=1500, note=f"{best:.2f} s, the best of {len(found)}")
    yield Line("kube", "CPU time of the server for each pod", 1e6 * least / pods, unit="µs", note="sockets included")
    many = _in_loop(bind_all(program, FEW, nodes=MANY_NODES, settled=0.0))
    what = f"{FEW} pods on {MANY_NODES:,} nodes bound by the stock kube-scheduler: from its start to the last binding"
    note = f"{_memory() / 1e6:,.0f} MB of the server, {many.memory / 1e6:,.0f} MB of the scheduler"
    yield Line("kube", what, many.ready + many.seconds, unit="s", note=note)


def _in_loop(what: Coroutine[Any, Any, Spent]) -> Spent:
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(what)


def _memory() -> int:
    """The most that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _peak(process: int) -> int:
    """The most memory that another process has had."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


async def bind_all(program: Path, pods: int, nodes: int = 100, settled: float = SETTLED, **environment: str) -> Spent:
    """How long it takes from the first pod's creation to the last one's binding."""
    counted, store = Counted(), Store()
    for node in node_objects(Cluster.uniform(nodes, 32)):
        store.create(NODES, node)
    server = Server(Api(store, counted))
    port = await server.start()
    with tempfile.TemporaryDirectory() as folder:
        config, kubeconfig = Path(folder, "config.yaml"), Path(folder, "kubeconfig")
        write_kubeconfig(kubeconfig, "127.0.0.1", port)
        config.write_text(CONFIGURATION % kubeconfig)
        command = [str(program), "--config", str(config), "--secure-port=0"]
        started = time.perf_counter()
        scheduler = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | environment
        )
        try:
            while not store.collection(PODS).watches:
                await asyncio.sleep(0.05)
            ready = time.perf_counter() - started
            await asyncio.sleep(settled)
            begin, cpu = time.perf_counter(), time.process_time()
            for number in range(pods):
                (pod,) = pods_of(PodJob(number, str(number), 1, Request({"cores": 1})), PodSettings())
                store.create(PODS, pod)
                if number % 100 == 99:
                    await asyncio.sleep(0)
            while counted.bound_pods < pods:
                if time.perf_counter() - begin > LONGEST:
                    raise RuntimeError(f"only {counted.bound_pods} of {pods} pods were bound in {LONGEST:g} s")
                await asyncio.sleep(0.01)
            return Spent(ready, counted.last - begin, time.process_time() - cpu, _peak(scheduler.pid))
        finally:
            scheduler.kill()
            scheduler.wait()
            await server.stop()
