"""Runs side by side, for pages: the numbers that `schedlab compare` prints, as it prints them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from schedlab.analysis.compare import compare
from schedlab.analysis.job_by_job import JobByJob, job_by_job
from schedlab.analysis.side_by_side import text_columns
from schedlab.model.errors import InputError
from schedlab.model.run import Run


def compared(runs: Sequence[Run], baseline: int) -> dict[str, Any]:
    """Labels, columns of text with the best marked, what is to be said first, and each run against the baseline."""
    comparison = compare(runs)
    return {
        "labels": [row.label for row in comparison.rows],
        "differences": {name: [row.differences[name] for row in comparison.rows] for name in comparison.differences},
        "columns": [asdict(column) | {"best": sorted(column.best)} for column in text_columns(comparison)],
        "said_first": comparison.said_first(),
        "baseline": baseline,
        "pairs": [
            None if at == baseline or not comparison.same_jobs else _pair(run, runs[baseline])
            for at, run in enumerate(runs)
        ],
    }


def _pair(run: Run, baseline: Run) -> dict[str, Any] | None:
    try:
        found: JobByJob = job_by_job(run, baseline)
    except InputError:  # not the same submissions
        return None
    return {
        **{name: getattr(found, name) for name in ("jobs", "shorter", "same", "longer", "median", "p95")},
        "mean": None if found.mean is None else found.mean.estimate,
    }
