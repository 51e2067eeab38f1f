"""What places.parquet says that jobs had on nodes, where a run has this table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schedlab.engine.check.offences import Offences

COLUMNS = ("sequence", "job", "node", "from", "until", "chunks", "devices")


@dataclass(frozen=True)
class Told:
    """The rows of the table whose jobs are there, in its order."""

    job: NDArray[np.int64]
    row: NDArray[np.int64]  # position of the job in the record
    node: NDArray[np.int64]
    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    chunks: NDArray[np.int64]
    amounts: dict[str, NDArray[np.int64]]  # of each resource
    devices: list[str | None]

    def __len__(self) -> int:
        return len(self.job)


def read_told(table: pa.Table | None, sequence: NDArray[np.int64], resources: list[str], offences: Offences) -> Told:
    """`sequence` is that of the jobs of the record."""
    if table is None or not len(table):
        nothing, never = np.empty(0, np.int64), np.empty(0)
        return Told(nothing, nothing, nothing, never, never, nothing, {}, [])
    missing = [name for name in (*COLUMNS, *resources) if name not in table.column_names]
    if missing:
        raise ValueError(f"places.parquet lacks the columns {', '.join(missing)}")
    order = np.argsort(sequence, kind="stable")
    asked = table["sequence"].to_numpy()
    place = np.minimum(np.searchsorted(sequence[order], asked), max(len(order) - 1, 0))
    row = order[place] if len(order) else np.zeros(len(asked), np.int64)
    known = sequence[row] == asked if len(order) else np.zeros(len(asked), bool)
    for at in np.flatnonzero(~known).tolist():
        offences.add("places", f"row {at} of the places is of a job at position {asked[at]}, and there is none")
    kept = np.flatnonzero(known)
    some = table.take(pa.array(kept)) if len(kept) < len(table) else table
    return Told(
        job=some["job"].to_numpy(),
        row=row[kept],
        node=some["node"].to_numpy().astype(np.int64),
        begin=some["from"].to_numpy(),
        end=some["until"].to_numpy(),
        chunks=some["chunks"].to_numpy().astype(np.int64),
        amounts={name: some[name].to_numpy() for name in resources},
        devices=some["devices"].to_pylist(),
    )
