"""A reader of your own: jobs from a file of another format.

schedlab run LOG.csv --reader mine.py:read_table --cluster 64x4 --policy easy
schedlab inspect LOG.csv --reader mine.py:read_table --cluster 64x4
"""

from pathlib import Path

import polars as pl

import schedlab as sl


def read_table(path):
    """A table with a row for each job: submitted (seconds), ran, asked_for, processors, user."""
    table = pl.read_csv(path)
    return sl.Workload.of(
        name=Path(path).stem,
        submit=table["submitted"],
        runtime=table["ran"],
        limit=table["asked_for"],
        count=table["processors"],
        user=table["user"],  # numbers; also known: id, group, queue, cancel, after, think
    )


# Registered by a package, it is found by the ending of a file's name: no --reader needed.
read_table.extensions = (".jobs",)
