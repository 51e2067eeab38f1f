"""Runs and studies as pages show them: the numbers and sentences of the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schedlab.analysis.classes import CLASSES, by_class
from schedlab.analysis.compare import METRICS, Metric, best, compare
from schedlab.analysis.pairing import paired_by_job
from schedlab.analysis.side_by_side import marks
from schedlab.analysis.written import column
from schedlab.experiment.results import Results
from schedlab.model.errors import InputError
from schedlab.model.run import Run

FOUR = ("wait.mean", "bounded_slowdown.mean", "utilisation", "makespan")
OF_CLASSES = ("wait.mean", "bounded_slowdown.mean")
MOST_CLASSES, MOST_METRICS, MOST_GROUPS, MOST_VERDICTS = 15, 4, 40, 40
MOST_EXTREMES = 5
LARGEST = 16 << 20  # bytes of a run.json for the list of runs


def run_cards(folders: Sequence[Path]) -> list[dict[str, Any] | None]:
    """Policy, log, machine and four numbers of each run, from run.json alone; None where it cannot be read."""
    configs = [_config(folder) for folder in folders]
    columns = {}
    for key in FOUR:
        metric = METRICS[key]
        unit, texts = column([metric.of(config["summary"]) if config else None for config in configs], metric.unit)
        columns[key] = (metric.label, unit, texts)
    return [
        config
        and {
            "policy": config["policy"],
            "log": config["workload"]["name"],
            "cluster": config["cluster"]["name"],
            "jobs": config["summary"]["jobs"],
            "incomplete": bool(config.get("incomplete")),
            "reasons": bool(config.get("options", {}).get("reasons")),
            "numbers": [
                {"key": key, "label": label, "unit": unit, "text": texts[at]}
                for key, (label, unit, texts) in columns.items()
            ],
        }
        for at, config in enumerate(configs)
    ]


def _config(folder: Path) -> dict[str, Any] | None:
    try:
        path = folder / "run.json"
        config: dict[str, Any] = json.loads(path.read_bytes()) if path.stat().st_size <= LARGEST else {}
        wanted = config["policy"], config["workload"]["name"], config["cluster"]["name"], config["summary"]["jobs"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return config if all(value is not None for value in wanted) else None


def classes_of(runs: Sequence[Run], by: str) -> dict[str, Any]:
    """What `schedlab compare --by` prints: for two metrics a row per class, a text per run."""
    comparison = compare(runs)
    tables = [
        by_class(run.tables, by, tau=run.summary["tau"], labels=run.workload.get("labels"), requests=run.requests)
        for run in runs
    ]
    names = list(dict.fromkeys(name for table in tables for name in table["class"]))
    metrics = []
    for key in OF_CLASSES:
        metric: Metric = METRICS[key]
        found = [dict(zip(table["class"], table[key], strict=True)) for table in tables]
        values = [[one.get(name) for one in found] for name in names[:MOST_CLASSES]]
        unit, flat = column([value for row in values for value in row], metric.unit)
        rows = []
        for at, own in enumerate(values):
            texts = flat[at * len(tables) : (at + 1) * len(tables)]
            winners = best(own, metric.better) if comparison.same_jobs else frozenset()
            rows.append({"texts": texts, "best": sorted(marks(texts, winners))})
        metrics.append({"key": key, "label": metric.label, "unit": unit, "rows": rows})
    jobs = dict(zip(tables[0]["class"], tables[0]["jobs"], strict=True))
    shown = [
        {"name": "unknown" if name is None else str(name), "jobs": int(jobs.get(name, 0))}
        for name in names[:MOST_CLASSES]
    ]
    return {"by": by, "labels": [row.label for row in comparison.rows], "classes": shown, "metrics": metrics} | {
        "more": max(0, len(names) - MOST_CLASSES),
        "ways": list(CLASSES),
    }


def extremes(run: Run, baseline: Run) -> dict[str, list[dict[str, Any]]] | None:
    """The jobs whose waits fell and grew most, in seconds; None where the runs have other jobs to do."""
    import numpy as np

    try:
        pairs = paired_by_job(run, baseline)
    except InputError:
        return None
    order = np.argsort(pairs.difference, kind="stable")
    ends = {"gained": order[:MOST_EXTREMES], "lost": order[::-1][:MOST_EXTREMES]}
    return {
        name: [
            {"job": int(pairs.job[at]), "difference": float(pairs.difference[at])}
            for at in found
            if (pairs.difference[at] < 0) == (name == "gained") and pairs.difference[at]
        ]
        for name, found in ends.items()
    }


def study_document(folder: Path) -> dict[str, Any]:
    """What `schedlab experiment run` prints at its end, and `status`."""
    results = Results(folder)
    status = results.status
    found: dict[str, Any] = {
        "name": results.name,
        "planned": status.planned,
        "done": status.done,
        "failed": status.failed,
        "open": status.open,
        "failures": [
            {"run": results.group_of(run.point), "repetition": run.repetition + 1, "error": error}
            for run, error, _ in status.failures[:5]
        ],
        "text": _text(folder / "study.toml"),
    }
    return found | (_told(results) if results.results else {})


def _told(results: Results) -> dict[str, Any]:
    from schedlab.analysis.verdict import metric_name
    from schedlab.report.scale import Scale

    metrics = results.metrics[:MOST_METRICS]
    groups = results.groups(metrics)
    scales = {metric: Scale.of(metric, groups.filter(metric=metric)["mean"]) for metric in metrics}
    rows: dict[str, dict[str, str]] = {}
    for row in groups.iter_rows(named=True):
        rows.setdefault(row["group"], {})[row["metric"]] = scales[row["metric"]].told(row)
    verdicts = results.verdicts(results.metrics[:2])
    runs = results.table.select("run", "group", "repetition").iter_rows(named=True)
    return {
        "metrics": [{"key": metric, "label": metric_name(metric)} for metric in metrics],
        "groups": [{"name": name, "texts": texts} for name, texts in list(rows.items())[:MOST_GROUPS]],
        "more_groups": max(0, len(rows) - MOST_GROUPS),
        "said_first": list(results.said_first()),
        "copies": results.copies or "",
        "verdicts": verdicts[:MOST_VERDICTS],
        "notes": [*results.coverage(), *results.notes(), *results.lacking.values()],
        "runs": [
            {"run": row["run"], "group": row["group"], "repetition": row["repetition"] + 1}
            for row in runs
            if (results.folder / "runs" / row["run"] / "run.json").is_file()
        ],
    }


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
