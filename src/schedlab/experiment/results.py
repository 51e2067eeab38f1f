"""What a study has found: one table of its runs, groups of repetitions, comparisons with the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab.analysis.beside import improvement
from schedlab.analysis.compare import metric_called, resource_metrics
from schedlab.analysis.compare_groups import compare_groups
from schedlab.analysis.job_ends import Ends, ends_told
from schedlab.analysis.study import (
    PARAMETER,
    StudyRun,
    copies,
    is_timed,
    merge_repetitions,
    metric_columns,
    study_table,
)
from schedlab.analysis.verdict import verdict
from schedlab.engine.store import read_run
from schedlab.experiment.coverage import copies_told, coverage, coverage_of_logs
from schedlab.experiment.execute import selection
from schedlab.experiment.first_workflows import over_first_workflows
from schedlab.experiment.folder import DamagedError, is_study, losses, run_folder
from schedlab.experiment.ledger import Ledger, Status, whole_results
from schedlab.experiment.plan import Part
from schedlab.experiment.short_names import files_in, short_names, with_names
from schedlab.experiment.started import StartedJobs
from schedlab.experiment.study import Point
from schedlab.experiment.workflow_file import workflows_of
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.suggest import did_you_mean
from schedlab.workload.notes import notes_together, run_notes

if TYPE_CHECKING:
    import polars as pl

_SPEAKING = ("log", "model", "cluster", "policy", "heatmap", "workflows", "handling")  # values that need no name
METRICS = ("wait.mean", "wait.median", "wait.p95", "bounded_slowdown.mean", "utilisation", "makespan")
OF_WORKFLOWS = ("workflow.turnaround.median", "workflow.runtime.median", "others.wait.mean")  # before those


@dataclass(frozen=True, slots=True)
class Context:
    """Runs that agree in all that the baseline does not name: its group is their measure. Without one, all runs."""

    name: str  # what they agree in: "pressure 0.8"; empty if nothing else varies
    table: pl.DataFrame
    baseline: str | None
    labels: dict[str, str]  # group -> what tells it from the others here: "easy" of "pressure 0.8, easy"
    started: StartedJobs

    @property
    def compared(self) -> int:
        """Groups that are compared with the baseline."""
        return 0 if self.baseline is None else len(self.labels) - 1

    def comparisons(self, metrics: Sequence[str], of_study: int) -> pl.DataFrame:
        """Every group against the baseline, corrected for all comparisons of the study; empty where there is none."""
        import polars as pl

        if self.baseline is None or not self.compared:
            return pl.DataFrame()
        return compare_groups(self.table, self.baseline, metrics, comparisons=of_study, shared=self.started.shared)

    @property
    def same_started(self) -> bool:
        """Whether all groups started the same jobs, repetition by repetition."""
        return self.started.alike(self.table)

    def said_first(self) -> list[str]:
        """Who did not run under one group and did under the baseline (without one, the first group)."""
        first = self.baseline or next(iter(self.labels))
        ends, jobs = self.started.ends(self.table, first)
        return [
            sentence
            for group, label in self.labels.items()
            if group != first
            for sentence in ends_told(label, self.started.ends(self.table, group)[0], self.labels[first], ends, jobs)
        ]

    def verdict(self, row: Mapping[str, Any]) -> str:
        """A comparison in words, without repeating what all groups agree in."""
        return verdict({**row, "group": self.labels[row["group"]], "baseline": self.labels[row["baseline"]]})


class Results:
    """The finished runs of a study's folder, which is only read. What is damaged is in `warnings`, and left out."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if not is_study(self.folder):
            hint = "schedlab experiment run STUDY.toml makes one"
            raise InputError("is not the folder of a study: it has no ledger", where=str(folder), hint=hint)
        self.warnings: list[str] = []
        with closing(Ledger.to_read(self.folder, self.warnings.append)) as ledger:
            self._whole = dict(whole_results(self.folder, self._left_out))
            ledger.reconcile({identity: result["seconds"]["all"] for identity, result in self._whole.items()})
            self.study = ledger.study()
            self.planned = ledger.planned()
            self.status: Status = ledger.status()
        self._files: dict[str, dict[str, str]] = {}  # parameter -> file -> what it is called

    @property
    def name(self) -> str:
        return str(self.study.get("name", self.folder.name))

    @property
    def varied(self) -> list[str]:
        """The parameters that tell groups apart."""
        return list(self.study.get("varied", []))

    @property
    def metrics(self) -> list[str]:
        """Those that the study asks for; if it asks for none, the usual ones, of workflows first, and how far other
        resources were used."""
        asked = [metric for metric in self._asked if metric not in self.lacking]
        others = [metric.key for metric in resource_metrics([result["summary"] for result in self.results])]
        own = dict.fromkeys(f"metrics.{name}" for result in self.results for name in result["metrics"])
        workflows = OF_WORKFLOWS if any("workflow" in result["summary"] for result in self.results) else ()
        return [*(asked or [*workflows, *METRICS, *others]), *own]

    @property
    def _asked(self) -> list[str]:
        return [metric for metric in self.study.get("metrics", []) if metric_called(metric)]

    @cached_property
    def lacking(self) -> dict[str, str]:
        """Metrics that the study asks for and no finished run has (those of observers are known then), each with a
        sentence about it."""
        there = set(metric_columns(self.table)) if self.results else set(self._asked)
        return {
            metric: f"No run has the metric {metric}. {did_you_mean(metric, there)}".rstrip()
            for metric in self._asked
            if metric not in there
        }

    @cached_property
    def results(self) -> list[dict[str, Any]]:
        """The content of the result files, in the order of the plan, and with its names of files."""
        found = ((run, self._whole.get(run.identity)) for run in self.planned)
        return [result | {"point": run.point} for run, result in found if result is not None]

    def losses(self) -> list[str]:
        """Files of finished runs that are missing or cut off, without reading them: `verify` compares every byte."""
        return [
            f"{run_folder(self.folder, result['identity'])}: {loss}"
            for result in self.results
            for loss in losses(self.folder, result)
        ]

    def _left_out(self, _identity: str, error: DamagedError) -> None:
        self.warnings.append(f"{error.where}: {error.message}: left out; {error.hint}")

    @property
    def part(self) -> str:
        """`part 1/2: 30 of the study's 60 runs`, as long as the others are elsewhere; else nothing."""
        if not (text := self.study.get("part")):
            return ""
        own = Part.parse(text).of_plan(self.planned)
        elsewhere = {run.identity for run in self.planned} - {run.identity for run in own}
        if elsewhere <= {result["identity"] for result in self.results}:
            return ""
        return f"part {text}: {len(own):,} of the study's {len(self.planned):,} runs"

    @property
    def runs_of_others(self) -> int:
        """Finished runs in the folder that are not of this plan: of another study, or of this one before a change."""
        return len(self._whole.keys() - {run.identity for run in self.planned})

    @cached_property
    def table(self) -> pl.DataFrame:
        """One row per run: parameters, repetition, seed, and every number of its summary; those of workflows over as
        many of them as finished under each handling."""
        results = {result["identity"]: result for result in self.results}

        def workflows(identity: str) -> pl.DataFrame | None:
            return workflows_of(self.folder, results[identity], selection(self.study))

        return over_first_workflows(self._improved(study_table(self._rows())), workflows)

    def _improved(self, table: pl.DataFrame) -> pl.DataFrame:
        """With how much better makespans are than that of the baseline's run of the same repetition."""
        import polars as pl

        named = self.study.get("baseline", {})
        asked = any(metric.startswith("improvement.") for metric in self._asked)
        if not named or not (asked or "speedup.mean" in table.columns):
            return table
        points = {run.identity: run.point for run in self.planned}
        rest = [name for name in self.varied if name not in named]
        makespans: dict[tuple[Any, ...], float] = {}
        keys = []
        for run, repetition, makespan in table.select("run", "repetition", "makespan").iter_rows():
            point = points[run]
            keys.append((repetition, *(point.get(name) for name in rest)))
            if all(point.get(name) == value for name, value in named.items()):
                makespans[keys[-1]] = makespan
        found = [improvement(own, makespans.get(key)) for own, key in zip(table["makespan"], keys, strict=True)]
        return table.with_columns(
            pl.Series(f"improvement.{name}", [each[name] for each in found], pl.Float64)
            for name in ("faster", "shorter")
        )

    def groups(self, metrics: Sequence[str] | None = None) -> pl.DataFrame:
        """One row per group of repetitions and metric: mean, interval, spread."""
        return merge_repetitions(self.table, metrics)

    def comparisons(self, metrics: Sequence[str] | None = None) -> pl.DataFrame:
        """Every group against the baseline that differs from it in nothing but what the baseline names."""
        import polars as pl

        found = [table for _, table in self.compared(metrics)]
        return pl.concat([one for one in found if len(one)] or [pl.DataFrame()])

    def said_first(self) -> list[str]:
        """Jobs that were refused, killed, requeued … by reason, where groups differ: before any mean is compared."""
        return [
            f"{context.name}: {sentence}" if context.name else sentence
            for context in self.contexts()
            for sentence in context.said_first()
        ]

    def compared(self, metrics: Sequence[str] | None = None) -> list[tuple[Context, pl.DataFrame]]:
        """The comparisons of each context, corrected for those of all metrics of the study, whichever are shown.

        Metrics of schedules are one family of comparisons, those of what executing them costs another.
        """
        import polars as pl

        contexts, wanted = self.contexts(), metrics or self.metrics
        every = dict.fromkeys([*self.metrics, *wanted])
        groups = sum(context.compared for context in contexts)
        found: list[tuple[Context, pl.DataFrame]] = []
        for context in contexts:
            tables = []
            for timed in (False, True):
                own = [metric for metric in wanted if is_timed(metric) == timed]
                if own:
                    family = sum(is_timed(metric) == timed for metric in every)
                    tables.append(context.comparisons(own, family * groups))
            found.append((context, pl.concat(tables)))
        return found

    @property
    def number_of_comparisons(self) -> int:
        """Of all metrics of the study."""
        return len(self.metrics) * sum(context.compared for context in self.contexts())

    def verdicts(self, metrics: Sequence[str] | None = None) -> list[str]:
        """The comparisons in words."""
        return [
            f"{context.name}: {context.verdict(row)}" if context.name else context.verdict(row)
            for context, table in self.compared(metrics)
            for row in table.iter_rows(named=True)
        ]

    @cached_property
    def ends(self) -> dict[str, Ends]:
        """What became of the jobs of each group that did not simply run to the end: means over its runs."""
        groups = self.table["group"].unique(maintain_order=True)
        return {group: self._started.ends(self.table, group)[0] for group in groups}

    def coverage(self) -> list[str]:
        """What the intervals cover and what they do not."""
        repetitions, points = self.study.get("repetitions", 1), [run.point for run in self.planned]
        models = dict.fromkeys(point["model"] for point in points if "model" in point)
        groups = self.table["group"].n_unique() if self.results else 0
        drawn = len(copies(self.table)) < groups if groups else True  # whether anything differs between repetitions
        return [*coverage(models, repetitions), *(coverage_of_logs(points, repetitions) if drawn else [])]

    @cached_property
    def copies(self) -> str:
        """A sentence where repetitions are the same schedule, of which one counts; else nothing."""
        return copies_told(self.table, costs=any(map(is_timed, self.metrics)))

    def notes(self) -> list[str]:
        """What reading the logs met; what jobs ask for and did not count in some runs."""
        several = len({one["workload"] for one in self.results}) > 1
        said = (
            (
                one["workload"] if several else self.group_of(one["point"]),
                run_notes(one, one["cluster"], str(one["point"].get("requests", "auto"))),
            )
            for one in self.results
        )
        return [*self.warnings, *notes_together(list(said))]

    def contexts(self) -> list[Context]:
        """What can be compared with each other, in the order of the plan; nothing if no run is finished."""
        named = self.study.get("baseline", {})
        rest = [PARAMETER + name for name in self.varied if name not in named] if named else []
        if not len(self.table):
            return []
        if not rest:
            return [self._context(self.table)]
        return [self._context(table) for _, table in self.table.group_by(rest, maintain_order=True)]

    def run(self, identity: str) -> Run:
        """A finished run with its tables, if the study keeps them."""
        return read_run(run_folder(self.folder, identity))

    def group_of(self, point: Point) -> str:
        """What to call the runs of a point: the values of what varies; if nothing does, those that have a name."""
        named = [name for name in point if self.called(name, point[name]) is not point[name]]
        return self.words(self.varied or named, point) or self.name

    def called(self, name: str, value: Any) -> Any:
        """A value of a parameter, or the name that the study gives it."""
        return self.study.get("names", {}).get(name, {}).get(str(value), value)

    def short(self, name: str, value: Any) -> str:
        """The same as a text; files without their folders."""
        called = self.called(name, value)
        return self.without_folders(name, str(value)) if called is value else str(called)

    def without_folders(self, name: str, text: str) -> str:
        """The text of a value, or a part of it; files of one name keep as many folders as tell them apart."""
        if name not in self._files:
            values = dict.fromkeys(str(run.point[name]) for run in self.planned if name in run.point)
            self._files[name] = short_names(path for value in values for path in files_in(name, value))
        return with_names(name, text, self._files[name])

    @cached_property
    def _started(self) -> StartedJobs:
        return StartedJobs(self.results, self.run, selection(self.study))

    def _rows(self) -> Iterator[StudyRun]:
        for result in self.results:
            point = result["point"]
            yield StudyRun(
                run=result["identity"],
                group=self.group_of(point),
                policy=self.short("policy", point.get("policy", "")),
                summary=result["summary"]
                | ({"metrics": result["metrics"]} if result["metrics"] else {})
                | ({"performance": costs} if (costs := self._performance(result)) else {}),
                parameters={name: self.called(name, point.get(name)) for name in self.varied},
                repetition=result["repetition"],
                seed=result["seed"],
            )

    def _performance(self, result: Mapping[str, Any]) -> dict[str, float | None]:
        """What the study asks for of it, and nothing else: it is different whenever a run is executed."""
        asked = [metric.partition(".")[2] for metric in self.study.get("metrics", []) if is_timed(metric)]
        found = result.get("performance") or {}
        return {name: found.get(name) for name in asked}

    def _context(self, table: pl.DataFrame) -> Context:
        named: Point = self.study.get("baseline", {})
        points = {run.identity: run.point for run in self.planned}
        of_group = {group: points[run] for group, run in table.select("group", "run").iter_rows()}
        matches = [group for group, point in of_group.items() if all(point.get(n) == v for n, v in named.items())]
        shared = [name for name in self.varied if named and name not in named]
        return Context(
            name=self.words(shared, next(iter(of_group.values()))),
            table=table,
            baseline=matches[0] if named and matches else None,
            started=self._started,
            labels={g: self.words([n for n in self.varied if n not in shared], p) or g for g, p in of_group.items()},
        )

    def words(self, names: Sequence[str], point: Point) -> str:
        """The values of these parameters: `load 0.8, easy`."""
        return ", ".join(self._shown(name, point[name]) for name in names if name in point)

    def _shown(self, name: str, value: Any) -> str:
        """`easy` and a file speak for themselves, a number does not."""
        alone = name in _SPEAKING or self.called(name, value) is not value
        return self.short(name, value) if alone else f"{name} {self.short(name, value)}"
