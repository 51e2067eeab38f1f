"""Plug-ins: what somebody else wrote, from policies to readers; `KINDS` has all that they can be.

mine.py:Cap(watts=4000)     a class or function of a file, with arguments
package.module:Cap          of a module that can be imported
my-cap                      what an installed package registers: entry points, one group for each kind
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pkgutil import resolve_name
from types import ModuleType
from typing import TYPE_CHECKING, Any

from schedlab.model.confined import check_program
from schedlab.model.errors import InputError, SchedlabError
from schedlab.model.hooks import hooks_of, problem
from schedlab.model.plugin_import import blame, import_file, import_module
from schedlab.model.plugin_text import Reference, canonical, parse_reference, registered_name
from schedlab.model.suggest import did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BUILT_IN = "built in"


@dataclass(frozen=True, slots=True)
class Kind:
    """An extension point. It is a class with one of the `methods` (or, of a `base` that is named alone, with one of its
    hooks), or a function of so many `parameters`."""

    name: str
    group: str
    meaning: str
    methods: tuple[str, ...] = ()
    parameters: tuple[int, ...] = ()
    base: str = ""  # declares its hooks; by name, for it lives further up

    @property
    def hooks(self) -> tuple[str, ...]:
        """The methods by which a class is known."""
        return self.methods or (tuple(hooks_of(resolve_name(self.base))) if self.base else ())

    @property
    def described(self) -> str:
        return self.meaning if self.methods or not self.base else f"{self.meaning} {', '.join(self.hooks)}"


_TABLE = (
    Kind(
        "policy",
        "schedlab.policies",
        "a class with a method decide(view, events)",
        methods=("decide",),
        base="schedlab.engine.decider:Policy",
    ),
    Kind(
        "order", "schedlab.orders", "a function of (jobs) or (jobs, now) that gives a key for each", parameters=(1, 2)
    ),
    Kind("placement", "schedlab.placements", "a function of (job, cluster) that gives nodes", parameters=(2,)),
    Kind(
        "estimator",
        "schedlab.estimators",
        "a class with a method estimate(job)",
        methods=("estimate",),
        base="schedlab.policy.estimator:Estimator",
    ),
    Kind(
        "observer",
        "schedlab.observers",
        "a class with any of the methods",
        base="schedlab.engine.observer:Observer",
    ),
    Kind("metric", "schedlab.metrics", "a function of (run) that gives a number, or numbers by name", parameters=(1,)),
    Kind("model", "schedlab.models", "a class with a method batches(seed, *, jobs, span)", methods=("batches",)),
    Kind("reader", "schedlab.readers", "a function of (path) that gives a Workload", parameters=(1,)),
    Kind(
        "pattern",
        "schedlab.patterns",
        "a function of (workload) that gives a trigger and what it puts in",
        parameters=(1,),
    ),
)
KINDS = {kind.name: kind for kind in _TABLE}


@dataclass(frozen=True, slots=True)
class Plugin:
    """A class or function that was found and checked."""

    kind: str
    text: str  # canonical: mine.py:Cap(watts=4000)
    target: Callable[..., Any]
    arguments: dict[str, Any] = field(default_factory=dict, hash=False)
    source: str = BUILT_IN  # or the file, or the distribution and its version

    def make(self) -> Any:
        """A fresh instance of a class; a function, with its arguments."""
        if isinstance(self.target, type):
            with self.blamed():
                return self.target(**self.arguments)
        return partial(self.target, **self.arguments) if self.arguments else self.target

    @property
    def arity(self) -> int | None:
        """How many parameters a call has to fill by position; None if that cannot be known."""
        return _arity(self.target, self.arguments)

    @property
    def summary(self) -> str:
        """The first line of its documentation."""
        return (inspect.getdoc(self.target) or "").partition("\n")[0]

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Turn an error of its code into one that names the line."""
        try:
            yield
        except SchedlabError:
            raise
        except Exception as error:
            if self.source == BUILT_IN:  # then it is the argument, not the code
                hint = f"it is {self.target.__name__}({_accepted(inspect.signature(self.target))})"
                raise InputError(f"cannot take these arguments: {error}", where=self.text, hint=hint) from error
            raise blame(error, _file_of(self.target)) from error

    def __str__(self) -> str:
        return self.text


def load(kind: str, text: str) -> Plugin:
    """The plug-in that `text` names; an `InputError` says what is wrong with it, and what there is instead."""
    wanted, where = KINDS[kind], f"{kind} '{text}'"
    reference = parse_reference(text, where)
    target, source, listing = _found(wanted, reference, where)
    if problem := _refusal(wanted, target, reference.keywords):
        hint = f"{_article(kind)} is {wanted.described}{listing}"
        raise InputError(f"{reference.name} {problem}", where=where, hint=hint)
    arguments = _bound(reference.name, target, reference, where)
    text = canonical(reference.head, arguments)
    if kind == "policy":
        check_program(text)
    return Plugin(kind, text, target, arguments, source)


def registered(kind: str) -> list[EntryPoint]:
    """What installed packages offer, by name."""
    from importlib.metadata import entry_points  # takes longer to import than a small log to read

    return sorted(entry_points(group=KINDS[kind].group), key=lambda entry: (entry.name, origin(entry)))


def is_registered(kind: str, text: str) -> bool:
    name = registered_name(text)
    return any(entry.name == name for entry in registered(kind))


def origin(entry: EntryPoint) -> str:
    """The distribution that registers it, and its version; of our own, that it is built in."""
    if entry.dist is not None and entry.dist.name == "schedlab":
        return BUILT_IN
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unknown package"


