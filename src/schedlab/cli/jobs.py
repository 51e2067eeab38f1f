"""The jobs that `schedlab run` is asked to simulate: those of a log, or of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.files.bytestream import plain_name
from schedlab.model.errors import InputError
from schedlab.model.plugin_text import canonical
from schedlab.model.units import parse_duration
from schedlab.model.workload import Workload

if TYPE_CHECKING:  # most runs are of logs: they begin without what makes models
    from schedlab.generate.base import Model

HOW_MANY = "say how many jobs it is to make: --jobs 500, or --span 30d"


def jobs_of(log: str | None, heatmap: str | None, jobs: int | None, span: str | None, seed: int) -> Workload | str:
    """The log, which is read later; or what a model makes: the one that is named, or the applications of a heatmap."""
    if jobs is None and span is None:
        if log is None:
            hint = "name the file of a log; or a model, or --heatmap FILE, and how many jobs: --jobs 500"
            raise InputError("which jobs?", hint=hint)
        if _is_model(log):
            raise InputError("is a model, not a log", where=log, hint=HOW_MANY)
        return log
    from schedlab.generate.base import generate

    length = None if span is None else parse_duration(span, where="--span")
    source = log or heatmap
    name = "generated" if source is None else plain_name(Path(source)).partition(".")[0]
    made = generate(_model(log, heatmap), jobs=jobs, span=length, seed=seed, name=name)
    batches = list(made.batches())
    made.source = lambda: iter(batches)
    made.report.kept = sum(map(len, batches))
    return made


def beside(heatmap: str | None, applications: str) -> list[str]:
    """The observer of --heatmap, if there is one. The file is read here, where its mistakes cost no time."""
    if heatmap is None:
        if applications != "executable":
            raise InputError("needs a heatmap", where="--applications", hint="add --heatmap FILE")
        return []
    from schedlab.heatmap.applications import Applications
    from schedlab.heatmap.read import read_heatmap

    Applications.parse(applications, read_heatmap(heatmap))
    rules = {} if applications == "executable" else {"applications": applications}
    return [canonical("interference", {"heatmap": heatmap, **rules})]


def _model(named: str | None, heatmap: str | None) -> Model:
    from schedlab.generate.store import model_class, read_model

    if named is not None:
        return read_model(named)
    if heatmap is None:
        hint = "name a model, such as lublin(processors=256), or a heatmap of applications: --heatmap FILE"
        raise InputError("jobs of which model?", hint=hint)
    pool: Model = model_class("pool").from_heatmap(heatmap)
    return pool


def _is_model(text: str) -> bool:
    path = Path(text)
    there = path.exists()
    if there and not plain_name(path).endswith((".json", ".toml")):
        return False
    from schedlab.generate.store import KINDS, is_heatmap_file, is_model_file

    if not there:
        return text.partition("(")[0].strip() in KINDS
    return text.endswith(".toml") or is_model_file(text) or is_heatmap_file(text)
