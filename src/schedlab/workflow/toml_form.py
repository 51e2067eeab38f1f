"""schedlab's own form: one or several workflows in a TOML file, each a table with its tasks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from schedlab.files.whole_file import whole_file
from schedlab.model.errors import InputError, InputErrors
from schedlab.model.toml_fields import Field, ListOf, TableOf, number, read_fields, text, whole
from schedlab.model.toml_lines import TomlMistakes, load_toml, shown
from schedlab.model.units import LARGEST_AMOUNT
from schedlab.model.workflow import Task, Workflow

_EXAMPLE = '[mine] with tasks = [{ id = "a", cores = 4, runtime = 60 }, { id = "b", runtime = 5, after = ["a"] }]'
_SECONDS = "seconds, 0 or more"
_FIELDS = {
    "id": Field(text(r"(?s).+"), "a text of its own", required=True),
    "cores": Field(whole(1, LARGEST_AMOUNT), "a whole number of at least 1"),
    "runtime": Field(number, _SECONDS, required=True),
    "limit": Field(number, _SECONDS),
    "after": ListOf(text(), "a list of the ids of tasks"),
    "name": Field(text(), "a text: what it does"),
    "data": TableOf(number, 'bytes from each task that it comes after, such as { a = 1000, "b.1" = 20 }'),
}


def from_text(content: str, where: str) -> list[Workflow]:
    """All workflows of a file, in its order."""
    data, mistakes = load_toml(content, where, hint=_EXAMPLE)
    if not data:
        raise InputError("there is no workflow in this file", where=where, hint=_EXAMPLE)

    def place(*path: str | int) -> str:
        return f"{where}:{mistakes.lines.line(path)}"

    found: list[Workflow] = []
    wrong: list[InputError] = []
    for name, table in data.items():
        tasks = _tasks(name, table, mistakes)
        if mistakes:
            continue
        try:
            found.append(Workflow.of(name, tasks, where, partial(place, name, "tasks")))
        except InputErrors as errors:
            wrong += errors.errors
        except InputError as error:
            wrong.append(InputError(error.message, where=place(name), hint=error.hint))
    mistakes.raise_all()
    if wrong:
        raise InputErrors(wrong)
    return found


def _tasks(name: str, table: Any, mistakes: TomlMistakes) -> list[Task]:
    if not isinstance(table, dict):
        mistakes.add((name,), f"{name} = {shown(table)}: expected the table of a workflow", _EXAMPLE)
        return []
    mistakes.check_keys((name,), table, ("tasks",), "a workflow has tasks")
    rows = table.get("tasks")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        mistakes.add((name, "tasks"), f"the workflow {name} has no list of tasks", _EXAMPLE)
        return []
    read = [read_fields(row, _FIELDS, (name, "tasks", number), "task", mistakes) for number, row in enumerate(rows)]
    tasks = [_task(values) for values in read if values is not None]
    for place, task in enumerate(tasks):
        if not mistakes and not set(task.data) <= set(task.after):
            other = next(id for id in task.data if id not in task.after)
            message = f"task {task.id} takes data from {other}, which it does not come after"
            mistakes.add((name, "tasks", place, "data"), message, "name it in 'after', too")
    return tasks


def _task(values: dict[str, Any]) -> Task:
    return Task(
        id=values["id"],
        cores=values.get("cores", 1),
        runtime=values["runtime"],
        limit=values.get("limit", values["runtime"]),
        after=tuple(values.get("after", ())),
        name=values.get("name", ""),
        data=values.get("data", {}),
    )


def write_workflows(path: Path, workflows: Sequence[Workflow], remark: str = "") -> None:
    """Whole, or not at all; read again they are the same."""
    with whole_file(path) as file:
        file.write("\n".join(_lines(workflows, remark)).encode() + b"\n")


def _lines(workflows: Sequence[Workflow], remark: str) -> Iterator[str]:
    yield from (f"# {line}".rstrip() for line in remark.splitlines())
    for place, workflow in enumerate(workflows):
        yield from ([""] if place or remark else []) + [f"[{_key(workflow.name)}]", "tasks = ["]
        for task in workflow.tasks:
            yield f"  {_written(task)},"
        yield "]"


def _written(task: Task) -> str:
    pairs: dict[str, Any] = {"id": task.id, "cores": task.cores, "runtime": task.runtime, "limit": task.limit}
    if task.name:
        pairs["name"] = task.name
    if task.after:
        pairs["after"] = list(task.after)
    values = [f"{key} = {_value(value)}" for key, value in pairs.items()]
    if task.data:
        values.append(f"data = {{ {', '.join(f'{_key(id)} = {_value(size)}' for id, size in task.data.items())} }}")
    return f"{{ {', '.join(values)} }}"


def _value(value: Any) -> str:
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _value(name)
