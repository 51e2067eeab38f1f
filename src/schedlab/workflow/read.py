"""`read_workflow`: WfFormat, DAX, manifests of ScSF, our own TOML, jobs that wait for each other, or a shape."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from schedlab.files.bytestream import plain_name, text_of
from schedlab.files.formats import Format, recognise
from schedlab.files.json_text import json_of
from schedlab.model.arguments import as_path
from schedlab.model.errors import InputError
from schedlab.model.suggest import did_you_mean
from schedlab.model.workflow import Workflow
from schedlab.workflow import dax, manifest, toml_form, wfformat
from schedlab.workflow.shapes import is_shape, shape

_ROOM = "schedlab.workflow"
FORMATS: tuple[Format[Workflow], ...] = (
    Format("wfformat", "WfFormat 1.5 and before (JSON of WfCommons)", _ROOM, "wfformat.from_document"),
    Format("dax", "DAX (XML of Pegasus)", _ROOM, "dax.read_dax"),
    Format("scsf", "manifests of ScSF (JSON)", _ROOM, "manifest.from_document"),
    Format(
        *("toml", "schedlab's own, one workflow or several", _ROOM),
        *("toml_form.from_text", "toml_form.write_workflows"),
        endings=(".toml",),
    ),
    Format("sbatch", "shell scripts with sbatch --dependency", _ROOM, "script.from_text"),
    Format("log", "logs whose jobs wait for each other (Slurm: sbatch lines, sacct)", _ROOM, "chains.read_chains"),
)
NegativeTimes: TypeAlias = Literal["fail", "zero"]

_KINDS = (
    "a workflow is WfFormat (JSON), DAX (XML), a manifest of ScSF (JSON), TOML with the tasks of each, a script with "
    "sbatch --dependency, or a log of jobs that wait for each other"
)
_NAMED = re.compile(r"(.+):([^:/]+)")


def read_workflow(path: str | os.PathLike[str], negative_times: NegativeTimes = "fail") -> Workflow:
    """The workflow of a file (compressed or not; what kind it is, its content says), or the one of several that
    `FILE.toml:NAME` names, of a log `FILE:JOB`; or a shape: `chain(tasks=5)`. Negative run times are refused, or count
    as 0 ("zero")."""
    found = read_workflows(path, negative_times)
    if len(found) > 1:
        names = [_choice(workflow, os.fspath(path)) for workflow in found]
        hint = f"say which: {path}:{names[0].partition(' ')[0]}; there are {_listed(names)}"
        raise InputError(f"has {len(found):,} workflows", where=str(path), hint=hint)
    return found[0]


def read_workflows(path: str | os.PathLike[str], negative_times: NegativeTimes = "fail") -> list[Workflow]:
    """All workflows of a file, of which only TOML and logs have several."""
    text = os.fspath(as_path(path, "the name of a workflow", _KINDS))
    if is_shape(text):
        return [shape(text)]
    named = None if Path(text).exists() else _NAMED.fullmatch(text)
    if named is None or not (_is_toml(named[1]) or Path(named[1]).is_file()):
        with _without_collector():
            return _of_file(Path(text), negative_times == "zero")
    file, name = named.groups()
    with _without_collector():
        found = _of_file(Path(file), negative_times == "zero")
    chosen = [each for each in found if each.name == name or (not _is_toml(file) and name in each.position)]
    if not chosen:
        names = [_choice(workflow, file) for workflow in found]
        hint = did_you_mean(name, names, f"there are {_listed(names)}")
        raise InputError(f"there is no workflow '{name}'", where=file, hint=hint)
    return chosen


def _is_toml(file: str) -> bool:
    return plain_name(Path(file)).endswith(".toml")


def _choice(workflow: Workflow, file: str) -> str:
    """What one of several is chosen by: its name, or in a log its first job."""
    return workflow.name if _is_toml(file) else f"{workflow.tasks[0].id} ({len(workflow):,} jobs)"


@contextmanager
def _without_collector() -> Iterator[None]:
    """Reading makes many objects and hardly any garbage: looking for some would take as long as the reading."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _of_file(path: Path, negative_as_zero: bool) -> list[Workflow]:
    where = str(path)
    if not path.exists() and not path.suffix:
        from schedlab.workflow.shapes import SHAPES

        hint = did_you_mean(where.partition("(")[0], SHAPES, f"shapes: {', '.join(SHAPES)}")
        raise InputError("there is no such file, and no such shape", where=where, hint=hint)
    text = text_of(path)
    if plain_name(path).endswith(".toml"):
        return toml_form.from_text(text, where)
    if text.lstrip().startswith("<"):
        return [dax.read_dax(path, negative_as_zero)]
    if not text.lstrip().startswith("{"):
        return _of_jobs(path, text)
    data = json_of(text, where)
    if "workflow" in data:
        return [wfformat.from_document(data, where, negative_as_zero)]
    if "tasks" in data:
        return [manifest.from_document(data, where, negative_as_zero)]
    raise InputError("there is no workflow in this JSON", where=where, hint=_KINDS)


def _of_jobs(path: Path, text: str) -> list[Workflow]:
    from schedlab.workflow.chains import read_chains
    from schedlab.workflow.script import from_text, looks_like
    from schedlab.workload.formats import FORMATS as LOGS

    if recognise(path, LOGS):
        return read_chains(path)
    if looks_like(text):
        return [from_text(text, path)]
    raise InputError("there is no workflow in this file", where=str(path), hint=_KINDS)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:30]) + (f" and {len(names) - 30:,} more" if len(names) > 30 else "")
