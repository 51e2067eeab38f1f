"""What a form says is to be simulated: typed fields, the command and the study file that they stand for.

Names of files are paths inside the folder that is served, where the command is run and the study file lies.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from schedlab.model.errors import InputError, InputErrors
from schedlab.model.suggest import did_you_mean
from schedlab.model.units import parse_duration

if TYPE_CHECKING:
    from schedlab.web.settings import Settings
    from schedlab.web.space import Space
    from schedlab.web.task import Task

Form = TypeVar("Form", "Setup", "Sweep")

MOST = 64  # of policies, observers, values: more are for study files
MOST_RUNS = 100_000  # of a study: its plan is made before the first one begins
LONGEST = 2000  # characters of a text
LARGEST = 1 << 63  # of numbers, which are finite


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """One log or model, one machine, some policies: what `schedlab run` takes."""

    log: str = ""  # a file; or
    model: str = ""  # a model's file, or words: lublin(processors=256)
    jobs: int | None = None  # that the model makes, or
    span: str = ""  # for how long
    seed: int = 0
    load: float | None = None  # the offered load, to which times between submittals are scaled
    cluster: str = ""  # 64x4, pool:256, a file; "": as the log's header says
    policies: tuple[str, ...] = ("easy",)
    estimate: str = "limit"
    observers: tuple[str, ...] = ()
    overrun: Literal["", "kill", "run"] = ""  # "": kill, unless the policy says
    passes: Literal["instant", "event"] = "instant"
    dependencies: Literal["ignore", "follow"] = "ignore"
    until: str = ""
    clean: Literal["pwa", "strict", "none"] = "pwa"
    procs: Literal["requested", "allocated"] = "requested"
    missing_limit: str = "runtime"
    bad_rows: Literal["fail", "drop"] = "fail"
    reasons: bool = False
    places: bool = False
    name: str = ""  # of the folder of its results; "": as the log or the model is called

    def arguments(self, out: str = "") -> list[str]:
        """After `schedlab`."""
        found = ["run", self.log or self.model]
        if self.model:
            found += self._options("jobs", "span", "seed")
        found += self._options("load", "cluster")
        for policy in self.policies:
            found += ["--policy", policy]
        found += self._options("estimate", "overrun", "passes", "dependencies", "until")
        for observer in self.observers:
            found += ["--observe", observer]
        if self.log:
            found += self._options("clean", "procs", "missing_limit", "bad_rows")
        found += [f"--{name}" for name in ("reasons", "places") if getattr(self, name)]
        return [*found, "--out", out] if out else found

    def command(self, out: str = "") -> str:
        """To be copied into a shell."""
        return shlex.join(["schedlab", *self.arguments(out)])

    def _options(self, *names: str) -> Iterator[str]:
        defaults = _defaults(Setup)
        for name in names:
            value = getattr(self, name)
            if value != defaults[name]:
                yield f"--{name.replace('_', '-')}"
                yield f"{value:.15g}" if isinstance(value, float) else str(value)

    def mistakes(self) -> list[InputError]:
        """What is wrong with the fields by themselves; files and policies are looked at by `checks.check_setup`."""
        found = []
        if bool(self.log) == bool(self.model):
            found.append(InputError("which jobs?", hint="choose a log, or a model"))
        if self.model and (self.jobs is None) == (not self.span):
            hint = "say how many jobs it is to make, or for how long: 500, or 30d"
            found.append(InputError("is a model, not a log", where=self.model, hint=hint))
        if self.jobs is not None and self.jobs < 1:
            found.append(InputError(f"{self.jobs} is not a number of jobs", hint="at least 1"))
        if self.seed < 0:
            found.append(InputError(f"{self.seed} is not a seed", hint="a whole number from 0"))
        if self.model and not self.cluster:
            found.append(InputError("on which machine?", hint="choose a cluster, such as 64x4"))
        if not self.policies:
            found.append(InputError("under which policy?", hint="choose at least one"))
        times = (("span", self.span, ""), ("until", self.until, "phases"), ("missing_limit", self.missing_limit, ""))
        for name, value, word in times:
            if value not in ("", word, "runtime"):
                try:
                    parse_duration(value, where=name)
                except InputError as error:
                    found.append(error)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A study: a setup, of which one parameter more may vary, run several times."""

    setup: Setup = field(default_factory=Setup)
    name: str = "study"
    repetitions: int = 1
    seed: int = 0
    baseline: str = ""  # one of the policies
    vary: Literal["", "load", "estimate", "cluster", "jobs", "until"] = ""
    values: tuple[str, ...] = ()
    keep: Literal["tables", "summary"] = "tables"

    def mistakes(self) -> list[InputError]:
        found = [each for each in self.setup.mistakes() if not (self.vary == "jobs" and each.where == self.setup.model)]
        if self.repetitions < 1:
            found.append(InputError(f"{self.repetitions} is not a number of repetitions", hint="at least 1"))
        runs = self.repetitions * len(self.setup.policies) * max(len(self.values), 1)
        if runs > MOST_RUNS:
            hint = f"at most {MOST_RUNS:,}; schedlab experiment run has no such limit"
            found.append(InputError(f"{runs:,} runs are too many for a page", where="repetitions", hint=hint))
        if self.baseline and self.baseline not in self.setup.policies:
            found.append(InputError("is not among the policies", where=self.baseline, hint="choose one of them"))
        if self.vary and not self.values:
            found.append(InputError("which values?", where=self.vary, hint="give some, with commas between them"))
        if len(set(self.values)) < len(self.values):
            found.append(InputError("a value appears twice", where=self.vary, hint="name each once"))
        for value in self.values if self.vary in ("load", "jobs") else ():
            try:
                _number(value, whole=self.vary == "jobs")
            except ValueError:
                noun = "whole number" if self.vary == "jobs" else "number"
                found.append(InputError(f"'{value}' is not a {noun}", where=self.vary, hint="such as 0.7, 0.8, 0.9"))
        return found

    def text(self, located: Callable[[str], str] = lambda name: name) -> str:
        """The study file. `located` says how a file is named from where it lies."""
        setup, several = self.setup, self.values if self.vary else ()
        lines = [f"name = {_toml(self.name)}"]
        lines += [f"repetitions = {self.repetitions}"] if self.repetitions != 1 else []
        lines += [f"seed = {self.seed}"] if self.seed else []
        lines += [f"baseline = {{ policy = {_toml(self.baseline)} }}"] if self.baseline else []
        lines += [f"keep = {_toml(self.keep)}"] if self.keep != "tables" else []
        workload: dict[str, Any] = {"log": located(setup.log)} if setup.log else {"model": located(setup.model)}
        if setup.model:
            workload |= {"jobs": setup.jobs, "span": setup.span}
        else:
            workload |= _given(setup, "clean", "procs", "missing_limit", "bad_rows")
        workload["load"] = setup.load
        run: dict[str, Any] = {"cluster": located(setup.cluster), "policy": _one_or_list(setup.policies)}
        run |= _given(setup, "estimate", "overrun", "passes", "dependencies", "until")
        if setup.observers:
            run["observe"] = setup.observers[0] if len(setup.observers) == 1 else [list(setup.observers)]
        if several:
            table = workload if self.vary in ("load", "jobs") else run
            numbers = self.vary in ("load", "jobs")
            table[self.vary] = [
                _number(value, whole=self.vary == "jobs") if numbers else located(value) for value in several
            ]
        for heading, table in (("workload", workload), ("run", run)):
            lines += ["", f"[{heading}]"]
            lines += [f"{key} = {_toml(value)}" for key, value in table.items() if value not in ("", None)]
        return "\n".join(lines) + "\n"


