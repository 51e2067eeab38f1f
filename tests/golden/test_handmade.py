"""A log of 15 jobs on 8 processors, with schedules worked out by hand.

| job | submit | procs | runtime | limit |   | job | submit | procs | runtime | limit |
|-----|--------|-------|---------|-------|---|-----|--------|-------|---------|-------|
|  1  |    0   |   4   |   100   |  100  |   |  9  |  405   |   5   |   30    |  60   |
|  2  |   10   |   2   |    50   |  100  |   | 10  |  410   |   6   |   10    |  10   |
|  3  |   20   |   6   |    60   |   80  |   | 11  |  415   |   2   |   15    |  15   |
|  4  |   30   |   2   |    40   |   40  |   | 12  |  500   |   6   |   50    |  50   |
|  5  |   40   |   1   |   200   |  200  |   | 13  |  505   |   4   |   20    |  20   |
|  6  |   50   |   8   |    20   |   30  |   | 14  |  510   |   8   |   10    |  10   |
|  7  |   60   |   1   |    10   |   10  |   | 15  |  515   |   2   |   60    |  60   |
|  8  |  400   |   3   |    50   |   20  |   |     |        |       |         |       |

Job 2 ends early, at 60; job 8 is killed at its limit.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.oracle import Job, Policy
from tests.oracle import simulate as oracle

import schedlab
from schedlab import Cluster, Run

LOG = Path(__file__).with_name("handmade.swf")

FCFS = [
    # 3 waits for job 1; with it 4 starts at 100; 5 takes a core of 4's at 140.
    *(0, 10, 100, 100, 140),
    # 6 needs all processors, which 5 holds until 340; 7 waits behind it.
    *(340, 360),
    # 9 fits beside 8. 10 waits for 9 to end at 435 and leaves room for 11.
    *(400, 405, 435, 435),
    # 13 waits for 12, 14 for 13, 15 for 14.
    *(500, 550, 570, 580),
]
EASY = [
    # 3 has its shadow time at 100 (2 + 4 processors, nothing extra): 4 ends at 70 and may start.
    # At 60 job 2 is gone, so that at 100 there will be 8: 2 extra. 5 takes one of them.
    *(0, 10, 100, 30, 60),
    # 6 waits for 5, until 260. 7 takes the last processor at 60 and ends before 100.
    *(260, 60),
    # 10 has its shadow time at 465; 11 (420 to 435) comes before.
    *(400, 405, 435, 420),
    # 13 has its shadow time at 550 with 4 extra: 15 takes 2 of them, and delays 14, which has no reservation.
    *(500, 550, 575, 515),
]
EASY_STRICT = [
    # 5 may not use the extra processors at 60; it starts in its turn at 100, and 6 waits for it until 300.
    *(0, 10, 100, 30, 100, 300, 60),
    *(400, 405, 435, 420),
    # 15 would end at 575, after the shadow times 550 (of 13) and 570 (of 14).
    *(500, 550, 570, 580),
]
CONSERVATIVE = [
    # At 40 job 5 finds its place at 110 (beside 3, reserved for 100 to 180), at 50 job 6 at 310. At 60 job 2 ends
    # early: 3 cannot move, 5 moves to 60, 6 to 260, and the new 7 fits in.
    *(0, 10, 100, 30, 60, 260, 60),
    # 10 is reserved for 465, 11 for 420; at 435 job 9 ends early and 10 moves there.
    *(400, 405, 435, 420),
    # 14 holds 570 to 580, so 15 cannot run from 515 to 575.
    *(500, 550, 570, 580),
]
SJF = [
    # At 30 the queue is 4, 3; at 60 it is 7, 6, 3, 5: 7 starts, 6 blocks the others until it gets everything at 100.
    *(0, 10, 120, 30, 120, 100, 60),
    *(400, 405, 435, 435),
    # At 550: 14 (10 s), then 13 and 15 together.
    *(500, 560, 550, 560),
]
# Whole nodes of 2: 9 needs three nodes beside the two of 8 and waits until 420, 10 and 11 until 450.
EXCLUSIVE_FCFS = [*(0, 10, 100, 100, 140, 340, 360), *(400, 420, 450, 450), *(500, 550, 570, 580)]

SCHEDULES = [
    ("fcfs", Policy("none"), FCFS),
    ("easy", Policy("easy"), EASY),
    ("easy-strict", Policy("easy-strict"), EASY_STRICT),
    ("conservative", Policy("conservative"), CONSERVATIVE),
    ("sjf", Policy("none", order="sjf"), SJF),
]


def simulate(policy: str, cluster: Cluster) -> Run:
    run = schedlab.simulate(schedlab.read_workload(LOG), cluster, policy, validate=True)
    assert schedlab.check(run) == []
    return run


@pytest.mark.parametrize("cluster", [Cluster.of_cores(8), Cluster.uniform(4, cores=2)], ids=["pool", "nodes"])
@pytest.mark.parametrize(("policy", "spec", "starts"), SCHEDULES, ids=[name for name, *_ in SCHEDULES])
def test_starts(policy: str, spec: Policy, starts: list[float], cluster: Cluster) -> None:
    assert simulate(policy, cluster).jobs["start"].to_list() == starts
    assert [result.start for result in oracle(oracle_jobs(), cluster, spec)] == starts


def test_exclusive_nodes() -> None:
    cluster = Cluster.uniform(4, cores=2)
    assert simulate("none:nodes=exclusive", cluster).jobs["start"].to_list() == EXCLUSIVE_FCFS
    results = oracle(oracle_jobs(), cluster, Policy("none", exclusive=True))
    assert [result.start for result in results] == EXCLUSIVE_FCFS


def test_places_under_easy() -> None:
    run = simulate("easy", Cluster.uniform(4, cores=2))
    assert run.jobs["nodes"].to_list() == [
        # At 100 job 5 still holds one core of n3.
        *("n[1-2]*2", "n3*2", "n[1-2]*2,n[3-4]", "n4*2", "n3", "n[1-4]*2", "n3"),
        *("n1*2,n2", "n2,n[3-4]*2", "n[1-3]*2", "n1*2"),
        *("n[1-3]*2", "n[1-2]*2", "n[1-4]*2", "n4*2"),
    ]
    assert run.jobs.filter("backfilled")["job"].to_list() == [4, 5, 7, 11, 15]


def test_summary_under_fcfs() -> None:
    summary = simulate("fcfs", Cluster.of_cores(8)).summary
    # Waits: 80, 70, 100, 290, 300 of jobs 3 to 7, then 25, 20 of 10 and 11, then 45, 60, 65 of 13 to 15.
    assert summary["wait"]["mean"] == pytest.approx(1055 / 15)
    # From 0 to 640. Processor-seconds: 400 + 100 + 360 + 80 + 200 + 160 + 10, + 60 + 150 + 60 + 30, + 300 + 80 + 80 +
    # 120.
    assert summary["utilisation"] == pytest.approx(2190 / (8 * 640))


def oracle_jobs() -> list[Job]:
    rows = [[float(field) for field in line.split()] for line in LOG.read_text().splitlines() if line[0] != ";"]
    return [Job(int(row[0]), n, row[1], row[3], row[8], int(row[7])) for n, row in enumerate(rows)]
