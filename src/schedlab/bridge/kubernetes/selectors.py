"""Field and label selectors: which objects a list or a watch is about.

What all requirements of a selector ask of one label or field is put together when they are read, so that an object is
looked at once, however many they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any

from schedlab.bridge.kubernetes.kinds import NAMES, Kind
from schedlab.bridge.kubernetes.labels import key_mistake, value_mistake
from schedlab.bridge.kubernetes.status import StatusError, shortened

Object = dict[str, Any]
Selector = Callable[[Object], bool]

# Tokens and terms in which no character can be taken in two ways: the time is linear.
_TOKEN = re.compile(r"==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+")
_TERM = re.compile(r"(?:[^\\,]|\\.|\\$)+", re.DOTALL)
_SIGN = re.compile(r"!=|==|=")
_ESCAPED = re.compile(r"\\(.?)", re.DOTALL)
_SPECIAL = frozenset("=!(),<>") | {"==", "!=", ""}
_LONGEST_NUMBER = 18  # digits


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
    if len(tests) == 2:
        first, second = tests
        return lambda found: first(found) and second(found)
    return lambda found: all(test(found) for test in tests)


# Fields.


def field_tests(kind: Kind, text: str) -> list[Selector]:
    """`status.phase!=Failed,spec.nodeName=n1`: fields that the kind can be selected by. A test for each of them."""
    wanted: dict[str, set[str]] = {}
    unwanted: dict[str, set[str]] = {}
    for term in _TERM.findall(text):
        if not (part := term.strip()):
            continue
        sign = _SIGN.search(part)
        if sign is None:
            raise StatusError(400, f"invalid selector: '{shortened(text)}'; can't understand '{shortened(part)}'")
        path, value = part[: sign.start()].strip(), _unescaped(part[sign.end() :].strip())
        if path not in NAMES and path not in kind.fields:
            raise StatusError(400, f"field label not supported: {shortened(path)}")
        if sign[0] == "!=":
            unwanted.setdefault(path, set()).add(value)
        else:
            wanted[path] = wanted.get(path, {value}) & {value}
    return [
        *(_field_test(path, values, True) for path, values in wanted.items()),
        *(_field_test(path, values, False) for path, values in unwanted.items()),
    ]


def _field_test(path: str, values: set[str], wanted: bool) -> Selector:
    keys = tuple(path.split("."))
    if keys == ("source",):  # of an event: the component of its source
        keys = ("source", "component")
    return lambda one: (field_of(one, keys) in values) is wanted


def _unescaped(value: str) -> str:
    """As clients write values with `,`, `=` and `\\` in them."""

    def plain(match: re.Match[str]) -> str:
        if match[1] not in ("\\", ",", "="):
            raise StatusError(400, f"invalid field selector: invalid escape sequence: {match[0]}")
        return str(match[1])

    if "\\" not in value and "=" not in value:
        return value
    if "=" in _ESCAPED.sub("", value):
        raise StatusError(400, "invalid field selector: unescaped character in value: =")
    return _ESCAPED.sub(plain, value)


def field_of(found: Object, keys: tuple[str, ...]) -> str:
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


# Labels.


def label_tests(text: str) -> list[Selector]:
    """`app=web,tier in (a, b),!old`, as one test; none where nothing is asked."""
    found = _Parser(text).requirements()
    return [found.fit] if found else []


@dataclass(slots=True)
class Requirements:
    """What is asked of the labels of an object."""

    among: dict[str, set[str]] = field(default_factory=dict)  # there, with one of these values
    there: set[str] = field(default_factory=set)
    not_among: dict[str, set[str]] = field(default_factory=dict)  # without these values, or not there
    absent: set[str] = field(default_factory=set)
    between: dict[str, tuple[float, float]] = field(default_factory=dict)  # there, a whole number in between

    def __bool__(self) -> bool:
        return bool(self.among or self.there or self.not_among or self.absent or self.between)

    def fit(self, found: Object) -> bool:
        labels = labels_of(found)
        if max(len(self.among), len(self.there), len(self.between)) > len(labels):
            return False
        if not all(labels.get(key) in values for key, values in self.among.items()):
            return False
        if not all(key in labels for key in self.there) or not labels.keys().isdisjoint(self.absent):
            return False
        if len(self.not_among) <= len(labels):
            if any(labels.get(key) in values for key, values in self.not_among.items()):
                return False
        elif any(value in self.not_among.get(key, ()) for key, value in labels.items()):
            return False
        return all(low < _number(labels.get(key)) < high for key, (low, high) in self.between.items())

    def ask(self, key: str, sign: str, values: set[str]) -> None:
        if sign in ("in", "=", "=="):
            self.among[key] = self.among[key] & values if key in self.among else values
        elif sign in ("notin", "!="):
            self.not_among.setdefault(key, set()).update(values)
        else:
            (value,) = values
            low, high = self.between.get(key, (-inf, inf))
            number = _number(value)
            if number != number:
                why = "for 'Gt', 'Lt' operators, the value must be an integer"
                raise StatusError(400, f"unable to parse requirement: values[0]: Invalid value: {value!r}: {why}")
            self.between[key] = (max(low, number), high) if sign == ">" else (low, min(high, number))


_SIGNS = {"In": "in", "NotIn": "notin"}


def requirements_of(found: Object | None) -> Requirements | None:
    """Those of a selector in an object (LabelSelector); nothing where there is none, which no labels fit."""
    if found is None:
        return None
    asked = Requirements()
    plain = (found.get("matchLabels") or {}).items()
    labels = ({"key": key, "operator": "In", "values": [value]} for key, value in plain)
    for one in (*labels, *(found.get("matchExpressions") or ())):
        key, operator, values = one["key"], one["operator"], set(one.get("values") or ())
        wrong = key_mistake(key) or next(filter(None, map(value_mistake, values)), "")
        if operator in _SIGNS and values and not wrong:
            asked.ask(key, _SIGNS[operator], values)
        elif operator in ("Exists", "DoesNotExist") and not values and not wrong:
            (asked.there if operator == "Exists" else asked.absent).add(key)
        else:
            wrong = wrong or "In and NotIn have values, Exists and DoesNotExist have none; there is no other operator"
            raise StatusError(400, f"{shortened(key)} {shortened(operator)}: {wrong}")
    return asked


def _number(text: str | None) -> float:
    """Not a number, which is neither more nor less than any, where there is none."""
    digits = (text or "").removeprefix("-").removeprefix("+")
    if not digits.isascii() or not digits.isdigit() or len(digits) > _LONGEST_NUMBER:
        return float("nan")
    return int(text or "")


class _Parser:
    """As `Parser` of k8s.io/apimachinery/pkg/labels reads selectors, with its words."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        self._tokens.append("")
        self._tokens.reverse()

    def requirements(self) -> Requirements:
        found = Requirements()
        if self._next == "":
            return found
        while True:
            self._requirement(found)
            token = self._take()
            if token == "":
                return found
            if token != ",":
                raise self._expected(token, "',' or 'end of string'")
            if self._next in _SPECIAL and self._next != "!":
                raise self._expected(self._next, "identifier after ','")

    def _requirement(self, found: Requirements) -> None:
        key = self._take()
        absent = key == "!"
        if absent:
            key = self._take()
        if key in _SPECIAL:
            raise self._expected(key, "identifier" if absent else "!, identifier, or 'end of string'")
        if mistake := key_mistake(key):
            raise StatusError(400, f"unable to parse requirement: <nil>: Invalid value: {shortened(key)!r}: {mistake}")
        if absent:
            found.absent.add(key)
        elif self._next in ("", ","):
            found.there.add(key)
        else:
            sign = self._take()
            if sign not in ("in", "notin", "=", "==", "!=", "<", ">"):
                raise self._expected(sign, "in, notin, =, ==, !=, gt, lt")
            values = self._values() if sign in ("in", "notin") else {self._value()}
            for value in values:
                if mistake := value_mistake(value):
                    where = f"values[0][{key}]: Invalid value: {shortened(value)!r}"
                    raise StatusError(400, f"unable to parse requirement: {where}: {mistake}")
            found.ask(key, sign, values)

    def _value(self) -> str:
        if self._next in ("", ","):
            return ""
        token = self._take()
        if token in _SPECIAL:
            raise self._expected(token, "identifier")
        return token

    def _values(self) -> set[str]:
        if (token := self._take()) != "(":
            raise self._expected(token, "'('")
        found: set[str] = set()
        empty = True  # nothing has been read since the last comma
        while True:
            token = self._take()
            if token in (",", ")"):
                if empty:
                    found.add("")
                if token == ")":
                    return found
                empty = True
            elif token in _SPECIAL or not empty:
                raise self._expected(token, "',', or ')'")
            else:
                found.add(token)
                empty = False

    @property
    def _next(self) -> str:
        return str(self._tokens[-1])

    def _take(self) -> str:
        """The end is taken once; after it there is nothing to be read."""
        return str(self._tokens.pop()) if len(self._tokens) > 1 else ""

    def _expected(self, token: str, what: str) -> StatusError:
        return StatusError(400, f"unable to parse requirement: found '{shortened(token)}', expected: {what}")


def labels_of(found: Object) -> dict[str, str]:
    labels = found["metadata"].get("labels")
    return labels if isinstance(labels, dict) else {}