def task_of(document: Any, space: Space, settings: Settings) -> Task:
    """What is to be started: the run of a `Setup`, or the study of a `Sweep`, whose file is written here."""
    from schedlab.web.start import start_run, start_study

    if isinstance(document, Mapping) and "setup" in document:
        return start_study(read_form(Sweep, document), space, settings)
    return start_run(read_form(Setup, document), space, settings)


def read_form(kind: type[Form], document: Any) -> Form:
    """From JSON: only known fields, of their types. All that is wrong is said at once."""
    if not isinstance(document, Mapping):
        raise InputError("expected the fields of a form", hint=f"an object with {', '.join(_defaults(kind))}")
    types = get_type_hints(kind)
    if len(document) > 2 * len(types):
        raise InputError(f"has {len(document):,} fields", where=kind.__name__.lower(), hint=f"there are {len(types)}")
    errors: list[InputError] = []
    found: dict[str, Any] = {}
    for name, value in document.items():
        if name not in types:
            errors.append(
                InputError("there is no such field", where=str(name), hint=did_you_mean(str(name), types, ""))
            )
            continue
        try:
            found[name] = read_form(Setup, value) if types[name] is Setup else _typed(types[name], value, name)
        except InputError as error:
            errors.append(error)
    raise_all(errors)
    return kind(**found)


def raise_all(errors: list[InputError]) -> None:
    if errors:
        raise errors[0] if len(errors) == 1 else InputErrors(errors)


def as_document(form: Setup | Sweep) -> dict[str, Any]:
    """What `read_form` reads."""
    return asdict(form)


def allowed_words() -> dict[str, list[str]]:
    """Of each field that has one of some words: which."""
    both = get_type_hints(Setup) | get_type_hints(Sweep)
    return {name: list(get_args(kind)) for name, kind in both.items() if get_origin(kind) is Literal}


def _typed(kind: Any, value: Any, name: str) -> Any:
    if get_origin(kind) in (Union, UnionType):
        plain = next(each for each in get_args(kind) if each is not type(None))
        return None if value is None else _typed(plain, value, name)
    if get_origin(kind) is tuple:
        if not isinstance(value, list | tuple) or len(value) > MOST:
            raise InputError(f"expected a list of at most {MOST} texts", where=name)
        return tuple(_typed(str, each, name) for each in value)
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            words = ", ".join(repr(word) for word in get_args(kind))
            raise InputError(f"{json.dumps(value, default=str)} is not one of {words}", where=name)
        return value
    if kind is bool and isinstance(value, bool):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST:
        if kind is float:
            return float(value)
        if kind is int and isinstance(value, int):
            return value
    if kind is str and isinstance(value, str) and len(value) <= LONGEST and value.isprintable():
        return value.strip()
    nouns = {bool: "true or false", int: "a whole number", float: "a number", str: "a text of one line"}
    raise InputError(f"expected {nouns[kind]}", where=name)


def _defaults(kind: type) -> dict[str, Any]:
    return {
        each.name: each.default_factory() if each.default_factory is not MISSING else each.default
        for each in fields(kind)
    }


def _given(setup: Setup, *names: str) -> dict[str, Any]:
    defaults = _defaults(Setup)
    return {name: getattr(setup, name) for name in names if getattr(setup, name) != defaults[name]}


def _one_or_list(values: tuple[str, ...]) -> Any:
    return values[0] if len(values) == 1 else list(values)


def _number(text: str, *, whole: bool) -> float:
    return int(text) if whole else float(text)


def _toml(value: Any) -> str:
    """Texts of one line, numbers, and lists of them are written in TOML as in JSON."""
    return json.dumps(value, ensure_ascii=False)
