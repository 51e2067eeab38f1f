"""The real kube-scheduler in exact simulated time, against numbers computed by hand."""

from __future__ import annotations

import csv
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.kube_programs import naive, the_kube_scheduler, with_plugin

from schedlab.analysis.job_ends import end_of
from schedlab.bridge.kubernetes.decider import Kubernetes
from schedlab.bridge.kubernetes.delays import StartUp
from schedlab.bridge.kubernetes.errors import KubernetesError
from schedlab.bridge.kubernetes.measured import measured, sleeping_times
from schedlab.bridge.kubernetes.taints import Taint
from schedlab.cluster.read import read_cluster
from schedlab.engine import simulate as engine
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.run import Run
from schedlab.model.workload import Workload
from schedlab.workload.read import read_workload

pytestmark = pytest.mark.timeout(1800)  # the first one may have to wait for a build
CASES = Path(os.environ.get("SCHEDLAB_CASES") or Path(__file__).parents[3] / "shared" / "cases")


def jobs(
    submit: Sequence[float], runtime: Sequence[float], cores: Sequence[int] = (), pods: Sequence[Any] = ()
) -> Workload:
    """Jobs of one pod each; `pods` is what is merged into their specifications."""
    wanted = list(cores) or [1] * len(submit)
    kinds = sorted(set(wanted))
    return Workload.of(
        submit=submit,
        runtime=runtime,
        count=[1] * len(submit),
        request=[kinds.index(one) for one in wanted],
        requests=[Request({"cores": one}) for one in kinds],
        attachments=[{"pod": {"spec": spec}} for spec in pods] if pods else None,
    )


def run_of(workload: Workload, cluster: Cluster | str, **options: Any) -> Run:
    if "command" not in options:
        options.setdefault("scheduler", str(the_kube_scheduler()))
    observers = options.pop("observers", ())
    machine = read_cluster(cluster) if isinstance(cluster, str) else cluster
    return engine.simulate(workload, machine, Kubernetes(**options), observers=observers)


def rows(run: Run) -> list[tuple[Any, ...]]:
    """Start, end and nodes of each job."""
    return list(run.jobs.sort("job").select("start", "end", "nodes").rows())


def starts(run: Run) -> list[float]:
    return [start for start, _, _ in rows(run)]


BURST = jobs([0.0] * 200, [170.0] * 200)
SPACED = jobs([10.0 * number for number in range(200)], [170.0] * 200)


def first_come_first_served(submit: Sequence[float], runtime: float, nodes: int) -> list[float]:
    """When jobs of one length start: the closed form, job by job."""
    free = [0.0] * nodes
    found = []
    for time in submit:
        begin = max(time, min(free))
        free[free.index(min(free))] = begin + runtime
        found.append(begin)
    return found


@pytest.mark.parametrize(
    ("workload", "gap", "nodes", "makespan", "wait"),
    [
        (BURST, 0.0, 16, 2210.0, 979.2),
        (BURST, 0.0, 15, 2380.0, 1049.75),
        (SPACED, 10.0, 16, 2280.0, 57.6),
        (SPACED, 10.0, 15, 2420.0, 123.5),
    ],
)
def test_batkubes_workloads(workload: Workload, gap: float, nodes: int, makespan: float, wait: float) -> None:
    run = run_of(workload, f"{nodes}x1")
    assert run.summary["makespan"] == makespan
    assert run.summary["wait"]["mean"] == pytest.approx(wait, abs=1e-9)
    expected = first_come_first_served([gap * number for number in range(200)], 170.0, nodes)
    assert sorted(starts(run)) == expected


def _batkubes(name: str) -> Path:
    path = CASES / "batkube" / name
    if not path.is_file():
        pytest.skip(f"needs Batkube's files; there is no {path} (set SCHEDLAB_CASES)")
    return path


@pytest.mark.parametrize(
    ("name", "makespan", "wait"), [("200_delay170", 2467.0, 1077.0), ("spaced_200_delay170", 2468.0, 146.0)]
)
def test_batkubes_real_runs_with_the_delays_of_their_pods(name: str, makespan: float, wait: float) -> None:
    """Five runs each on a real cluster with 15 workers: the means are met within two hundredths."""
    path = _batkubes(f"{name}.json")
    tables = sorted((path.parent / "real").glob(f"{name}_*.csv.gz"))
    delays = StartUp(**measured(tables, sleeping_times(path)), cached=True)
    run = run_of(read_workload(path, reader="batkube"), "15x1", observers=[delays])
    assert run.summary["makespan"] == pytest.approx(makespan, rel=0.02)
    assert run.summary["wait"]["mean"] == pytest.approx(wait, rel=0.02)


