"""ELiSE's stored co-scheduled run: the same schedule job for job, and which hosts it must have used."""

from __future__ import annotations

import csv
import gzip
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.golden.elise_hosts import HOSTS, Found, Search, Stored, numbered

import schedlab as sl
from schedlab.execution.interference import Interference
from schedlab.heatmap.read import read_heatmap
from schedlab.model.cluster import Cluster, NodeGroup
from schedlab.model.heatmap import Heatmap
from schedlab.model.request import Request

CORES = 32
HALF = CORES // 2
MACHINE = Cluster((NodeGroup("grvingt", HOSTS, {"cores": CORES}, "n", sockets=2),))


@pytest.fixture(scope="module")
def heatmap(traces: Path) -> Heatmap:
    return read_heatmap(traces / "heatmaps" / "lm-remake-g5k.nancy.grvingt-NAS.json.gz")


@pytest.fixture(scope="module")
def rows(traces: Path) -> list[dict[str, str]]:
    with gzip.open(traces / "results" / "elise-workload0-random-ranks-cosched.csv.gz", "rt") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def stored(rows: list[dict[str, str]], heatmap: Heatmap) -> list[Stored]:
    jobs = []
    for row in rows:
        submit, wait, ran = (float(row[title]) for title in ("Submit Time", "Wait Time", "Run Time"))
        application = heatmap.number(row["Executable Number"])
        hosts, rest = divmod(int(row["Number of Allocated Processors"]), HALF)
        assert rest == 0, "halves of hosts"
        work = float(heatmap.runtimes[application])
        jobs.append(Stored(submit, submit + wait, submit + wait + ran, hosts, application, work))
    return jobs


@pytest.fixture(scope="module")
def search(stored: list[Stored], heatmap: Heatmap) -> Search:
    speedups = heatmap.filled("refuse")
    return Search(stored, speedups.tolist(), speedups.max(axis=1).tolist(), first="occupied")


@pytest.fixture(scope="module")
def found(search: Search) -> Found:
    return search.run()


def test_what_the_file_itself_says(rows: list[dict[str, str]], stored: list[Stored]) -> None:
    """Limits, numbers of hosts, and the order of starts."""
    limits = [float(row["Requested Time"]) for row in rows]
    assert limits == pytest.approx([1.4 * job.work for job in stored], rel=1e-12)
    processes = [int(row["Requested Number of Processors"]) for row in rows]
    assert [job.hosts for job in stored] == [-(-number // HALF) for number in processes]
    assert all(a.submit <= b.submit and a.start <= b.start for a, b in pairwise(stored))


def test_hosts_exist_that_explain_every_run_time(search: Search, found: Found) -> None:
    """With occupied hosts first; and if nothing is said of that, too."""
    assert found.explained == len(search.jobs) == 10_000
    assert found.error < 1e-9  # seconds of work
    assert Search(search.jobs, search.speedups, search.alone).run().explained == 10_000


def test_other_rules_do_not_explain_them(stored: list[Stored], heatmap: Heatmap) -> None:
    """The search finds something because it is so, not because it would always find something."""
    speedups = heatmap.filled("refuse")
    best = speedups.max(axis=1)
    off = speedups.copy()
    off[:, heatmap.number("ep.D.32")] *= 1.001
    others = [
        Search(stored, speedups.tolist(), np.ones(len(best)).tolist()),  # alone as on whole nodes
        Search(stored, speedups.T.tolist(), best.tolist()),  # what it does to others for what they do to it
        Search(stored, off.tolist(), best.tolist()),  # one column wrong by a thousandth
        Search(stored, speedups.tolist(), best.tolist(), first="idle"),
    ]
    assert max(other.run().explained for other in others) < 1_000


class Replay(sl.Policy):
    """In the order of submission, each job on the hosts that it is known to have had, as soon as these have room."""

    def __init__(self, nodes: list[list[int]]) -> None:
        self._nodes = nodes

    def decide(self, view: Any, events: Any) -> None:
        for job in list(view.queue):
            nodes = self._nodes[job.id - 1]
            if not all(view.cluster.free[node] >= HALF for node in nodes):
                return
            assert view.start(job, nodes=[(node, 1) for node in nodes])


def assert_as_stored(run: sl.Run, jobs: list[Stored]) -> None:
    """To the last digits: times are up to 10⁶ s, and the file has waits and run times, which have to be added up."""
    told = run.jobs.sort("job")
    assert told["state"].to_list() == ["completed"] * len(jobs)
    assert np.abs(told["start"].to_numpy() - [job.start for job in jobs]).max() < 1e-9
    assert np.abs(told["end"].to_numpy() - [job.end for job in jobs]).max() < 1e-9


def workload_of(jobs: list[Stored], rows: list[dict[str, str]], heatmap: Heatmap, **more: Any) -> sl.Workload:
    return sl.Workload.of(
        submit=[job.submit for job in jobs],
        runtime=[job.work for job in jobs],
        limit=[float(row["Requested Time"]) for row in rows],
        executable=[job.application for job in jobs],
        labels={"executable": heatmap.names},
        **more,
    )


def test_job_for_job(stored: list[Stored], rows: list[dict[str, str]], heatmap: Heatmap) -> None:
    """Its "random ranks" are occupied hosts first, in order: there is no chance in it."""
    processes = [int(row["Requested Number of Processors"]) for row in rows]
    workload = workload_of(stored, rows, heatmap, count=processes)
    observers = [Interference(heatmap, missing="refuse")]
    assert_as_stored(sl.simulate(workload, MACHINE, "cosched:backfill=none", observers=observers), stored)


def test_the_hosts_that_were_found_give_its_schedule(
    search: Search, found: Found, heatmap: Heatmap, rows: list[dict[str, str]]
) -> None:
    jobs = search.jobs
    halves = [Request({"cores": HALF}, per_node_max=1, spread=True)]
    counts = [job.hosts for job in jobs]
    workload = workload_of(jobs, rows, heatmap, count=counts, request=[0] * len(jobs), requests=halves)
    policy = Replay(numbered(search, found.last[0]))
    run = sl.simulate(workload, MACHINE, policy, observers=[Interference(heatmap)], validate=True)
    assert_as_stored(run, jobs)
