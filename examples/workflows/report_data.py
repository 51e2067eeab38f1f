"""What report.py works with: a row for each run of a study, and means with intervals over repetitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from schedlab.analysis.interval import Interval, student_interval
from schedlab.analysis.repetitions import ratio, ratio_interval
from schedlab.experiment.results import Results

METHODS = ("pilot", "chained", "aware")
OF_RUNS = {  # column -> metric of the study's table, in which those of workflows are over the first n
    "runtime": "workflow.runtime.median",
    "turnaround": "workflow.turnaround.median",
    "number": "workflow.number",
    "finished": "workflow.finished",
    "utilisation": "utilisation",
    "less_idle": "utilisation_less_idle",
    "idle_share": "workflow.idle_share",
    "others_wait": "others.wait.median",
    "all_wait": "wait.median",
}
OF_METHODS = ("n", "runtime", "turnaround")  # known when all methods are there
COSTS = ("seconds", "cpu", "memory", "simulated")
EMPTY = dict.fromkeys(("workflow", "x", "method"), pl.String()) | dict.fromkeys(
    ("repetition", *OF_RUNS, "n", *COSTS, "speed"), pl.Float64()
)
Point = tuple[str, str]  # workflow, and share or period


@dataclass(frozen=True, slots=True)
class Set:
    """One of the three studies."""

    results: Results
    varies: str  # share or period, or nothing
    runs: pl.DataFrame  # workflow, x, method, repetition; medians over the first n; metrics of the run; its cost

    @classmethod
    def of(cls, folder: Path) -> Set:
        results = Results(folder)
        varies = next((name for name in ("share", "period") if name in results.varied), "")
        if not results.results:
            return cls(results, varies, pl.DataFrame(schema=EMPTY))
        table = results.table
        x = pl.col(f"parameters.{varies}").cast(pl.String) if varies else pl.lit("")
        runs = table.select(
            "run",
            "repetition",
            workflow="parameters.workflows",
            x=x,
            method="parameters.handling",
            **{name: pl.col(metric) for name, metric in OF_RUNS.items() if metric in table.columns},
        )
        compared = ["workflow", "x", "repetition"]
        fewest = pl.when(pl.col("finished") > 0).then("finished").min().over(compared)
        all_there = pl.col("method").n_unique().over(compared) == len(METHODS)
        runs = runs.with_columns(n=fewest).with_columns(pl.when(all_there).then(pl.col(*OF_METHODS)))
        return cls(results, varies, runs.join(_costs(results), on="run", how="left", maintain_order="left"))

    @property
    def points(self) -> list[Point]:
        """In the order of the study file."""
        planned = {
            (str(self.results.called("workflows", run.point["workflows"])), str(run.point.get(self.varies, "")))
            for run in self.results.planned
        }
        order = [self._values("workflows"), self._values(self.varies)]
        return sorted(planned, key=lambda point: tuple(of.index(value) for of, value in zip(order, point, strict=True)))

    @property
    def with_workflows(self) -> list[Point]:
        """Those of the points at which workflows came."""
        came = set(self.runs.filter(pl.col("number") > 0).select("workflow", "x").iter_rows())
        return [point for point in self.points if point in came]

    def _values(self, name: str) -> list[str]:
        found = (str(self.results.called(name, run.point.get(name, ""))) for run in self.results.planned)
        return list(dict.fromkeys(found))

    def at(self, point: Point, method: str) -> pl.DataFrame:
        """The runs of a point and a method, by repetition."""
        workflow, x = point
        wanted = (pl.col("workflow") == workflow) & (pl.col("x") == x) & (pl.col("method") == method)
        return self.runs.filter(wanted).sort("repetition")

    def mean(self, metric: str, point: Point, method: str) -> Interval | None:
        """Over the repetitions, with an interval of 95 %; None where no run has a value."""
        return mean_of(self.at(point, method), metric)

    def median(self, metric: str, point: Point, method: str) -> Interval | None:
        """Over the repetitions, with the smallest and the largest: for costs, which others on the machine disturb."""
        values = self.at(point, method)[metric].drop_nulls().to_numpy()
        if not len(values):
            return None
        return Interval(float(np.median(values)), float(values.min()), float(values.max()), 1.0)

    def ratio(self, metric: str, point: Point, one: str, other: str) -> Interval | None:
        """Of two methods, repetition by repetition: the geometric mean, with an interval of 95 %."""
        both = self.at(point, one).join(self.at(point, other), on="repetition").drop_nulls([metric, f"{metric}_right"])
        values = both[metric].to_numpy(), both[f"{metric}_right"].to_numpy()
        centre = ratio(*values)
        if centre is None:
            return None
        return ratio_interval(*values, paired=True) or Interval(centre, centre, centre, 0.95)

    def sum(self, metric: str) -> float:
        return float(self.runs[metric].sum())


def mean_of(runs: pl.DataFrame, metric: str) -> Interval | None:
    values = runs[metric].drop_nulls().to_numpy().astype(np.float64) if metric in runs.columns else np.empty(0)
    if not len(values):
        return None
    centre = float(values.mean())
    return student_interval(values) or Interval(centre, centre, centre, 0.95)


def _costs(results: Results) -> pl.DataFrame:
    """`seconds` that each run took, those of the processor, its memory in 10⁶ bytes, and what it simulated: from the
    first fill job to the end of the last phase."""
    found = pl.DataFrame(list(_cost_rows(results)), ["run", *COSTS], orient="row", infer_schema_length=None)
    speed = pl.col("simulated") / pl.col("seconds")
    return found.with_columns(speed=speed, days=speed / 86_400)


def _cost_rows(results: Results) -> Iterator[tuple[str, float, float | None, float | None, float]]:
    for result in results.results:
        summary, performance = result["summary"], result.get("performance") or {}
        simulated = summary["trim"]["begin"] + summary["makespan"]
        cost = performance.get("cpu"), performance.get("memory")
        yield result["identity"], result["seconds"]["all"], *cost, simulated
