"""`schedlab kube` and `kubernetes:config.yaml`, as people use them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.commands import schedlab
from tests.kube_programs import naive, the_kube_scheduler

from schedlab.engine.check import check
from schedlab.engine.store import read_run

pytestmark = pytest.mark.timeout(1800)  # the first one may have to wait for a build
PROFILE = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    score:
      disabled: [{{name: "*"}}]
      enabled: [{{name: NodeResourcesFit}}]
  pluginConfig:
  - name: NodeResourcesFit
    args: {{scoringStrategy: {{type: {strategy}, resources: [{{name: cpu, weight: 1}}]}}}}
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Four small jobs for two nodes of four cores, then one that needs a whole node."""
    the_kube_scheduler()
    profiles = {"small": {"type": "delay", "delay": 100, "cpu": 1}, "large": {"type": "delay", "delay": 10, "cpu": "4"}}
    jobs = [{"id": str(n), "subtime": n, "res": 1, "profile": "small"} for n in range(4)]
    jobs.append({"id": "4", "subtime": 10, "res": 1, "profile": "large"})
    (tmp_path / "jobs.json").write_text(json.dumps({"nb_res": 2, "jobs": jobs, "profiles": profiles}))
    for name, strategy in (("spread", "LeastAllocated"), ("pack", "MostAllocated")):
        (tmp_path / f"{name}.yaml").write_text(PROFILE.format(strategy=strategy))
    return tmp_path


def last_start(run: Path) -> float:
    found = read_run(run)
    assert not check(found)
    return float(found.jobs.sort("job")["start"][-1])


def test_a_run(place: Path) -> None:
    words = ("--cluster", "2x4", "--workload", "jobs.json", "--reader", "batkube", "--config", "pack.yaml")
    done = schedlab("kube", "run", *words, "--out", "result", folder=place)
    assert done.returncode == 0, done.stderr
    assert "5 jobs through Kubernetes v1.35" in done.stdout
    assert last_start(place / "result") == 10.0
    facts = json.loads((place / "result" / "run.json").read_text())["decider"]
    assert facts["mode"] == "exact"
    (used,) = facts["schedulers"]
    assert used["cpu_seconds"] > 0 and used["peak_memory"] > 10_000_000 and used["requests"] > 20


def test_profiles_are_compared_with_other_policies(place: Path) -> None:
    """EASY packs, first fit; of the two profiles one does."""
    policies = [
        word for one in ("easy", "kubernetes:spread.yaml", "kubernetes:pack.yaml") for word in ("--policy", one)
    ]
    done = schedlab(
        "run", "jobs.json", "--reader", "batkube", "--cluster", "2x4", *policies, "--out", "results", folder=place
    )
    assert done.returncode == 0, done.stderr
    found = {path.name: last_start(path) for path in (place / "results").iterdir() if path.is_dir()}
    assert len(found) == 3
    spread = next(value for name, value in found.items() if "spread" in name)
    assert spread == 102.0
    assert sorted(found.values()) == [10.0, 10.0, 102.0]


PLATFORM = """<?xml version='1.0'?>
<platform version="4.1"><zone id="z" routing="Full">
<host id="master" speed="1Gf"><prop id="role" value="master"/></host>
<host id="n1" speed="1Gf" core="4"><prop id="core" value="2"/><prop id="memory" value="750Mi"/></host>
</zone></platform>
"""


@pytest.mark.parametrize(
    ("asked", "wait"), [({"memory": "250Mi"}, 3.3), ({"cpu": "1.5"}, 10), ({"memory": "500Mi"}, 10)]
)
def test_batkubes_example_under_any_policy(tmp_path: Path, asked: dict[str, str], wait: float) -> None:
    """Three jobs of ten seconds on one node of 2 cores and 750Mi: two at a time, or one. Policies of ours and the real
    kube-scheduler see the same node."""
    the_kube_scheduler()
    profile = {"type": "delay", "delay": 10, "cpu": "1", "scheduler": "default", **asked}
    jobs = [{"id": str(n), "subtime": 0, "walltime": 100, "res": 1, "profile": "d"} for n in (1, 2, 3)]
    (tmp_path / "w.json").write_text(json.dumps({"nb_res": 1, "jobs": jobs, "profiles": {"d": profile}}))
    (tmp_path / "p.xml").write_text(PLATFORM)
    words = ("--reader", "batkube", "--cluster", "p.xml", "--policy", "easy", "--policy", "kubernetes", "--out", "r")
    done = schedlab("run", "w.json", *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ("easy", "kubernetes"):
        assert read_run(tmp_path / "r" / name).summary["wait"]["mean"] == pytest.approx(wait, abs=0.04)


def test_the_doctor(place: Path) -> None:
    done = schedlab("kube", "doctor", "--config", "pack.yaml", "--json", folder=place)
    assert done.returncode == 0, done.stderr
    findings = {one["what"]: one for one in json.loads(done.stdout)}
    assert all(one["ok"] for one in findings.values())
    assert findings["configuration"]["detail"] == "pack.yaml: default-scheduler; holds as it is"
    assert "all alike" in findings["the same every time"]["detail"]


def test_a_scheduler_that_dies_leaves_what_was_simulated(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAIVE", "dies")
    monkeypatch.setenv("NAIVE_AT", "job-2")
    words = ("--cluster", "2x4", "--workload", "jobs.json", "--command", f"{naive()} -server {{server}}")
    done = schedlab("kube", "run", *words, "--out", "broken", folder=place)
    assert done.returncode == 1 and "cannot go on with job-2" in done.stderr
    assert "what had been simulated until then is in broken" in done.stderr
    assert read_run(place / "broken").config["incomplete"]


def _mistake(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 2
    for word in words:
        assert word in done.stderr, done.stderr


def test_a_program_without_the_clock(tmp_path: Path) -> None:
    (tmp_path / "jobs.json").write_text('{"nb_res": 1, "jobs": [], "profiles": {}}')
    words = ("--cluster", "1x1", "--workload", "jobs.json", "--scheduler")
    _mistake(schedlab("kube", "run", *words, "/bin/true", folder=tmp_path), "not a program with the simulated clock")
    _mistake(schedlab("kube", "run", *words, "absent", folder=tmp_path), "absent: is not there", "schedlab kube build")


def test_what_cannot_be_built(tmp_path: Path) -> None:
    _mistake(schedlab("kube", "build", tmp_path), "has no Go files")
    _mistake(schedlab("kube", "build", "no/such/thing"), "is neither a folder nor a package with a version")


def test_a_machine_without_nodes(place: Path) -> None:
    words = ("--cluster", "pool:8", "--workload", "jobs.json")
    _mistake(schedlab("kube", "run", *words, folder=place), "a machine without nodes cannot be a Kubernetes cluster")
