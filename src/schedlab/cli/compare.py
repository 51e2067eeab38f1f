"""`schedlab compare`: runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schedlab.cli.options import Json, Tau

if TYPE_CHECKING:
    from schedlab.analysis.compare import Comparison
    from schedlab.analysis.job_by_job import JobByJob
    from schedlab.analysis.trim import Selection
    from schedlab.model.plugins import Plugin
    from schedlab.model.run import Run

MOST_CLASSES = 15  # of users and queues there can be thousands


class By(StrEnum):
    size = "size"
    runtime = "runtime"
    user = "user"
    group = "group"
    queue = "queue"
    in_partition = "partition"  # `partition` is a method of every text
    workflow = "workflow"


class Parts(StrEnum):
    machine = "machine"
    in_partition = "partition"
    group = "group"


class TrimBy(StrEnum):
    jobs = "jobs"
    time = "time"


def compare(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN", help="Run folders, or folders that hold runs.", show_default=False)
    ],
    by: Annotated[
        By | None,
        typer.Option(
            help="Also compare class by class: by size in cores, run time, user, group (account), queue (QOS) or "
            "partition; workflows by their kind."
        ),
    ] = None,
    trim: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Leave out warm-up and cool-down: [b]10%[/b] at both ends, or [b]5%,10%[/b].",
        ),
    ] = None,
    trim_by: Annotated[
        TrimBy, typer.Option(help="Whether --trim is a share of the jobs or of the time of submissions.")
    ] = TrimBy.jobs,
    resources: Annotated[
        Parts | None,
        typer.Option(
            help="Also every resource (cores, memory, GPUs …): load, utilisation, queue and fragmentation, of the "
            "whole machine, of each partition or of each node group."
        ),
    ] = None,
    paired: Annotated[
        bool,
        typer.Option(
            "--paired",
            metavar="",
            help="Also compare job by job with the first run, or with the one under [b]recorded[/b]: who waits less, "
            "who longer, how far starts are apart, errors of turnaround and makespan.",
        ),
    ] = False,
    phase: Annotated[
        str | None,
        typer.Option(
            metavar="PHASE",
            help="Only the jobs submitted in one phase of a generated workload, such as [b]experiment[/b].",
        ),
    ] = None,
    metric: Annotated[
        list[str],
        typer.Option(
            "--metric",
            "-m",
            metavar="METRIC",
            help="Another column: a metric by its name ([b]wait.p99[/b], [b]turnaround.mean[/b], "
            "[b]observed.energy_kwh[/b]), or computed by a function of the run ([b]mine.py:tail_wait[/b]); once for "
            "each.",
        ),
    ] = [],  # noqa: B006 - Typer copies it
    tau: Tau = None,
    as_json: Json = False,
) -> None:
    """Compare finished runs: waits, slowdowns (plain and bounded), utilisation, makespan; the best of each is marked.

    Where jobs were refused, killed or never started in some runs only, that is said first, with the reasons; waits and
    slowdowns are over the jobs that all runs started then.

    [b]schedlab compare results/*[/b]

    [b]schedlab compare results --by size --trim 10%[/b]
    """
    from schedlab.analysis.compare import compare as compare_runs
    from schedlab.analysis.trim import Among, InPhase, Trim
    from schedlab.cli.output import console, print_json, say
    from schedlab.cli.table import comparison_table, footnote, resources_table
    from schedlab.model.errors import InputError

    if phase is not None and trim is not None:
        raise InputError("--phase and --trim both say what to leave out", hint="give one of them")
    chosen: Selection | None = None if phase is None else InPhase(phase)
    if trim is not None:
        chosen = Trim.parse(trim, trim_by.value)
    metrics = [asked_metric(text) for text in metric]
    found = _baseline_first(open_runs(runs)) if paired else open_runs(runs)
    comparison = compare_runs(found, tau=tau, trim=chosen, metrics=metrics)
    same = chosen if comparison.common is None else Among(comparison.common, chosen)
    classes, over = (None, "") if by is None else _classes(found, by, tau, same)
    pairs = _pairs(found, chosen) if paired else None
    parts = None if resources is None else _resources(found, resources.value, chosen)
    if as_json:
        print_json(_document(found, comparison, classes, pairs, parts))
        return
    if heading := _heading(found, comparison, chosen):
        say(f"{heading}\n")
    say_first(comparison)
    console().print(comparison_table(comparison))
    if note := footnote(comparison):
        say(note, "dim")
    for note in _notes(found, comparison):
        say(note, "dim")
    if by is not None and classes is not None:
        _print_classes(by, comparison, classes, over)
    if parts is not None:
        say("\nresources" + ("" if resources == Parts.machine else f" by {resources}"), "bold")
        console().print(resources_table(comparison, parts, parts=resources != Parts.machine))
    if pairs is not None:
        _print_pairs(comparison, pairs)


def asked_metric(text: str) -> Plugin | str:
    """A metric by its name, or a function that measures."""
    from schedlab.analysis.compare import metric_called, unknown_metric
    from schedlab.model.plugins import is_registered, load

    if metric_called(text) is not None:
        return text
    if ":" not in text and not is_registered("metric", text):
        raise unknown_metric(text)
    return load("metric", text)


def say_first(comparison: Comparison) -> None:
    """Who did not run, before anybody looks at a mean."""
    from schedlab.cli.output import say, say_list

    if told := comparison.said_first():
        say_list(told, "differences in what became of jobs: --json lists them all")
        say("")


def first_facts(comparison: Comparison) -> dict[str, Any]:
    """The same for --json: all sentences, and how many jobs waits and slowdowns are over, if not each run's own."""
    return {
        "differences": comparison.said_first(),
        "common_jobs": None if comparison.common is None else len(comparison.common),
    }


def _heading(runs: Sequence[Run], comparison: Comparison, chosen: Selection | None) -> str:
    """What the runs have in common, and which of the jobs count."""
    differ = {"workload", "cluster"} & set(comparison.differences)
    common = "" if differ else f"{runs[0].workload['name']} on {runs[0].cluster.name}"
    if chosen is None:
        return common
    return f"{common or f'{len(runs)} runs'} ({chosen.title})"


def _notes(runs: Sequence[Run], comparison: Comparison) -> list[str]:
    """What reading the logs met."""
    from schedlab.workload.notes import notes_together, run_notes

    notes = [run_notes(run.workload, run.cluster.name) for run in runs]
    return notes_together([(row.label, some) for row, some in zip(comparison.rows, notes, strict=True)])


def open_runs(paths: Sequence[Path]) -> list[Run]:
    """The runs of these folders; what is not a run is said and left out."""
    from schedlab.cli.output import warn
    from schedlab.engine.folder import holds_run
    from schedlab.engine.store import read_run
    from schedlab.model.errors import InputError

    runs: list[Run] = []
    for path in paths:
        inside = sorted(entry for entry in path.iterdir() if holds_run(entry)) if path.is_dir() else []
        if holds_run(path) or not inside:
            _refuse_study(path)
            inside = [path]
        for folder in inside:
            try:
                runs.append(read_run(folder))
            except InputError as error:
                warn(f"left out: {error}")
    if not runs:
        hint = "schedlab run LOG --out DIR makes one"
        raise InputError("there is no run among these folders", where=" ".join(map(str, paths)), hint=hint)
    return runs


def _refuse_study(path: Path) -> None:
    """Its runs are one level deeper, if it keeps them, and their names say nothing."""
    from schedlab.experiment.folder import is_study
    from schedlab.model.errors import InputError

    if is_study(path):
        runs = f", or name {path / 'runs'}/*" if (path / "runs").is_dir() else ""
        hint = f"schedlab experiment report {path} --out report.html compares its runs{runs}"
        raise InputError("is the folder of a study, not of a run", where=str(path), hint=hint)


def _classes(runs: Sequence[Run], by: str, tau: float | None, trim: Selection | None) -> tuple[list[Any], str]:
    """Of each run its classes, and which workflows they are over, if not all."""
    from schedlab.analysis.classes import by_class
    from schedlab.analysis.workflow_comparison import comparable
    from schedlab.analysis.workflows import by_kind, workflow_table

    if by == By.workflow:
        tables = [workflow_table(run, trim) for run in runs]
        finished = {int(table["finished"].sum()) for table in tables}
        over = f"over the first {min(finished):,} workflows that finished in each run" if len(finished) > 1 else ""
        return [by_kind(table) for table in comparable(tables)], over
    return [
        by_class(
            run.tables,
            by,
            tau=run.summary["tau"] if tau is None else tau,
            trim=None if trim is None else trim.of(run),
            labels=run.workload.get("labels"),
            requests=run.requests,
        )
        for run in runs
    ], ""


def _print_classes(by: str, comparison: Comparison, classes: Sequence[Any], over: str) -> None:
    from schedlab.analysis.compare import METRICS
    from schedlab.cli.output import console, say
    from schedlab.cli.table import class_table

    keys = ("wait.mean", "bounded_slowdown.mean")
    if by == By.workflow:
        keys = ("workflow.runtime.median", "workflow.turnaround.median")
    for key in keys:
        say(f"\n{METRICS[key].label} by {'kind' if by == By.workflow else by}", "bold")
        console().print(class_table(by, comparison, classes, METRICS[key], MOST_CLASSES))
    if over:
        say(over, "dim")
    more = max(len(table) for table in classes) - MOST_CLASSES
    if more > 0:
        say(f"and {more:,} more with less core time: --json lists them all", "dim")


def _resources(runs: Sequence[Run], by: Any, trim: Selection | None) -> list[Any]:
    from schedlab.analysis.parts import resources_by_part

    return [resources_by_part(run, by, trim=trim) for run in runs]


def _baseline_first(runs: list[Run]) -> list[Run]:
    from schedlab.analysis.job_by_job import baseline_of

    first = baseline_of(runs)
    return [runs[first], *runs[:first], *runs[first + 1 :]]


def _pairs(runs: Sequence[Run], trim: Selection | None) -> list[JobByJob]:
    """Every run but the first against the first."""
    from schedlab.analysis.job_by_job import job_by_job

    return [job_by_job(run, runs[0], trim=trim) for run in runs[1:]]


def _print_pairs(comparison: Comparison, pairs: Sequence[JobByJob]) -> None:
    from schedlab.cli.output import console, say
    from schedlab.cli.table import errors_table, pairs_table

    labels = [row.label for row in comparison.rows]
    say(f"\nwaits job by job, against {labels[0]}", "bold")
    console().print(pairs_table(labels[1:], pairs))
    if any(pair.mean is not None for pair in pairs):
        say("the interval takes jobs as independent, which they are not: it is too narrow (docs/statistics.md)", "dim")
    say(f"\nstarts, turnarounds and makespan, against {labels[0]}", "bold")
    console().print(errors_table(labels[1:], pairs))
    say("MAPE: mean absolute percentage error over the jobs that both started", "dim")


def _document(
    runs: Sequence[Run],
    comparison: Comparison,
    classes: Sequence[Any] | None,
    pairs: Sequence[JobByJob] | None,
    parts: Sequence[Any] | None,
) -> dict[str, Any]:
    from schedlab.analysis.compare import METRICS, resource_metrics

    of_resources = resource_metrics([row.summary for row in comparison.rows])
    return {
        **first_facts(comparison),
        "runs": [
            {
                "label": row.label,
                "folder": str(run.path),
                "policy": run.policy,
                "cluster": run.cluster.name,
                "workload": run.workload["name"],
                "options": run.options,
                "summary": row.summary,
                **({} if classes is None else {"classes": classes[at].to_dicts()}),
                **({} if parts is None else {"resources": parts[at].to_dicts()}),
                **({} if pairs is None or not at else {"paired": asdict(pairs[at - 1])}),
            }
            for at, (run, row) in enumerate(zip(runs, comparison.rows, strict=True))
        ],
        "best": {
            metric.key: [comparison.rows[at].label for at in sorted(comparison.best(metric))]
            for metric in (*METRICS.values(), *of_resources, *comparison.metrics)
            if metric.better
        },
    }
