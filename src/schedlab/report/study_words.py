"""A study in words: what was run, and what the comparisons say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab.analysis.verdict import judgement, metric_better, metric_name
from schedlab.experiment.deciders import changes
from schedlab.experiment.results import Context
from schedlab.report.findings import MOST_DRAWN, Findings

if TYPE_CHECKING:
    import polars as pl

MOST_SETTINGS = 6  # that are told one by one
_EXTREMES = {"lower": "Lowest", "higher": "Highest"}


def summary(found: Findings) -> str:
    """One paragraph: how many runs, of what, on what."""
    status, study = found.results.status, found.results.study
    counts = [f"{status.done:,} of {status.planned:,} runs are finished"]
    if status.failed:
        counts.append(f"{status.failed:,} failed")
    if status.open:
        counts.append(f"{status.open:,} are open")
    sentences = [f"{change}." for change in changes(found.results)]
    sentences.append(", ".join(counts) + f": {_design(found)}.")
    if found.results.copies:
        sentences.append(found.results.copies)
    if part := found.results.part:
        sentences.append(f"This is {part}; the others are run elsewhere.")
    sentences += [f"{noun}: {', '.join(values)}." for noun, values in _inputs(found).items() if values]
    if study.get("phase"):
        sentences.append(f"Only jobs of the phase {study['phase']} count.")
    if study.get("trim"):
        sentences.append(f"Shares left out at both ends: {study['trim']}.")
    return " ".join(sentences)


@dataclass(frozen=True, slots=True)
class Best:
    title: str
    said: str
    unsure: bool  # whether it may be by chance


@dataclass(frozen=True, slots=True)
class Setting:
    """Comparisons with their sentences: those that are shown at once, and those that are one click away."""

    name: str
    lacks_baseline: bool = False
    shown: Sequence[Mapping[str, Any]] = ()
    folded: Sequence[tuple[str, Sequence[Mapping[str, Any]]]] = ()


@dataclass(frozen=True, slots=True)
class Words:
    """What a study says, in the order in which it is said."""

    first: list[str] = field(default_factory=list)  # who did not run, before any mean
    other_jobs: bool = False  # whether groups started different jobs
    best: Best | None = None
    no_baseline: bool = False
    notes: list[str] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)


def words(found: Findings) -> Words:
    """The comparisons, setting by setting, best first; the first metric in the open, the others on demand."""
    if not found.contexts:
        return Words()
    told = [(context, list(_told(found, context, table))) for context, table in found.results.compared()]
    compared = any(rows for _, rows in told)
    notes = [
        _how_to_read(told, bool(found.results.copies)) if compared else "",
        " ".join(found.results.coverage()),  # what the intervals do and do not say
        "; ".join(found.results.notes()),
        " ".join(found.results.lacking.values()),
    ]
    return Words(
        first=found.results.said_first(),
        other_jobs=not all(context.same_started for context in found.contexts),
        best=_best(found, [row for _, rows in told for row in rows if row["metric"] == found.first]),
        no_baseline=not compared and not found.results.study.get("baseline"),
        notes=[note for note in notes if note],
        settings=[_setting(found, context, rows) for context, rows in told],
    )


def _design(found: Findings) -> str:
    varied = [f"{len(found.parameter(name))} values of {name}" for name in found.results.varied]
    repetitions = found.results.study.get("repetitions", 1)
    often = f"{repetitions} repetitions of each" if repetitions > 1 else "one repetition"
    same = ", compared on the same jobs" if repetitions > 1 and varied else ""
    if same and not all(context.same_started for context in found.contexts):
        same = ", compared on the jobs that both ran"
    return f"{' × '.join(varied)}, {often}{same}" if varied else often


def _inputs(found: Findings) -> dict[str, list[str]]:
    """From where the jobs come, how many, and the machines."""
    sources = [_source(name, value) for name in ("log", "model") for value in found.parameter(name)]
    jobs = sorted({result["summary"]["jobs"] for result in found.results.results})
    if jobs and sources:
        many = f"{jobs[0]:,}" if len(jobs) == 1 else f"{jobs[0]:,} to {jobs[-1]:,}"
        sources[-1] += f" ({many} a run)"
    machines = dict.fromkeys(result["cluster"] for result in found.results.results)
    return {"Jobs": sources, "Machine" if len(machines) < 2 else "Machines": list(machines)}


def _source(name: str, value: Any) -> str:
    return f"the log {Path(str(value)).name}" if name == "log" else f"the model {Path(str(value)).name}"


def _best(found: Findings, compared: Sequence[Mapping[str, Any]]) -> Best | None:
    better = metric_better(found.first)
    winners = [(context, found.best(context, found.first)) for context in found.contexts]
    if better is None or not any(groups for _, groups in winners):
        return None
    if len(winners) > MOST_SETTINGS:
        often = Counter(context.labels[group] for context, groups in winners for group in groups)
        said = ", ".join(f"{label} in {n} of {len(winners)} settings" for label, n in often.most_common(MOST_SETTINGS))
    else:
        said = "; ".join(_winner(found, context, groups) for context, groups in winners if groups)
    repeated, sure = any(row["n"] > 1 for row in compared), any(row["judgement"] for row in compared)
    return Best(f"{_EXTREMES[better]} {metric_name(found.first)}", said, repeated and not sure)


def _winner(found: Findings, context: Context, groups: Sequence[str]) -> str:
    mean = found.scales[found.first].told(found.merged[groups[0], found.first])
    where = f" at {context.name}" if context.name else ""
    names = [context.labels[group] for group in groups]
    others = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{names[0]}{others} ({mean}){where}"


def _how_to_read(told: Sequence[tuple[Context, Sequence[Any]]], copies: bool) -> str:
    baselines = dict.fromkeys(c.labels[c.baseline] for c, rows in told if rows and c.baseline)
    if not any(row["n"] > 1 for _, rows in told for row in rows):
        one = "One run of each counts" if copies else "One run of each"
        return f"Compared with {' or '.join(baselines)}, best first. {one}: nobody knows how far chance matters."
    return (
        f"Compared with {' or '.join(baselines)}, best mean first. Factors and percentages "
        "are geometric means over the repetitions. CI: confidence interval over the repetitions, corrected for all "
        "comparisons of the study. A difference is claimed where it leaves no change out: of twenty studies in which "
        "nothing differs, at most one is expected to claim anything."
    )


def _told(found: Findings, context: Context, table: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """Comparisons with their sentences, metric by metric, best first."""
    rows = list(table.iter_rows(named=True))
    for metric in found.metrics:
        own = [row for row in rows if row["metric"] == metric]
        for row in sorted(own, key=_worst_last):
            yield row | {"sentence": context.verdict(row), "judgement": judgement(row)}


def _worst_last(row: Mapping[str, Any]) -> float:
    sign = {"lower": 1, "higher": -1, None: 0}[metric_better(row["metric"])]
    return float("inf") if row["mean"] is None else sign * float(row["mean"])


def _setting(found: Findings, context: Context, rows: Sequence[Mapping[str, Any]]) -> Setting:
    if not rows:
        lacking = bool(found.results.study.get("baseline")) and context.baseline is None
        return Setting(context.name, lacks_baseline=lacking)
    first = [row for row in rows if row["metric"] == found.first]
    others = [row for row in rows if row["metric"] != found.first]
    folded = []
    if first[MOST_DRAWN:]:
        folded.append((f"{len(first) - MOST_DRAWN} more groups", first[MOST_DRAWN:]))
    if others:
        names = ", ".join(metric_name(metric) for metric in found.metrics[1:])
        folded.append((f"Other metrics: {names} ({len(others)} sentences)", others))
    return Setting(context.name, shown=first[:MOST_DRAWN], folded=folded)
