"""Jobs from any table, CSV or Parquet: schedlab's own columns, well-known ones, or any others with a mapping."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from schedlab.model.workload import Workload
from schedlab.workload.options import ReadOptions
from schedlab.workload.stream import ReadAgain, stream
from schedlab.workload.swf.header import ABSOLUTE

if TYPE_CHECKING:
    from schedlab.workload.table.mapping import Mapping
    from schedlab.workload.table.scan import TableLog


def read_table(path: Path, options: ReadOptions, mapping: Mapping | Path | None = None) -> Workload:
    """The jobs of a table. Without `mapping` one is looked for beside it, then the titles of its columns tell."""
    from schedlab.workload.table.find import find_mapping
    from schedlab.workload.table.scan import TableLog  # here: whoever asks `looks_like` should not wait for it

    table, found = find_mapping(path, mapping, options)
    log = TableLog(path, options, table, found)
    origin = None if _has_dates(log) else lambda _header, _first_submit: log.noted.origin
    workload = stream(path, log.scan, options, log.known, origin=origin)
    workload.phases = log.noted.phases
    return workload


def looks_like(start: str, name: str) -> bool:
    """Parquet, or a CSV table whose columns are not the 18 of SWF."""
    if name.endswith(".parquet"):
        return True
    lines = [line for line in start.splitlines() if line.strip()]
    if not name.endswith((".csv", ".tsv")) or not lines or lines[0].startswith("; "):
        return False
    titles = [title.strip(' "').casefold() for title in re.split(r"[;,|\t]", lines[0])]
    swf = len(titles) >= 18 and (titles[0].isdigit() or ("submit" in titles[1] and "wait" in titles[2]))
    return len(titles) > 1 and not swf


def _has_dates(log: TableLog) -> bool:
    """Whether submit times are dates or Unix times, which are made to begin near 0; the first of them tell."""
    if log.mapping.own:
        return False
    if log.mapping.columns["submit"].unit == "date":
        return True
    try:
        first = next(iter(log.scan()), None)
    except ReadAgain:
        first = next(iter(log.scan()), None)  # job ids are names
    return first is not None and float(first["submit"].min()) >= ABSOLUTE
