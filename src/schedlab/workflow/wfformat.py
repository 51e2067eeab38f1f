"""WfFormat, the JSON of WfCommons: 1.5 (specification and execution apart), and the layouts before it (in one list)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.mistakes import Mistakes
from schedlab.model.workflow import Task, Workflow
from schedlab.workflow.files import file_stem, named_ids, transfers, workflow_of
from schedlab.workflow.json_table import JsonTable

_NUMBER = re.compile(r"_(?:ID)?[0-9]+$")


@dataclass
class _Entry:
    """A task as it is written: the table of what it is, and that of how it ran (the same one before 1.5)."""

    id: str
    specified: JsonTable
    ran: JsonTable
    inputs: list[str]
    outputs: list[str]
    after: list[str] = field(default_factory=list)


def from_document(data: Mapping[str, Any], where: str, negative_as_zero: bool = False) -> Workflow:
    mistakes = Mistakes()
    workflow = JsonTable(data, "", where, mistakes).table("workflow")
    sizes: dict[str, float] = {}
    entries = (_apart if "specification" in workflow.data else _together)(workflow, sizes)
    mistakes.raise_all()
    _name_parents(entries)
    runtimes = [_runtime(entry) for entry in entries]
    cores = [entry.ran.cores(entry.ran.first("coreCount", "cores")) for entry in entries]
    mistakes.raise_all()
    _refuse_unknown_runtimes(entries, runtimes, where)
    data_of = transfers([(each.id, each.inputs, each.outputs, each.after) for each in entries], sizes)
    tasks = [
        Task(entry.id, count, runtime or 0.0, runtime or 0.0, tuple(entry.after), name, given)
        for entry, count, runtime, name, given in zip(entries, cores, runtimes, _names(entries), data_of, strict=True)
    ]
    # Names inside are not told apart: two different mosaics are called montage-0.
    return workflow_of(file_stem(where), tasks, where, negative_as_zero)


def _apart(workflow: JsonTable, sizes: dict[str, float]) -> list[_Entry]:
    """1.5: what a task is in `specification`, how it ran in `execution`, by ids."""
    specified = workflow.table("specification")
    execution = workflow.table("execution")
    ran = {table.text("id"): table for table in execution.tables("tasks")}
    for file in specified.tables("files"):
        sizes[file.text("id")] = file.number("sizeInBytes") or 0.0
    found = []
    for task in specified.tables("tasks"):
        id = task.text(task.first("id", "name"))
        nothing = JsonTable({}, "workflow.execution.tasks", task.where, task.mistakes)
        how = ran.get(id, nothing)
        found.append(_Entry(id, task, how, task.texts("inputFiles"), task.texts("outputFiles"), task.texts("parents")))
    return found


def _together(workflow: JsonTable, sizes: dict[str, float]) -> list[_Entry]:
    """1.4 and before: one list of tasks (`jobs` before 1.2), each with its files."""
    found = []
    for task in workflow.tables(workflow.first("jobs", "tasks")):
        files: dict[str, list[str]] = {"input": [], "output": []}
        for file in task.tables("files"):
            name = file.text(file.first("id", "name"))
            sizes[name] = file.number(file.first("sizeInBytes", "size")) or 0.0
            if (link := file.text("link")) in files:
                files[link].append(name)
        id = task.text(task.first("id", "name"))
        found.append(_Entry(id, task, task, files["input"], files["output"], task.texts("parents")))
    return found


def _name_parents(entries: Iterable[_Entry]) -> None:
    """Parents by their ids: some files write the names instead. One that is named twice is meant once."""
    entries = list(entries)
    ids = {entry.id for entry in entries}
    names: dict[str, str] = {}
    for entry in entries:
        names.setdefault(entry.specified.text("name"), entry.id)
    for entry in entries:
        known = (parent if parent in ids else names.get(parent, parent) for parent in entry.after)
        entry.after = list(dict.fromkeys(known))


def _runtime(entry: _Entry) -> float | None:
    return entry.ran.number(entry.ran.first("runtimeInSeconds", "runtime"))


def _refuse_unknown_runtimes(entries: Sequence[_Entry], runtimes: Sequence[float | None], where: str) -> None:
    unknown = [entry.id for entry, runtime in zip(entries, runtimes, strict=True) if runtime is None]
    if unknown:
        hint = "a workflow that has been run says runtimeInSeconds of each task under workflow.execution"
        raise InputError(f"no run time is known of {named_ids(unknown)}", where=where, hint=hint)


def _names(entries: Sequence[_Entry]) -> list[str]:
    """What the tasks do: their category, or the coarser of their name without its number and their program."""
    plain, programs = [], []
    for entry in entries:
        category, name = (entry.specified.data.get(key) for key in ("category", "name"))
        kind = category if isinstance(category, str) and category else name
        plain.append(_NUMBER.sub("", str(kind or entry.id)))
        command = entry.ran.data.get("command")
        program = command.get("program") if isinstance(command, dict) else None
        words = program.split() if isinstance(program, str) else []  # some files have whole scripts there
        programs.append(PurePosixPath(words[0]).name if len(words) == 1 else "")
    return programs if all(programs) and len(set(programs)) < len(set(plain)) else plain
