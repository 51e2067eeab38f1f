"""A scheduler as it is on a simulated cluster: oracle mode, paces, and schedulers that misbehave."""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.commands import schedlab

from schedlab.analysis.job_ends import end_of
from schedlab.bridge.kubernetes.errors import KubernetesError
from schedlab.bridge.kubernetes.served import Served
from schedlab.cli.kube_options import pods_reading
from schedlab.engine import simulate as engine
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.run import Run
from schedlab.model.workload import Workload
from schedlab.workload.read import read_workload

ROOT = Path(__file__).parents[2]
SMALL = (sys.executable, "-m", "tests.small_scheduler", "{kubeconfig}")
# Long enough for a machine that does other things: what is asserted does not depend on it.
WINDOW = 0.25


def batkube(path: Path, **profile: Any) -> Workload:
    """Batkube's example: three jobs of ten seconds."""
    records = [{"id": str(n), "subtime": 0, "walltime": 100, "res": 1, "profile": "delay10"} for n in (1, 2, 3)]
    profiles = {"delay10": {"type": "delay", "delay": 10, "scheduler": "default", **profile}}
    path.write_text(json.dumps({"nb_res": 1, "jobs": records, "profiles": profiles}))
    return read_workload(path, reader="batkube")  # type: ignore[arg-type]


def run(jobs: Workload, cluster: Cluster, *command: str, **options: Any) -> Run:
    return engine.simulate(jobs, cluster, Served(WINDOW, command or SMALL, **options))


@pytest.mark.parametrize(
    ("profile", "starts"),
    [
        ({"cpu": "1"}, [0, 0, 10]),  # two on two cores
        ({"cpu": "1", "memory": "250Mi"}, [0, 0, 10]),
        ({"cpu": "1", "memory": "500Mi"}, [0, 10, 20]),  # one in 750Mi
        ({"cpu": "1.5", "memory": "250Mi"}, [0, 10, 20]),
        ({"cpu": 0.5}, [0, 0, 0]),
    ],
)
def test_batkubes_example_on_two_cores_and_750_mi(tmp_path: Path, profile: dict[str, Any], starts: list[float]) -> None:
    node = Cluster((NodeGroup("n", 1, {"cores": 2, "memory": 750 * 2**20}),))
    found = run(batkube(tmp_path / "w.json", **profile), node)
    assert found.jobs["start"].to_list() == starts
    if starts == [0, 0, 10]:
        assert found.summary["wait"]["mean"] == pytest.approx(3.3, abs=0.04)
    assert found.config["decider"]["mode"] == "oracle: approximate"


def test_a_gang_starts_when_all_its_pods_have_nodes() -> None:
    """Three cores are wanted and two are free until 5 s: the pods that have nodes hold them for the third."""
    jobs = Workload.of(submit=[0, 1, 2], runtime=[5, 4, 1], count=[1, 3, 1])
    found = run(jobs, Cluster.uniform(3, 1))
    assert found.jobs["start"].to_list() == [0, 5, 9]


def test_a_pod_that_never_fits_is_given_up_and_the_rest_is_kept() -> None:
    requests = [Request({"cpu_milli": 1000}), Request({"cpu_milli": 9000})]
    jobs = Workload.of(submit=[0, 1, 2], runtime=[5, 5, 5], request=[0, 1, 0], requests=requests)
    found = run(jobs, Cluster.uniform(1, 4), patience=1.0)
    assert found.jobs["state"].to_list() == ["completed", "rejected", "completed"]


def test_pods_of_a_scheduler_that_nobody_serves_are_given_up() -> None:
    wanted = [None, {"pod": {"spec": {"schedulerName": "other"}}}]
    jobs = Workload.of(submit=[0, 1], runtime=[5, 5], attachments=wanted)
    found = run(jobs, Cluster.uniform(1, 4), patience=1.0)
    assert found.jobs["state"].to_list() == ["completed", "rejected"]
    (why,) = found.config["refusals"]
    assert end_of(why) == ("never started", "no scheduler said anything of it; is there one that serves 'other'?")


