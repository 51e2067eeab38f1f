"""Workflows of simple shapes by name: `chain(tasks=5,cores=1,runtime=3600)`, `fork-join(width=10)`, `widelong`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.plugin_text import canonical, parse_reference, registered_name
from schedlab.model.toml_lines import shown
from schedlab.model.workflow import Task, Workflow
from schedlab.workflow.recipes import wfcommons

MOST_TASKS = 10_000_000


def widelong() -> list[Task]:
    """ScSF's: 480 cores for an hour, then 48 for four."""
    return _stages((480, 3540.0), (48, 14340.0))


def longwide() -> list[Task]:
    """ScSF's: 48 cores for four hours, then 480 for one."""
    return _stages((48, 14340.0), (480, 3540.0))


def chain(tasks: int = 5, cores: int = 1, runtime: float = 3600, limit: float | None = None) -> list[Task]:
    """One after the other."""
    limit = runtime if limit is None else limit
    return [
        Task(f"t{number}", cores, runtime, limit, (f"t{number - 1}",) if number > 1 else ())
        for number in range(1, tasks + 1)
    ]


def fork_join(width: int = 10, cores: int = 1, runtime: float = 3600, limit: float | None = None) -> list[Task]:
    """One, then `width` side by side, then one that waits for all of them."""
    limit = runtime if limit is None else limit
    middle = [Task(f"part{number}", cores, runtime, limit, ("fork",), "part") for number in range(1, width + 1)]
    join = Task("join", cores, runtime, limit, tuple(task.id for task in middle))
    return [Task("fork", cores, runtime, limit), *middle, join]


def diamond(cores: int = 1, runtime: float = 3600, limit: float | None = None) -> list[Task]:
    """One, then two side by side, then one that waits for both."""
    limit = runtime if limit is None else limit
    top, left, right = "top", "left", "right"
    return [
        Task(top, cores, runtime, limit),
        Task(left, cores, runtime, limit, (top,)),
        Task(right, cores, runtime, limit, (top,)),
        Task("bottom", cores, runtime, limit, (left, right)),
    ]


def _stages(*stages: tuple[int, float]) -> list[Task]:
    """One after the other, with limits of a minute more."""
    return [
        Task(f"S{number}", cores, runtime, runtime + 60, (f"S{number - 1}",) if number else ())
        for number, (cores, runtime) in enumerate(stages)
    ]


SHAPES: dict[str, Callable[..., list[Task]]] = {
    "widelong": widelong,
    "longwide": longwide,
    "chain": chain,
    "fork-join": fork_join,
    "diamond": diamond,
    "wfcommons": wfcommons,
}
_COUNTS = ("tasks", "width", "cores")


def is_shape(text: str) -> bool:
    return registered_name(text) in SHAPES


def shape(text: str) -> Workflow:
    """The workflow that a text stands for; its name is the text, without blanks."""
    reference = parse_reference(text, text)
    make = SHAPES[reference.name]
    parameters = inspect.signature(make).parameters
    written = f"it is {reference.name}({', '.join(str(p).split(':')[0] + _default(p) for p in parameters.values())})"
    if reference.positional or not set(reference.keywords) <= set(parameters):
        unknown = [key for key in reference.keywords if key not in parameters]
        what = f"has no '{unknown[0]}'" if unknown else "takes its arguments by name"
        raise InputError(f"the shape {reference.name} {what}", where=text, hint=written)
    for key, value in reference.keywords.items():
        _check(key, value, text, written)
    return Workflow.of(canonical(reference.name, reference.keywords), make(**reference.keywords), text)


def _check(key: str, value: Any, text: str, hint: str) -> None:
    if key in _COUNTS:
        good = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST_TASKS
        expected = f"a whole number from 1 to {MOST_TASKS:,}"
    elif key in ("runtime", "limit"):
        good = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
        expected = "seconds, 0 or more"
    elif key == "seed":
        good, expected = isinstance(value, int) and not isinstance(value, bool) and value >= 0, "a whole number from 0"
    else:
        good, expected = isinstance(value, str), "a text in quotes"
    if not good:
        raise InputError(f"{key} = {shown(value)}: expected {expected}", where=text, hint=hint)


def _default(parameter: inspect.Parameter) -> str:
    return "=runtime" if parameter.default is None else f"={parameter.default!r}"
