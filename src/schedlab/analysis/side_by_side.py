"""A comparison as columns of text: what the command line prints, and what pages show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from schedlab.analysis.compare import METRICS, Comparison, Metric, resource_metrics
from schedlab.analysis.job_ends import columns_of_ends, job_ends
from schedlab.analysis.written import column

# The most telling first: where there is little room, fewer are shown.
IMPORTANT = (
    *("wait.mean", "bounded_slowdown.mean", "utilisation", "wait.p95", "wait.median", "makespan", "backfilled_share"),
    *(
        "slowdown.mean",
        "wait.max",
        "bounded_slowdown.p95",
        "queue_length.mean",
        "utilisation_queued",
        "bounded_slowdown.median",
    ),
)


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A text for each run; `best` are those to be marked."""

    key: str  # of the metric; empty for what became of jobs
    label: str
    unit: str
    texts: list[str]
    best: frozenset[int] = frozenset()


def text_columns(comparison: Comparison, keys: Sequence[str] = IMPORTANT) -> Iterator[TextColumn]:
    """The metrics with these keys, those of observers, plug-ins and resources that were asked for, and what became of
    jobs (refused, killed for some reason …) where the runs differ in it."""
    of_resources = resource_metrics([row.summary for row in comparison.rows])
    asked = {metric.key: metric for metric in (*of_resources, *comparison.metrics)}
    for key, metric in (METRICS | asked).items():
        if key not in asked and (is_state(metric) or key not in keys):
            continue
        unit, texts = column(comparison.values(metric), metric.unit)
        yield TextColumn(key, metric.label, unit, texts, marks(texts, comparison.best(metric)))
    for name, numbers in columns_of_ends([job_ends(row.summary) for row in comparison.rows]).items():
        yield TextColumn("", name, "", [f"{number:,.0f}" for number in numbers])


def marks(texts: Sequence[str], winners: frozenset[int]) -> frozenset[int]:
    """The best, and what looks the same; none where there is no difference that the eye could see."""
    best_texts = {texts[row] for row in winners}
    if best_texts.issuperset(texts):
        return frozenset()
    return frozenset(row for row, text in enumerate(texts) if text in best_texts)


def is_state(metric: Metric) -> bool:
    return metric.key.startswith("states.")