def test_at_a_pace_time_passes_as_it_does_on_the_wall() -> None:
    jobs = Workload.of(submit=[0, 0, 20], runtime=[20, 20, 20])
    found = engine.simulate(jobs, Cluster.uniform(1, 1), Served(0, SMALL, pace=100.0))
    starts = found.jobs["start"].to_list()
    assert 0 < starts[0] < 20 <= starts[1] and starts[2] >= starts[1] + 20
    assert found.config["decider"]["mode"] == "in real time"


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("import sys; print('no licence'); sys.exit(3)", "has ended with exit code 3"),
        ("import os; os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
        ("import time; time.sleep(60)", "has not asked for pods in 1 s"),
    ],
)
def test_schedulers_that_do_not_begin(program: str, words: str) -> None:
    jobs = Workload.of(submit=[0], runtime=[1])
    with pytest.raises(KubernetesError, match=words):
        run(jobs, Cluster.uniform(1, 1), sys.executable, "-c", program, patience=1.0)


def wrong(tmp_path: Path, body: str) -> tuple[str, ...]:
    """The small scheduler with another way to bind."""
    path = tmp_path / "wrong.py"
    path.write_text(
        f"import os, sys\n\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from tests.small_scheduler import Scheduler\n\n\nclass Wrong(Scheduler):\n"
        f"    def bind(self, name, pod, node, wanted):\n        {body}\n\n\n"
        "Wrong(sys.argv[1], 'default-scheduler').run()\n"
    )
    return sys.executable, str(path), "{kubeconfig}"


def test_a_scheduler_that_binds_to_a_node_that_is_not_there(tmp_path: Path) -> None:
    jobs = Workload.of(submit=[0], runtime=[1])
    command = wrong(tmp_path, "super().bind(name, pod, 'nowhere', wanted)")
    with pytest.raises(KubernetesError, match='nodes "nowhere" not found'):
        run(jobs, Cluster.uniform(1, 1), *command)


def test_a_scheduler_that_binds_too_much(tmp_path: Path) -> None:
    jobs = Workload.of(submit=[0, 0], runtime=[5, 5])
    command = wrong(tmp_path, "super().bind(name, pod, node, {})")
    with pytest.raises(KubernetesError, match=r"bound the pods of job 2 to n1: .* not enough free"):
        run(jobs, Cluster.uniform(1, 1), *command)


def test_a_scheduler_that_binds_twice_hears_of_a_conflict(tmp_path: Path) -> None:
    """Of the first pod at least: when the second has its node, the run may be over."""
    jobs = Workload.of(submit=[0, 5], runtime=[1, 1])
    command = wrong(
        tmp_path, "super().bind(name, pod, node, wanted); self.waiting[name] = pod; super().bind(name, pod, node, {})"
    )
    found = run(jobs, Cluster.uniform(1, 1), *command)
    assert found.config["decider"]["conflicts"] >= 1 and found.jobs["start"].to_list() == [0, 5]


def test_a_scheduler_that_dies_on_the_way_leaves_what_was_simulated(tmp_path: Path) -> None:
    jobs = Workload.of(submit=[0, 10, 20], runtime=[5, 5, 5])
    command = wrong(tmp_path, "os._exit(7) if name == 'job-3' else super().bind(name, pod, node, wanted)")
    with pytest.raises(KubernetesError, match="has ended with exit code 7") as caught:
        run(jobs, Cluster.uniform(1, 1), *command)
    assert caught.value.run is not None and caught.value.run.jobs["job"].to_list()[:2] == [1, 2]


def test_a_sweep_of_windows(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    batkube(path, cpu="1")
    done = schedlab(
        *("kube", "serve", "--cluster", "1x2", "--workload", path, "--quiet-window", f"0.2,{WINDOW}", "--", *SMALL)
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:3]]
    assert [row[:3] for row in rows] == [["200", "20.0", "3.33"], ["250", "20.0", "3.33"]]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--cluster", "pool:4", "--workload", "w.json"), "without nodes"),
        (("--cluster", "1x2", "--workload", "none.json"), "none.json"),
        (("--cluster", "1x2", "--workload", "w.json", "--quiet-window", "soon"), "--quiet-window"),
        (("--cluster", "1x2", "--workload", "w.json", "--quiet-window", "0,1"), "command of a scheduler"),
        (("--cluster", "1x2", "--workload", "w.json", "--", "./nobody"), "cannot be started"),
    ],
)
def test_mistakes_of_the_command(tmp_path: Path, words: tuple[str, ...], expected: str) -> None:
    batkube(tmp_path / "w.json")
    done = schedlab("kube", "serve", *words, folder=tmp_path)
    assert done.returncode == 2 and expected in done.stderr


