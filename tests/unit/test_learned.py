"""Estimators that learn, with numbers computed by hand."""

from __future__ import annotations

from math import log2
from statistics import mean
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from schedlab.model.errors import InputError
from schedlab.policy.estimates import parse_estimate
from schedlab.policy.learned import Nearest, UserMean


def job(cores: int = 1, limit: float = 1000.0, user: int = 1) -> Any:
    return SimpleNamespace(id=1, submit=0.0, limit=limit, cores=cores, count=cores, user=user, group=-1, queue=-1)


def test_the_mean_of_a_user() -> None:
    estimator = UserMean()
    assert estimator.estimate(job()) == 1000
    for runtime in (100, 200, 600):
        estimator.ended(job(), runtime)
    assert estimator.estimate(job()) == 300
    assert estimator.estimate(job(limit=250)) == 250  # at most the limit
    assert estimator.estimate(job(user=2)) == 1000  # somebody of whom nothing is known
    estimator.ended(job(user=2), 50)
    assert (estimator.estimate(job(user=2)), estimator.estimate(job())) == (50, 300)


def test_the_nearest_jobs() -> None:
    estimator = Nearest(k=2)
    assert estimator.estimate(job()) == 1000
    # distances from a job of 4 cores and 1024 s: 1 (cores), 2 (limit), sqrt(2), 5
    estimator.ended(job(8, 1024), 10)
    estimator.ended(job(4, 4096), 20)
    estimator.ended(job(2, 2048), 60)
    estimator.ended(job(128, 1024), 1000)
    assert estimator.estimate(job(4, 1024)) == (10 + 60) / 2
    assert estimator.estimate(job(4, 30)) == 30
    assert estimator.estimate(job(128, 1024)) == (1000 + 10) / 2


def test_fewer_jobs_than_neighbours() -> None:
    estimator = Nearest(k=5)
    estimator.ended(job(), 10)
    estimator.ended(job(64), 30)
    assert estimator.estimate(job()) == 20


def test_of_equally_near_jobs_the_last_count() -> None:
    estimator = Nearest(k=2)
    for runtime in (1, 2, 3, 4):
        estimator.ended(job(), runtime)
    assert estimator.estimate(job()) == 3.5


def test_what_was_long_ago_is_forgotten() -> None:
    estimator = Nearest(k=100, history=3)
    for runtime in range(1, 21):
        estimator.ended(job(), runtime)
        last = [value for value in range(runtime - 2, runtime + 1) if value > 0]
        assert estimator.estimate(job()) == pytest.approx(np.mean(last))


def test_jobs_without_cores_or_limit_are_near_to_those_of_one() -> None:
    estimator = Nearest(k=1)
    estimator.ended(job(1, 1), 5)
    estimator.ended(job(8, 800), 7)
    assert estimator.estimate(job(0, 0.0)) == 0  # 5, but at most the limit
    estimator.ended(job(0, 0.0), 0.0)
    assert estimator.estimate(job(1, 2)) == 0


def test_like_a_slow_reading_of_the_definition() -> None:
    random = np.random.default_rng(1)
    estimator, ended = Nearest(k=4, history=50), []
    for number in range(200):
        new = job(int(2 ** random.integers(0, 4)), float(2 ** random.integers(5, 12)))

        def distance(old: Any, new: Any = new) -> float:
            return abs(complex(log2(old.cores) - log2(new.cores), log2(old.limit) - log2(new.limit)))

        near = sorted(ended[:-51:-1], key=lambda one: distance(one[0]))[:4]  # of the last 50, the latest first
        expected = min(mean(runtime for _, runtime in near), new.limit) if near else new.limit
        assert estimator.estimate(new) == pytest.approx(expected), number
        runtime = float(random.integers(1, 100))
        estimator.ended(new, runtime)
        ended.append((new, runtime))


@pytest.mark.parametrize(
    ("text", "canonical", "kind", "arguments"),
    [
        ("user-mean", "user-mean", UserMean, {}),
        ("nearest", "nearest", Nearest, {}),
        (" nearest ( 3 ) ", "nearest(k=3)", Nearest, {"k": 3}),
        ("nearest(k=3)", "nearest(k=3)", Nearest, {"k": 3}),
        ("nearest(3, history=100)", "nearest(k=3,history=100)", Nearest, {"k": 3, "history": 100}),
    ],
)
def test_names(text: str, canonical: str, kind: type, arguments: dict[str, int]) -> None:
    estimate = parse_estimate(text)
    assert (estimate.kind, str(estimate)) == ("plugin", canonical)
    assert parse_estimate(canonical) == estimate
    assert estimate.plugin is not None
    assert (estimate.plugin.target, estimate.plugin.arguments, estimate.plugin.source) == (kind, arguments, "built in")
    assert isinstance(estimate.plugin.make(), kind)
    assert estimate.plugin.make() is not estimate.plugin.make()


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("nearest(0)", "k is 0, expected a whole number above 0", "nearest(5)"),
        ("nearest(2.5)", "k is 2.5", "nearest(5)"),
        ("nearest(n=3)", "unexpected keyword argument 'n'", "k=5, history=5000"),
        ("nearest(3", "cannot be understood", "write"),
        ("user-mean(3)", "too many", "UserMean()"),
        ("user-maen", "there is no such estimate", "did you mean 'user-mean'?"),
    ],
)
def test_mistakes(text: str, message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_estimate(text)
    assert message in caught.value.message
    assert hint in caught.value.hint
    assert caught.value.where == f"estimate '{text}'"
