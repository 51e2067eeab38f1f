"""Tables of a run as data frames, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from schedlab.model.tables import JOBS

if TYPE_CHECKING:
    import polars as pl


def as_frame(table: pa.Table) -> pl.DataFrame:
    """With words as plain strings."""
    import polars as pl

    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame.with_columns(pl.col(pl.Categorical).cast(pl.String))


def frame_of_jobs(table: pa.Table, observed: pa.Table | None = None) -> pl.DataFrame:
    """In the order of the workload, with what observers said of them."""
    import polars as pl

    jobs = pl.from_arrow(table)
    assert isinstance(jobs, pl.DataFrame)
    kinds = {
        column.name: pl.Enum(column.words[1:] if column.nullable else column.words)
        for column in JOBS.columns
        if column.words
    }
    if observed is not None:
        jobs = jobs.join(as_frame(observed), on="sequence", how="left")
    in_words = [pl.col(name).cast(pl.String).cast(kind) for name, kind in kinds.items()]
    return jobs.lazy().sort("sequence").with_columns(in_words).collect()
