"""What a study has found: one table of its runs, groups of repetitions, comparisons with the baseline."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab.analysis.compare_groups import compare_groups
from schedlab.analysis.study import PARAMETER, StudyRun, merge_repetitions, study_table
from schedlab.analysis.verdict import verdicts
from schedlab.engine.store import read_run
from schedlab.experiment.execute import result_file, run_folder
from schedlab.experiment.ledger import Ledger, Status
from schedlab.experiment.plan import PlannedRun
from schedlab.experiment.study import Point
from schedlab.model.errors import InputError
from schedlab.model.run import Run

if TYPE_CHECKING:
    import polars as pl

METRICS = ("wait.mean", "wait.median", "wait.p95", "bounded_slowdown.mean", "utilisation", "makespan")


class Results:
    """The finished runs of a study's folder."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if not (self.folder / "ledger.sqlite").is_file():
            hint = "schedlab experiment run STUDY.toml makes one"
            raise InputError("is not the folder of a study: it has no ledger", where=str(folder), hint=hint)
        ledger = Ledger(self.folder)
        try:
            self.study = ledger.study()
            self.planned = ledger.planned()
            self.status: Status = ledger.status()
        finally:
            ledger.close()

    @property
    def name(self) -> str:
        return str(self.study.get("name", self.folder.name))

    @property
    def varied(self) -> list[str]:
        """The parameters that tell groups apart."""
        return list(self.study.get("varied", []))

    @property
    def metrics(self) -> list[str]:
        """Those that the study asks for; the usual ones if it asks for none."""
        asked = [metric for metric in self.study.get("metrics", []) if ":" not in metric]
        own = dict.fromkeys(f"metrics.{name}" for result in self.results for name in result["metrics"])
        return [*(asked or METRICS), *own]

    @cached_property
    def results(self) -> list[dict[str, Any]]:
        """The content of the result files, in the order of the plan."""
        paths = [result_file(self.folder, run.identity) for run in self.planned]
        return [json.loads(path.read_text()) for path in paths if path.is_file()]

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per run: parameters, repetition, seed, and every number of its summary."""
        return study_table(self._rows())

    def groups(self, metrics: Sequence[str] | None = None) -> pl.DataFrame:
        """One row per group of repetitions and metric: mean, interval, spread."""
        return merge_repetitions(self.table, metrics)

    def comparisons(self, metrics: Sequence[str] | None = None) -> pl.DataFrame:
        """Every group against the baseline that differs from it in nothing but what the baseline names."""
        import polars as pl

        parts = []
        for table, baseline in self._contexts():
            others = table.filter(pl.col("group") != baseline)
            if len(others) and len(others) < len(table):
                parts.append(compare_groups(table, baseline, metrics or self.metrics))
        return pl.concat(parts) if parts else pl.DataFrame()

    def verdicts(self, metrics: Sequence[str] | None = None) -> list[str]:
        """The comparisons in words."""
        found = self.comparisons(metrics)
        return verdicts(found) if len(found) else []

    def run(self, identity: str) -> Run:
        """A finished run with its tables, if the study keeps them."""
        return read_run(run_folder(self.folder, identity))

    def group_of(self, point: Point) -> str:
        """What to call the runs of a point: the values of what varies."""
        return ", ".join(_shown(name, point[name]) for name in self.varied if name in point) or self.name

    def _rows(self) -> Iterator[StudyRun]:
        for result in self.results:
            point = result["point"]
            yield StudyRun(
                run=result["identity"],
                group=self.group_of(point),
                policy=str(point.get("policy", "")),
                summary=result["summary"] | ({"metrics": result["metrics"]} if result["metrics"] else {}),
                parameters={name: point.get(name) for name in self.varied},
                repetition=result["repetition"],
                seed=result["seed"],
            )

    def _contexts(self) -> Iterator[tuple[pl.DataFrame, str]]:
        """Tables of runs that agree in all that the baseline does not name, and the group that is the baseline."""
        import polars as pl

        named = self.study.get("baseline", {})
        if not named or not len(self.table):
            return
        rest = [PARAMETER + name for name in self.varied if name not in named]
        for _, table in self.table.group_by(rest, maintain_order=True) if rest else [((), self.table)]:
            chosen = table
            for name, value in named.items():
                if PARAMETER + name in table.columns:
                    chosen = chosen.filter(pl.col(PARAMETER + name) == value)
            for baseline in chosen["group"].unique(maintain_order=True).to_list()[:1]:
                yield table, baseline


def open_points(results: Results) -> list[PlannedRun]:
    """Runs of the plan that have no result."""
    there = {result["identity"] for result in results.results}
    return [run for run in results.planned if run.identity not in there]


def _shown(name: str, value: Any) -> str:
    """`easy` speaks for itself, a number does not."""
    if name in ("log", "model", "cluster"):
        return Path(str(value)).name
    return str(value) if isinstance(value, str) else f"{name} {value}"
