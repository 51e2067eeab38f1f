"""The heatmap as a noun: what it refuses, its parts, its friendliness."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

from schedlab.model.errors import InputError
from schedlab.model.heatmap import Heatmap


def heatmap(speedups: Any, names: str = "ab", **more: Any) -> Heatmap:
    return Heatmap.from_cells(list(names), speedups, source="map.csv", **more)


HALF = heatmap([[1.0, 0.5], [None, 2.0]], runtimes=[10, None], processes=[64, None], alone={0.5: [1.2, None]})


def test_the_friendliness_of_applications_is_the_mean_of_the_known_cells() -> None:
    assert HALF.friendliness() == pytest.approx((1 + 0.5 + 2) / 3)


def test_the_friendliness_of_jobs_is_the_mean_over_ordered_pairs_of_different_jobs() -> None:
    square = np.array([[1.1, 0.8], [1.3, 0.9]])
    jobs = [0, 0, 0, 1]  # three jobs of a, one of b
    pairs = [square[jobs[i], jobs[j]] for i in range(4) for j in range(4) if i != j]
    assert heatmap(square.tolist()).friendliness([3, 1]) == pytest.approx(sum(pairs) / len(pairs))
    assert heatmap(square.tolist()).friendliness([1, 1]) == pytest.approx((0.8 + 1.3) / 2)
    assert math.isnan(HALF.friendliness([1, 0]))  # one job has no pair


@pytest.mark.parametrize("weights", [[1], [1, -1], [0.5, 0.5], [1, math.nan]])
def test_weights_are_numbers_of_jobs(weights: list[float]) -> None:
    with pytest.raises(InputError, match="weights are numbers of jobs, 0 or more for each of the 2"):
        HALF.friendliness(weights)


def test_a_part_has_its_own_order() -> None:
    part = heatmap([[1, 2, 3], [4, 5, 6], [7, 8, 9]], "abc", runtimes=[10, 20, 30], alone={0.5: [1, 2, 3]}).part(
        ["c", "a"]
    )
    assert part.speedups.tolist() == [[9, 7], [3, 1]]
    assert part.runtimes.tolist() == [30, 10]
    assert part.alone[0.5].tolist() == [3, 1]


def test_the_rules_for_missing_pairs() -> None:
    assert HALF.filled(1).tolist() == [[1, 0.5], [1, 2]]
    assert HALF.filled("average").tolist() == [[1, 0.5], [2, 2]]
    assert heatmap([[None, None], [1, 3]]).filled("average").tolist() == [[1, 1], [1, 3]]
    with pytest.raises(InputError, match=r"map.csv: 1 pair of applications not measured: b beside a\n.*average"):
        HALF.filled("refuse")
    assert heatmap([[1, 1], [1, 1]]).filled("refuse").tolist() == [[1, 1], [1, 1]]
    with pytest.raises(InputError, match=r"10 pairs .*: a beside a, a beside b, .* and 5 more"):
        heatmap([[None] * 5, [None] * 5, *[[1] * 5] * 3], "abcde").filled("refuse")


@pytest.mark.parametrize("rule", ["row", 0, -1, math.nan, math.inf])
def test_other_rules_for_missing_pairs_are_refused(rule: Any) -> None:
    with pytest.raises(InputError, match="is no rule for pairs"):
        HALF.filled(rule)


def test_it_goes_through_json_and_pickle() -> None:
    text = json.dumps(HALF.to_dict(), allow_nan=False)
    for again in (Heatmap.from_dict(json.loads(text)), pickle.loads(pickle.dumps(HALF))):
        assert again == HALF
        assert again.to_dict() == HALF.to_dict()
    assert heatmap([[1, 1], [1, 1]]) != HALF


def test_nobody_changes_it() -> None:
    with pytest.raises(ValueError, match="read-only"):
        HALF.speedups[0, 0] = 3


def test_an_unknown_application_is_named_with_what_was_meant() -> None:
    with pytest.raises(InputError, match=r"does not know the application 'lu.D.65'\n.*did you mean 'lu.D.64'"):
        Heatmap.from_cells(["lu.D.64", "bt"], [[1, 1], [1, 1]]).number("lu.D.65")


@pytest.mark.parametrize(
    ("speedups", "message"),
    [
        ([[1, 0], [1, 1]], "map.csv: speed-up of a beside b = 0: expected a speed-up above 0"),
        ([[1, -1], [1, 1]], "speed-up of a beside b = -1: expected"),
        ([[1, "nan"], [1, 1]], "speed-up of a beside b = nan: expected a number"),
        ([[1, math.nan], [1, 1]], "speed-up of a beside b = nan: expected a number"),
        ([[1, math.inf], [1, 1]], "speed-up of a beside b = inf: expected"),
        ([[1, "fast"], [1, 1]], "speed-up of a beside b = fast: expected a number"),
        ([[1, True], [1, 1]], "speed-up of a beside b = True: expected a number"),
        ([[1, [1]], [1, 1]], r"speed-up of a beside b = \[1\]: expected a number"),
        ([[1, 1]], "is 1 × 2, not 2 × 2"),
        ([[1, 1], [1, 1], [1, 1]], "is 3 × 2, not 2 × 2"),
        ([[1, 1], [1]], "the row of b has 1 values, others have 2"),
        ([], "is 0 × 0, not 2 × 2"),
    ],
)
def test_a_bad_matrix(speedups: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        heatmap(speedups)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"runtimes": [0, 1]}, "run time of a = 0: expected seconds above 0"),
        ({"runtimes": [1]}, "1 run times for 2 applications"),
        ({"processes": [1.5, 1]}, "processes of a = 1.5: expected a whole number"),
        ({"processes": [1e300, math.inf]}, r"processes of a = 1e\+300(.|\n)*processes of b = inf"),
        ({"processes": [-2, 1]}, "processes of a = -2"),
        ({"alone": {1.5: [1, 1]}}, "alone on 1.5 of a node: expected a fraction"),
        ({"alone": {0.5: [1, 0]}}, "speed-up of b alone on 0.5 of a node = 0"),
    ],
)
def test_bad_facts_about_applications(more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        heatmap([[1, 1], [1, 1]], **more)


def test_all_mistakes_come_at_once() -> None:
    with pytest.raises(InputError) as caught:
        heatmap([[0, "x"], [-1, 1]], "aa", runtimes=[-3, 1])
    assert [line.partition(": ")[2].partition(":")[0] for line in str(caught.value).splitlines()] == [
        "speed-up of a beside a = x",
        "the application 'a' is there 2 times",
        "speed-up of a beside a = 0",
        "speed-up of a beside a = -1",
        "run time of a = -3",
    ]


def test_an_empty_heatmap_is_refused() -> None:
    with pytest.raises(InputError, match="a heatmap without applications"):
        heatmap([], "")
