"""A study in words: what was run, and what the comparisons say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schedlab.analysis.verdict import judgement, metric_better, metric_name
from schedlab.experiment.results import Context
from schedlab.report.findings import MOST_DRAWN, Findings

if TYPE_CHECKING:
    import polars as pl

MOST_SETTINGS = 6  # whose sentences are open; those of the others are one click away
_CLASSES = {"better": "good", "worse": "bad", "": "about"}
_EXTREMES = {"lower": "Lowest", "higher": "Highest"}


def summary(found: Findings) -> str:
    """One paragraph: how many runs, of what, on what."""
    status, study = found.results.status, found.results.study
    counts = [f"{status.done:,} of {status.planned:,} runs are finished"]
    if status.failed:
        counts.append(f"{status.failed:,} failed")
    if status.open:
        counts.append(f"{status.open:,} are open")
    sentences = [", ".join(counts) + f": {_design(found)}."]
    if part := found.results.part:
        sentences.append(f"This is {part}; the others are run elsewhere.")
    sentences += [f"{noun}: {', '.join(values)}." for noun, values in _inputs(found).items() if values]
    if study.get("phase"):
        sentences.append(f"Only jobs of the phase {study['phase']} count.")
    if study.get("trim"):
        sentences.append(f"Shares left out at both ends: {study['trim']}.")
    return f"<p>{escape(' '.join(sentences))}</p>"


def verdicts(found: Findings) -> str:
    """The comparisons, setting by setting, best first; the first metric in the open, the others on demand."""
    if not found.contexts:
        return "<p>No run is finished yet.</p>"
    told = [(context, list(_told(found, context, table))) for context, table in found.results.compared()]
    parts = [_at_a_glance(found, [row for _, rows in told for row in rows if row["metric"] == found.first])]
    if any(rows for _, rows in told):
        parts.append(_how_to_read(told))
    elif not found.results.study.get("baseline"):
        parts.append(
            '<p class="about">The study names no baseline, so nothing is compared. A line such as '
            "<code>baseline = { policy = &quot;fcfs&quot; }</code> in its file would do that.</p>"
        )
    parts.append(_coverage(found))
    settings = [_setting(found, context, rows) for context, rows in told]
    parts += settings[:MOST_SETTINGS]
    if len(settings) > MOST_SETTINGS:
        parts.append(_folded(f"{len(settings) - MOST_SETTINGS} more settings", "\n".join(settings[MOST_SETTINGS:])))
    return "\n".join(part for part in parts if part)


def _coverage(found: Findings) -> str:
    """What the intervals do and do not say, where jobs come from a model; what of the requests did not count."""
    said = (" ".join(found.results.coverage()), "; ".join(found.results.notes()))
    return "\n".join(f'<p class="about">{escape(one)}</p>' for one in said if one)


def _design(found: Findings) -> str:
    varied = [f"{len(found.parameter(name))} values of {name}" for name in found.results.varied]
    repetitions = found.results.study.get("repetitions", 1)
    often = f"{repetitions} repetitions of each" if repetitions > 1 else "one repetition"
    same = ", compared on the same jobs" if repetitions > 1 and varied else ""
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


def _at_a_glance(found: Findings, compared: Sequence[Mapping[str, Any]]) -> str:
    better = metric_better(found.first)
    winners = [(context, found.best(context, found.first)) for context in found.contexts]
    if better is None or not any(groups for _, groups in winners):
        return ""
    if len(winners) > MOST_SETTINGS:
        often = Counter(context.labels[group] for context, groups in winners for group in groups)
        said = ", ".join(f"{label} in {n} of {len(winners)} settings" for label, n in often.most_common(MOST_SETTINGS))
    else:
        said = "; ".join(_winner(found, context, groups) for context, groups in winners if groups)
    repeated, sure = any(row["n"] > 1 for row in compared), any(row["judgement"] for row in compared)
    chance = " By chance maybe: no difference can be told." if repeated and not sure else ""
    return f"<p><strong>{_EXTREMES[better]} {metric_name(found.first)}:</strong> {escape(said)}.{chance}</p>"


def _winner(found: Findings, context: Context, groups: Sequence[str]) -> str:
    mean = found.scales[found.first].told(found.merged[groups[0], found.first])
    where = f" at {context.name}" if context.name else ""
    names = [context.labels[group] for group in groups]
    others = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{names[0]}{others} ({mean}){where}"


def _how_to_read(told: Sequence[tuple[Context, Sequence[Any]]]) -> str:
    baselines = dict.fromkeys(c.labels[c.baseline] for c, rows in told if rows and c.baseline)
    if not any(row["n"] > 1 for _, rows in told for row in rows):
        said = (
            f"Compared with {' or '.join(baselines)}, best first. One run of each: nobody knows how far chance matters."
        )
        return f'<p class="about">{escape(said)}</p>'
    return (
        f'<p class="about">Compared with {escape(" or ".join(baselines))}, best mean first. Factors and percentages '
        "are geometric means over the repetitions. CI: confidence interval over the repetitions, corrected for all "
        "comparisons of the study. A difference is claimed where it leaves no change out: of twenty studies in which "
        "nothing differs, at most one is expected to claim anything.</p>"
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


def _setting(found: Findings, context: Context, rows: Sequence[Mapping[str, Any]]) -> str:
    heading = f"<h3>{escape(context.name)}</h3>\n" if context.name else ""
    if not rows:
        lacking = found.results.study.get("baseline") and context.baseline is None
        return heading + ("<p>The baseline has no finished run here.</p>" if lacking else "")
    first = [row for row in rows if row["metric"] == found.first]
    others = [row for row in rows if row["metric"] != found.first]
    parts = [_sentences(first[:MOST_DRAWN])]
    if first[MOST_DRAWN:]:
        parts.append(_folded(f"{len(first) - MOST_DRAWN} more groups", _sentences(first[MOST_DRAWN:])))
    if others:
        names = ", ".join(metric_name(metric) for metric in found.metrics[1:])
        parts.append(_folded(f"Other metrics: {names} ({len(others)} sentences)", _sentences(others)))
    return heading + "\n".join(parts)


def _sentences(rows: Sequence[Mapping[str, Any]]) -> str:
    """Each with its judgement in front; a plain list if there is none."""
    if not any(row["judgement"] for row in rows):
        return "<ul>\n" + "\n".join(f"<li>{escape(row['sentence'])}</li>" for row in rows) + "\n</ul>"
    items = (
        f'<tr><td class="{_CLASSES[row["judgement"]]}">{row["judgement"]}</td>'
        f'<td class="text">{escape(row["sentence"])}</td></tr>'
        for row in rows
    )
    return '<table class="words"><tbody>\n' + "\n".join(items) + "\n</tbody></table>"


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{escape(title)}</summary>\n{content}\n</details>"
