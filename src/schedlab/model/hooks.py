"""Hooks: what a policy, an observer or an estimator may have. Their base classes declare them, typed and documented:
public methods, and attributes with a meaning (`placement: Annotated[str, "…"]`). Nothing else is looked for."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, get_args, get_type_hints

from schedlab.model.suggest import closest

Hook = Callable[..., Any]
_LIKE = 0.8  # how alike a method and a hook are, for one to be taken for the other misspelt


@cache  # every simulation asks
def hooks_of(base: type) -> Mapping[str, Hook]:
    """The methods that a base class declares, in its order."""
    return {name: value for name, value in vars(base).items() if _public(name) and inspect.isfunction(value)}


def attributes_of(base: type) -> dict[str, str]:
    """The attributes that it declares, and what they mean."""
    hints = get_type_hints(base, include_extras=True)
    return {name: " ".join(get_args(hints[name])[1:]) for name in vars(base) if name in hints and _public(name)}


def defines(one: object, hook: str, base: type) -> bool:
    """Whether it has a hook of its own, and not just the base's, which does nothing."""
    return hook in vars(one) or getattr(type(one), hook) is not getattr(base, hook)


def says(target: object, attribute: str, base: type) -> Any:
    """What a class says by an attribute, also one that does not derive from the base."""
    return getattr(target, attribute, getattr(base, attribute))


def name_of(one: Any) -> str:
    """Of a policy or an observer, as errors and run.json call it: its own `name`, or that of its class."""
    return str(one.name or type(one).__qualname__)


def parameters_of(hook: Hook) -> tuple[str, ...]:
    """By which it is called, in this order."""
    return tuple(inspect.signature(hook).parameters)[1:]


def problem(target: type, base: type) -> str:
    """What is wrong with the hooks of a class; "" if nothing is. The class need not derive from the base."""
    declared = hooks_of(base)
    for name, hook in declared.items():
        if fault := _misfit(target, name, parameters_of(hook)):
            return fault
    return _misspelt(target, base, declared) if issubclass(target, base) else ""


def _misfit(target: type, name: str, expected: tuple[str, ...]) -> str:
    own = inspect.getattr_static(target, name, None)
    alone = isinstance(own, staticmethod)
    method = own.__func__ if isinstance(own, staticmethod | classmethod) else own
    if not isinstance(method, types.FunctionType):  # not there, or something that knows what it does
        return ""
    signature = inspect.signature(method)
    try:
        signature.bind(*expected) if alone else signature.bind("self", *expected)
    except TypeError:
        plain = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
        found = signature.replace(parameters=plain, return_annotation=signature.empty)
        return f"has {name}{found}, which is called as {name}({', '.join(expected)})"
    return ""


def _misspelt(target: type, base: type, declared: Mapping[str, Hook]) -> str:
    """A method that nobody will call: it looks like a hook, takes what the hook takes, and the hook is not there."""
    known = {name for one in target.__mro__ if one.__module__.partition(".")[0] == "schedlab" for name in vars(one)}
    missing = {name: hook for name, hook in declared.items() if getattr(target, name) is getattr(base, name)}
    for name, value in vars(target).items():
        if not _public(name) or name in known or not inspect.isfunction(value):
            continue
        meant = closest(name, missing, _LIKE)
        if meant and len(parameters_of(value)) == len(parameters_of(missing[meant])):
            return f"has a method {name}, which is no hook; did you mean {meant}? If not, call it _{name}"
    return ""


def _public(name: str) -> bool:
    return not name.startswith("_")


def markdown(base: type) -> str:
    """The table of its hooks in docs/extending.md."""
    rows = ["| hook | what it says or does |", "|---|---|"]
    for name, hook in hooks_of(base).items():
        text = " ".join((inspect.getdoc(hook) or "").split())
        rows.append(f"| `{name}({', '.join(parameters_of(hook))})` | {text} |")
    for name, meaning in attributes_of(base).items():
        rows.append(f"| `{name} = {vars(base)[name]!r}` | {meaning} |")
    return "\n".join(rows) + "\n"