def test_batkubes_realistic_workload() -> None:
    """One node of 6 cores, pods of 3.516: only one at a time."""
    path = _batkubes("KIT_10h_80.json")
    run = run_of(read_workload(path, reader="batkube"), "1x6")
    assert run.summary["states"]["completed"] == 39
    assert run.summary["makespan"] == 32_554.0


def test_batkubes_real_run_of_its_realistic_workload_in_the_order_of_that_run(tmp_path: Path) -> None:
    """Who waits for hours is a matter of who is tried first, and in the release of the real run (before 1.19) that was
    a race. In the order of the real run, as priorities that preempt nobody, and with its delays, pods start in the same
    order, and wait as long as they did within two hundredths of the mean."""
    path = _batkubes("KIT_10h_80.json")
    (table,) = (path.parent / "real").glob("KIT_*.csv.gz")
    with gzip.open(table, "rt") as file:
        real = sorted(csv.DictReader(file), key=lambda row: float(row["starting_time"]))
    rank = {row["job_id"]: len(real) - place for place, row in enumerate(real)}
    given = json.loads(path.read_text())
    profiles = {
        job["id"]: given["profiles"][job["profile"]]
        | {"pod": {"spec": {"priority": rank[job["id"]], "preemptionPolicy": "Never"}}}
        for job in given["jobs"]
    }
    ordered = {**given, "jobs": [{**job, "profile": job["id"]} for job in given["jobs"]], "profiles": profiles}
    (tmp_path / "ordered.json").write_text(json.dumps(ordered))
    delays = StartUp(**measured([table], sleeping_times(path)), cached=True)
    run = run_of(read_workload(tmp_path / "ordered.json", reader="batkube"), "1x6", observers=[delays])
    began = {str(job): start for job, start in run.jobs.select("job", "start").rows()}
    assert sorted(began, key=lambda job: (began[job], -rank[job])) == [row["job_id"] for row in real]
    assert run.summary["makespan"] == pytest.approx(32_556.0, rel=0.02)
    wait = sum(float(row["waiting_time"]) for row in real) / len(real)
    assert wait == pytest.approx(2884.0, abs=0.5)
    assert run.summary["observed"]["mean_wait_until_running"] == pytest.approx(wait, rel=0.02)


def test_it_is_the_same_every_time_also_beside_a_busy_program() -> None:
    workload = jobs(
        [7.0 * number % 300 for number in range(120)],
        [1.0 + 37 * number % 97 for number in range(120)],
        [1 + number % 3 for number in range(120)],
    )
    first = rows(run_of(workload, "5x4"))
    hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        again = [rows(run_of(workload, "5x4")) for _ in range(2)]
    finally:
        hog.kill()
        hog.wait()
    assert again == [first, first]


def test_a_pod_that_did_not_fit_waits_for_its_back_off() -> None:
    """The second pod is tried at 0, and room comes after half a second. Since 1.33 an idle scheduler does not make it
    wait for the rest of its back-off of a second; without that feature it does, and until the next of its looks at
    those that wait so, which it takes once in a second, in simulated time."""
    workload = jobs([0, 0], [0.5, 5])
    assert starts(run_of(workload, "1x1")) == [0.0, 0.5]
    first, second = starts(run_of(workload, "1x1", gates="SchedulerPopFromBackoffQ=false"))
    assert first == 0
    assert 1.0 <= second < 2.001


def test_preemption() -> None:
    """The second job is worth more: the first one is thrown out at 10, and begins anew when the second is done."""
    run = run_of(jobs([0, 10], [100, 20], [2, 2], [{"priority": 0}, {"priority": 100}]), "1x2")
    assert rows(run) == [(30.0, 130.0, "n1"), (10.0, 30.0, "n1")]
    pieces = run.table("pieces").select("job", "begin", "end").rows()
    assert pieces == [(1, 0.0, 10.0), (1, 30.0, 130.0)]


def test_who_never_preempts_waits() -> None:
    polite = {"priority": 100, "preemptionPolicy": "Never"}
    run = run_of(jobs([0, 10], [100, 20], [2, 2], [{"priority": 0}, polite]), "1x2")
    assert rows(run) == [(0.0, 100.0, "n1"), (100.0, 120.0, "n1")]


