"""Which application each job of a log is."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.heatmap.applications import Applications
from schedlab.model.errors import InputError
from schedlab.model.heatmap import Heatmap
from schedlab.model.workload import Workload

NAMES = ["lu.D.64", "bt.D.64", "cg.D.64"]
HEATMAP = Heatmap.from_cells(NAMES, np.ones((3, 3)).tolist(), source="map.json")
JOBS = np.zeros(10_000, np.int32)


def test_by_name() -> None:
    labels = ["cg.D.64", "lu.D.64", "never used"]
    assert Applications(HEATMAP).of(np.array([1, 0, 1], np.int32), labels).tolist() == [0, 2, 0]


def test_numbers_are_names_where_a_log_has_no_others() -> None:
    heatmap = Heatmap.from_cells(["7", "3"], [[1, 1], [1, 1]])
    assert Applications(heatmap).of(np.array([3, 7], np.int32)).tolist() == [1, 0]


def test_all_that_is_unknown_is_named_with_what_was_meant() -> None:
    workload = Workload.of(
        submit=[0, 1, 2, 3], runtime=[1] * 4, executable=[0, 1, 2, 1], labels={"executable": ["lu.D.65", "x", *NAMES]}
    )
    names = r"'lu\.D\.65' \(did you mean 'lu\.D\.64'\?\), 'x'"
    message = rf"map\.json: the heatmap does not know the 2 applications {names}\n.*it has lu\.D\.64, .*random\(1\)"
    with pytest.raises(InputError, match=message):
        Applications(HEATMAP).count(workload)


def test_jobs_without_an_executable_need_to_be_drawn() -> None:
    for rule in ("executable", "executables"):
        with pytest.raises(InputError, match=r"jobs.* no executable|without an executable(.|\n)*random\(1\)"):
            Applications(HEATMAP, rule).of(np.array([-1], np.int32))
    assert Applications(HEATMAP, "random").of(np.array([-1], np.int32))[0] in range(3)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_draw_of_a_job_does_not_depend_on_batches(size: int) -> None:
    drawn = Applications(HEATMAP, "random", 5)
    jobs = JOBS[:2000]
    parts = [drawn.of(jobs[at : at + size], first=at) for at in range(0, len(jobs), size)]
    assert np.array_equal(np.concatenate(parts), drawn.of(jobs))


def test_draws_follow_seeds_and_frequencies() -> None:
    even = Applications(HEATMAP, "random", 5).of(JOBS)
    assert np.array_equal(even, Applications(HEATMAP, "random", 5).of(JOBS))
    assert not np.array_equal(even, Applications(HEATMAP, "random", 6).of(JOBS))
    shares = np.bincount(even, minlength=3) / len(even)
    assert np.all(abs(shares - 1 / 3) < 4 * np.sqrt(2 / 9 / len(even)))  # four standard deviations
    some = Applications(HEATMAP, "random", 5, {"bt.D.64": 3, "lu.D.64": 1}).of(JOBS)
    found = np.bincount(some, minlength=3) / len(some)
    assert found[2] == 0
    assert abs(found[1] - 0.75) < 4 * np.sqrt(0.1875 / len(some))


def test_an_executable_keeps_its_application() -> None:
    drawn = Applications(HEATMAP, "executables", 5)
    programs = np.arange(500, dtype=np.int32)
    of_each = drawn.of(programs)
    assert set(of_each.tolist()) == {0, 1, 2}
    jobs = np.array([3, 499, 3, 0], np.int32)
    assert drawn.of(jobs, first=77).tolist() == of_each[jobs].tolist()
    assert drawn.of(jobs[:1]).tolist() == of_each[[3]].tolist()


@pytest.mark.parametrize("rule", ["executable", "random", "executables"])
def test_jobs_are_counted_as_they_are_drawn(rule: str) -> None:
    programs = [0, 2, 2, 1, 2]
    workload = Workload.of(submit=range(5), runtime=[1] * 5, executable=programs, labels={"executable": NAMES})
    found = Applications(HEATMAP, rule, 3)
    places = found.of(np.array(programs, np.int32), NAMES)
    assert found.count(workload).tolist() == np.bincount(places, minlength=3).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("executable", ("executable", 0)),
        ("random", ("random", 0)),
        ("random(7)", ("random", 7)),
        ("executables(seed=7)", ("executables", 7)),
    ],
)
def test_words(text: str, expected: tuple[str, int]) -> None:
    found = Applications.parse(text, HEATMAP)
    assert (found.rule, found.seed) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("randm(7)", r"there is no rule 'randm'.*\n.*did you mean 'random'"),
        ("random(-1)", "a seed is a whole number of 0 or more, not -1"),
        ("random(1, 2)", "the arguments cannot be understood"),
        ("random(sed=1)", "the arguments cannot be understood"),
        ("executable(1)", "the arguments cannot be understood"),
    ],
)
def test_wrong_words(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Applications.parse(text, HEATMAP)


@pytest.mark.parametrize(
    ("frequencies", "message"),
    [
        ({"lu": 1}, "does not know the application 'lu'"),
        ({"lu.D.64": -1}, "numbers of 0 or more, not all of them 0"),
        ({"lu.D.64": 0}, "numbers of 0 or more, not all of them 0"),
    ],
)
def test_wrong_frequencies(frequencies: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Applications(HEATMAP, "random", 1, frequencies)
    with pytest.raises(InputError, match="frequencies are for applications that are drawn"):
        Applications(HEATMAP, "executable", frequencies=frequencies)
