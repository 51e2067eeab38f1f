"""Distributions of what jobs met, as curves of quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

from schedlab.model.run import Run
from schedlab.plot.measures import measure_of, measured
from schedlab.web.block import Column, pack

SHOWN = ("wait", "bounded_slowdown", "turnaround")
POINTS = 301


def distribution_facts() -> dict[str, Any]:
    """What there are, by metric."""
    measures = {metric: measure_of(metric) for metric in SHOWN}
    return {metric: {"label": of.label, "duration": of.duration} for metric, of in measures.items()}


def distributions_block(run: Run) -> bytes:
    """Of each metric the quantiles at even steps from 0 to 1; empty where no job started."""
    columns: dict[str, Column | list[str]] = {}
    for metric in SHOWN:
        values = measured(run, metric)
        curve = np.quantile(values, np.linspace(0, 1, POINTS)) if len(values) else np.empty(0)
        columns[metric] = Column(curve, single=True)  # seven digits are more than a line shows
    return pack(columns)
