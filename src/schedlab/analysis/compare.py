"""Several runs side by side: the metrics worth a look, and which run is best at each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from schedlab.analysis.beside import compact_twin, improvement
from schedlab.analysis.common_jobs import common_jobs, metrics_of_jobs, same_submissions
from schedlab.analysis.distribution import QUANTILES
from schedlab.analysis.job_ends import ends_told, job_ends
from schedlab.analysis.machine import Machine
from schedlab.analysis.measure import measure
from schedlab.analysis.metrics import ABOUT_OTHERS, about_jobs, summarise
from schedlab.analysis.trim import Selection
from schedlab.analysis.workflows import has_workflows
from schedlab.model.errors import InputError
from schedlab.model.jobs import JobSet
from schedlab.model.run import Run
from schedlab.model.suggest import did_you_mean

if TYPE_CHECKING:
    from schedlab.model.plugins import Plugin

Unit = Literal["time", "share", "number", "count"]
Better = Literal["lower", "higher", None]


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of the summary (`wait.mean`) and how to read it."""

    key: str
    label: str
    unit: Unit
    better: Better = "lower"

    def of(self, summary: dict[str, Any]) -> float | None:
        value: Any = summary
        rest = self.key
        while rest and value is not None:  # None: not measured in this run
            name, _, after = (rest, "", "") if rest in value else rest.partition(".")  # a plugin's name may have dots
            value, rest = value.get(name), after
        return None if value is None else float(value)


_OF_JOBS: dict[str, tuple[str, Unit]] = {
    "wait": ("wait", "time"),
    "turnaround": ("turnaround", "time"),
    "slowdown": ("slowdown", "number"),
    "bounded_slowdown": ("bounded slowdown", "number"),
    "processor_slowdown": ("per-processor bounded slowdown", "number"),
}
_OF_WORKFLOWS: dict[str, tuple[str, Unit]] = {
    "wait": ("wait of workflows", "time"),
    "runtime": ("run time of workflows", "time"),
    "turnaround": ("turnaround of workflows", "time"),
    "stretch": ("stretch of workflows", "number"),
    "wait_share": ("share of waiting in workflows", "share"),
    "intermediate_wait": ("intermediate wait of workflows", "time"),
}
_WORKFLOWS = (
    *(
        Metric(f"workflow.{name}.{statistic}", f"{statistic} {label}", unit)
        for name, (label, unit) in _OF_WORKFLOWS.items()
        for statistic in ("mean", *QUANTILES, "max")
    ),
    Metric("workflow.number", "workflows", "count", None),
    Metric("workflow.finished", "finished workflows", "count", None),
    Metric("workflow.used_core_hours", "core-hours used by workflows", "number", None),
    Metric("workflow.allocated_core_hours", "core-hours held by workflows", "number"),
    Metric("workflow.idle_share", "idle in workflows", "share"),
    Metric("utilisation_less_idle", "utilisation less idle", "share", "higher"),
    *(
        Metric(f"others.{name}.{statistic}", f"{statistic} {_OF_JOBS[name][0]} of other jobs", _OF_JOBS[name][1])
        for name in ABOUT_OTHERS
        for statistic in ("mean", *QUANTILES, "max")
    ),
)
_METRICS = (
    *(
        Metric(f"{name}.{statistic}", f"{statistic} {label}", unit)
        for name, (label, unit) in _OF_JOBS.items()
        for statistic in ("mean", *QUANTILES, "max")
    ),
    Metric("wait.weighted", "mean wait weighted by core-hours", "time"),
    Metric("turnaround.weighted", "mean turnaround weighted by core-hours", "time"),
    Metric("utilisation", "utilisation", "share", "higher"),
    Metric("utilisation_queued", "utilisation while queued", "share", "higher"),
    Metric("makespan", "makespan", "time"),
    *(Metric(f"speedup.{name}", f"{name} speed-up", "number", "higher") for name in ("mean", *QUANTILES, "max")),
    Metric("slowed_share", "jobs slowed down", "share"),
    Metric("utilisation_until_empty", "utilisation until nobody waits", "share", "higher"),
    Metric("improvement.faster", "makespan gain", "share", "higher"),
    Metric("improvement.shorter", "makespan saved", "share", "higher"),
    Metric("queue_length.mean", "mean queue length", "number"),
    Metric("queue_length.max", "longest queue", "number"),
    Metric("queued_share", "share of time with a queue", "share", None),
    Metric("throughput_per_hour", "throughput per hour", "number", "higher"),
    Metric("backfilled_share", "backfilled", "share", None),
    Metric("states.killed", "killed", "count", None),
    Metric("states.rejected", "rejected", "count", None),
    Metric("states.cancelled", "cancelled", "count", None),
    Metric("states.held", "held", "count", None),
    Metric("states.waiting", "never started", "count", None),
    *_WORKFLOWS,
)
METRICS = {metric.key: metric for metric in _METRICS}
METRIC_NAMES = (
    f"{', '.join(f'{name}.mean' for name in _OF_JOBS)}, with .median, .p5 … .p99 or .max as well; wait.weighted, "
    "turnaround.weighted; "
    + ", ".join(key for key in METRICS if key.partition(".")[0] not in (*_OF_JOBS, "workflow", "others"))
    + f"; of runs with workflows {', '.join(f'workflow.{name}.mean' for name in _OF_WORKFLOWS)}, workflow.number, "
    "workflow.finished, workflow.used_core_hours, workflow.allocated_core_hours, workflow.idle_share, "
    "others.wait.mean …"
    + "; observed.NAME of an observer; resources.gpus.utilisation …; of a study performance.total …"
)