def described(kind: str, entry: EntryPoint) -> str:
    """What it is, in the first line of its documentation; or why it cannot be used."""
    try:
        target = _loaded(entry, f"{kind} '{entry.name}'")
    except InputError as error:
        return f"cannot be used: {error.message}"
    problem = _refusal(KINDS[kind], target, {})
    return f"cannot be used: it {problem}" if problem else (inspect.getdoc(target) or "").partition("\n")[0]


def _found(kind: Kind, reference: Reference, where: str) -> tuple[Any, str, str]:
    """The object, where it comes from, and what else is there."""
    if not reference.place:
        return *_registered(kind, reference.name, where), ""
    is_file = reference.place.endswith(".py") or "/" in reference.place
    module = import_file(reference.place, kind.name) if is_file else import_module(reference.place, where)
    names = [name for name, value in vars(module).items() if _belongs(kind, module, name, value)]
    listing = f"; {reference.place} has {', '.join(names)}" if names else ""
    if not reference.name:
        example = f"write {reference.place}:{names[0] if names else 'Name'}"
        raise InputError(f"which {kind.name} of the file?", where=where, hint=example + listing)
    if reference.name not in vars(module):
        known = f"{_article(kind.name)} is {kind.described}{listing}"
        hint = did_you_mean(reference.name, names, known)
        raise InputError(f"{reference.place} has no '{reference.name}'", where=where, hint=hint)
    return vars(module)[reference.name], module.__file__ or module.__name__, listing


def _registered(kind: Kind, name: str, where: str) -> tuple[Any, str]:
    entries = registered(kind.name)
    found = [entry for entry in entries if entry.name == name]
    if not found:
        names = [entry.name for entry in entries]
        listing = f"registered: {', '.join(names)}; " if names else ""
        hint = did_you_mean(name, names, f"{listing}of a file, write mine.py:Name")
        raise InputError(f"no package registers the {kind.name} '{name}'", where=where, hint=hint)
    if len(found) > 1:
        message = f"several packages register '{name}': {', '.join(map(origin, found))}"
        raise InputError(message, where=where, hint=f"say which: {' or '.join(entry.value for entry in found)}")
    return _loaded(found[0], where), origin(found[0])


def _loaded(entry: EntryPoint, where: str) -> Any:
    try:
        return entry.load()
    except AttributeError:
        message = f"{origin(entry)} registers '{entry.value}', which is not there"
        raise InputError(message, where=where, hint="tell its author, or install another version") from None
    except (Exception, SystemExit) as error:
        raise blame(error) from error


def _belongs(kind: Kind, module: ModuleType, name: str, value: Any) -> bool:
    """Whether it is of this kind, and the module's own rather than imported there."""
    own = not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    return own and not _refusal(kind, value, {})


def _refusal(kind: Kind, target: Any, arguments: dict[str, Any]) -> str:
    """Why it cannot be of this kind; "" if it can."""
    if not callable(target):
        return f"cannot be called: it is {_article(type(target).__name__)}"
    if names := kind.hooks:
        if not isinstance(target, type):
            return "is not a class"
        if any(hasattr(target, name) for name in names):
            return problem(target, resolve_name(kind.base)) if kind.base else ""
        return f"has no method {names[0]}" if len(names) == 1 else "has none of the methods"
    if isinstance(target, type) and _call_of(target) is None:
        return "is a class without a method __call__"
    arity = _arity(target, arguments)
    if arity is None or arity in kind.parameters:
        return ""
    return f"takes {arity} parameter{'' if arity == 1 else 's'}, not {' or '.join(map(str, kind.parameters))}"


def _bound(name: str, target: Callable[..., Any], reference: Reference, where: str) -> dict[str, Any]:
    """The arguments by name, as far as can be seen acceptable to the class or function."""
    try:
        signature = inspect.signature(target)
    except (ValueError, TypeError):  # some native classes do not say
        return reference.keywords
    by_position = [p.name for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    arguments = dict(zip(by_position, reference.positional, strict=False)) | reference.keywords
    is_class = isinstance(target, type)
    problem = ""
    if reference.positional and not is_class:
        problem = "takes its arguments by name"
    elif len(arguments) < len(reference.positional) + len(reference.keywords):
        problem = "gets an argument too many, or one twice"
    else:
        try:
            (signature.bind if is_class else signature.bind_partial)(**arguments)
        except TypeError as error:
            problem = f"cannot take these arguments: {error}"
    if problem:
        raise InputError(f"{name} {problem}", where=where, hint=f"it is {name}({_accepted(signature)})")
    return arguments


def _accepted(signature: inspect.Signature) -> str:
    """The parameters as one would write them, without types."""
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))[1:-1]


def _arity(target: Callable[..., Any], arguments: dict[str, Any]) -> int | None:
    of_class = isinstance(target, type)
    try:
        parameters = inspect.signature(_call_of(target) or target if isinstance(target, type) else target).parameters
    except (ValueError, TypeError):
        return None
    positional = [p for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters.values()):
        return None
    given = {} if of_class else arguments  # a class has taken them when it was made
    return sum(p.default is p.empty and p.name not in given for p in positional) - of_class


def _call_of(target: type) -> Callable[..., Any] | None:
    """What a call of an instance runs, if instances can be called."""
    return next((vars(base)["__call__"] for base in target.__mro__ if "__call__" in vars(base)), None)


def _file_of(target: Callable[..., Any]) -> str:
    return getattr(sys.modules.get(target.__module__), "__file__", None) or ""


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"
