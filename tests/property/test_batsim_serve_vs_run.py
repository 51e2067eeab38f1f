"""A policy that drives another simulator starts jobs when and where it does in one of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.batsim_talk import small_platform, write_workload
from tests.batsim_world import Delay
from tests.property.test_engine_vs_oracle import looking_at, seeds
from tests.unit.test_batsim_serve import Served, play

import schedlab as sl
from schedlab.bridge.batsim.decider import Batsim
from schedlab.bridge.batsim.documents import Documents
from schedlab.engine.scenario import Scenario
from schedlab.engine.simulate import simulate
from schedlab.model.cluster import Cluster
from schedlab.model.nodeset import expand

POLICIES = (
    "fcfs",
    "easy",
    "easy:order=sjf,place=best-fit",
    "easy:place=contiguous",
    "easy:reservations=3,depth=4",
    "easy-strict:scan=saf",
    "skip:order=wfp3",
    "conservative",
    "conservative:order=largest,place=contiguous",
    "none:every=30",
    "easy:every=10,backfill_every=60",
    "reject",
)


def random_jobs(random: Random, count: int, hosts: int) -> list[Delay]:
    """Times are whole or halves, so that many things happen at once; some jobs do not fit, some are cut off."""
    submit, jobs = 0.0, []
    for number in range(count):
        submit += random.choice((0, 0, 0.5, 3, 20))
        seconds = random.choice((1, 2, 5, 7.5, 30, 60))
        walltime = seconds * random.choice((0.5, 1, 1, 2, 10))
        size = random.choice((1, 1, 2, hosts // 2 + 1, hosts, random.randint(1, hosts + 1)))
        jobs.append(Delay(f"w0!{number}", submit, seconds, walltime, size))
    return jobs


@pytest.mark.parametrize("policy", POLICIES)
@given(seed=seeds, count=st.integers(1, 30), hosts=st.integers(1, 9))
@looking_at(12)
def test_same_starts_on_the_same_hosts(policy: str, seed: int, count: int, hosts: int) -> None:
    jobs = random_jobs(Random(seed), count, hosts)
    columns = {
        "submit": [job.submit for job in jobs],
        "runtime": [job.seconds for job in jobs],
        "limit": [job.walltime for job in jobs],
        "count": [job.hosts for job in jobs],
    }
    cluster = sl.Cluster((sl.NodeGroup("host", hosts, {"cores": 1}, prefix="host", first=0),))
    run = sl.simulate(sl.Workload.of(**columns), cluster, policy)
    play(policy, jobs, hosts)
    assert run.jobs["start"].to_list() == [job.start for job in jobs]
    expected = [None if text is None else [int(name[4:]) for name, _ in expand(text)] for text in run.jobs["nodes"]]
    assert expected == [job.on or None for job in jobs]


@pytest.mark.parametrize("policy", ["easy", "conservative"])
@given(seed=seeds, count=st.integers(1, 30))
@looking_at(12)
def test_the_same_with_a_policy_in_python(policy: str, seed: int, count: int) -> None:
    class Around(sl.Policy):
        def __init__(self) -> None:
            self.inner = sl.Native(policy)

        def decide(self, view: object, events: object) -> None:
            self.inner.decide(view)

    jobs = random_jobs(Random(seed), count, 5)
    again = random_jobs(Random(seed), count, 5)
    play(policy, jobs, 5)
    play(Around(), again, 5)
    assert [job.start for job in jobs] == [job.start for job in again]


class Partner:
    """A policy of ours at the other end of our own simulator, without a socket in between."""

    def __init__(self, policy: str) -> None:
        self.served = Served(policy)

    def exchange(self, message: bytes) -> bytes:
        return self.served(message)

    def exchange_last(self, message: bytes, patience: float) -> bytes:
        return self.served(message)

    def close(self) -> None:
        pass


@pytest.mark.parametrize("policy", POLICIES)
@given(seed=seeds, count=st.integers(1, 30), hosts=st.integers(1, 9))
@looking_at(6)
def test_both_ends_are_ours(policy: str, seed: int, count: int, hosts: int) -> None:
    """A minute after the begin: schedulers are told of second 0 a moment late."""
    jobs = [job for job in random_jobs(Random(seed), count, hosts) if job.hosts <= hosts]
    assume(jobs)
    profiles = {str(job.seconds): {"type": "delay", "delay": job.seconds} for job in jobs}
    described = [
        {"id": 100 + n, "subtime": 60 + j.submit, "walltime": j.walltime, "res": j.hosts, "profile": str(j.seconds)}
        for n, j in enumerate(jobs)
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = write_workload(Path(folder), described, profiles)
        platform = small_platform(hosts)
        documents = Documents.read([file], platform)
    bridged = Batsim(platform=platform, documents=documents, link=Partner(policy))
    told = simulate(Scenario(documents.workload(), Cluster.uniform(1), bridged, validate=True))
    alone = simulate(Scenario(documents.workload(), Cluster.uniform(hosts), policy))
    assert told.jobs["start"].to_list() == alone.jobs["start"].to_list()