_OF_RESOURCES: dict[str, tuple[str, Unit, Better]] = {
    "utilisation": ("utilisation of {}", "share", "higher"),
    "utilisation_queued": ("utilisation of {} while asked for", "share", "higher"),
    "load": ("load of {}", "number", None),
    "queue.mean": ("mean of {} waited for", "number", "lower"),
    "queue.max": ("most {} waited for", "number", "lower"),
    "fragmentation": ("fragmentation of {}", "share", "lower"),
}
_PERFORMANCE = (  # of a study's runs, see docs/experiments.md
    Metric("performance.total", "time of a run", "time"),
    Metric("performance.cpu", "processor time of a run", "time"),
    Metric("performance.deciding", "time of deciding", "time"),
    Metric("performance.memory", "peak memory in MB", "number"),
)
PERFORMANCE = {metric.key: metric for metric in _PERFORMANCE}


def metric_called(key: str) -> Metric | None:
    """The metric with this key; also of a resource (`resources.gpus.utilisation`) or of an observer
    (`observed.energy_kwh`, of which only a run can tell whether there is one). None if nobody has defined it."""
    head, _, rest = key.partition(".")
    if head == "observed" and rest:
        return Metric(key, rest.replace("_", " "), "number", None)
    if key in PERFORMANCE:
        return PERFORMANCE[key]
    if head != "resources":
        return METRICS.get(key)
    for ending, (label, unit, better) in _OF_RESOURCES.items():
        if rest.endswith(f".{ending}"):
            return Metric(key, label.format(rest.removesuffix(f".{ending}")), unit, better)
    return None


def resource_metrics(summaries: Sequence[dict[str, Any]]) -> tuple[Metric, ...]:
    """The utilisation of the resources besides cores that jobs of some of the runs ask for."""
    asked = dict.fromkeys(
        name for summary in summaries for name, found in summary.get("resources", {}).items() if found["load"]
    )
    found = (metric_called(f"resources.{name}.utilisation") for name in asked if name != "cores")
    return tuple(metric for metric in found if metric is not None)


@dataclass(frozen=True, slots=True)
class Row:
    """One run: its name, its summary, and what tells it from the others besides the policy."""

    label: str
    summary: dict[str, Any]
    differences: dict[str, str] = field(default_factory=dict)
    incomplete: bool = False  # it ended before its time

    @property
    def counts(self) -> bool:
        """Whether it can be the best at anything."""
        return not self.incomplete and bool(self.summary["started"])


@dataclass(frozen=True, slots=True)
class Comparison:
    rows: tuple[Row, ...]
    differences: tuple[str, ...] = ()  # what the runs differ in besides the policy: workload, cluster, estimate …
    metrics: tuple[Metric, ...] = ()  # what observers and plug-ins measured, and what was asked for by name
    same_started: bool = True  # whether the runs that count started the same jobs
    common: JobSet | None = None  # if not: the jobs that all of them started, which waits and slowdowns are over

    def values(self, metric: Metric) -> list[float | None]:
        return [metric.of(row.summary) for row in self.rows]

    @property
    def same_jobs(self) -> bool:
        """Whether one run can be better than another at all."""
        return "workload" not in self.differences

    def best(self, metric: Metric) -> frozenset[int]:
        """The rows that are best at this metric; none if the runs had other jobs to do, or did others.

        Never one that broke off, or started nothing.
        """
        if not self.same_jobs or not (self.same_started or (self.common is not None and about_jobs(metric.key))):
            return frozenset()
        values = (metric.of(row.summary) if row.counts else None for row in self.rows)
        return best(list(values), metric.better)

    def said_first(self) -> list[str]:
        """What became of jobs in one run and not in the first, before anybody looks at means; and what means are of."""
        counted = [row for row in self.rows if not row.incomplete]
        if len(counted) < 2 or not self.same_jobs:
            return []
        first, *others = counted
        ends, jobs = job_ends(first.summary), first.summary["jobs"]
        told = [
            sentence
            for row in others
            for sentence in ends_told(row.label, job_ends(row.summary), first.label, ends, jobs)
        ]
        if self.same_started:
            return told
        if self.common is None:
            return [*told, "the runs did not start the same jobs: their means are over different jobs"]
        over = f"waits and slowdowns are over the {len(self.common):,} jobs that all runs started"
        return [*told, f"{over}; utilisation, makespan and queues are those of different jobs"]


