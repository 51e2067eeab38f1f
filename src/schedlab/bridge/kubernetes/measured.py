"""Delays of pods as they were measured on a real cluster: in the words of `startup(…)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.model.errors import InputError

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("scheduled", "pulling", "pulled", "created", "starting_time")
QUANTILES = 21


def measured(paths: Sequence[Path], durations: Mapping[str, float] | None = None) -> dict[str, list[float]]:
    """Quantiles of each delay from tables of pods (`pods.csv` of `schedlab kube submit`, or Batkube's).

    Rows tell when a pod was scheduled, its image asked for and there, its container created and started; one that does
    not is left out of what it does not tell. `durations` says how long the jobs of each profile sleep; then what they
    took longer is `end`.
    """
    import polars as pl

    tables = []
    for path in paths:
        table = pl.read_csv(path, infer_schema_length=None)
        missing = [column for column in COLUMNS if column not in table.columns]
        if missing:
            hint = f"a table of pods has the columns {', '.join(COLUMNS)}"
            raise InputError(f"has no column {', '.join(missing)}", where=str(path), hint=hint)
        tables.append(table)
    whole = pl.concat([_numbers(table) for table in tables], how="diagonal_relaxed")
    found = {
        "sync": whole["pulling"] - whole["scheduled"],
        "again": whole["pulled"] - whole["pulling"],
        "create": whole["starting_time"] - whole["pulled"],
    }
    if durations:
        asked = whole["profile"].replace_strict(durations, default=None, return_dtype=pl.Float64)
        found["end"] = whole["execution_time"] - asked
    elif "delay" in whole.columns:
        found["end"] = whole["execution_time"] - whole["delay"]
    if whole["pulling"].null_count() == len(whole):  # who fetched images is not told: all of it is one delay
        found["sync"] = whole["starting_time"] - whole["scheduled"]
    return {name: _quantiles(column.drop_nulls().to_numpy()) for name, column in found.items()}


def _numbers(table: pl.DataFrame) -> pl.DataFrame:
    """Columns without any value are texts to a reader of CSV."""
    import polars as pl

    known = [name for name in (*COLUMNS, "execution_time", "delay") if name in table.columns]
    return table.with_columns(pl.col(known).cast(pl.Float64, strict=False))


def sleeping_times(workload: Path) -> dict[str, float]:
    """How long each profile of a Batsim workload sleeps, by its name."""
    from schedlab.files.bytestream import ByteStream
    from schedlab.files.json_text import json_of

    document = json_of(b"".join(ByteStream(workload)).decode("utf-8-sig"), str(workload))
    profiles = document.get("profiles") if isinstance(document, dict) else None
    if not isinstance(profiles, dict):
        raise InputError("has no profiles", where=str(workload), hint="give the Batsim workload of the tables")
    return {
        name: float(spec["delay"])
        for name, spec in profiles.items()
        if isinstance(spec, dict) and isinstance(spec.get("delay"), int | float)
    }


def _quantiles(values: NDArray[np.float64]) -> list[float]:
    if not len(values):
        return [0.0]
    found = np.quantile(np.maximum(values, 0.0), np.linspace(0, 1, QUANTILES))
    return [round(float(one), 3) for one in found]
