"""A comparison in one plain sentence, which claims no more than the numbers carry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from schedlab.analysis.change import Change
from schedlab.analysis.compare import Better, Unit, metric_called
from schedlab.analysis.metrics import about_jobs

if TYPE_CHECKING:
    import polars as pl

_NAMES = {"backfilled_share": "share of backfilled jobs", "queued_share": "share of time with a queue"}


def verdicts(comparisons: pl.DataFrame, *, jobs: str = "") -> list[str]:
    """One sentence for each row of `compare_groups`."""
    return [verdict(row, jobs=jobs) for row in comparisons.iter_rows(named=True)]


def verdict(row: Mapping[str, Any], *, jobs: str = "") -> str:
    """`easy halves the mean wait (−52 %, 95 % CI −54 to −47 %, 10 paired repetitions)`.

    `jobs` says which jobs the metric is about, if not all: "large jobs".
    """
    what = f"the {metric_name(row['metric'])}{f' of {jobs}' if jobs else ''}"
    group, baseline = row["group"], row["baseline"]
    if row["difference"] is None:
        return f"nothing is known about {what} under {group} or {baseline}"
    change, over = Change.of(row, metric_unit(row["metric"])), _over(row)
    if not comparable(row) and about_jobs(row["metric"]):
        means = f"{change.shown()}, {over}" if change.shown() else over
        return f"{what} under {group} and under {baseline} cannot be compared ({means})"
    if row["n"] < 2 or row["n_baseline"] < 2:
        return f"{_single(row)}, {group} {change.claim(what)}{_told(change.shown(claimed=True), over)}"
    if change.nothing:
        return f"{group} does not change {what} ({', '.join(filter(None, (over, _repetitions(row))))})"
    if change.hardly:
        return f"{group} hardly changes {what}{_told(change.shown(), _interval(row, change), over, _repetitions(row))}"
    if change.constant:
        return f"in each of {_repetitions(row)}, {group} {change.claim(what)}{_told(change.shown(claimed=True), over)}"
    facts = (_interval(row, change), over, _repetitions(row))
    if change.excluded:
        return f"{group} {change.claim(what)}{_told(change.shown(claimed=True), *facts)}"
    return f"no difference in {what} can be told between {group} and {baseline}{_told(change.shown(), *facts)}"


def judgement(row: Mapping[str, Any]) -> Literal["better", "worse", ""]:
    """Whether the group is surely better than the baseline, or worse; neither where the verdict claims nothing."""
    better = metric_better(row["metric"])
    if better is None or row["difference"] is None or min(row["n"], row["n_baseline"]) < 2 or not comparable(row):
        return ""
    change = Change.of(row, metric_unit(row["metric"]))
    if change.hardly or change.constant or not change.excluded:
        return ""
    return "better" if change.up == (better == "higher") else "worse"


def comparable(row: Mapping[str, Any]) -> bool:
    """Whether both sides are measured on the same jobs: all of them, or those that both ran."""
    return bool(row.get("same_jobs", True) or (row["common"] is not None and about_jobs(row["metric"])))


def _over(row: Mapping[str, Any]) -> str:
    """Which jobs it is about, where not all of them ran on both sides."""
    if row.get("same_jobs", True):
        return ""
    if not comparable(row):
        return "not the same jobs ran" if not about_jobs(row["metric"]) else "the means are over different jobs"
    return f"over the {row['common']:,} jobs that both ran"


def metric_name(key: str) -> str:
    """`wait.p99` as "p99 wait", `states.killed` as "number of killed jobs"."""
    head, _, tail = key.partition(".")
    if key in _NAMES:
        return _NAMES[key]
    if head == "states":
        return "number of jobs that never started" if tail == "waiting" else f"number of {tail} jobs"
    if metric := metric_called(key):
        return metric.label
    if head in ("metrics", "observed"):
        return tail.replace("_", " ")
    return f"{tail} {head}".strip().replace("_", " ")


def metric_unit(key: str) -> Unit:
    if metric := metric_called(key):
        return metric.unit
    head = key.partition(".")[0]
    if head in ("wait", "turnaround"):
        return "time"
    if head in ("states", "reasons", "jobs", "started"):
        return "count"
    return "share" if key.endswith("_share") else "number"


def metric_better(key: str) -> Better:
    """Which values of it are good; None where nobody has said so."""
    metric = metric_called(key)
    return None if metric is None else metric.better


def _interval(row: Mapping[str, Any], change: Change) -> str:
    """Of all comparisons together, so that it leaves no change out exactly where the corrected test does."""
    several = f" corrected for {row['comparisons']:,} comparisons" if row["comparisons"] > 1 else ""
    return f"{100 * row['level']:.3g} % CI {change.limits()}{several}"


def _repetitions(row: Mapping[str, Any]) -> str:
    if row["paired"]:
        return f"{row['n']} paired repetitions"
    return f"{row['n']} and {row['n_baseline']} repetitions, not paired"


def _single(row: Mapping[str, Any]) -> str:
    if row["n"] == row["n_baseline"]:
        return "in this one run"
    return f"in {row['n']} against {row['n_baseline']} runs"


def _told(*facts: str) -> str:
    given = [fact for fact in facts if fact]
    return f" ({', '.join(given)})" if given else ""