def compare(
    runs: Sequence[Run],
    *,
    tau: float | None = None,
    trim: Selection | None = None,
    metrics: Sequence[Plugin | str] = (),
) -> Comparison:
    """The summaries of `runs`, computed anew if another tau or trimming is asked for, and `metrics` of the whole runs.

    What plug-ins give is in the summaries under "metrics"; a text names a number of the summary (`wait.p99`).
    """
    names = [metric for metric in metrics if isinstance(metric, str)]
    plugins = [metric for metric in metrics if not isinstance(metric, str)]
    labels, differences = _labels(runs), _differences(runs)
    measured = [measure(run, plugins) for run in runs]
    columns = {name: _column(name, plugin) for found in measured for name, (_, plugin) in found.items()}
    counted = [run for run in runs if not run.incomplete and run.summary["started"]]
    jobs = common_jobs(counted, trim) if "workload" not in differences else None
    together = jobs is not None and same_submissions(counted, jobs)
    rows = []
    for at, (run, label) in enumerate(zip(runs, labels, strict=True)):
        summary = summary_of(run, tau=tau, trim=trim)
        if together and jobs is not None and run in counted:
            summary |= metrics_of_jobs(run, jobs, summary["tau"], trim)
        if columns:
            summary["metrics"] = {name: measured[at].get(name, (None,))[0] for name in columns}
        own = {name: values[at] for name, values in differences.items()}
        rows.append(Row(label, summary, own, bool(run.incomplete)))
    rows = with_improvement(rows, [run.config for run in runs], same_jobs="workload" not in differences)
    shown = (*beside(rows), *of_workflows(rows), *_named(names, rows), *observed(rows), *columns.values())
    others = {metric.key: metric for metric in shown}
    return Comparison(
        rows=tuple(rows),
        differences=tuple(differences),
        metrics=tuple(others.values()),
        same_started=jobs is None,
        common=jobs if together else None,
    )


def with_improvement(rows: Sequence[Row], configs: Sequence[Mapping[str, Any]], *, same_jobs: bool) -> list[Row]:
    """Of runs with a heatmap, also how much better the makespan is than that of the one on whole nodes (or the first).

    `configs` are their run.json.
    """
    if not same_jobs or len(rows) < 2 or not any("speedup" in row.summary for row in rows):
        return list(rows)
    twin = rows[compact_twin(configs)]
    if not twin.counts:
        return list(rows)
    of_twin = twin.summary["makespan"]
    better = [improvement(row.summary["makespan"] if row.counts else None, of_twin) for row in rows]
    return [replace(row, summary=row.summary | {"improvement": found}) for row, found in zip(rows, better, strict=True)]


def beside(rows: Sequence[Row]) -> tuple[Metric, ...]:
    """The columns of runs with a heatmap."""
    if not any("speedup" in row.summary for row in rows):
        return ()
    better = any("improvement" in row.summary for row in rows)
    keys = ("speedup.mean", "slowed_share", *(("improvement.faster", "improvement.shorter") if better else ()))
    return tuple(METRICS[key] for key in keys)


def of_workflows(rows: Sequence[Row]) -> tuple[Metric, ...]:
    """The columns of runs with workflows."""
    if not any("workflow" in row.summary for row in rows):
        return ()
    return tuple(
        METRICS[f"workflow.{key}"] for key in ("finished", "runtime.median", "turnaround.median", "idle_share")
    )


def observed(rows: Sequence[Row]) -> tuple[Metric, ...]:
    """What observers measured in some of the runs, as columns. What they count has no decimals."""
    found: dict[str, list[float]] = {}
    for row in rows:
        for name, value in row.summary.get("observed", {}).items():
            found.setdefault(name, []).append(value)

    def unit(values: list[float]) -> Unit:
        return "count" if all(isinstance(value, int) for value in values) else "number"

    return tuple(
        Metric(f"observed.{name}", name.replace("_", " "), unit(values), None) for name, values in found.items()
    )


