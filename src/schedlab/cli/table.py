"""Comparisons as tables: a row per run, the best value of each column marked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from schedlab.analysis.compare import METRICS, Comparison, Metric, best
from schedlab.analysis.job_ends import end_of
from schedlab.analysis.side_by_side import IMPORTANT, is_state, marks, text_columns
from schedlab.analysis.written import column, scale
from schedlab.cli.output import UNLIMITED, console
from schedlab.model.resources import amount
from schedlab.model.states import KILLED_BECAUSE, NEVER_SATISFIED, NEVER_STARTED, SLOWED

if TYPE_CHECKING:
    import polars as pl

    from schedlab.analysis.job_by_job import JobByJob

FEWEST = 3
MOST_REASONS = 3  # why jobs were rejected: run.json has all


def comparison_table(comparison: Comparison, most: int = len(IMPORTANT)) -> Table:
    """A row per run, and the `most` important metrics, or as many of them as there is room for."""
    out = console()
    for number in range(most, FEWEST, -1):
        table = _with_columns(comparison, IMPORTANT[:number])
        if Measurement.get(out, out.options.update(max_width=UNLIMITED), table).maximum <= out.width:
            return table
    return _with_columns(comparison, IMPORTANT[:FEWEST])


def _with_columns(comparison: Comparison, keys: Sequence[str]) -> Table:
    """What became of jobs (refused, killed for some reason …) has a column where the runs differ in it."""
    table = _table("policy")
    cells = [[Text(row.label) for row in comparison.rows]]
    for name in comparison.differences:
        table.add_column(Text(name), vertical="bottom")
        cells.append([Text(row.differences[name]) for row in comparison.rows])
    for found in text_columns(comparison, keys):
        table.add_column(_heading(found.label, found.unit), justify="right", no_wrap=True)
        cells.append(_starred(found.texts, found.best))
    for row in zip(*cells, strict=True):
        table.add_row(*row)
    return table


def footnote(comparison: Comparison) -> str:
    """What the star means (or why there is none), and the ends of jobs in which all runs agree, with their reasons."""
    notes = [_star(comparison)] if len(comparison.rows) > 1 else []
    for metric in METRICS.values():
        counts = comparison.values(metric)
        if not is_state(metric) or not any(counts):
            continue
        if metric.key == "states.rejected":
            notes += _rejected(comparison)
        elif len(set(counts)) == 1:
            why = _why_killed(comparison) if metric.key == "states.killed" else ""
            notes.append(f"{metric.label}: {counts[0]:,.0f} jobs{f' ({why})' if why else ''}")
    requeues = [row.summary.get("requeues", {}) for row in comparison.rows]
    if requeues[0] and all(each == requeues[0] for each in requeues):
        notes.append(f"requeued: {sum(requeues[0].values()):,} times ({_counted(requeues[0])})")
    slowed = [row.summary.get("reasons", {}).get(SLOWED, 0) for row in comparison.rows]
    if any(slowed):
        how_many = " / ".join(f"{count:,}" for count in slowed)
        notes.append(
            f"{how_many} of the killed jobs: {SLOWED} (checkpoints, restarts or rates; without, they would have "
            "ended in time; --overrun run lets them end)"
        )
    return "; ".join(notes)


def _star(comparison: Comparison) -> str:
    if not comparison.same_jobs:
        return "not the same jobs, so no run is marked as best"
    if comparison.same_started:
        left = " (never a run that broke off)" if any(row.incomplete for row in comparison.rows) else ""
        return f"* best{left}"
    if comparison.common is not None:
        return f"* best, over the {len(comparison.common):,} jobs that all runs started"
    return "not the same jobs were started, so no run is marked as best"


def _why_killed(comparison: Comparison) -> str:
    reasons = [{word: row.summary["reasons"].get(word, 0) for word in KILLED_BECAUSE} for row in comparison.rows]
    return _counted(reasons[0]) if all(each == reasons[0] for each in reasons) else ""


def _counted(reasons: Mapping[str, int]) -> str:
    """`preempted 62, time limit 9`."""
    return ", ".join(f"{word} {number:,}" for word, number in reasons.items() if number)


def _rejected(comparison: Comparison) -> Iterator[str]:
    """Jobs that were refused, and those that never started in the end, each with the reasons."""
    never = [sum(each["jobs"] for each in _rejections(row.summary, NEVER_STARTED)) for row in comparison.rows]
    every = comparison.values(METRICS["states.rejected"])
    refused = [int(number or 0) - other for number, other in zip(every, never, strict=True)]
    for kind, counts in (("refused", refused), (NEVER_STARTED, never)):
        why = _why_rejected(comparison, kind) if any(counts) else ""
        if any(counts) and len(set(counts)) == 1:
            jobs = "1 job" if counts[0] == 1 else f"{counts[0]:,} jobs"
            yield f"{kind}: {jobs}{f' ({why})' if why else ''}"
        elif why:
            yield f"{kind}: {why}"


def _rejections(summary: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    return [each for each in summary.get("rejections", ()) if end_of(each.get("words", ""))[0] == kind]


def _why_rejected(comparison: Comparison, kind: str) -> str:
    """The reasons of the first run that has some, each with its resource and its first job."""
    found = next((found for row in comparison.rows if (found := _rejections(row.summary, kind))), None)
    if found is None:  # made by an older version
        words = (reason for row in comparison.rows for reason in row.summary["reasons"])
        return ", ".join(dict.fromkeys(word for word in words if word not in (*KILLED_BECAUSE, NEVER_SATISFIED)))
    told = [
        (f"{each['jobs']:,} " if len(found) > 1 else "") + end_of(each["words"])[1]
        if "words" in each
        else f"{', '.join(filter(None, (each['reason'], each['resource'])))}: {each['first']}"
        for each in found
    ]
    more = [f"and {len(told) - MOST_REASONS} more reasons in run.json"] if len(told) > MOST_REASONS else []
    return "; ".join([*told[:MOST_REASONS], *more])


def class_table(by: str, comparison: Comparison, tables: Sequence[pl.DataFrame], metric: Metric, most: int) -> Table:
    """One metric: a row per class of jobs (at most `most`), a column per run.

    How many jobs a class has, and how much of the core time, is said once where it is the same in all runs, else of
    each.
    """
    names = list(dict.fromkeys(name for table in tables for name in table["class"]))[:most]
    found = [dict(zip(table["class"], table[metric.key], strict=True)) for table in tables]
    values = [[one.get(name) for one in found] for name in names]
    unit, flat = column([value for row in values for value in row], metric.unit)  # one unit for the whole table
    sizes = [_class_sizes(one) for one in tables]
    if all(one == sizes[0] for one in sizes):
        sizes = sizes[:1]

    table = _table(by)
    for at, run in enumerate(comparison.rows):
        if at < len(sizes):
            table.add_column(Text("number" if by == "workflow" else "jobs"), justify="right")
            table.add_column(_heading("core time", "%"), justify="right")
        table.add_column(_heading(run.label, unit), justify="right", overflow="fold")
    for row, name in enumerate(names):
        texts = flat[row * len(tables) : (row + 1) * len(tables)]
        marks = marked(texts, best(values[row], metric.better) if comparison.same_jobs else frozenset())
        cells: list[str | Text] = []
        for at, mark in enumerate(marks):
            cells += [*(sizes[at].get(name, ("0", "0.0")) if at < len(sizes) else ()), mark]
        table.add_row("unknown" if name is None else str(name), *cells)
    return table


def _class_sizes(table: pl.DataFrame) -> dict[Any, tuple[str, str]]:
    """Of each class: how many jobs it has, and its share of the core time."""
    all_hours = sum(table["core_hours"]) or 1.0
    rows = zip(table["class"], table["jobs"], table["core_hours"], strict=True)
    return {name: (f"{jobs:,}", f"{100 * hours / all_hours:.1f}") for name, jobs, hours in rows}


def shares_table(by: str, found: pl.DataFrame, most: int) -> Table:
    """Jobs and core-hours of the first `most` classes: how many, in per cent, and in per cent from the top."""
    table = _table({"size": "cores", "runtime": "run time"}.get(by, by))
    for heading in ("jobs", "%", "up to here %", "core-hours", "%", "up to here %"):
        table.add_column(Text(f"  {heading}"), justify="right")
    for row in found[:most].iter_rows(named=True):
        cells = [
            cell
            for name, amount in (("jobs", f"{row['jobs']:,}"), ("core_hours", f"{row['core_hours']:,.0f}"))
            for cell in (amount, f"{100 * row[f'{name}_share']:.1f}", f"{100 * row[f'{name}_upto']:.1f}")
        ]
        table.add_row("unknown" if row["class"] is None else row["class"], *cells)
    return table


def resources_table(comparison: Comparison, tables: Sequence[pl.DataFrame], *, parts: bool) -> Table:
    """A row per run, part of the machine (if it is looked at in parts) and resource that somebody asks for."""
    several = len(tables) > 1
    table = _table("policy" if several else "")
    for heading in ("resource", "total", "load", "utilisation %", "mean queue", "max queue", "fragmentation %"):
        table.add_column(Text(f"{heading} "), justify="left" if heading == "resource" else "right")
    rows = [(run.label, row) for run, found in zip(comparison.rows, tables, strict=True) for row in found.to_dicts()]
    asked = {row["resource"] for _, row in rows if row["load"] or row["utilisation"]}
    for label, row in rows:
        kind, load = row["resource"], row["load"]
        if kind not in asked:
            continue
        names = [label] * several + [row["part"]] * (parts or not several)
        queue = ["–" if row[key] is None else amount(kind, row[key]) for key in ("queue_mean", "queue_max")]
        cells = [amount(kind, row["total"]), "–" if load is None else f"{load:.3g}", _percent(row["utilisation"])]
        texts = (f" {kind}", *cells, *queue, _percent(row["fragmentation"]))
        table.add_row(Text(", ".join(names)), *(Text(f"{text} ") for text in texts))
    return table


def _percent(value: float | None) -> str:
    return column([value], "share")[1][0]


def pairs_table(labels: Sequence[str], pairs: Sequence[JobByJob]) -> Table:
    """Who waits less, as long, longer; and the differences of waits, negative where they are shorter."""
    table = _table("policy")
    for heading in ("jobs", "shorter %", "same %", "longer %"):
        table.add_column(Text(f"{heading} "), justify="right")
    means = [None if pair.mean is None else pair.mean.estimate for pair in pairs]
    unit, size = scale(means, "time")
    for heading in ("mean difference", "95 % interval", "median", "p95"):
        table.add_column(_heading(heading, unit), justify="right")

    def signed(seconds: float | None) -> str:
        return "-" if seconds is None else f"{seconds / size:+,.2f}"

    for label, pair in zip(labels, pairs, strict=True):
        shares = [f"{100 * share:.1f} " for share in (pair.shorter, pair.same, pair.longer)]
        mean = ["- ", "- "]
        if pair.mean is not None:
            mean = [f"{signed(pair.mean.estimate)} ", f"{signed(pair.mean.low)} to {signed(pair.mean.high)} "]
        table.add_row(Text(label), f"{pair.jobs:,} ", *shares, *mean, f"{signed(pair.median)} ", f"{signed(pair.p95)} ")
    return table


def errors_table(labels: Sequence[str], pairs: Sequence[JobByJob]) -> Table:
    """How far a schedule is from another one."""
    table = _table("policy")
    unit, size = scale([pair.start_deviation for pair in pairs], "time")
    for heading in ("starts: mean difference", "standard deviation"):
        table.add_column(_heading(heading, unit), justify="right")
    for heading in ("MAPE of turnaround", "error of makespan"):
        table.add_column(_heading(heading, "%"), justify="right")
    for label, pair in zip(labels, pairs, strict=True):
        errors = [_error(error) for error in (pair.turnaround_error, pair.makespan_error)]
        mean = "-" if pair.start_mean is None else f"{pair.start_mean / size:+,.2f}"
        deviation = "-" if pair.start_deviation is None else f"{pair.start_deviation / size:,.2f}"
        table.add_row(Text(label), f"{mean} ", f"{deviation} ", *errors)
    return table


def _error(share: float | None) -> str:
    if share is None:
        return "- "
    return f"{100 * share:,.0f} " if share >= 1 else f"{100 * share:.2g} "


def marked(texts: Sequence[str], winners: frozenset[int]) -> list[Text]:
    """A star behind the best, and behind what looks the same."""
    return _starred(texts, marks(texts, winners))


def _starred(texts: Sequence[str], best: frozenset[int]) -> list[Text]:
    """Those without a star keep its place free below the digits of the others."""
    return [Text(f"{text}*", "bold green") if row in best else Text(f"{text} ") for row, text in enumerate(texts)]


def _table(first: str) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0, show_edge=False)
    table.add_column(Text(first), style="cyan", overflow="fold", vertical="bottom")
    return table


def _heading(label: str, unit: str) -> Text:
    """On two lines, to keep columns narrow. The space at the end stands above the place of the star."""
    first, _, last = label.rpartition(" ")
    lines = [first, f"{last} {unit}".rstrip()] if first or not unit else [last, unit]
    return Text("\n".join(f"{line} " for line in lines if line))
