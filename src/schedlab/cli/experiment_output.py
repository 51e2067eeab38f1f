"""What `schedlab experiment` prints."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.cli.channel import channel
from schedlab.cli.output import console, say, say_list, warn
from schedlab.cli.progress import Bar, watched
from schedlab.experiment.deciders import changes
from schedlab.experiment.folder import CHECKPOINTS
from schedlab.model.units import format_duration

if TYPE_CHECKING:
    from schedlab.experiment.cost import Cost
    from schedlab.experiment.plan import Part
    from schedlab.experiment.results import Results
    from schedlab.experiment.study import Study

MOST_GROUPS = 40
MOST_METRICS = 4
MOST_NOTES = 12
MOST_DAMAGED = 5
LINE_EVERY = 60.0  # seconds, where nobody watches a bar


class StudyBar(Bar):
    """Called with the runs planned, done and failed; a line a minute where there is no terminal."""

    def __init__(self, name: str, quiet: bool, part: Part | None = None) -> None:
        super().__init__(name, 0)
        self._part = "" if part is None else f"part {part}: "
        self._quiet, self._watched = quiet, watched(quiet)
        self._before: int | None = None
        self._said = time.monotonic()
        self._channel = channel()

    def __call__(self, planned: int, done: int, failed: int) -> None:
        if self._channel is not None:
            self._channel.study(planned, done, failed)
        if self._before is None:
            self._before, self._total = done, planned
            if not self._quiet:
                say(f"{self._part}{planned:,} runs, {done:,} of them done before")
            return
        new = done - self._before
        left = (planned - done - failed) * self.seconds / max(new, 1)
        text = f"{done:,} of {planned:,} runs" + (f", {failed:,} failed" if failed else "")
        if self._watched:
            self.show(done, text)
        elif not self._quiet and time.monotonic() - self._said >= LINE_EVERY:
            self._said = time.monotonic()
            print(f"{text}, about {format_duration(round(left))} left", file=sys.stderr, flush=True)


def print_plan(study: Study, folder: Path, cost: Cost, part: Part | None = None) -> None:
    """What `--dry-run` says."""
    of_it = "" if part is None else f"part {part}, "
    say(f"{study.name}: {of_it}{cost.planned:,} runs, {cost.done:,} of them done in {folder}")
    for name, values in study.grid.items():
        short = [str(study.names.get(name, {}).get(str(value), value)) for value in values[:6]]
        shown = ", ".join(short) + (f", … ({len(values)} values)" if len(values) > 6 else "")
        say(f"  {name}: {shown}", "" if len(values) > 1 else "dim")
    say(f"  repetitions: {study.repetitions}")
    tried = "1 run" if cost.tried == 1 else f"{cost.tried:,} runs"
    say(
        f"about {cost.seconds:.2f} s a run (measured on {tried}), {format_duration(round(cost.left))} in all "
        f"on {cost.workers} workers"
    )


def print_status(results: Results) -> None:
    status = results.status
    counts = f"{status.planned:,} runs planned, {status.done:,} done, {status.failed:,} failed, {status.open:,} open"
    say(f"{results.name}: {counts}")
    if results.part:
        say(f"  {results.part}; schedlab experiment import brings in the others", "dim")
    if others := results.runs_of_others:
        noun, verb = ("run", "is") if others == 1 else ("runs", "are")
        say(f"  {others:,} {noun} of another study (or of this one before a change) {verb} also here", "dim")
    if begun := len(list((results.folder / CHECKPOINTS).glob("*/checkpoint.json"))):
        say(f"  {begun:,} of the open runs will go on at a checkpoint", "dim")
    if status.done:
        say(f"  {format_duration(round(status.seconds))} of work, {status.seconds / status.done:.2f} s a run", "dim")
    for run, error, trace in status.failures[:5]:
        say(f"failed: {results.group_of(run.point)}, repetition {run.repetition + 1}: {error}", "red")
        if trace.strip():
            say(trace.rstrip(), "dim")
    damaged = results.losses()
    for loss in damaged[:MOST_DAMAGED]:
        say(f"damaged: {loss}", "red")
    if damaged:
        more = f"and {len(damaged) - MOST_DAMAGED:,} more; " if len(damaged) > MOST_DAMAGED else ""
        say(
            f"{more}schedlab experiment verify {results.folder} --discard forgets such runs, run makes them again",
            "dim",
        )
    if len(status.failures) > 5:
        more = (
            f"and {len(status.failures) - 5:,} more: schedlab experiment status {results.folder} --json lists them all"
        )
        say(more, "dim")


def print_summary(results: Results, seconds: float) -> None:
    """The groups with their intervals, and what the comparisons say."""
    print_status(results)
    say(f"  {format_duration(round(seconds))} this time", "dim")
    if not results.results:
        return
    for change in changes(results):
        say(change)
    say_list(results.said_first(), "differences in what became of jobs: in the report", "bold")
    _print_groups(results)
    from schedlab.analysis.job_ends import MOST_SAID

    if results.copies:
        say(results.copies)
    shown = results.verdicts(results.metrics[:2])[:MOST_SAID]
    for sentence in shown:
        say(f"- {sentence}")
    if (left := results.number_of_comparisons - len(shown)) > 0:
        say(f"and {left:,} more {'comparison' if left == 1 else 'comparisons'} in the report", "dim")
    notes = results.notes()
    more = [f"and {len(notes) - MOST_NOTES:,} more notes in the report"] if len(notes) > MOST_NOTES else []
    for sentence in (*results.coverage(), *notes[:MOST_NOTES], *more):
        say(sentence, "dim")
    for sentence in results.lacking.values():
        warn(sentence)


def _print_groups(results: Results) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from schedlab.analysis.verdict import metric_name
    from schedlab.report.scale import Scale

    metrics = results.metrics[:MOST_METRICS]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("group", style="cyan")
    for metric in metrics:
        table.add_column(metric_name(metric), justify="right")
    found = results.groups(metrics)
    scales = {metric: Scale.of(metric, found.filter(metric=metric)["mean"]) for metric in metrics}
    rows: dict[str, list[str]] = {}
    for row in found.iter_rows(named=True):
        rows.setdefault(row["group"], []).append(scales[row["metric"]].told(row))
    for group, cells in list(rows.items())[:MOST_GROUPS]:
        table.add_row(group, *cells)
    console().print(table)
    if any("±" in cell for cells in rows.values() for cell in cells):
        say("± half of the 95 % interval of the mean over repetitions", "dim")
    if others := results.metrics[MOST_METRICS:]:
        noun = "metric" if len(others) == 1 else "metrics"
        say(f"and {len(others)} more {noun} in the report: {', '.join(map(metric_name, others))}", "dim")
    if len(rows) > MOST_GROUPS:
        say(f"and {len(rows) - MOST_GROUPS:,} more groups in the report", "dim")
