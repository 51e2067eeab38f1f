"""The jobs that `schedlab run` is asked to simulate: those of a log, or of a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.files.bytestream import plain_name
from schedlab.model.errors import InputError
from schedlab.model.plugin_text import canonical
from schedlab.model.units import parse_duration
from schedlab.model.workload import JobBatch, Workload

if TYPE_CHECKING:  # most runs are of logs: they begin without what makes models
    from schedlab.generate.base import Model
    from schedlab.generate.workflows import Arrivals
    from schedlab.model.cluster import Cluster

KEPT_JOBS = 2_000_000
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PutIn:
    """What the options say that is put into the jobs: workflows, or what a pattern of one's own says."""

    workflows: str | None = None
    handling: str | None = None
    period: str | None = None
    share: str | None = None
    inject: str | None = None

    def check(self, log: str | None) -> None:
        """Looks at everything that can be wrong, before a log is read."""
        if self.inject is not None and self.workflows is not None:
            raise InputError("does not go with --workflows", where="--inject", hint="leave out one of them")
        if self.inject is not None:
            from schedlab.model.plugins import load

            load("pattern", self.inject)
        for name in ("period", "share") if self.workflows is None else ():
            if getattr(self, name) is not None:
                raise InputError("of which workflows?", where=f"--{name}", hint="add --workflows montage.json")
        if self.workflows is not None and log is not None:
            self._arrivals()

    def alone(self, log: str | None, heatmap: str | None) -> Workload | None:
        """A workflow by itself: named in the place of the log, or without any."""
        if self.workflows is None and self.handling is None:
            return None
        from schedlab.generate.arrivals import HANDLING, only_workflows

        if self.workflows is None and self.handling is not None and log is not None:
            return _counted(only_workflows(log, self.handling, "--handling"))
        if self.workflows is not None and (log or heatmap) is None:
            return _counted(only_workflows(self.workflows, self.handling or HANDLING, "--workflows"))
        return None

    def apply(self, jobs: Workload, seed: int, *, make_room: bool = False) -> Workload:
        if self.inject is not None:
            from schedlab.generate.pattern import with_pattern

            return _counted(with_pattern(jobs, self.inject, seed))
        if self.workflows is None or jobs.workflows is not None:
            return jobs
        from schedlab.generate.workflows import with_workflows

        return _counted(with_workflows(jobs, self._arrivals(), seed=seed, make_room=make_room))

    def _arrivals(self) -> Arrivals:
        from schedlab.generate.arrivals import HANDLING, parse_arrivals

        assert self.workflows is not None
        return parse_arrivals(self.workflows, self.handling or HANDLING, self.period, self.share, "--workflows")


def too_wide(workload: Workload, cluster: Cluster) -> Iterator[str]:
    """Which workflows have jobs that are refused, and what would help."""
    for kind in workload.workflows.kinds if workload.workflows is not None else ():
        widest, task = (max(each.cores for each in some) for some in (kind.jobs, kind.workflow.tasks))
        if widest > cluster.cores:
            said = f"{kind.workflow.name}: its widest job has {widest:,} cores, the cluster {cluster.cores:,}"
            method = next((each for each in ("pilot", "clustered(levels") if kind.handling.startswith(each)), "")
            narrower = f"{method}{',' if '(' in method else '('}cores={cluster.cores})"
            helps = bool(method) and task <= cluster.cores
            yield f"{said}; --handling '{narrower}' plans its tasks on fewer" if helps else said


def _counted(jobs: Workload) -> Workload:
    """The same jobs, all of them seen: how many there are is known before the run. Not too many stay in memory."""
    kept: list[JobBatch] = []
    number = 0
    for batch in jobs.batches():
        number += len(batch)
        if number <= KEPT_JOBS:
            kept.append(batch)
    if number <= KEPT_JOBS:
        jobs.source = lambda: iter(kept)
    return jobs


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
