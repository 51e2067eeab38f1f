"""Whether what a form says may be simulated here: mistakes in the command line's words, nothing outside the folder, and
no code but what was named when the server was started."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from schedlab.model.confined import STARTS_PROGRAMS
from schedlab.model.errors import InputError
from schedlab.model.plugin_text import names_code, parse_reference, registered_name, split_outside
from schedlab.policy.spec import PolicySpec, parse_policy
from schedlab.web.settings import Settings
from schedlab.web.setup import Setup, Sweep, raise_all
from schedlab.web.space import Space

MACHINE = re.compile(r"\d{1,6}x\d{1,6}|pool:\d{1,9}")


def check_setup(setup: Setup, space: Space, settings: Settings) -> None:
    """Everything that can be known before anything is read; raises all that is wrong."""
    raise_all([*setup.mistakes(), *found_mistakes(setup, space, settings)])


def check_sweep(sweep: Sweep, space: Space, settings: Settings) -> None:
    errors = [*sweep.mistakes(), *found_mistakes(sweep.setup, space, settings, of_study=True)]
    kinds: dict[str, Callable[[str], Any]] = {"cluster": lambda each: read_machine(each, space)}
    if sweep.vary == "estimate":
        kinds["estimate"] = lambda each: check_estimate(each, space, settings)
    for value in sweep.values if sweep.vary in kinds else ():
        errors += _wrong(lambda value=value: kinds[sweep.vary](value))  # type: ignore[misc]
    raise_all(errors)


def found_mistakes(setup: Setup, space: Space, settings: Settings, *, of_study: bool = False) -> list[InputError]:
    """In a study `{seed}` stands for the seed of the repetition."""
    errors: list[InputError] = []
    if of_study:
        policies = tuple(text.replace("{seed}", "0") for text in setup.policies)
        observers = tuple(text.replace("{seed}", "0") for text in setup.observers)
        setup = replace(setup, policies=policies, observers=observers)
    if setup.log:
        errors += _wrong(lambda: _file(setup.log, space))
    if setup.model:
        errors += _wrong(lambda: check_model(setup.model, space))
    if setup.load is not None:
        from schedlab.workload.transform.load import check_load

        load = setup.load
        errors += _wrong(lambda: check_load(load, "load"))
    if setup.cluster:
        errors += _wrong(lambda: read_machine(setup.cluster, space))
    seen: list[PolicySpec] = []
    for text in setup.policies:
        errors += _wrong(lambda text=text: seen.append(check_policy(text, space, settings)))  # type: ignore[misc]
        if len(seen) > 1 and seen[-1] in seen[:-1]:
            errors.append(InputError("given twice", where=f"policy '{text}'", hint="name each policy once"))
            seen.pop()
    errors += _wrong(lambda: check_estimate(setup.estimate, space, settings))
    for text in setup.observers:
        errors += _wrong(lambda text=text: check_observer(text, space, settings))  # type: ignore[misc]
    return errors


def check_policy(text: str, space: Space, settings: Settings) -> PolicySpec:
    _refuse_code(text, space, settings)
    policy = parse_policy(text)
    if registered_name(policy.text) in STARTS_PROGRAMS and policy.text not in settings.programs:
        hint = f"start the server with it: schedlab web --allow {shlex.quote(policy.text)}"
        raise InputError("starts programs, which this server was not told to do", where=f"policy '{text}'", hint=hint)
    return policy


def check_estimate(text: str, space: Space, settings: Settings) -> None:
    from schedlab.policy.estimates import parse_estimate

    _refuse_code(text, space, settings)
    parse_estimate(text)


def check_observer(text: str, space: Space, settings: Settings) -> None:
    from schedlab.engine.scenario import load_observers

    _refuse_code(text, space, settings)
    load_observers([text])


def check_model(text: str, space: Space) -> None:
    """Words, or a file of a fitted model."""
    from schedlab.generate.store import KINDS, read_model

    if text.partition("(")[0].strip() in KINDS and not (space.folder / text).exists():
        read_model(text)
    else:
        read_model(_file(text, space))


def read_machine(text: str, space: Space) -> Any:
    """The cluster: in words, or of a file that this browser may read."""
    from schedlab.cluster.read import read_cluster

    if MACHINE.fullmatch(text) or not re.search(r"[./]", text):
        return read_cluster(text)
    path = _file(text, space)
    for name in included(path) if path.suffix == ".conf" else ():
        space.path(os.path.relpath(path.parent / name, space.folder))
    return _named(read_cluster, path, space)


def included(path: Path) -> Iterator[str]:
    """Names of the files that a slurm.conf brings in."""
    with path.open(errors="replace") as file:
        for line in file:
            word, *rest = line.partition("#")[0].split(maxsplit=1)[:2] or [""]
            if word.lower() == "include" and rest:
                yield rest[0].strip()


def _named(read: Callable[[Path], Any], path: Path, space: Space) -> Any:
    """Messages call a file as the page does."""
    try:
        return read(path)
    except InputError as error:
        short = error.where.replace(f"{space.folder}/", "")
        raise InputError(error.message.replace(f"{space.folder}/", ""), where=short, hint=error.hint) from None


def _file(name: str, space: Space) -> Path:
    path = space.path(name)
    if not path.is_file():
        raise InputError("is not a file", where=name, hint="choose a file")
    return path


def _refuse_code(text: str, space: Space, settings: Settings) -> None:
    """Files of Python only if they were named at start; other files only of the folder."""
    for piece in _pieces(text):
        place = piece.partition(":")[0].strip() if names_code(piece) else ""
        if place and (space.folder / place).resolve() not in [path.resolve() for path in settings.python]:
            hint = f"start the server with it: schedlab web --allow {place}"
            raise InputError("is code, and was not named when the server was started", where=place, hint=hint)
        looks_outside = piece.startswith(("/", "~")) or ".." in Path(piece).parts or "\\" in piece
        if not place and (looks_outside or (len(piece) < 255 and (space.folder / piece).exists() and piece)):
            space.path(piece)


def _pieces(text: str) -> Iterator[str]:
    """The text, the values of its keys, and every text among its arguments."""
    yield text
    _, colon, rest = text.partition(":")
    for item in split_outside(rest, ",") if colon and not names_code(text) else ():
        value = item.partition("=")[2].strip()
        if value:
            yield from _pieces(value)
    if "(" in text:
        try:
            reference = parse_reference(text, text)
        except InputError:
            return
        for argument in (*reference.positional, *reference.keywords.values()):
            for inner in _texts(argument):
                yield from _pieces(inner)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in (*value, *value.values()):
            yield from _texts(each)
    elif isinstance(value, list | tuple | set):
        for each in value:
            yield from _texts(each)


def _wrong(check: Callable[[], Any]) -> Sequence[InputError]:
    try:
        check()
    except InputError as error:
        return [error]
    return []
