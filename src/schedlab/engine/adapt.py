"""Objects that users give, as the engine knows them. Whoever derives from `Policy`, `Observer` or `Estimator` has all
hooks; an object that does not, and has only some of them, gets the others here, and nowhere else."""

from __future__ import annotations

from typing import Any, TypeVar

from schedlab._core import Job, View
from schedlab.engine.decider import Event, Policy
from schedlab.engine.observer import Observer
from schedlab.model.errors import InputError
from schedlab.model.hooks import attributes_of, hooks_of, problem
from schedlab.policy.estimator import Estimator

Given = TypeVar("Given")


def as_policy(given: object) -> Policy:
    if not callable(getattr(given, "decide", None)):
        hint = "give the text of a policy, or an object with a method decide(view, events)"
        raise InputError(f"{given!r} is not a policy", hint=hint)
    return _checked(given, Policy, "policy") if isinstance(given, Policy) else _AnyPolicy(given)


def as_observer(given: object) -> Observer:
    if not any(callable(getattr(given, hook, None)) for hook in hooks_of(Observer)):
        hint = f"give its text, or an object with any of the methods {', '.join(hooks_of(Observer))}"
        raise InputError(f"{given!r} is not an observer", hint=hint)
    return _checked(given, Observer, "observer") if isinstance(given, Observer) else _AnyObserver(given)


def as_estimator(given: object) -> Estimator:
    if not callable(getattr(given, "estimate", None)):
        hint = "give a text such as limit or last-two, or an object with a method estimate(job)"
        raise InputError(f"{given!r} is not an estimator", hint=hint)
    return _checked(given, Estimator, "estimator") if isinstance(given, Estimator) else _AnyEstimator(given)


class _AnyPolicy(Policy):
    def __init__(self, given: object) -> None:
        _take_over(self, given, Policy, "policy")

    def decide(self, view: View, events: list[Event]) -> None:
        raise AssertionError("it was given one")


class _AnyObserver(Observer):
    def __init__(self, given: object) -> None:
        _take_over(self, given, Observer, "observer")


class _AnyEstimator(Estimator):
    def __init__(self, given: object) -> None:
        _take_over(self, given, Estimator, "estimator")

    def estimate(self, job: Job) -> float:
        raise AssertionError("it was given one")


def _take_over(own: Any, given: object, base: type, kind: str) -> None:
    """The hooks and attributes that it has become ours; called, they cost no more than they would there."""
    _checked(given, base, kind)
    for name in (*hooks_of(base), *attributes_of(base)):
        if hasattr(given, name):
            setattr(own, name, getattr(given, name))
    own.name = own.name or type(given).__qualname__


def _checked(given: Given, base: type, kind: str) -> Given:
    if wrong := problem(type(given), base):
        raise InputError(f"{kind} {type(given).__qualname__} {wrong}")
    return given
