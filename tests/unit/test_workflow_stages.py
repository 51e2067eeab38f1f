"""Tasks grouped into stages, by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest

from schedlab.model.errors import InputError
from schedlab.model.workflow import Task, Workflow
from schedlab.workflow.stages import stages


def task(id: str, name: str, runtime: float, *after: str, cores: int = 1, **data: float) -> Task:
    return Task(id, cores, runtime, runtime, after, name, data)


def shown(workflow: Workflow) -> list[tuple[str, str, int, float, tuple[str, ...]]]:
    return [(task.id, task.name, task.cores, task.runtime, task.after) for task in workflow.tasks]


# Five projections of 1 to 5 s on two cores each, three fits after some of them, and a sum.
MOSAIC = Workflow.of(
    "mosaic",
    [
        *(task(f"p{number}", "project", number, cores=2) for number in range(1, 6)),
        task("f1", "fit", 4, "p1", "p2", p1=10, p2=20),
        task("f2", "fit", 6, "p2", "p3", p3=5),
        task("f3", "fit", 8, "p4", "p5"),
        task("sum", "add", 7, "f1", "f2", "f3"),
        task("show", "jpeg", 1, "sum"),
    ],
)


def test_without_a_cap_a_stage_has_all_cores_and_takes_as_long_as_its_longest_task() -> None:
    found = stages(MOSAIC, cap=960)
    assert shown(found) == [
        ("S0", "project", 10, 5.0, ()),
        ("S1", "fit", 3, 8.0, ("S0",)),
        ("S2", "add+jpeg", 1, 8.0, ("S1",)),
    ]
    assert stages(MOSAIC, cap=0) == found
    assert [task.limit for task in found.tasks] == [65.0, 68.0, 68.0]
    assert found.tasks[1].data == {"S0": 35.0}


def test_below_a_cap_tasks_are_list_scheduled() -> None:
    # Two at once: 1 and 2 begin at 0, 3 at 1, 4 at 2, 5 at 4, which ends at 9; then 4 and 6, and 8 after the 4.
    assert [(task.cores, task.runtime) for task in stages(MOSAIC, cap=4).tasks] == [(4, 9.0), (3, 8.0), (1, 8.0)]
    assert [(task.cores, task.runtime) for task in stages(MOSAIC, cap=2).tasks] == [(2, 27.0), (1, 8.0)]


def test_one_cap_for_all_and_one_for_each() -> None:
    found = stages(MOSAIC, cap=2, names={"project": 5, "fit": 2})
    assert [(task.cores, task.runtime) for task in found.tasks] == [(5, 9.0), (2, 12.0), (1, 8.0)]
    assert [task.name for task in stages(MOSAIC, names=["fit"]).tasks][:6] == ["project"] * 5 + ["fit"]


def test_waves_as_scsf_counts_them() -> None:
    # Cap 5: two tasks of two cores at once, three waves of their mean, 3 s. Three fits fit twice: a wave of 6 s.
    found = stages(MOSAIC, cap=5, rule="waves")
    assert shown(found) == [
        ("S0", "project", 4, 9.0, ()),
        ("S1", "fit", 5, 6.0, ("S0",)),  # as wide as the cap, though there are three
        ("S2", "add+jpeg", 1, 8.0, ("S1",)),
    ]


def test_patser_of_scsfs_sipht() -> None:
    """1114 tasks of 1.2745 s in the mean and 62 behind them, below a cap of 96: its manifest has 15.374 s."""
    first = [task(f"a{number}", "Patser", 1.274525583482947) for number in range(1114)]
    ids = tuple(each.id for each in first)
    second = [task(f"b{number}", "concate", 0.07982580645161293, *ids[number::62]) for number in range(62)]
    found = stages(Workflow.of("sipht", [*first, *second]), cap=96, rule="waves")
    assert [(task.cores, task.runtime) for task in found.tasks] == [(96, pytest.approx(15.37413280824698))]


def test_one_name_on_two_levels_is_two_stages() -> None:
    tasks = [task("a", "x", 1, cores=2), task("b", "y", 1, "a"), task("c", "x", 1, "b", cores=2)]
    assert [each.name for each in stages(Workflow.of("again", tasks)).tasks] == ["x", "y", "x"]


def test_sequences_are_joined_only_where_nobody_else_waits() -> None:
    tasks = [task(str(number), "", 10, str(number - 1)) for number in range(1, 5)]
    chain = Workflow.of("chain", [task("0", "", 10), *tasks])
    assert shown(stages(chain)) == [("S0", "0+1+2+3+4", 1, 50.0, ())]
    branch = Workflow.of("branch", [*chain.tasks, task("side", "", 1, "2")])
    found = stages(branch)
    assert [each.name for each in found.tasks] == ["0+1+2", "3+4", "side"]
    assert [each.after for each in found.tasks] == [(), ("S0",), ("S0",)]
    assert all(first.id < second.id for first, second in pairwise(found.tasks))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["projekt"]}, "no task is called 'projekt'\n  hint: did you mean 'project'"),
        ({"rule": "wave"}, "no rule 'wave' for stages\n  hint: did you mean 'waves'"),
        ({"cap": -1}, "cannot be negative"),
    ],
)
def test_stages_that_cannot_be(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        stages(MOSAIC, **options)  # type: ignore[arg-type]
