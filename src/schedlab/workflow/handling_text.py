"""How a handling is written: `pilot`, `pilot(cores=480)`, `chained(ready, retries=2)`, `clustered(levels)`."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any

from schedlab.model.errors import InputError, InputErrors
from schedlab.model.suggest import did_you_mean

# Of each handling: the arguments that it may have.
ARGUMENTS: dict[str, tuple[str, ...]] = {
    "pilot": ("cores", "method"),
    "chained": ("ready", "retries", "failure"),
    "aware": ("failure",),
    "clustered": ("levels", "branches", "cores", "method", "failure"),
}
FLAGS = ("ready", "levels", "branches")  # arguments that are one word
FAILURES = ("fail", "continue")
_CALL = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\(([^()]*)\))?\s*")
_ARGUMENT = re.compile(r"\s*([A-Za-z]\w*)\s*(?:=\s*[\"']?([\w.-]+)[\"']?)?\s*")
_EXAMPLE = "for example pilot, chained, aware, chained(ready, retries=2), clustered(levels, cores=480)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Handling:
    """A handling, taken apart."""

    name: str
    cores: int | None = None  # at most so many; tasks wait for each other inside the job
    method: str | None = None  # the list scheduler that says which
    ready: bool = False
    retries: int = 0
    levels: bool = False
    branches: bool = False
    failure: str = "fail"  # what becomes of the tasks after one that fails

    def __str__(self) -> str:
        """As it is written, always in the same way."""
        said = []
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value != field.default:
                said.append(field.name if field.name in FLAGS else f"{field.name}={value}")
        return f"{self.name}({','.join(said)})" if said else self.name


def parse_handling(text: str, where: str = "") -> Handling:
    """Refuses unknown names, arguments and values, all at once."""
    name, arguments = _taken_apart(text, where)
    if name not in ARGUMENTS:
        hint = did_you_mean(name, list(ARGUMENTS), f"one of {', '.join(ARGUMENTS)}")
        raise InputError(f"there is no handling '{name}'", where=where, hint=hint)
    mistakes = [
        InputError(
            f"{name} has no argument '{argument}'",
            where=where,
            hint=did_you_mean(argument, ARGUMENTS[name], f"it has {', '.join(ARGUMENTS[name])}"),
        )
        for argument in arguments
        if argument not in ARGUMENTS[name]
    ]
    mistakes += [
        InputError(f"{argument} = {value!r}: expected {expected}", where=where)
        for argument, value in arguments.items()
        if argument in ARGUMENTS[name] and (expected := _wrong(argument, value))
    ]
    if name == "clustered" and ("levels" in arguments) == ("branches" in arguments):
        mistakes.append(InputError("clustered by what?", where=where, hint="clustered(levels) or clustered(branches)"))
    if "branches" in arguments and "cores" in arguments:
        hint = "a branch has its widest task's; leave cores out"
        mistakes.append(InputError("branches have no cores to say", where=where, hint=hint))
    if arguments.get("retries") and "ready" not in arguments:
        hint = "write chained(ready, retries=2): somebody has to submit a task again"
        mistakes.append(InputError("retries need ready", where=where, hint=hint))
    if "method" in arguments and "cores" not in arguments:
        mistakes.append(InputError("a method needs cores to be scarce", where=where, hint=f"{name}(cores=480, …)"))
    if mistakes:
        raise InputErrors(mistakes)
    return Handling(name=name, **arguments)


def _wrong(argument: str, value: Any) -> str:
    """What was expected instead; empty if it is right."""
    least = {"cores": 1, "retries": 0}.get(argument)
    if least is not None:
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= least
        return "" if whole else f"a whole number of at least {least}"
    if argument in FLAGS:
        return "" if value is True else "the word alone"
    if argument == "failure":
        return "" if value in FAILURES else " or ".join(FAILURES)
    return "" if isinstance(value, str) and value else "the name of a list scheduler"


def _taken_apart(text: str, where: str) -> tuple[str, dict[str, Any]]:
    """The name and the arguments: words, and names with values. (`continue` and `critical-path` are no Python.)"""
    found = _CALL.fullmatch(text)
    said = (found[2] or "").split(",") if found else []
    parts = [_ARGUMENT.fullmatch(one) for one in said if one.strip()]
    if found is None or not all(parts):
        raise InputError(f"'{text}' is not a handling", where=where, hint=_EXAMPLE)
    arguments: dict[str, Any] = {}
    for part in filter(None, parts):
        word, value = part.groups()
        arguments[word] = True if value is None else int(value) if value.isdecimal() else value
    return found[1], arguments
