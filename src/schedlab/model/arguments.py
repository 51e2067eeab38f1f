"""What callers in Python give: of the type that is expected, or an error that names the argument and the value."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import Field, fields
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from typing import Any, cast

from schedlab.model.errors import InputError, InputErrors
from schedlab.model.suggest import did_you_mean

LONGEST_NAME = 255  # characters of a file's name that systems take

_Kind = tuple[str, Callable[[Any], bool]]  # in words, and whether a value is of it

_KINDS: dict[str, _Kind] = {
    "int": ("a whole number", lambda value: _is_number(value, Integral) and -(2**63) <= value < 2**63),
    "float": ("a number", lambda value: _is_number(value, Real) and abs(value) <= sys.float_info.max),
    "str": ("a text", lambda value: isinstance(value, str) and _is_unicode(value)),
    "bool": ("True or False", lambda value: _is_truth(value)),
    "None": ("None", lambda value: value is None),
    "Callable": ("a function", callable),
    "os.PathLike[str]": ("a path", lambda value: isinstance(value, os.PathLike)),
    "frozenset": ("a set", lambda value: isinstance(value, frozenset | set)),
    "tuple": ("a tuple", lambda value: isinstance(value, tuple | list)),
    "Sequence": ("a list", lambda value: isinstance(value, Sequence) and not isinstance(value, str | bytes)),
    "dict": ("a dictionary", lambda value: isinstance(value, Mapping)),
    "Mapping": ("a dictionary", lambda value: isinstance(value, Mapping)),
}


def check_fields(given: Any, where: str = "") -> None:
    """Of a dataclass, before anybody works with them. Annotations that name other classes are not looked at."""
    wrong = [
        InputError(
            f"{field.name} is {shown(value)}, expected {' or '.join(words)}", where=where or type(given).__name__
        )
        for field, kinds in _checked(cast(Hashable, type(given)))
        if (words := _refused(value := getattr(given, field.name), kinds))
    ]
    if wrong:
        raise InputErrors(wrong)


def _refused(value: Any, kinds: tuple[_Kind, ...]) -> list[str]:
    """What was expected instead; nothing if the value is right."""
    return [] if any(fits(value) for _, fits in kinds) else [words for words, _ in kinds]


@cache
def _checked(kind: Hashable) -> list[tuple[Field[Any], tuple[_Kind, ...]]]:
    found = [(field, _kinds(str(field.type))) for field in fields(cast(Any, kind))]
    return [(field, kinds) for field, kinds in found if kinds]


def _kinds(annotation: str) -> tuple[_Kind, ...]:
    """Nothing if some part of it names another class."""
    parts = [part.strip() for part in annotation.split("|")]
    names = [part if part in _KINDS else part.partition("[")[0] for part in parts]
    return tuple(_KINDS[name] for name in names) if all(name in _KINDS for name in names) else ()


def check_each(given: Any, kind: type, name: str, where: str) -> None:
    """Of a list: objects of that dataclass, with fields that are right."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise InputError(f"{name} is {shown(given)}, expected a list of {kind.__name__}", where=where)
    for one in given:
        if not isinstance(one, kind):
            raise InputError(f"{shown(one)} among {name} is no {kind.__name__}", where=where)
        check_fields(one, where)


def check_arguments(annotation: str, **given: object) -> None:
    """Arguments that are all to be of that type."""
    kinds = _kinds(annotation)
    for name, value in given.items():
        if words := _refused(value, kinds):
            raise InputError(f"{name} is {shown(value)}, expected {' or '.join(words)}")


def check_names(given: Mapping[str, Any], known: Sequence[str], what: str) -> None:
    """Keywords that exist."""
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known, f"there are {', '.join(known)}")
            raise InputError(f"there is no {what} '{name}'", hint=hint)


def as_path(given: object, what: str, hint: str) -> Path:
    """The path of a file or folder."""
    if not isinstance(given, str | os.PathLike):
        raise InputError(f"{shown(given)} is not {what}", hint=hint)
    path = os.fspath(given)
    if not isinstance(path, str) or not path or any(len(part) > LONGEST_NAME for part in Path(path).parts):
        raise InputError(f"{shown(path)} is no name of a file", hint=hint)
    return Path(path)


def shown(value: object) -> str:
    """A value as errors show it: in one short line; large things by their type."""
    if isinstance(value, str | bytes | int | float | None | type) or value is None:
        text = f"{value!r:.200}"
        return text if len(text) <= 60 else f"{text[:57]}…"
    if isinstance(value, list | tuple | dict | set | frozenset):
        text = repr(value) if len(value) < 8 else ""
        if text and len(text) <= 60:
            return text
    return f"a {type(value).__name__}"


def _is_number(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not _is_truth(value)


def _is_unicode(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _is_truth(value: object) -> bool:
    return isinstance(value, bool) or type(value).__name__ == "bool"  # numpy's
