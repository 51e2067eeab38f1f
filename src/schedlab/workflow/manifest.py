"""Manifests of ScSF: of its repository (`number_of_cores`, `dot_dag`), and of its paper (`cores`, `deps`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from schedlab.model.errors import InputError
from schedlab.model.mistakes import Mistakes, printable
from schedlab.model.workflow import Task, Workflow
from schedlab.workflow.dot import edges_of
from schedlab.workflow.files import file_stem, named_ids, workflow_of
from schedlab.workflow.json_table import JsonTable


def from_document(data: Mapping[str, Any], where: str, negative_as_zero: bool = False) -> Workflow:
    """What it states of its width and limit is compared with its tasks: a difference is a note, not an error."""
    mistakes = Mistakes()
    document = JsonTable(data, "", where, mistakes)
    tables = list(document.tables("tasks"))
    ids = [table.text(table.first("id", "name")) for table in tables]
    after: dict[str, dict[str, None]] = {id: {} for id in ids}
    for table, id in zip(tables, ids, strict=True):
        after[id].update(dict.fromkeys(table.texts("deps")))
    _add_edges(document, after, mistakes)
    tasks = [_task(table, id, tuple(after[id])) for table, id in zip(tables, ids, strict=True)]
    stated = {key: document.number(key) for key in ("max_cores", "total_runtime")}
    mistakes.raise_all()
    unknown = [task.id for task in tasks if math.isnan(task.runtime)]
    if unknown:
        hint = "a task has runtime_sim or runtime_limit, or rtime"
        raise InputError(f"no run time is known of {named_ids(unknown)}", where=where, hint=hint)
    workflow = workflow_of(file_stem(where), tasks, where, negative_as_zero)
    return replace(workflow, notes=workflow.notes + _notes(workflow, stated["max_cores"], stated["total_runtime"]))


def _add_edges(document: JsonTable, after: dict[str, dict[str, None]], mistakes: Mistakes) -> None:
    text = document.text("dot_dag", "a graph of DOT, digraph { a -> b; … }")
    where = f"{document.where}, dot_dag"
    try:
        edges = edges_of(text, where) if text else []
    except InputError as error:
        mistakes.put(error, document.where)
        return
    for parent, child in edges:
        if child in after:
            after[child].setdefault(parent)
        else:
            mistakes.at(where, 0, f"the edge {_edge(parent, child)} ends at a task that does not exist")


def _task(table: JsonTable, id: str, after: tuple[str, ...]) -> Task:
    """`rtime` is both: what it takes and its limit."""
    limit = table.number(table.first("runtime_limit", "rtime"))
    runtime = table.number(table.first("runtime_sim", "rtime"))
    runtime = limit if runtime is None else runtime
    runtime = math.nan if runtime is None else runtime
    name = table.text("name")
    cores = table.cores(table.first("number_of_cores", "cores"))
    return Task(id, cores, runtime, runtime if limit is None else limit, after, "" if name == id else name)


def _notes(workflow: Workflow, cores: float | None, seconds: float | None) -> tuple[str, ...]:
    found = []
    if cores is not None and cores != workflow.width:
        found.append(f"max_cores is {cores:g} in the file, its tasks use {workflow.width:,} at once")
    near = (workflow.critical_path, workflow.limit)  # the manifests count either
    if seconds is not None and not any(math.isclose(seconds, each, rel_tol=1e-6) for each in near):
        ways = f"{workflow.critical_path:g} s by their run times, {workflow.limit:g} s by their limits"
        found.append(f"total_runtime is {seconds:g} s in the file, its tasks take {ways}")
    if overrun := [task.id for task in workflow.tasks if task.runtime > task.limit]:
        found.append(f"the run time is longer than the limit of {named_ids(overrun)}")
    return tuple(found)


def _edge(parent: str, child: str) -> str:
    return f"{printable(parent, 60)} -> {printable(child, 60)}"
