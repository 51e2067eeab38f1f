"""The oracle against schedules worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from tests.oracle import Job, Policy, Result, simulate
from tests.oracle.jobs import evaluate, mix

from schedlab.model.cluster import Cluster, NodeGroup, Partition
from schedlab.model.request import SINGLE_CORE, Request

POOL = Cluster.of_cores(10)


def jobs(*rows: tuple[float, ...], **columns: list[Any]) -> list[Job]:
    """Jobs from rows (submit, count, runtime) or (submit, count, runtime, limit)."""
    made = []
    for sequence, (submit, count, runtime, *limit) in enumerate(rows):
        rest = {name: values[sequence] for name, values in columns.items()}
        made.append(Job(sequence + 1, sequence, submit, runtime, limit[0] if limit else runtime, int(count), **rest))
    return made


def run(rows: list[Job], policy: str | Policy, cluster: Cluster = POOL, **options: str) -> list[Result]:
    return simulate(rows, cluster, Policy(policy) if isinstance(policy, str) else policy, **options)


def starts(*arguments: Any, **options: str) -> list[float]:
    return [result.start for result in run(*arguments, **options)]


# Backfill on a pool. Job 1 takes 6 of 10 cores until 10. Job 2 (8 cores) has to wait for it: shadow time 10, extra 2.
# Job 3 (3 cores, 8 s) ends at 2 + 8 = 10, just in time. Jobs 4 and 5 (1 core, 100 s) need extra cores.
QUEUE = [(0, 6, 10), (1, 8, 10), (2, 3, 8), (3, 1, 100), (4, 1, 100)]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        # Nothing passes job 2. At 10 it leaves 2 cores, and job 3 needs 3.
        ("none", [0, 10, 20, 20, 20]),
        # Job 4 takes the last free core at 3; at 10 job 2 leaves one for job 5.
        ("skip", [0, 10, 2, 3, 10]),
        ("easy", [0, 10, 2, 3, 10]),
        ("easy-strict", [0, 10, 2, 10, 10]),
        ("conservative", [0, 10, 2, 3, 10]),
    ],
)
def test_backfill_on_a_pool(policy: str, expected: list[float]) -> None:
    assert starts(jobs(*QUEUE), policy) == expected


def test_backfilled_are_those_that_pass_a_waiting_job() -> None:
    assert [result.backfilled for result in run(jobs(*QUEUE), "easy")] == [False, False, True, True, False]


def test_extra_cores_are_used_up_by_the_jobs_that_take_them() -> None:
    # Free 4 at time 2, extra 2. Job 3 takes both extra cores; job 4 would delay job 2 and waits until job 2 ends.
    assert starts(jobs((0, 6, 10), (1, 8, 10), (2, 2, 50), (2, 1, 50)), "easy") == [0, 10, 2, 20]


def test_scan_order_decides_who_gets_the_room() -> None:
    # 4 cores are free until 10 when jobs 3 (9 s) and 4 (3 s) come at 1. In queue order job 3 takes them. Shortest
    # first, job 4 does; when it has ended, at 4, job 3 would end at 13 and delay job 2.
    rows = [(0, 6, 10), (1, 10, 10), (1, 4, 9), (1, 4, 3)]
    assert starts(jobs(*rows), "easy") == [0, 10, 1, 20]
    assert starts(jobs(*rows), Policy("easy", scan="sjf")) == [0, 10, 20, 1]


def test_depth_counts_examined_jobs_after_the_head() -> None:
    # Jobs 3 and 4 do not fit beside job 1; job 5 would. With depth 2 it is not looked at before job 1 has ended.
    rows = [(0, 6, 10), (1, 10, 10), (1, 5, 1), (1, 5, 1), (1, 4, 1)]
    assert starts(jobs(*rows), Policy("easy", depth=3)) == [0, 10, 20, 20, 1]
    assert starts(jobs(*rows), Policy("easy", depth=2)) == [0, 10, 20, 20, 21]


# Job 1 is to end at 10. Job 2 gets [10, 20), job 3 (all cores) [20, 25). Job 4 (2 cores, 20 s) fits beside job 2
# (extra 2), but would delay job 3.
RESERVED = [(0, 6, 10), (1, 8, 10), (2, 10, 5), (3, 2, 20)]


def test_conservative_protects_every_waiting_job_and_easy_only_the_first() -> None:
    assert starts(jobs(*RESERVED), "conservative") == [0, 10, 20, 25]
    assert starts(jobs(*RESERVED), "easy") == [0, 10, 23, 3]
    assert starts(jobs(*RESERVED), Policy("easy", reservations=2)) == [0, 10, 20, 25]


def test_reservations_limit_how_many_jobs_are_protected() -> None:
    # Jobs 2 and 3 (8 cores) hold [10, 20) and [20, 30). Job 5 (2 cores, 40 s) fits beside them and job 1 at 5, and
    # then delays job 4 (10 cores) to 45, unless that one holds the third reservation, [30, 35).
    rows = [(0, 6, 10), (1, 8, 10), (2, 8, 10), (3, 10, 5), (5, 2, 40)]
    assert starts(jobs(*rows), Policy("easy", reservations=2)) == [0, 10, 20, 45, 5]
    assert starts(jobs(*rows), Policy("easy", reservations=3)) == [0, 10, 20, 30, 35]


def test_compression_after_an_early_end() -> None:
    # Job 1 ends at 5 instead of 10: job 2 moves to 5, job 3 to 15; job 4 would overlap job 3 and moves from 25 to 20.
    assert starts(jobs((0, 6, 5, 10), *RESERVED[1:]), "conservative") == [0, 5, 15, 20]


def test_compression_goes_in_the_order_of_reserved_starts() -> None:
    # Job 1 ends at 4 instead of 10. Job 2 (6 cores) and job 4 (4 cores) held [10, 30), job 3 (all cores) [30, 40). Job
    # 4 moves before job 3, which can then have 24; asked before it, job 3 would have stayed at 30 beside an empty
    # machine.
    rows = jobs((0, 10, 4, 10), (1, 6, 20), (2, 10, 10), (3, 4, 20))
    assert starts(rows, "conservative") == [0, 4, 24, 4]


def test_an_estimate_of_nothing_counts_as_one_second() -> None:
    # Job 1 ends at once. Job 3 (estimate 1) may not delay job 2, whose shadow time is 10.
    results = run(jobs((0, 6, 10), (0, 10, 0), (9, 4, 0), (9.5, 4, 0)), "easy")
    assert [result.estimate for result in results] == [10, 1, 1, 1]
    assert [result.start for result in results] == [0, 10, 9, 10]


def test_compression_after_a_cancellation() -> None:
    # Job 3 is withdrawn at 4; then nothing keeps job 4 from running beside jobs 1 and 2.
    rows = jobs(*RESERVED, cancel=[1e9, 1e9, 4, 1e9])
    results = run(rows, "conservative")
    assert [result.start for result in results][:2] == [0, 10]
    assert (results[2].state, results[2].end) == ("cancelled", 4)
    assert results[3].start == 4


def test_a_correction_remakes_all_reservations() -> None:
    # Job 1 is believed to take 5 s, but takes 8. At 5 it is corrected to 5 + 60, capped by its limit of 10; job 2
    # moves to 10. Its real end at 8 is early again, so job 2 starts there.
    rows = jobs((0, 6, 8, 10), (1, 8, 4, 8))
    assert starts(rows, "conservative", estimate="limit*0.5") == [0, 8]


# Nodes.


def test_first_fit_fills_nodes_in_cluster_order() -> None:
    results = run(jobs((0, 3, 9), (0, 2, 9), (0, 2, 9)), "none", Cluster.uniform(3, cores=4))
    assert [result.nodes for result in results] == [{"n1": 3}, {"n1": 1, "n2": 1}, {"n2": 2}]


def test_best_fit_takes_the_fullest_node_first() -> None:
    # After 1 and 2 cores on the first two nodes (3 and 2 free), a job of one core goes to the second.
    one = Request({"cores": 1}, per_node_max=1)
    rows = jobs((0, 1, 9), (0, 6, 9), (0, 1, 9), request=[SINGLE_CORE, Request(per_node_min=3, per_node_max=3), one])
    results = run(rows, Policy("none", place="best-fit"), Cluster.uniform(3, cores=4))
    # Job 1: node 1 (3 left). Job 2, three chunks a node: node 1 (3 free), then node 2. Free: 0, 1, 4.
    assert [result.nodes for result in results] == [{"n1": 1}, {"n1": 3, "n2": 3}, {"n2": 1}]


def test_spread_goes_round() -> None:
    # Free 4 4 4: one each, then one more on the first. Then free is 2 3 3: nodes 2, 3, then (2 2 2) 1.
    results = run(jobs((0, 4, 9), (0, 3, 9)), Policy("none", place="spread"), Cluster.uniform(3, cores=4))
    assert [result.nodes for result in results] == [{"n1": 2, "n2": 1, "n3": 1}, {"n2": 1, "n3": 1, "n1": 1}]


def test_spread_does_not_waste_whole_nodes() -> None:
    # An exclusive job fills the nodes that it gets, those with most cores first.
    cluster = Cluster((NodeGroup("small", 2, {"cores": 2}), NodeGroup("large", 1, {"cores": 4}, prefix="g")))
    results = run(jobs((0, 5, 9)), Policy("none", place="spread", exclusive=True), cluster)
    assert results[0].nodes == {"g1": 4, "n1": 1}


def test_contiguous_waits_for_neighbours() -> None:
    # Jobs 1 and 3 hold nodes 1 and 3 until 9, job 2 node 2 until 2. Job 4 fits the free nodes 2 and 4 by number, but
    # they are not neighbours before 9; then the first run that is large enough begins at node 1.
    rows = [(0, 2, 9), (0, 2, 2), (0, 2, 9), (1, 4, 5)]
    placed = Policy("none", place="contiguous")
    cluster = Cluster.uniform(4, cores=2)
    assert starts(jobs(*rows), placed, cluster) == [0, 0, 0, 9]
    assert run(jobs(*rows), placed, cluster)[3].nodes == {"n1": 2, "n2": 2}
    assert starts(jobs(*rows), "none", cluster) == [0, 0, 0, 2]


def test_random_placement_follows_the_mix() -> None:
    order = sorted(range(5), key=lambda number: mix(mix(3, 0), number))
    results = run(jobs((0, 2, 1)), Policy("none", place="random(3)"), Cluster.uniform(5))
    assert results[0].nodes == {f"n{order[0] + 1}": 1, f"n{order[1] + 1}": 1}


def test_exclusive_nodes_are_taken_whole() -> None:
    # 5 cores need two nodes of 4. One node is left: job 2 takes it, job 3 waits although 3 + 3 cores are idle.
    rows = [(0, 5, 10), (0, 1, 20), (0, 1, 1)]
    cluster = Cluster.uniform(3, cores=4)
    results = run(jobs(*rows), Policy("none", exclusive=True), cluster)
    assert [result.start for result in results] == [0, 0, 10]
    assert [result.nodes for result in results] == [{"n1": 4, "n2": 1}, {"n3": 1}, {"n1": 1}]


def test_one_exclusive_request_among_shared_ones() -> None:
    rows = jobs((0, 1, 5), (0, 1, 9), (1, 1, 9), request=[SINGLE_CORE, Request(exclusive=True), SINGLE_CORE])
    results = run(rows, "none", Cluster.uniform(2, cores=2))
    assert [list(result.nodes) for result in results] == [["n1"], ["n2"], ["n1"]]


def test_nothing_at_all_still_needs_a_node_that_is_not_exclusive() -> None:
    nothing = Request({"cores": 0})
    rows = jobs((0, 1, 5), (0, 3, 5), request=[Request(exclusive=True), nothing])
    assert starts(rows, "none", Cluster.uniform(1)) == [0, 5]


MIXED = Cluster(
    (
        NodeGroup("thin", 2, {"cores": 4, "memory": 8}),
        NodeGroup("fat", 1, {"cores": 4, "memory": 64, "gpus": 2}, prefix="g", features=frozenset({"big"})),
    ),
    (Partition("batch", ("thin", "fat"), default=True), Partition("gpu", ("fat",)), Partition("thin", ("thin",))),
)


@pytest.mark.parametrize(
    ("request_", "count", "nodes"),
    [
        (Request({"cores": 1, "memory": 4}), 5, {"n1": 2, "n2": 2, "g1": 1}),
        (Request({"cores": 1, "gpus": 1}), 2, {"g1": 2}),
        (Request(features=frozenset({"big"})), 3, {"g1": 3}),
        (Request(partition="gpu"), 2, {"g1": 2}),
        (Request(per_node_max=1), 3, {"n1": 1, "n2": 1, "g1": 1}),
        (Request(per_node_min=3, per_node_max=3), 7, {"n1": 3, "n2": 3, "g1": 1}),
        (Request({"cores": 0, "fpgas": 0}), 9, {"n1": 9}),
        (Request({"cores": 1, "memory": 9}), 7, {"g1": 4}),
    ],
)
def test_requests_on_different_nodes(request_: Request, count: int, nodes: dict[str, int]) -> None:
    result = run(jobs((0, count, 1), request=[request_]), "none", MIXED)[0]
    assert result.state == "rejected" if sum(nodes.values()) < count else result.nodes == nodes


@pytest.mark.parametrize("request_", [Request({"fpgas": 1}), Request(partition="no"), Request(partition="thin")])
def test_what_can_never_fit_is_rejected_at_once(request_: Request) -> None:
    rows = jobs((3, 9, 1), (4, 1, 1), request=[request_, SINGLE_CORE])
    assert [(result.state, result.end) for result in run(rows, "none", MIXED)] == [("rejected", 3), ("completed", 5)]


def test_easy_on_nodes_looks_at_the_nodes_the_head_will_have() -> None:
    # The head wants the node with GPUs (free at 10). A job of 2 cores and 50 s goes to node 1 and cannot delay it; one
    # that fills the node with GPUs (feature `big`) would, though cores enough are free elsewhere.
    gpu, big = Request({"cores": 4, "gpus": 1}), Request(features=frozenset({"big"}))
    rows = jobs((0, 1, 10), (1, 1, 5), (2, 2, 50), (3, 1, 50), request=[gpu, gpu, SINGLE_CORE, big])
    assert starts(rows, "easy", MIXED) == [0, 10, 2, 15]


def test_conservative_on_nodes_keeps_places() -> None:
    # Two nodes of 2. Job 1 holds one core of each until 10, so job 2 (a whole node) gets node 1 from 10 to 20. Job 3
    # (1 core, 15 s) can only run on node 2 until then. Job 4 the same: node 2 has no core left before 10.
    pair, one_each = Request({"cores": 2}), Request(per_node_max=1)
    rows = jobs((0, 2, 10), (1, 1, 10), (2, 1, 15), (3, 1, 15), request=[one_each, pair, SINGLE_CORE, SINGLE_CORE])
    results = run(rows, "conservative", Cluster.uniform(2, cores=2))
    assert [result.start for result in results] == [0, 10, 2, 10]
    assert [result.nodes for result in results] == [{"n1": 1, "n2": 1}, {"n1": 1}, {"n2": 1}, {"n2": 1}]


# Events.


def test_killed_at_the_limit_or_allowed_to_overrun() -> None:
    killed, waited = run(jobs((0, 10, 9, 5), (0, 1, 1)), "easy")
    assert (killed.state, killed.end, waited.start) == ("killed", 5, 5)
    ran_on, waited = run(jobs((0, 10, 9, 5), (0, 1, 1)), "easy", overrun="run")
    assert (ran_on.state, ran_on.end, waited.start) == ("completed", 9, 9)


def test_jobs_of_no_length_make_rounds_of_one_instant() -> None:
    assert starts(jobs((0, 10, 0), (0, 10, 0), (0, 10, 5), (0, 1, 0)), "none") == [0, 0, 0, 5]


def test_one_instant_is_one_batch_but_events_are_asked_one_by_one() -> None:
    # At 10 jobs 1 and 2 end and job 4 comes. All at once: job 3 (10 cores) starts. One by one: job 1 and 2 are gone as
    # believed when job 4 is submitted, but the pass after its submission starts job 3 first, as it heads the queue.
    rows = [(0, 5, 10), (0, 5, 10), (1, 10, 5), (10, 1, 1)]
    assert starts(jobs(*rows), "none") == [0, 0, 10, 15]
    assert starts(jobs(*rows), "none", passes="event") == [0, 0, 10, 15]
    # Job 1 ends early at 10, job 2 as believed. Largest first: at the submission of job 4 only 5 cores are free, so
    # the smaller job 4 takes some of them before job 3 has its chance; in one batch job 3 is first.
    rows = [(0, 5, 10, 30), (0, 5, 10), (1, 10, 5), (10, 1, 2)]
    assert starts(jobs(*rows), Policy("skip", order="largest")) == [0, 0, 10, 15]
    assert starts(jobs(*rows), Policy("skip", order="largest"), passes="event") == [0, 0, 12, 10]


def test_corrections_do_not_ask_the_policy_between_events() -> None:
    # Job 1 (6 cores) is believed to end at 10 and ends at 19. Job 3 (4 cores, believed 9 s) would end at 2 + 9 = 11,
    # after the shadow time of job 2. At 10 that moves to 20, and job 3 would end at 19: but with passes=event nobody
    # asks then.
    rows = [(0, 6, 19, 20), (1, 10, 1, 2), (2, 4, 9, 18)]
    assert starts(jobs(*rows), "easy", estimate="limit*0.5") == [0, 19, 10]
    assert starts(jobs(*rows), "easy", estimate="limit*0.5", passes="event") == [0, 19, 20]


def test_last_two_runs_of_the_user() -> None:
    # User 7 ran 4 s and 7 s: his next job is believed to take floor(5.5) = 5 s, job 4 (another user) its limit.
    rows = jobs((0, 1, 4, 90), (0, 1, 7, 90), (8, 1, 3, 90), (8, 1, 3, 90), (12, 1, 3, 4), user=[7, 7, 7, 8, 7])
    assert [result.estimate for result in run(rows, "easy", estimate="last-two")] == [90, 90, 5, 90, 4]


def test_tsafrir_corrections() -> None:
    # Estimates are 2 % of the limits: 10, 1, 55 and 150 s. Job 1 runs 400 s; it is corrected at 10 to 70, at 70 to
    # 310, at 310 to its limit of 500. Job 3 (55 s) can start when the shadow time of job 2 is 70, job 4 (150 s) when
    # it is 310.
    rows = jobs((0, 9, 400, 500), (1, 10, 1, 50), (2, 1, 55, 2750), (3, 1, 150, 7500))
    results = run(rows, "easy", estimate="limit*0.02")
    assert [result.estimate for result in results] == [10, 1, 55, 150]
    assert [result.start for result in results] == [0, 400, 10, 70]


def test_cancelled_while_waiting() -> None:
    rows = jobs((0, 10, 9), (1, 10, 9), (2, 1, 9), cancel=[5, 5, 1e9])
    results = run(rows, "none")
    assert [(result.state, result.end) for result in results] == [("completed", 9), ("cancelled", 5), ("completed", 18)]


def test_followers_wait_for_their_predecessor_and_think() -> None:
    rows = jobs(
        (0, 1, 5), (1, 1, 5), (20, 1, 1), (20, 1, 1), predecessors=[[], [(1, 0, 2.0)], [(1, 0, 2.0)], [(99, 0, 0.0)]]
    )
    results = run(rows, "none", dependencies="follow")
    assert [(result.eligible, result.start) for result in results] == [(0, 0), (7, 7), (20, 20), (20, 20)]


def test_reject_all() -> None:
    assert [result.state for result in run(jobs(*QUEUE), "reject")] == ["rejected"] * 5


# Orders.


def test_orders_on_a_queue() -> None:
    # All come while job 1 holds everything until 10, then run one after the other (each takes the whole machine or
    # most).
    rows = [(0, 10, 10), (1, 6, 4), (2, 8, 3), (3, 10, 1)]
    assert starts(jobs(*rows), Policy("none", order="fcfs")) == [0, 10, 14, 17]
    assert starts(jobs(*rows), Policy("none", order="sjf")) == [0, 14, 11, 10]
    assert starts(jobs(*rows), Policy("none", order="ljf")) == [0, 10, 14, 17]
    assert starts(jobs(*rows), Policy("none", order="smallest")) == [0, 10, 14, 17]
    assert starts(jobs(*rows), Policy("none", order="largest")) == [0, 14, 11, 10]
    # Areas 24, 24, 10.
    assert starts(jobs(*rows), Policy("none", order="saf")) == [0, 11, 15, 10]
    # Expansion factors at 10: (9 + 4) / 4 = 3.25, (8 + 3) / 3 = 3.67, (7 + 1) / 1 = 8; at 11: 3.5 and 4.
    assert starts(jobs(*rows), Policy("none", order="lxf")) == [0, 14, 11, 10]
    assert starts(jobs(*rows), Policy("none", order="-cores*estimate")) == [0, 10, 14, 17]


def test_mix_is_splitmix64() -> None:
    # The first outputs of splitmix64 seeded with 0, and with 1234567 (its published test vector).
    assert mix(0, 0) == 0xE220A8397B1DCDAF
    assert mix(0, 1234567) == 6457827717110365317


def test_expressions_follow_the_core_where_numbers_end() -> None:
    assert evaluate("cores / wait", {"cores": 1, "wait": 0}) == float("inf")
    assert evaluate("-2**2 + 7", {}) == 3
    assert evaluate("log(wait)", {"wait": 0}) == -float("inf")
