"""How a plug-in is written: `mine.py:Cap(watts=4000)`, `package.module:Cap`, or a name that a package registers."""

from __future__ import annotations

import ast
import sys
from typing import Any, NamedTuple

from schedlab.model.errors import InputError


class Reference(NamedTuple):
    """The text of a plug-in, taken apart."""

    place: str  # the file or module; "" for a registered name
    name: str
    positional: tuple[Any, ...]
    keywords: dict[str, Any]

    @property
    def head(self) -> str:
        return f"{self.place}:{self.name}" if self.place else self.name


def names_code(text: str) -> bool:
    """Whether `text` begins with a file or a module: `mine.py:…`, `lab/mine.py:…`, `package.module:…`."""
    place, colon, _ = text.partition(":")
    if "'" in place or '"' in place:  # a colon in the arguments of a registered name
        return False
    return place.strip().endswith(".py") or (bool(colon) and ("." in place or "/" in place))


def registered_name(text: str) -> str:
    """The name before the arguments: `my-cap` of `my-cap(watts=4000)`."""
    return text.partition("(")[0].strip()


def split_outside(text: str, separator: str) -> list[str]:
    """The parts between separators that stand neither in brackets nor in quotes: `a(x, 1), "b, c"` has two."""
    parts, depth, quote = [""], 0, ""
    at = 0
    while at < len(text):
        if not depth and not quote and text.startswith(separator, at):
            parts.append("")
            at += len(separator)
            continue
        character = text[at]
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            depth += (character in "([{") - (character in ")]}")
        parts[-1] += character
        at += 1
    return parts


def parse_reference(text: str, where: str) -> Reference:
    place, _, call = text.partition(":") if names_code(text) else ("", "", text)
    name, bracket, rest = call.partition("(")
    place, name = place.strip(), name.strip()
    if place and name and not name.isidentifier():
        raise InputError(f"'{name}' is not the name of a class or function", where=where, hint=_example(place))
    positional, keywords = _arguments(rest.strip(), where) if bracket else ((), {})
    return Reference(place, name, positional, keywords)


def canonical(head: str, arguments: dict[str, Any]) -> str:
    return f"{head}({','.join(f'{key}={value!r}' for key, value in arguments.items())})" if arguments else head


def _arguments(rest: str, where: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The values of `watts=4000, mode="fast")`: Python's literals, nothing that is computed."""
    try:
        call = ast.parse(f"f({rest}", mode="eval").body
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            raise SyntaxError
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        hint = "write for example Cap(watts=4000, margin=0.1)"
        raise InputError(f"the arguments '({rest}' cannot be understood", where=where, hint=hint) from None
    keywords = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise InputError("arguments are given one by one, without **", where=where, hint="write key=value")
        keywords[keyword.arg] = _literal(keyword.value, where)
    return tuple(_literal(value, where) for value in call.args), keywords


def _literal(node: ast.expr, where: str) -> Any:
    for part in ast.walk(node):
        if (
            isinstance(part, ast.Constant)
            and isinstance(part.value, int | float)
            and abs(part.value) > sys.float_info.max
        ):
            raise InputError("the arguments have a number that is too large", where=where, hint="at most 1e300")
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        written = ast.unparse(node)
        hint = "write numbers as they are and text in quotes: Cap(watts=4000, mode='fast')"
        raise InputError(f"the argument {written} is not a value", where=where, hint=hint) from None


def _example(place: str) -> str:
    return f"write {place}:Name"