def _named(names: Sequence[str], rows: Sequence[Row]) -> Iterator[Metric]:
    """Those that some run has."""
    for name in names:
        metric = metric_called(name)
        if metric is None:
            raise unknown_metric(name)
        if all(metric.of(row.summary) is None for row in rows):
            there = [known.key for known in (*METRICS.values(), *observed(rows)) if known.key != name]
            hint = did_you_mean(name, there) or "simulate it again with what measures it"
            if name in PERFORMANCE:
                hint = f'a study measures it: metrics = ["{name}"] in its file (schedlab experiment run)'
            raise InputError(f"no run has the metric '{name}'", hint=hint)
        yield metric


def unknown_metric(name: str) -> InputError:
    """With the name that was meant, maybe, and what there is."""
    hint = did_you_mean(name, METRICS, f"metrics: {METRIC_NAMES}; or your own mine.py:function")
    return InputError(f"there is no metric '{name}'", hint=hint)


def summary_of(run: Run, *, tau: float | None = None, trim: Selection | None = None) -> dict[str, Any]:
    """The run's own summary, or one computed for another tau or trimming."""
    summary = run.summary
    if trim is None and tau in (None, summary["tau"]):
        return summary
    anew = summarise(
        run.tables,
        run.cluster.cores,
        tau=summary["tau"] if tau is None else tau,
        trim=None if trim is None else trim.of(run),
        machine=Machine.of_run(run) if {"resources", "rejections", "speedup", "workflow"} & set(summary) else None,
    )
    return anew | ({"observed": summary["observed"]} if "observed" in summary else {})


def best(values: Sequence[float | None], better: Better) -> frozenset[int]:
    """Where the best value is (everywhere, if several share it); nowhere if there is nothing to choose between."""
    known = [value for value in values if value is not None]
    if better is None or len(set(known)) < 2:
        return frozenset()
    target = min(known) if better == "lower" else max(known)
    return frozenset(position for position, value in enumerate(values) if value == target)


def _column(name: str, plugin: Plugin) -> Metric:
    """As the function says itself: `tail_wait.unit = "time"`, `tail_wait.better = "lower"`."""
    unit: Any = getattr(plugin.target, "unit", "number")
    better: Any = getattr(plugin.target, "better", None)
    for what, value, choices in (("unit", unit, get_args(Unit)), ("better", better, get_args(Better))):
        if value not in choices:
            hint = f"one of {', '.join(map(str, choices))}"
            raise InputError(f"its {what} cannot be {value!r}", where=f"metric '{plugin}'", hint=hint)
    return Metric(f"metrics.{name}", name.replace("_", " "), unit, better)


def _labels(runs: Sequence[Run]) -> list[str]:
    """The policy; where two runs share it, also the folder; and whether the run broke off."""
    policies = [f"{run.policy} (incomplete)" if run.incomplete else run.policy for run in runs]
    labels = [
        policy if policies.count(policy) == 1 or run.path is None else f"{policy} ({run.path})"
        for run, policy in zip(runs, policies, strict=True)
    ]
    return [label if labels.count(label) == 1 else f"{label} #{n}" for n, label in enumerate(labels, 1)]


def _differences(runs: Sequence[Run]) -> dict[str, list[str]]:
    """What differs -> its value for each run."""
    workloads = _workloads(runs)
    asked = [
        {"workload": workload, "cluster": run.config["cluster"]["name"], "handling": _handling(run), **run.options}
        for run, workload in zip(runs, workloads, strict=True)
    ]
    names = dict.fromkeys(name for options in asked for name in options if name != "tau")
    values = {name: [str(options.get(name, "")) for options in asked] for name in names}
    return {name: found for name, found in values.items() if len(set(found)) > 1}


def _workloads(runs: Sequence[Run]) -> list[str]:
    """What to call the jobs of each run: the same for the same content, whatever the name of the file."""
    known: dict[tuple[Any, ...], str] = {}
    for run in runs:
        name, content = str(run.workload["name"]), run.workload.get("sha256")
        key = _content(run)
        if key in known:
            continue
        taken = name in known.values()
        known[key] = f"{name} ({content[:8] if content else len(known)})" if taken else name
    return [known[_content(run)] for run in runs]


def _content(run: Run) -> tuple[Any, ...]:
    kept = run.workload.get("report", {}).get("kept")
    return run.workload.get("sha256") or run.workload["name"], kept, *_workflows(run)


def _workflows(run: Run) -> tuple[Any, ...]:
    """What tells the workflows of one run from those of another: which came, and when."""
    if not has_workflows(run.tables):
        return ()
    table = run.table("workflows")
    return tuple(table["kind"].cast(str)), table["submit"].sum()


def _handling(run: Run) -> str:
    """How the workflows of a run were submitted; empty if it has none."""
    if not has_workflows(run.tables):
        return ""
    return ", ".join(run.table("workflows")["handling"].cast(str).unique(maintain_order=True))
