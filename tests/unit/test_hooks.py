"""Hooks are declared by the base classes: what is given is adapted in one place, and mistakes are named."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from tests import pages

import schedlab as sl
from schedlab.engine.adapt import as_estimator, as_observer, as_policy
from schedlab.model.hooks import attributes_of, defines, hooks_of, markdown
from schedlab.model.plugins import KINDS, load

JOBS: dict[str, Any] = {"submit": [0, 0], "runtime": [10, 10], "count": [1, 1]}
BASES = (sl.Policy, sl.Observer, sl.Estimator)


class Plain:
    """Has no base, and only some hooks."""

    exclusive = True

    def decide(self, view: Any, events: Any) -> None:
        for job in view.queue:
            view.start(job)

    def facts(self) -> dict[str, Any]:
        return {"colour": "blue"}


class Counting:
    def __init__(self) -> None:
        self.starts = 0

    def started(self, view: Any, job: Any, nodes: Any) -> None:
        self.starts += 1

    def finish(self, view: Any) -> dict[str, float]:
        return {"starts": self.starts}


class Half:
    def estimate(self, job: Any) -> float:
        return float(job.limit / 2)


def test_objects_without_a_base_have_the_hooks_that_they_have() -> None:
    run = sl.simulate(sl.Workload.of(**JOBS), "1x2", Plain(), observers=[Counting()], estimate=Half())
    assert run.policy == "Plain" and run.config["decider"] == {"colour": "blue"}
    assert run.options["estimate"] == "Half" and run.jobs["estimate"].to_list() == [5, 5]
    assert run.jobs["start"].to_list() == [0, 10]  # exclusive
    assert run.summary["observed"] == {"starts": 2}


def test_what_is_adapted_has_all_hooks() -> None:
    policy, observer, estimator = as_policy(Plain()), as_observer(Counting()), as_estimator(Half())
    assert isinstance(policy, sl.Policy) and isinstance(observer, sl.Observer) and isinstance(estimator, sl.Estimator)
    assert policy.exclusive and policy.resumable and policy.evidence() == {} and policy.name == "Plain"
    assert defines(observer, "started", sl.Observer) and not defines(observer, "stopped", sl.Observer)
    assert not defines(estimator, "ended", sl.Estimator)
    again = pickle.loads(pickle.dumps(observer))
    assert again.finish(None) == {"starts": 0} and again.name == "Counting"


def test_what_derives_stays_what_it_is() -> None:
    class Mine(sl.Policy):
        def decide(self, view: Any, events: Any) -> None: ...

    policy = Mine()
    assert as_policy(policy) is policy
    assert as_policy(sl.Native("easy")).name == ""


@pytest.mark.parametrize("adapt", [as_policy, as_observer, as_estimator])
def test_what_has_no_hook_at_all(adapt: Any) -> None:
    with pytest.raises(sl.InputError, match="is not a"):
        adapt(object())


def test_a_policy_that_allows() -> None:
    class Late(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            view.wake_at(7) if view.now < 7 else None
            for job in view.queue:
                view.start(job)

        def allows(self, view: Any, job: Any, nodes: Any) -> bool:
            return bool(view.now >= 7 and nodes == [(0, 1)])

    class AlsoLooking(Late, sl.Observer):
        seen = 0

        def started(self, view: Any, job: Any, nodes: Any) -> None:
            self.seen += 1

        def finish(self, view: Any) -> dict[str, float]:
            return {"seen": self.seen}

    assert sl.simulate(sl.Workload.of(**JOBS), "1x2", Late()).jobs["start"].to_list() == [7, 7]
    run = sl.simulate(sl.Workload.of(**JOBS), "1x2", AlsoLooking())
    assert run.jobs["start"].to_list() == [7, 7] and run.summary["observed"] == {"seen": 2}


def _derived(base: Any, **methods: Any) -> Any:
    needed = {name: lambda self, *_: 0 for name in getattr(base, "__abstractmethods__", ())}
    return type("Mine", (base,), needed | methods)


def _hook(text: str) -> Any:
    return eval(f"lambda {text}: None")


@pytest.mark.parametrize(
    ("base", "name", "method", "told"),
    [
        (
            sl.Observer,
            "started",
            _hook("self, view, job"),
            "started(self, view, job), which is called as started(view, ",
        ),
        (sl.Observer, "per_job", _hook("self, view"), "per_job(self, view), which is called as per_job()"),
        (sl.Policy, "decide", _hook("self, view"), "decide(self, view), which is called as decide(view, events)"),
        (sl.Policy, "allows", _hook("self, job"), "called as allows(view, job, nodes)"),
        (sl.Policy, "facts", staticmethod(_hook("view")), "facts(view), which is called as facts()"),
        (sl.Estimator, "ended", _hook("self, job"), "called as ended(job, runtime)"),
        (sl.Observer, "stoped", _hook("self, view, job, nodes"), "stoped, which is no hook; did you mean stopped?"),
        (sl.Observer, "on_started", _hook("self, view, job, nodes"), "did you mean started?"),
        (sl.Policy, "refusal", _hook("self"), "did you mean refusals?"),
    ],
)
def test_mistakes_are_named(base: Any, name: str, method: Any, told: str) -> None:
    adapt: Any = {sl.Policy: as_policy, sl.Observer: as_observer, sl.Estimator: as_estimator}[base]
    with pytest.raises(sl.InputError, match=rf"Mine has .*{re.escape(told)}"):
        adapt(_derived(base, **{name: method})())


@pytest.mark.parametrize(
    "methods",
    [
        {"started": lambda self, view, job, nodes, more=1: None},
        {"started": lambda self, *anything: None},
        {"begin": staticmethod(lambda view: None)},
        {"begin": classmethod(lambda cls, view: None)},
        {"start": lambda self, view, job: None},  # another number of parameters: a method of its own
        {"_stoped": lambda self, view, job, nodes: None},
        {"stopped": lambda self, view, job, nodes: None, "stopped_": lambda self, view, job, nodes: None},
    ],
)
def test_what_is_no_mistake(methods: dict[str, Any]) -> None:
    as_observer(_derived(sl.Observer, **methods)())


def test_a_file_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Mine:\n    def started(self, job):\n        pass\n")
    with pytest.raises(sl.InputError, match=r"Mine has started\(self, job\), which is called as started\(view, job, n"):
        load("observer", f"{tmp_path}/mine.py:Mine")


def test_kinds_of_plugins_know_the_hooks() -> None:
    assert KINDS["observer"].hooks == tuple(hooks_of(sl.Observer))
    assert "node_changed" in KINDS["observer"].described


@pytest.mark.parametrize("base", BASES)
def test_every_hook_is_documented(base: type) -> None:
    assert all(hook.__doc__ for hook in hooks_of(base).values())
    assert all(attributes_of(base).values())
    assert f"<!-- hooks of {base.__name__} -->\n{markdown(base)}" in (pages.DOCS / "extending.md").read_text()