def test_the_cheapest_victim_is_taken() -> None:
    """Of two nodes with a job each, that of the less important one is cleared."""
    worth = [{"priority": 50}, {"priority": 10}, {"priority": 100}]
    run = run_of(jobs([0, 1, 10], [100, 100, 20], pods=worth), "2x1")
    important, cheap, best = rows(run)
    assert important[:2] == (0.0, 100.0)
    assert best[:2] == (10.0, 30.0)
    assert cheap == (30.0, 130.0, best[2])
    assert important[2] != best[2]


def _tainted() -> Cluster:
    plain = NodeGroup(name="plain", count=1, resources={"cores": 1}, prefix="p")
    batch = NodeGroup(
        name="batch", count=1, resources={"cores": 1}, prefix="b", properties={"taints": "dedicated=batch:NoSchedule"}
    )
    return Cluster(name="tainted", groups=(plain, batch))


def test_taints_and_tolerations() -> None:
    """Two nodes are free, but only who tolerates the taint may use the second."""
    tolerates = {"tolerations": [{"key": "dedicated", "operator": "Equal", "value": "batch", "effect": "NoSchedule"}]}
    run = run_of(jobs([0, 1, 2, 3], [10, 10, 10, 10], pods=[{}, {}, tolerates, {}]), _tainted())
    assert rows(run) == [(0.0, 10.0, "p1"), (10.0, 20.0, "p1"), (2.0, 12.0, "b1"), (20.0, 30.0, "p1")]


def test_topology_spread() -> None:
    """Zone a has one node of one core, zone b three. With a skew of at most 1, b may have two pods beside one in a:
    the fourth waits until the others have gone, though a core is free."""
    groups = [
        NodeGroup(name="a", count=1, resources={"cores": 1}, prefix="a", properties={"labels": "zone=a"}),
        NodeGroup(name="b", count=3, resources={"cores": 1}, prefix="b", properties={"labels": "zone=b"}),
    ]
    spread = {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchExpressions": [{"key": "schedlab.io/job", "operator": "Exists"}]},
            }
        ]
    }
    cluster = Cluster(name="zones", groups=tuple(groups))
    run = run_of(jobs([0, 1, 2, 3], [10, 10, 10, 10], pods=[spread] * 4), cluster)
    assert starts(run)[:3] == [0.0, 1.0, 2.0]
    zones = [nodes[0] for _, _, nodes in rows(run)[:3]]
    assert sorted(zones) == ["a", "b", "b"]
    # It may go to b once one of the two there has gone, or to a when that one has.
    assert starts(run)[3] == pytest.approx(10.0, abs=1.0)
    without = run_of(jobs([0, 1, 2, 3], [10, 10, 10, 10]), cluster)
    assert starts(without) == [0.0, 1.0, 2.0, 3.0]


def _profile(path: Path, strategy: str, name: str = "default-scheduler") -> str:
    path.write_text(f"""apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 16
profiles:
- schedulerName: {name}
  plugins:
    score:
      disabled: [{{name: "*"}}]
      enabled: [{{name: NodeResourcesFit}}]
  pluginConfig:
  - name: NodeResourcesFit
    args: {{scoringStrategy: {{type: {strategy}, resources: [{{name: cpu, weight: 1}}]}}}}
""")
    return str(path)


def test_profiles_spread_or_pack(tmp_path: Path) -> None:
    """Four small jobs on two nodes of four cores, then one that needs a whole node: it finds one only if the others
    were packed."""
    workload = jobs([0, 1, 2, 3, 10], [100, 100, 100, 100, 10], [1, 1, 1, 1, 4])
    spread = run_of(workload, "2x4", config=_profile(tmp_path / "least.yaml", "LeastAllocated"))
    packed = run_of(workload, "2x4", config=_profile(tmp_path / "most.yaml", "MostAllocated"))
    assert len({nodes for _, _, nodes in rows(spread)[:4]}) == 2
    assert len({nodes for _, _, nodes in rows(packed)[:4]}) == 1
    assert starts(packed)[4] == 10.0
    assert starts(spread)[4] == 102.0  # those of one node have ended: they came at 0 and 2, or at 1 and 3
    (told,) = spread.config["decider"]["differences"]
    assert told.startswith("parallelism is 1, not 16")


