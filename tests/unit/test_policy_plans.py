"""The plan that a built-in policy has in mind, asked for between two passes: hand-computed reservations."""

import pytest

from schedlab import Stepper
from schedlab.model.workload import Workload


def jobs(*rows: tuple[float, int, float]) -> Workload:
    """Of each when it comes, its cores, and how long it runs and is believed to."""
    submit, count, runtime = zip(*rows, strict=True)
    return Workload.of(submit=submit, count=count, runtime=runtime, limit=runtime)


# Five of eight cores until 60; then job 2 needs 6, job 3 needs 8, job 4 one for long.
FOUR = jobs((0, 5, 60), (0, 6, 40), (0, 8, 10), (0, 1, 500))


def after(time: float, policy: str, workload: Workload = FOUR, cluster: str = "pool:8") -> list[tuple]:
    stepper = Stepper(workload, cluster, policy)
    while stepper.advance() and stepper.view.now <= time:
        stepper.decide()
        found = [(each.job.id, each.start, each.nodes, each.spare) for each in stepper.plan()]
    stepper.leave()
    return found


@pytest.mark.parametrize(
    ("policy", "planned"),
    [
        ("none", [(2, None, [], None), (3, None, [], None), (4, None, [], None)]),
        ("skip", [(2, None, [], None), (3, None, [], None)]),  # job 4 has started
        ("easy", [(2, 60, [], 1), (3, None, [], None)]),  # job 4 took one of the two that were left over
        ("easy-strict", [(2, 60, [], 2), (3, None, [], None), (4, None, [], None)]),
        ("easy:order=largest", [(2, 10, [], 2), (1, None, [], None), (4, None, [], None)]),  # job 3 has the machine
        ("easy:reservations=2", [(2, 60, [], None), (3, 100, [], None), (4, None, [], None)]),
        ("conservative", [(2, 60, [], None), (3, 100, [], None), (4, 110, [], None)]),
    ],
)
def test_who_waits_in_order_with_reservations(policy, planned):
    assert after(0, policy) == planned


def test_reservations_on_nodes_say_where():
    """Neighbours are no matter of counting. Of four nodes with one core, job 1 has the first two until 60. Job 3 would
    be placed on the third, which job 2 needs then; a plan by nodes knows of the fourth."""
    workload, where = jobs((0, 2, 60), (0, 3, 40), (0, 1, 80)), [(0, 1), (1, 1), (2, 1)]
    assert after(0, "easy:place=contiguous", workload, "4x1") == [(2, 60, where, None), (3, None, [], None)]
    assert after(0, "conservative:place=contiguous", workload, "4x1") == [(2, 60, where, None)]


def test_a_plan_moves_up_when_a_job_ends_early():
    workload = Workload.of(submit=[0, 0, 0], count=[8, 8, 8], runtime=[20, 50, 5], limit=[100, 50, 5])
    assert after(0, "conservative", workload) == [(2, 100, [], None), (3, 150, [], None)]
    assert after(20, "conservative", workload) == [(3, 70, [], None)]


def test_asking_changes_nothing_and_a_policy_of_ones_own_has_a_queue_only():
    stepper = Stepper(FOUR, "pool:8", "easy")
    while stepper.advance():
        stepper.decide()
        stepper.plan()
    asked = stepper.finish()
    silent = Stepper(FOUR, "pool:8", "easy")
    while silent.advance():
        silent.decide()
    assert asked.jobs.equals(silent.finish().jobs)

    own = Stepper(FOUR, "pool:8")
    own.advance()
    assert [(each.job.id, each.start) for each in own.plan()] == [(1, None), (2, None), (3, None), (4, None)]
    own.leave()