def test_a_port_that_somebody_has(tmp_path: Path) -> None:
    batkube(tmp_path / "w.json")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for words in (("--workload", "w.json"), ()):
            done = schedlab("kube", "serve", "--cluster", "1x1", "--port", port, *words, folder=tmp_path)
            assert done.returncode == 2 and f"cannot listen on 127.0.0.1:{port}" in done.stderr


def test_jobs_that_are_to_be_pods_are_read_exactly(tmp_path: Path) -> None:
    batkube(tmp_path / "w.json")
    columns = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time"
    (tmp_path / "pods.csv").write_text(f"{columns}\na,500,1,0,0,0,5,1\n")
    (tmp_path / "log.swf").write_text("; SWF\n")
    readers = [pods_reading(tmp_path / name, {})["reader"].name for name in ("w.json", "pods.csv")]
    assert readers == ["batkube", "alibaba-shares"]
    assert pods_reading(tmp_path / "log.swf", {}) == {}
    assert pods_reading(tmp_path / "w.json", {"reader": "mine"}) == {"reader": "mine"}


def test_windows_and_paces_are_numbers() -> None:
    with pytest.raises(InputError, match="quiet cannot be -1"):
        Served(-1)


ASK = "self.bindings.request({0!r}, {1}, {2!r}, {{'Content-Type': {3!r}}}); self.bindings.getresponse().read()"
BIND = "super().bind(name, pod, node, wanted)"
MERGE = "application/merge-patch+json"
THE_POD = "f'/api/v1/namespaces/default/pods/{name}'"


def test_a_pod_that_is_bound_and_deleted_in_one_breath(tmp_path: Path) -> None:
    """Before the engine has heard of either: its job begins anew."""
    jobs = Workload.of(submit=[0], runtime=[5])
    force = ASK.format("DELETE", f"{THE_POD} + '?gracePeriodSeconds=0'", "", "").replace("; ", ", ")
    found = run(jobs, Cluster.uniform(1, 1), *wrong(tmp_path, f"{BIND}; ({force}) if name == 'job-1' else 0"))
    assert found.jobs["state"].to_list() == ["completed"]


@pytest.mark.parametrize("seconds", [0, 3, 30])
def test_a_client_taints_a_node(tmp_path: Path, seconds: int) -> None:
    """A pod there goes after so many simulated seconds, and its job waits for the other node, behind a third one."""
    tolerations = [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}]
    wanted = {"pod": {"spec": {"tolerations": tolerations}}}
    jobs = Workload.of(submit=[0, 0, 0], runtime=[10, 10, 10], attachments=[wanted, None, None])
    body = json.dumps({"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}})
    taint = ASK.format("PATCH", "'/api/v1/nodes/n1'", body, MERGE).replace("; ", ", ")
    command = wrong(tmp_path, f"{BIND}; ({taint}, self.free['n1'].update(cpu=-99)) if name == 'job-1' else 0")
    found = run(jobs, Cluster.uniform(2, 1), *command)
    assert found.jobs["end"].to_list() == ([10, 10, 20] if seconds == 30 else [30, 10, 20])
    if seconds == 3:
        pieces = found.table("pieces")
        assert pieces["begin"].to_list() == [0, 20] and pieces["end"].to_list() == [3, 30]


def test_a_scheduler_that_does_not_look_at_taints(tmp_path: Path) -> None:
    """Its pods would be driven away and bound again for ever, at one and the same time."""
    jobs = Workload.of(submit=[0], runtime=[10])
    body = json.dumps({"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}})
    taint = ASK.format("PATCH", "'/api/v1/nodes/n1'", body, MERGE)
    with pytest.raises(KubernetesError, match="the pods of job 1 were bound and taken away 100 times at 0 s"):
        run(jobs, Cluster.uniform(1, 1), *wrong(tmp_path, f"{taint}; {BIND}"))


def test_nodes_are_those_of_the_simulation(tmp_path: Path) -> None:
    jobs = Workload.of(submit=[0, 20], runtime=[5, 5])
    delete = ASK.format("DELETE", "'/api/v1/nodes/n1'", "", "")
    found = run(jobs, Cluster.uniform(1, 1), *wrong(tmp_path, f"{delete}; {BIND}"))
    assert found.jobs["start"].to_list() == [0, 20]
