"""What jobs waited for, as blocks for the browser: the table of reasons by job, a part of the jobs in each block."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from schedlab.model.run import Run
from schedlab.model.states import WAIT_REASONS
from schedlab.web.block import Column, pack
from schedlab.web.jobs import rows_of

if TYPE_CHECKING:
    import polars as pl

AT_ONCE = 65_536  # reasons in a block, about: those of a job are in one


class Waits:
    def __init__(self, run: Run) -> None:
        self._run = run

    @cached_property
    def _table(self) -> pl.DataFrame:
        """With the rows of jobs, in their order."""
        found = self._run.tables.frame("reasons").sort("sequence", "from", maintain_order=True)
        return found.with_columns(row=rows_of(self._run, found["sequence"].to_numpy()))

    @cached_property
    def begins(self) -> list[int]:
        """The first job of each block, and the job after the last."""
        rows = self._table["row"].to_numpy()
        if not len(rows):
            return []
        return [*np.unique(rows[::AT_ONCE]).tolist(), int(rows[-1]) + 1]

    def index(self) -> bytes:
        return pack({"first": Column(np.array(self.begins, np.int64))})

    def block(self, number: int) -> bytes:
        import polars as pl

        first, last = self.begins[number : number + 2]
        return _packed(self._table.filter((pl.col("row") >= first) & (pl.col("row") < last)))

    def of_job(self, row: int) -> bytes:
        """KeyError if there is no such job."""
        import polars as pl

        sequences = np.sort(self._run.tables.column("sequence"))
        if not 0 <= row < len(sequences):
            raise KeyError(row)
        found = self._run.tables.of_job("reasons", int(sequences[row])).sort("from", maintain_order=True)
        return _packed(found.with_columns(row=pl.lit(row, pl.Int64)))


def _packed(some: pl.DataFrame) -> bytes:
    words = some["words"].cast(str).fill_null("")
    texts = words.unique(maintain_order=True).to_list()
    number_of = {text: at for at, text in enumerate(texts)}
    why = {word: at for at, word in enumerate(WAIT_REASONS)}
    return pack(
        {
            "row": Column(some["row"].to_numpy(), delta=True),
            "from": Column(some["from"].to_numpy()),
            "until": Column(some["until"].to_numpy(), relative="from"),
            "why": Column(np.array([why[word] for word in some["why"].cast(str)], np.int64)),
            "who": Column(some["who"].fill_null(-1).to_numpy(), null=-1),
            "words": Column(np.array([number_of[text] for text in words], np.int64)),
            "texts": texts,
        }
    )
