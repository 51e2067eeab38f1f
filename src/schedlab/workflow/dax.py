"""DAX, the XML of Pegasus and of its workflow generator: jobs with the files that they use, children and parents."""

from __future__ import annotations

import math
from pathlib import Path

from schedlab.files.xml_tree import Element, read_xml
from schedlab.model.errors import InputError
from schedlab.model.mistakes import Mistakes, printable
from schedlab.model.workflow import Task, Workflow
from schedlab.workflow.files import file_stem, transfers, workflow_of


def read_dax(path: Path, negative_as_zero: bool = False) -> Workflow:
    where = str(path)
    root = read_xml(path)
    if _tag(root) != "adag":
        raise InputError(f"is XML of <{printable(root.tag, 60)}>, expected a workflow <adag>", where=where)
    mistakes = Mistakes()
    jobs = [element for element in root.children if _tag(element) == "job"]
    ids = [_attribute(job, "id", where, mistakes) for job in jobs]
    after: dict[str, dict[str, None]] = {id: {} for id in ids}
    for child in root.children:
        if _tag(child) == "child":
            _add_parents(child, after, where, mistakes)
    sizes: dict[str, float] = {}
    used = [_uses(job, sizes, where, mistakes) for job in jobs]
    runtimes = [_number(job, "runtime", where, mistakes) for job in jobs]
    cores = [_cores(job, where, mistakes) for job in jobs]
    mistakes.raise_all()
    given = transfers([(id, *files, list(after[id])) for id, files in zip(ids, used, strict=True)], sizes)
    tasks = [
        Task(id, count, runtime, runtime, tuple(after[id]), job.attributes.get("name", ""), data)
        for id, count, runtime, job, data in zip(ids, cores, runtimes, jobs, given, strict=True)
    ]
    # The name inside is "test" in every file of the generator.
    lines = [f"{where}, line {job.line}" for job in jobs]
    return workflow_of(file_stem(where), tasks, where, negative_as_zero, lines.__getitem__)


def _cores(job: Element, where: str, mistakes: Mistakes) -> int:
    """`cores`, or `num_procs` as Batsim's users write it."""
    name = next((name for name in ("cores", "num_procs") if name in job.attributes), None)
    return 1 if name is None else math.ceil(_number(job, name, where, mistakes))


def _add_parents(child: Element, after: dict[str, dict[str, None]], where: str, mistakes: Mistakes) -> None:
    """One that is named twice is meant once."""
    ref = _attribute(child, "ref", where, mistakes)
    if ref not in after:
        mistakes.at(where, child.line, f"<child ref={printable(repr(ref), 60)}>: there is no job of that id")
        return
    for parent in child.children:
        if _tag(parent) != "parent":
            continue
        after[ref].setdefault(_attribute(parent, "ref", where, mistakes))


def _uses(job: Element, sizes: dict[str, float], where: str, mistakes: Mistakes) -> tuple[list[str], list[str]]:
    """The files that a job takes, and those that it makes."""
    files: dict[str, list[str]] = {"input": [], "output": []}
    for use in job.children:
        name = use.attributes.get("file") or use.attributes.get("name")
        if _tag(use) != "uses" or name is None:
            continue
        if "size" in use.attributes:
            sizes[name] = _number(use, "size", where, mistakes)
        links = ("input", "output") if use.attributes.get("link") == "inout" else (use.attributes.get("link", ""),)
        for link in links:
            files.setdefault(link, []).append(name)
    return files["input"], files["output"]


def _tag(element: Element) -> str:
    return element.tag.rpartition(":")[2]


def _attribute(element: Element, key: str, where: str, mistakes: Mistakes) -> str:
    if not element.attributes.get(key):
        mistakes.at(where, element.line, f'<{_tag(element)}> has no {key}="…"')
    return element.attributes.get(key, "")


def _number(element: Element, key: str, where: str, mistakes: Mistakes) -> float:
    """With a decimal point, or the comma that some generators write."""
    text = element.attributes.get(key)
    try:
        value = math.nan if text is None else float(text.replace(",", "."))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        id = element.attributes.get("id", "")
        of = f" of {printable(id, 60)}" if id else ""
        given = "is missing" if text is None else f"= {printable(repr(text), 60)}: expected a number"
        mistakes.at(where, element.line, f"{key}{of} {given}")
        return 0.0
    return value