def test_two_schedulers_on_one_cluster(tmp_path: Path) -> None:
    """Each has its own pods, and sees those of the other on the nodes."""
    configs = [
        _profile(tmp_path / "packs.yaml", "MostAllocated", "packs"),
        _profile(tmp_path / "spreads.yaml", "LeastAllocated", "spreads"),
    ]
    names = ["packs", "packs", "spreads", "spreads", "packs"]
    workload = jobs([0, 1, 2, 3, 4], [100] * 5, [1, 1, 2, 1, 4], [{"schedulerName": name} for name in names])
    run = run_of(workload, "2x4", config=configs)
    found = rows(run)
    assert [start for start, _, _ in found[:4]] == [0.0, 1.0, 2.0, 3.0]
    one, same, other, balanced = (nodes for _, _, nodes in found[:4])
    assert one == same != other  # packed; the other scheduler goes where less is used
    # Two cores are used on either node now: what is left is split, and a whole node is free only when one is empty.
    assert balanced in (one, other)
    assert found[4][0] >= 101.0
    used = run.config["decider"]["schedulers"]
    assert [facts["names"] for facts in used] == [["packs"], ["spreads"]]
    assert all(facts["cpu_seconds"] > 0 and facts["peak_memory"] > 1e6 for facts in used)


def test_a_configuration_that_the_scheduler_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = tmp_path / "wrong.yaml"
    path.write_text("""apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {score: {enabled: [{name: Nonsense}]}}}]
""")
    with pytest.raises(
        KubernetesError, match=r"has ended with exit code 1: it said:(.|\n)*\\\"Nonsense\\\" does not exist"
    ):
        run_of(jobs([0], [1]), "1x1", config=str(path))
    assert list(tmp_path.iterdir()) == [path]  # nothing is left


def test_a_scheduler_that_nobody_serves() -> None:
    with pytest.raises(InputError, match=r"pods want the scheduler other, and there is only default-scheduler"):
        run_of(jobs([0], [1], pods=[{"schedulerName": "other"}]), "1x1")


def test_a_pod_that_never_fits_is_rejected_with_the_schedulers_words() -> None:
    run = run_of(jobs([0, 5], [10, 10], pods=[{}, {"nodeSelector": {"disk": "ssd"}}]), "2x1")
    assert run.jobs["state"].to_list() == ["completed", "rejected"]
    (why,) = run.config["refusals"]
    assert end_of(why)[0] == "never started"
    assert "2 node(s) didn't match Pod's node affinity/selector" in why


GANGS = Workload.of(
    submit=[0, 1, 5],
    runtime=[10, 30, 40],
    count=[2, 3, 3],
    attachments=[None, None, {"pod": {"spec": {"priority": 9, "preemptionPolicy": "Never"}}}],
)


def test_gangs_lock_each_other_where_the_scheduler_does_not_know_them() -> None:
    """Four nodes: the second job gets the two that are free, and the third, which comes first then, the two that become
    free at 10. Each wants one more."""
    run = run_of(GANGS, "4x1")
    assert run.jobs.sort("job")["state"].to_list() == ["completed", "rejected", "rejected"]


def test_gangs_start_as_a_whole_where_it_does() -> None:
    """Pods of a gang wait until all have a node, but no longer than five minutes: at 301 s those of the second job give
    way to the third, and have their turn when that one is done."""
    run = run_of(GANGS, "4x1", gates="GangScheduling=true")
    assert run.jobs["state"].to_list() == ["completed"] * 3
    first, second, third = starts(run)
    assert first == 0 and third == pytest.approx(301, abs=2) and second == pytest.approx(third + 40, abs=2)


def test_nodes_that_are_closed_get_no_pods() -> None:
    """Both nodes are closed from 5 to 20."""
    closed = "maintenance('n[1-2]', start=5, duration=15)"
    run = run_of(jobs([0, 10], [4, 4]), "2x1", observers=[closed])
    assert starts(run) == [0.0, 20.0]


def test_nodes_join_and_fail_on_a_day(tmp_path: Path) -> None:
    """n2 joins at 20; n1 fails from 30 to 100, and its pod begins anew on n2 when that one is free."""
    trace = tmp_path / "outages.csv"
    trace.write_text("node,from,until\nn2,0,20\nn1,30,100\n")
    run = run_of(jobs([0, 1], [40, 20]), "2x1", observers=[f"failures(trace={str(trace)!r})"])
    assert rows(run) == [(40.0, 80.0, "n2"), (20.0, 40.0, "n2")]


def test_taints_that_come_and_go() -> None:
    """n1 is tainted from 5 to 50: who comes then waits, unless he tolerates it; who runs there goes on."""
    tolerates = {"tolerations": [{"key": "dedicated", "operator": "Exists"}]}
    taint = "taint('n1', 'dedicated=batch:NoSchedule', start=5, duration=45)"
    run = run_of(jobs([0, 6, 7], [10, 10, 10], [1, 1, 1], [{}, {}, tolerates]), "1x2", observers=[taint])
    assert starts(run) == [0.0, 50.0, 7.0]


