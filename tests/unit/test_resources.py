"""Memory, GPUs and what else there is: measured, by hand and by sums of the tests' own, and named in rejections."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from tests.commands import schedlab

import schedlab as sl
from schedlab.analysis import fragmentation
from schedlab.analysis.compare import Metric, metric_called, summary_of
from schedlab.analysis.fragmentation import _ranks
from schedlab.analysis.machine import Machine
from schedlab.analysis.parts import resources_by_part
from schedlab.analysis.rejections import why_rejected
from schedlab.analysis.series import machine_series, utilisation
from schedlab.analysis.trim import Trim
from schedlab.cli.cluster_table import cluster_rows
from schedlab.model.cluster import NodeGroup, Partition
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.resources import amount, amount_of, resources_of

# Node a has GPUs, node b has not. Two partitions, one of each.
TWO = sl.Cluster(
    (
        NodeGroup("a", 1, {"cores": 4, "memory": 8, "gpus": 2}, prefix="a"),
        NodeGroup("b", 1, {"cores": 4, "memory": 8}, prefix="b"),
    ),
    partitions=(Partition("fast", ("a",)), Partition("slow", ("b",), default=True)),
    name="two",
)


def two_jobs_on_one_gpu() -> sl.Run:
    """From 0 to 10 the first job has both GPUs, the second waits for one of them until then and ends at 20."""
    requests = [
        Request({"cores": 1, "gpus": 2, "memory": 4}, partition="fast"),
        Request({"cores": 2, "gpus": 1}, partition="fast"),
    ]
    jobs = sl.Workload.of(
        submit=[0, 0, 5],
        runtime=[10, 10, 15],
        count=[1, 1, 1],
        request=[0, 1, 2],
        requests=[*requests, Request({"cores": 1})],
    )
    return sl.simulate(jobs, TWO, "easy")


def test_the_timeline_tells_of_every_resource() -> None:
    timeline = two_jobs_on_one_gpu().timeline
    assert timeline.columns[5:] == ["used_memory", "queued_memory", "used_gpus", "queued_gpus"]
    assert timeline["time"].to_list() == [0, 5, 10, 20]
    assert timeline["used_gpus"].to_list() == [2, 2, 1, 0]
    assert timeline["queued_gpus"].to_list() == [1, 1, 0, 0]
    assert timeline["used_memory"].to_list() == [4, 4, 0, 0]
    assert timeline["queued_memory"].to_list() == [0, 0, 0, 0]


def test_a_change_of_one_resource_alone_has_a_row() -> None:
    """At 10 a job of the same size, with other memory, takes the place of the first."""
    requests = [Request({"cores": 4, "memory": 3}), Request({"cores": 4, "memory": 5})]
    jobs = sl.Workload.of(submit=[0, 10], runtime=[10, 10], count=[1, 1], request=[0, 1], requests=requests)
    timeline = sl.simulate(jobs, sl.Cluster.uniform(1, cores=4, memory=8), "easy").timeline
    assert timeline.select("time", "used_memory").rows() == [(0, 3), (10, 5), (20, 0)]


def test_the_summary_by_hand() -> None:
    found = two_jobs_on_one_gpu().summary["resources"]
    assert list(found) == ["cores", "memory", "gpus"]
    assert found["gpus"]["total"] == 2
    assert found["gpus"]["utilisation"] == pytest.approx((2 * 10 + 1 * 10) / (2 * 20))
    assert found["gpus"]["utilisation_queued"] == 1  # as long as somebody waited for a GPU, both were in use
    assert found["gpus"]["queue"] == {"mean": pytest.approx(1 * 10 / 20), "max": 1}
    assert found["gpus"]["load"] == pytest.approx((2 * 10 + 1 * 10) / (2 * 5))  # submitted from 0 to 5
    assert found["memory"]["utilisation"] == pytest.approx(4 * 10 / (16 * 20))
    assert found["cores"]["utilisation"] == two_jobs_on_one_gpu().summary["utilisation"]


def test_fragmentation_by_hand() -> None:
    """Of the GPU that is free from 10 to 20, jobs of one GPU could take it, jobs of two could not: half of it."""
    found = two_jobs_on_one_gpu().summary["resources"]
    assert found["gpus"]["fragmentation"] == pytest.approx(0.5)
    # Memory is asked for by the first kind only, on node a: 4 of 8 are free until 10, with no GPU beside them, and all
    # 8 until 20, with one GPU; it never fits.
    assert found["memory"]["fragmentation"] == 1


def test_fragmentation_is_the_same_however_many_nodes_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(2)
    jobs = sl.Workload.of(
        submit=np.cumsum(chance.random(200)),
        runtime=chance.random(200) * 9,
        count=chance.integers(1, 6, 200),
        request=np.arange(200) % 2,
        requests=[Request({"cores": 1, "memory": 3}), Request({"cores": 2, "memory": 1})],
    )
    cluster = sl.Cluster.uniform(7, cores=4, memory=8)
    together = sl.simulate(jobs, cluster, "easy").summary
    monkeypatch.setattr(fragmentation, "MOST_ENTRIES", 50)
    assert sl.simulate(jobs, cluster, "easy").summary == together


def test_an_empty_machine_is_not_fragmented_whatever_is_asked_for() -> None:
    jobs = sl.Workload.of(
        submit=[0, 100],
        runtime=[1e-9, 1e-9],
        count=[1, 1],
        request=[0, 1],
        requests=[Request({"cores": 3, "gpus": 1}, partition="fast"), Request({"cores": 3})],
    )
    found = sl.simulate(jobs, TWO, "easy").summary["resources"]
    assert [found[name]["fragmentation"] for name in ("cores", "gpus")] == pytest.approx([0, 0], abs=1e-9)


def test_a_run_without_jobs(tmp_path: Path) -> None:
    nobody, cluster = sl.Workload("nobody", lambda: iter(())), sl.Cluster.uniform(2, cores=2, gpus=1)
    for run in (sl.simulate(nobody, cluster), sl.simulate(nobody, cluster, out=tmp_path / "run")):
        assert run.summary["resources"]["gpus"]["utilisation"] is None
        assert resources_by_part(run, "machine")["total"].to_list() == [4, 2]


def test_partitions_and_node_groups() -> None:
    run = two_jobs_on_one_gpu()
    rows = {(row["part"], row["resource"]): row for row in resources_by_part(run, "partition").to_dicts()}
    assert list(rows) == [
        ("fast", "cores"),
        ("slow", "cores"),
        ("fast", "memory"),
        ("slow", "memory"),
        ("fast", "gpus"),
    ]
    assert rows["fast", "cores"]["utilisation"] == pytest.approx((1 * 10 + 2 * 10) / (4 * 20))
    assert rows["slow", "cores"]["utilisation"] == pytest.approx(1 * 15 / (4 * 20))
    assert rows["fast", "gpus"]["queue_mean"] == pytest.approx(0.5)
    assert rows["slow", "cores"]["queue_max"] == 0
    groups = {(row["part"], row["resource"]): row for row in resources_by_part(run, "group").to_dicts()}
    assert groups["a", "gpus"]["utilisation"] == rows["fast", "gpus"]["utilisation"]
    assert groups["a", "gpus"]["load"] is None and groups["a", "gpus"]["queue_mean"] is None
    with pytest.raises(InputError, match="the cluster has no partitions"):
        resources_by_part(sl.simulate(sl.Workload.of(submit=[0], runtime=[1]), sl.Cluster.uniform(1, 1)), "partition")


def test_a_machine_of_cores_is_written_as_before(tmp_path: Path) -> None:
    jobs = sl.Workload.of(submit=[0, 1], runtime=[10, 10], count=[3, 4])
    run = sl.simulate(jobs, sl.Cluster.uniform(2, cores=2), "easy", out=tmp_path / "run")
    assert pq.read_schema(tmp_path / "run" / "timeline.parquet").names == [
        *("time", "running", "queued", "used_cores", "queued_cores")
    ]
    assert not {"resources", "rejections"} & set(run.summary)
    (row,) = resources_by_part(run, "machine").to_dicts()  # but whoever asks is told
    assert (row["resource"], row["utilisation"]) == ("cores", run.summary["utilisation"])


@pytest.mark.parametrize("table", ["used_gpus", "queued_memory"])
def test_the_judge_looks_at_every_resource(tmp_path: Path, table: str) -> None:
    two_jobs_on_one_gpu().save(tmp_path / "run")
    path = tmp_path / "run" / "timeline.parquet"
    timeline = pl.read_parquet(path)
    timeline.with_columns(pl.col(table) + 1).write_parquet(path)
    description = json.loads((tmp_path / "run" / "run.json").read_text())
    (tmp_path / "run" / "run.json").write_text(json.dumps(description | {"files": {}}))
    assert any(table in offence.message for offence in sl.check(tmp_path / "run"))


# ---- why jobs are rejected ----


def rejected(request: Request, count: int = 1, cluster: sl.Cluster = TWO, policy: str = "easy") -> tuple[Any, str]:
    jobs = sl.Workload.of(submit=[0], runtime=[1], count=[count], requests=[request])
    run = sl.simulate(jobs, cluster, policy, requests="full")
    (entry,) = run.summary["rejections"]
    assert entry["reason"] == run.jobs["reason"][0] and entry["jobs"] == 1
    assert entry["first"] == f"job 1 {why_rejected(run, 1)}"
    return entry["resource"], entry["first"].removeprefix("job 1 ")


FAST, SLOW = "the partition fast", "the default partition slow"


@pytest.mark.parametrize(
    ("request_", "count", "resource", "text"),
    [
        (
            Request({"cores": 1, "gpus": 8}, partition="fast"),
            *(1, "gpus", f"asks for 8 GPUs a node, no node of {FAST} has more than 2"),
        ),
        (Request({"cores": 1, "gpus": 1}), 1, "gpus", f"asks for 1 GPU a node, no node of {SLOW} has any"),
        (
            Request({"cores": 1, "memory": 2**34}),
            *(1, "memory", f"asks for 16 GiB of memory a node, no node of {SLOW} has more than 8 B"),
        ),
        (Request({"cores": 1, "licences": 3}), 2, "licences", "asks for 6 licences, the cluster has none"),
        (Request({"cores": 1}), 5, "cores", f"asks for 5 cores, {SLOW} has 4"),
        (Request({"cores": 1, "memory": 3}), 3, "memory", f"asks for 9 B of memory, {SLOW} has 8 B"),
        (Request({"cores": 3}), 2, "cores", f"asks for 6 cores, {SLOW} has 4"),
        (
            Request({"memory": 3, "cores": 1}, partition="fast", per_node_max=1),
            *(2, "nodes", f"asks for 2 nodes, {FAST} has 1"),
        ),
        (Request(partition="x"), 1, None, "asks for the partition 'x', the cluster has fast, slow"),
        (Request(features=frozenset({"ib"})), 1, None, f"asks for the features ib, no node of {SLOW} has them"),
    ],
)
def test_a_rejection_names_the_resource(request_: Request, count: int, resource: str | None, text: str) -> None:
    assert rejected(request_, count) == (resource, text)


def test_rejections_of_what_no_single_node_has() -> None:
    cluster = sl.Cluster(
        (
            NodeGroup("a", 2, {"cores": 8, "memory": 2}, prefix="a"),
            NodeGroup("b", 2, {"cores": 2, "memory": 8}, prefix="b"),
        )
    )
    resource, text = rejected(Request({"cores": 4, "memory": 4}), cluster=cluster)
    assert (resource, text) == ("cores, memory", "asks for 4 cores and 4 B of memory a node, no node has them together")
    parts = rejected(Request({"cores": 5}), 3, cluster=cluster)
    assert parts == ("cores", "asks for 3 parts of 5 cores each, the nodes have room for 2")
    halves = sl.Cluster((NodeGroup("a", 1, {"cores": 2, "gpu_milli": 1000}, prefix="a"),))
    assert rejected(Request({"gpu_milli": 1500}), cluster=halves) == (
        "gpus",
        "asks for 1.5 GPUs a node, no node has more than 1",
    )


def test_rejections_are_counted_by_reason_and_resource() -> None:
    requests = [Request({"cores": 9}), Request({"cores": 1, "gpus": 9}, partition="fast")]
    jobs = sl.Workload.of(submit=[0, 0, 0], runtime=[1, 1, 1], request=[0, 1, 1], requests=requests)
    found = sl.simulate(jobs, TWO, "easy").summary["rejections"]
    assert [(entry["resource"], entry["jobs"]) for entry in found] == [("gpus", 2), ("cores", 1)]


# ---- units ----


def test_thousandths_are_shown_as_what_they_are_a_part_of() -> None:
    assert (amount("gpu_milli", 500), amount("gpu_milli", 6_212_000)) == ("0.5", "6,212")
    assert (amount_of("gpu_milli", 2500), amount_of("cpu_milli", 64_000)) == ("2.5 GPUs", "64 cores")
    assert amount_of("memory", 3 * 2**30) == "3 GiB of memory"
    node = {"cores": 64, "memory": 2**38, "gpus": 2, "cpu_milli": 64_000, "gpu_milli": 2000}
    cluster = sl.Cluster((NodeGroup("n", 3, node),))
    assert [(each.name, each.total(cluster)) for each in resources_of(cluster)] == [
        ("cores", 192),
        ("memory", 3 * 2**38),
        ("gpus", 6),
    ]
    text = " ".join(" ".join(row) for row in cluster_rows(cluster))
    assert "3 × 64 cores, 256 GiB of memory, 2 GPUs" in text and "000" not in text.replace("2000", "000")


def test_shares_count_as_cores_and_gpus() -> None:
    node = {"cores": 2, "gpus": 2, "cpu_milli": 2000, "gpu_milli": 2000}
    jobs = sl.Workload.of(submit=[0], runtime=[10], requests=[Request({"cpu_milli": 500, "gpu_milli": 250})])
    run = sl.simulate(jobs, sl.Cluster((NodeGroup("n", 1, node),)), "easy")
    assert run.summary["utilisation"] == pytest.approx(0.25)
    assert run.summary["resources"]["gpus"]["utilisation"] == pytest.approx(0.125)
    assert "gpu_milli" not in run.summary["resources"]
    assert utilisation(run, 0, 10, "gpus") == pytest.approx(0.125)
    assert machine_series(run, step=5, resource="gpus")["utilisation"].to_list() == pytest.approx([0.125, 0.125])


def test_metrics_of_resources_have_names() -> None:
    metric = metric_called("resources.gpus.queue.mean")
    assert metric == Metric("resources.gpus.queue.mean", "mean of gpus waited for", "number", "lower")
    assert metric.of(two_jobs_on_one_gpu().summary) == pytest.approx(0.5)
    assert metric_called("resources.gpus.colour") is None


# ---- real logs, against sums of our own ----


def seconds_of(run: sl.Run, resource: dict[str, float], begin: float, end: float) -> float:
    """Amount × seconds that jobs had between two moments: one job after the other, from jobs.parquet alone."""
    assert run.path is not None
    requests = json.loads((run.path / "run.json").read_text())["requests"]
    jobs = pq.read_table(run.path / "jobs.parquet", columns=["start", "end", "count", "request"]).to_pylist()
    total = 0.0
    for job in jobs:
        if job["start"] is not None:
            each = sum(requests[job["request"]]["chunk"].get(name, 0) * size for name, size in resource.items())
            total += each * job["count"] * (min(job["end"], end) - max(job["start"], begin))
    return total


def check_against_sums(run: sl.Run, resources: dict[str, tuple[dict[str, float], float]]) -> None:
    jobs = pq.read_table(run.path / "jobs.parquet").to_pylist()  # type: ignore[operator]
    ran = [job for job in jobs if job["start"] is not None]
    begin, end = min(job["submit"] for job in ran), max(job["end"] for job in ran)
    assert not (run.path / "pieces.parquet").exists()  # type: ignore[operator]
    for name, (parts, total) in resources.items():
        expected = seconds_of(run, parts, begin, end) / (total * (end - begin))
        assert expected > 0
        assert run.summary["resources"][name]["utilisation"] == pytest.approx(expected, rel=1e-12)
        assert run.summary["resources"][name]["total"] == total
    for row in resources_by_part(run, "machine").to_dicts():  # from the nodes of jobs, not from the timeline
        found = run.summary["resources"][row["resource"]]
        if found["utilisation"] is None:  # nobody asks for it
            continue
        keys = ("utilisation", "load", "queue_mean", "queue_max", "fragmentation")
        expected = [found["utilisation"], found["load"], *found["queue"].values(), found["fragmentation"]]
        assert [row[key] for key in keys] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert sl.check(run.path) == []  # type: ignore[arg-type]


@pytest.mark.parametrize("reader", ["alibaba", "alibaba-shares"])
def test_gpus_and_memory_of_the_alibaba_trace(traces: Path, tmp_path: Path, reader: str) -> None:
    prefix = str(traces / "gpu" / "alibaba-gpu-v2023-openb_")
    jobs = sl.read_workload(f"{prefix}pod_list_default.csv.gz", reader=reader, requests="full")
    cluster = sl.read_cluster(f"{prefix}node_list_gpu_node.csv.gz")
    run = sl.simulate(jobs, cluster, "easy", out=tmp_path / "run")
    milli = reader == "alibaba-shares"
    check_against_sums(
        run,
        {
            "cores": ({"cpu_milli": 0.001} if milli else {"cores": 1.0}, 107_018),
            "memory": ({"memory": 1.0}, 528_302_452_244_480),
            "gpus": ({"gpu_milli": 0.001} if milli else {"gpus": 1.0}, 6212),
        },
    )
    gpus = run.summary["resources"]["gpus"]["utilisation"]
    assert gpus == pytest.approx(0.0023118 if milli else 0.0026774, rel=1e-4)


def test_gpus_and_memory_of_a_slurm_log(traces: Path, tmp_path: Path) -> None:
    cedar = traces.parent / "cases" / "cedar"
    if not cedar.is_dir():
        pytest.skip(f"needs the accounting of a small site; there is no {cedar}")
    jobs, cluster = sl.read_workload(cedar / "jobs.sacct", requests="full"), sl.read_cluster(cedar / "slurm.conf")
    run = sl.simulate(jobs, cluster, "easy", out=tmp_path / "run")
    megabyte = 2**20
    memory = (24 * 190_000 + 2 * 1_500_000 + 4 * 380_000) * megabyte
    check_against_sums(
        run, {"cores": ({"cores": 1.0}, 960), "memory": ({"memory": 1.0}, memory), "gpus": ({"gpus": 1.0}, 16)}
    )
    by_partition = {(row["part"], row["resource"]): row for row in resources_by_part(run, "partition").to_dicts()}
    assert by_partition["gpu", "gpus"]["utilisation"] == run.summary["resources"]["gpus"]["utilisation"]
    assert summary_of(run, trim=Trim(0.1, 0.1))["resources"]["gpus"]["utilisation"] > 0.7
    (entry,) = run.summary["rejections"]
    assert (entry["resource"], entry["jobs"]) == ("cores", run.summary["reasons"]["larger than the cluster"])


def test_gpus_and_memory_of_slurm_events(traces: Path, tmp_path: Path) -> None:
    slurm = traces / "slurm"
    jobs = sl.read_workload(slurm / "ubccr-micro-jobs500.events.gz", requests="full")
    run = sl.simulate(jobs, sl.read_cluster(slurm / "ubccr-micro-slurm.conf"), "easy", out=tmp_path / "run")
    totals = {name: float(found["total"]) for name, found in run.summary["resources"].items()}
    asked = [name for name, found in run.summary["resources"].items() if found["load"]]
    assert {"memory", "gpus"} <= set(asked)
    check_against_sums(run, {name: ({name: 1.0}, totals[name]) for name in asked})


def test_pieces_count_too() -> None:
    """Jobs that fail and are requeued: the parts, from stays on nodes, agree with the timeline."""
    from schedlab.execution.failures import Failures

    random = np.random.default_rng(1)
    requests = [Request({"cores": c, "gpus": g, "memory": m}) for c, g, m in ((1, 0, 1), (2, 1, 3), (4, 2, 2))]
    jobs = sl.Workload.of(
        submit=np.sort(random.uniform(0, 500, 60)),
        runtime=random.uniform(5, 60, 60),
        count=np.ones(60, np.int64),
        request=random.integers(0, 3, 60),
        requests=requests,
    )
    cluster = sl.Cluster.uniform(3, cores=4, gpus=2, memory=6)
    run = sl.simulate(jobs, cluster, "easy", observers=[Failures(mtbf=200, repair=20, seed=3)])
    assert len(run.pieces)
    for row in resources_by_part(run, "machine").to_dicts():
        found = run.summary["resources"][row["resource"]]
        assert row["utilisation"] == pytest.approx(found["utilisation"])
        assert [row["queue_mean"], row["queue_max"]] == pytest.approx(list(found["queue"].values()))
        assert 0 <= row["fragmentation"] <= 1


# ---- what is printed and drawn ----

MACHINE = """
[[nodes]]
name = "gpu"
count = 2
cores = 4
memory = "8 GiB"
gpus = 2
"""
JOBS = """id,submit,runtime,cores,gpus
1,0,100,1,2
2,0,100,4,1
3,10,50,1,9
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "machine.toml").write_text(MACHINE)
    (tmp_path / "jobs.csv").write_text(JOBS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(*arguments: str) -> str:
    """What the program prints."""
    done = schedlab(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_commands_name_resources(folder: Path) -> None:
    run = printed("run", "jobs.csv", "--cluster", "machine.toml", "--policy", "easy", "--out", "run")
    assert "utilisation of" in run and "gpus %" in run
    assert (
        "refused: 1 job (larger than the cluster, gpus: job 3 asks for 9 GPUs a node, no node has more than 2)" in run
    )
    compared = printed("compare", "run", "--resources", "group")
    assert "resources by group" in compared and "gpus" in compared.partition("resources by group")[2]
    document = json.loads(printed("compare", "run", "--resources", "machine", "--json"))
    (gpus,) = (row for row in document["runs"][0]["resources"] if row["resource"] == "gpus")
    assert gpus["utilisation"] == pytest.approx(0.75)
    inspected = printed("inspect", "jobs.csv", "--cluster", "machine.toml")
    assert "asked for by 100 %" in inspected and "machine 4; offered load" in inspected
    described = json.loads(printed("inspect", "jobs.csv", "--cluster", "machine.toml", "--json"))
    assert described["resources"]["gpus"]["work"] == 2 * 100 + 1 * 100 + 9 * 50
    printed("plot", "run", "--kind", "utilisation", "--resource", "gpus", "-o", "gpus.png")
    printed("plot", "run", "--kind", "queue", "--resource", "memory", "-o", "memory.svg")
    assert (folder / "gpus.png").stat().st_size > 5000
    assert "memory waited for" in (folder / "memory.svg").read_text()


def test_figures_of_what_the_machine_does_not_have(folder: Path) -> None:
    from schedlab.plot.over_time import plot_utilisation

    run = two_jobs_on_one_gpu()
    with pytest.raises(InputError, match="the machine has no 'gpu'"):
        plot_utilisation([run], resource="gpu")
    axes = plot_utilisation([run], resource="gpus", span=(0.0, 20.0))
    assert axes.get_ylabel().startswith("gpus in use")


def test_a_study_is_about_resources_too(folder: Path) -> None:
    (folder / "study.toml").write_text(
        'name = "s"\nmetrics = ["wait.mean", "resources.gpus.utilisation"]\n'
        '[workload]\nlog = "jobs.csv"\nrequests = "full"\n'
        '[run]\ncluster = "machine.toml"\npolicy = ["easy", "fcfs"]\n'
    )
    printed("experiment", "run", "study.toml", "--out", "study")
    from schedlab.experiment.results import Results

    results = Results(folder / "study")
    assert results.metrics == ["wait.mean", "resources.gpus.utilisation"]
    assert results.table["resources.gpus.utilisation"].to_list() == pytest.approx([0.75, 0.75])
    printed("experiment", "report", "study", "--out", "report.html")
    assert "utilisation of gpus" in (folder / "report.html").read_text()


def test_a_job_that_was_killed_is_no_rejection() -> None:
    """It has a reason too: checkpoints made it reach its limit."""
    jobs = sl.Workload.of(submit=[0, 0], runtime=[100, 10], limit=[100, 20], count=[1, 1])
    failures = "failures(mtbf=1e9, checkpoint=50, cost=30)"
    run = sl.simulate(jobs, sl.Cluster.uniform(2, 1), "easy", observers=[failures])
    assert run.jobs["state"].to_list() == ["killed", "completed"] and run.summary["reasons"]
    assert "rejections" not in run.summary and why_rejected(run, 1) == ""


def test_a_job_over_the_cap_says_so() -> None:
    jobs = sl.Workload.of(submit=[0], runtime=[10], count=[4])
    run = sl.simulate(jobs, sl.Cluster.uniform(2, 2), "easy", observers=["power(idle=10, per_core=10, cap=45)"])
    assert why_rejected(run, 1) == "would exceed the machine's budget (a cap of power) all alone"


def test_whole_nodes_of_a_policy_in_python_are_recorded() -> None:
    class Alone(sl.Policy):
        exclusive = True

        def decide(self, view: Any, events: Any) -> None:
            for job in view.queue:
                view.start(job)

    run = sl.simulate(sl.Workload.of(submit=[0, 0], runtime=[10, 10]), sl.Cluster.uniform(2, 2), Alone())
    assert run.config["placement"] == {"name": "first-fit", "exclusive": True}
    assert Machine.of_run(run).exclusive


@pytest.mark.parametrize("step", [1, 3, 2**40])
def test_ranks_are_those_of_numpy(step: int) -> None:
    random = np.random.default_rng(step)
    for most in (1, 5, 10**6):  # near one another, and far apart
        column = step * random.integers(-most, most, 50) + 7
        values, places = np.unique(column, return_inverse=True)
        found, number = _ranks(column)
        assert (found.tolist(), number) == (places.tolist(), len(values))
