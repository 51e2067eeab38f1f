"""Task tables of OpenDC (Parquet): a task is a virtual machine, one chunk of `cpu_count` cores on one node."""

from __future__ import annotations

from pathlib import Path

from schedlab.model.workload import Workload
from schedlab.workload.options import ReadOptions
from schedlab.workload.table.mapping import Column, Mapping

# Times are milliseconds (in older files time stamps), memory is in MB. cpu_capacity (MHz), deferrable and deadline
# have no counterpart.
TASKS = Mapping(
    {
        "id": Column("id"),
        "submit": Column("submission_time", unit="ms"),
        "runtime": Column("duration", unit="ms"),
        "nodes": Column(value=1),
        "cores": Column("cpu_count"),
        "gpus": Column("gpu_count"),
        "memory": Column("mem_capacity", unit="mb"),
    },
    optional=True,
)
NEEDED = ("id", "submission_time", "duration", "cpu_count")


def read_opendc(path: Path, options: ReadOptions) -> Workload:
    """The tasks of an OpenDC trace."""
    from schedlab.workload.table.read import read_table

    return read_table(path, options, TASKS)


def looks_like(start: str, name: str) -> bool:
    """Which columns a Parquet file has cannot be seen here: `read_table` finds out."""
    titles = start.partition("\n")[0].replace('"', "").strip().split(",")
    return name.endswith("tasks.parquet") or set(NEEDED) <= set(titles)
