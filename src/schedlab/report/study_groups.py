"""The groups of a study as a table that can be sorted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from schedlab.analysis.job_ends import decimals, shown
from schedlab.analysis.verdict import metric_better, metric_name
from schedlab.report.findings import Findings

LONGEST = 40  # rows; longer tables scroll


@dataclass(frozen=True, slots=True)
class Cell:
    """What is written, and what it is sorted by."""

    value: Any
    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class GroupsTable:
    about: str
    names: list[str]  # of the parameters that vary
    metrics: list[tuple[str, str]]  # with their units
    ends: list[str]  # what became of jobs, where groups differ in it
    rows: list[list[Cell]]

    @property
    def long(self) -> bool:
        return len(self.rows) > LONGEST


def groups_table(found: Findings) -> GroupsTable | None:
    """One row per group: its parameters, how many runs, the mean of each metric with its interval."""
    if not found.points:
        return None
    return GroupsTable(
        about=_about(found),
        names=list(found.results.varied) or ["study"],
        metrics=[(metric_name(metric), found.scales[metric].unit) for metric in found.metrics],
        ends=list(found.ends),
        rows=[_row(found, group) for group in found.points],
    )


def _about(found: Findings) -> str:
    repeated = any(row["n"] > 1 for row in found.merged.values())
    said = ["Means over the repetitions" if repeated else "One run of each group"]
    if any(row["low"] is not None for row in found.merged.values()):
        said.append("± half the width of the 95 % confidence interval")
    marked = any(context.same_started for context in found.contexts)
    if marked and any(metric_better(metric) for metric in found.metrics) and len(found.points) > 1:
        of = " of each setting" if len(found.contexts) > 1 else ""
        said.append(f"★ the best{of}" + (", by chance maybe where intervals overlap" if repeated else ""))
    return f"{'; '.join(said)}. A click on a title sorts."


def _row(found: Findings, group: str) -> list[Cell]:
    point, results = found.points[group], found.results
    cells = []
    for name in results.varied:
        value, text = point.get(name, ""), results.short(name, point.get(name, "–"))
        cells.append(Cell(text if isinstance(value, str) and value else value, text, "name"))
    if not cells:
        cells = [Cell(results.name, results.name, "name")]
    runs = found.runs[group]
    cells.append(Cell(runs, f"{runs:,}"))
    for metric in found.metrics:
        row = found.merged[group, metric]
        mark = "best" if group in found.winners[metric] else ""
        cells.append(Cell("" if row["mean"] is None else row["mean"], found.scales[metric].text(row), mark))
    for numbers in found.ends.values():
        cells.append(Cell(numbers[group], shown(numbers[group], decimals(numbers.values()))))
    return cells
