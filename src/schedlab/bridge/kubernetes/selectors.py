"""Field and label selectors: which objects a list or a watch is about."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from schedlab.bridge.kubernetes.kinds import NAMES, Kind
from schedlab.bridge.kubernetes.status import StatusError

Object = dict[str, Any]
Selector = Callable[[Object], bool]

_LABEL_KEY = r"(?:[A-Za-z0-9.-]+/)?[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?)?"
_SET = re.compile(rf"({_LABEL_KEY})\s+(in|notin)\s*\(([^()]*)\)")
_EQUAL = re.compile(rf"({_LABEL_KEY})\s*(==|=|!=)\s*({_VALUE})")
_EXISTS = re.compile(rf"(!?)\s*({_LABEL_KEY})")


def selector(kind: Kind, namespace: str, fields: str, labels: str) -> Selector | None:
    """All of them at once; None where everything is meant."""
    tests: list[Selector] = []
    if namespace:
        tests.append(lambda found: found["metadata"].get("namespace") == namespace)
    tests += field_tests(kind, fields) + label_tests(labels)
    if not tests:
        return None
    if len(tests) == 1:
        return tests[0]
    if len(tests) == 2:  # that of schedulers: neither succeeded nor failed
        first, second = tests
        return lambda found: first(found) and second(found)
    return lambda found: all(test(found) for test in tests)


def field_tests(kind: Kind, text: str) -> list[Selector]:
    """`status.phase!=Failed,spec.nodeName=n1`: fields that the kind can be selected by."""
    return [_field_test(kind, part.strip()) for part in text.split(",") if part.strip()]


def _field_test(kind: Kind, text: str) -> Selector:
    sign = "!=" if "!=" in text else "==" if "==" in text else "="
    path, found, value = text.partition(sign)
    path, value = path.strip(), value.strip()
    if not found:
        raise StatusError(400, f"invalid selector: '{text}'; can't understand '{text}'")
    if path not in NAMES and path not in kind.fields:
        raise StatusError(400, f"field label not supported: {path}")
    keys, wanted = tuple(path.split(".")), sign != "!="
    if keys == ("source",):  # of an event: the component of its source
        keys = ("source", "component")
    return lambda one: (field(one, keys) == value) is wanted


def field(found: Object, keys: tuple[str, ...]) -> str:
    """A field as text; empty if it is not there."""
    value: Any = found
    for key in keys:
        if not isinstance(value, dict):
            return ""
        value = value.get(key)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def label_tests(text: str) -> list[Selector]:
    """`app=web,tier in (a, b),!old`."""
    return [_label_test(part.strip(), text) for part in _split(text) if part.strip()]


def _split(text: str) -> list[str]:
    """At commas outside of parentheses."""
    return re.split(r",(?![^()]*\))", text)


def _label_test(part: str, whole: str) -> Selector:
    if match := _SET.fullmatch(part):
        key, wanted = match[1], match[2] == "in"
        values = {value.strip() for value in match[3].split(",")}
        # An object without the label is not `in`, and is `notin`.
        return lambda found: (_labels(found).get(key) in values) is wanted
    if match := _EQUAL.fullmatch(part):
        key, value, equal = match[1], match[3], match[2] != "!="
        return lambda found: (_labels(found).get(key) == value) is equal
    if match := _EXISTS.fullmatch(part):
        key, there = match[2], not match[1]
        return lambda found: (key in _labels(found)) is there
    raise StatusError(400, f"unable to parse requirement: found '{part}' in the label selector '{whole}'")


def _labels(found: Object) -> dict[str, str]:
    labels = found["metadata"].get("labels")
    return labels if isinstance(labels, dict) else {}