def test_a_taint_that_drives_pods_away() -> None:
    """With NoExecute the pod that does not tolerate it leaves n1 at 5, and begins anew where it may."""
    tolerates = {"tolerations": [{"key": "old", "operator": "Equal", "value": "", "effect": "NoExecute"}]}
    taint = Taint("n1", "old:NoExecute", start=5)
    run = run_of(jobs([0, 1, 2], [10, 10, 10], [2, 1, 1], [{}, {}, tolerates]), "1x4", observers=[taint])
    assert run.jobs.sort("job")["state"].to_list() == ["rejected", "rejected", "completed"]
    assert starts(run)[2] == 2.0
    two = run_of(jobs([0, 0], [10, 10]), "2x1", observers=[Taint("n1", "old:NoExecute", start=5)])
    assert sorted(rows(two)) == [(0.0, 10.0, "n2"), (10.0, 20.0, "n2")]


def test_a_taint_that_is_tolerated_for_a_time() -> None:
    """At 8 the pod leaves n1, where it had come at 0, and comes back at once; at 9 the taint has gone."""
    some = {"tolerations": [{"key": "old", "operator": "Exists", "tolerationSeconds": 3}]}
    taint = Taint("n1", "old:NoExecute", start=5, duration=4)
    run = run_of(jobs([0, 0], [10, 10], pods=[some, some]), "2x1", observers=[taint])
    assert sorted(rows(run)) == [(0.0, 10.0, "n2"), (8.0, 18.0, "n1")]
    assert run.table("pieces")["end"].to_list() == [8.0, 18.0]


def test_bindings_take_their_time() -> None:
    run = run_of(jobs([0, 0, 0], [10, 10, 10]), "2x1", latency=2.5)
    assert sorted(starts(run)) == [2.5, 2.5, 15.0]


def test_looks_at_the_clock_cost_time() -> None:
    """A thousandth of a second for each: some of them before each binding, and as many every time."""
    first, second = (starts(run_of(jobs([0, 0], [10, 10]), "2x1", tick=0.001)) for _ in range(2))
    assert first == second
    assert all(0.001 <= start < 1 for start in first)


def test_thinking_costs_time() -> None:
    assert all(0 < start < 60 for start in starts(run_of(jobs([0, 0], [10, 10]), "2x1", cpu=1.0)))


def test_a_plug_in_out_of_tree(tmp_path: Path) -> None:
    """It prefers the last node, which alone decides here: one pod a second, a core each, on nodes of two cores."""
    path = tmp_path / "last.yaml"
    path.write_text("""apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    score:
      disabled: [{name: "*"}]
      enabled: [{name: LastNode}]
""")
    run = run_of(jobs([0, 1, 2, 3, 4], [100] * 5), "3x2", config=str(path), scheduler=str(with_plugin()))
    assert [nodes for _, _, nodes in rows(run)] == ["n3", "n3", "n2", "n2", "n1"]


# A scheduler of our own, which is well-behaved or not.


def _naive(how: str, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Run:
    monkeypatch.setenv("NAIVE", how)
    return run_of(jobs([0, 1, 2], [10, 10, 10]), "2x1", command=f"{naive()} -server {{server}}", **options)


def test_any_scheduler_in_go(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rows(_naive("", monkeypatch)) == [(0.0, 10.0, "n1"), (1.0, 11.0, "n2"), (10.0, 20.0, "n1")]


def test_its_timers_are_in_simulated_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It sleeps for ten seconds at every pod, one after the other; timers fire at whole milliseconds."""
    assert starts(_naive("sleeps", monkeypatch)) == pytest.approx([10.0, 20.0, 30.0], abs=0.004)


def test_a_scheduler_that_binds_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    run = _naive("twice", monkeypatch)
    assert starts(run) == [0.0, 1.0, 10.0]
    assert run.config["decider"]["conflicts"] == 3


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("dies", "cannot go on with job-2"),
        ("nowhere", 'nodes "nowhere" not found'),
        ("hangs", "hangs: in"),
    ],
)
def test_a_scheduler_that_misbehaves(how: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedlab.bridge.kubernetes.exact.HUNG", 1.5)
    monkeypatch.setenv("NAIVE_AT", "job-2")
    with pytest.raises(KubernetesError) as error:
        _naive(how, monkeypatch)
    assert words in str(error.value)
    assert error.value.run is not None  # what was simulated until then
