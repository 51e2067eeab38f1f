"""The files of a run, as they are: hashed, and read a part at a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from schedlab.engine.check.offences import Offences
from schedlab.model.arguments import as_path
from schedlab.model.disk import disk_error
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.tables import READABLE

NEEDED = ("jobs.parquet", "timeline.parquet")
RARE = tuple(
    f"{name}.parquet"
    for name in (
        *("pieces", "rates", "nodes", "places", "predecessors", "submitted", "holds", "reasons"),
        *("workflows", "tasks"),
    )
)


class UnreadableError(Exception):
    """A file that turned out to be damaged while it was read."""

    def __init__(self, name: str, problem: Exception) -> None:
        super().__init__(f"{name}.parquet cannot be read: {problem}")


class Rows(Protocol):
    """A table that is read a part at a time: rows that follow each other."""

    def __len__(self) -> int: ...
    @property
    def schema(self) -> pa.Schema: ...
    def parts(self, size: int) -> int:
        """Cut it into parts of about so many rows, at least one; how many these are."""
        ...

    def read(self, part: int, columns: Sequence[str] | None = None) -> pa.Table: ...


class MemoryRows:
    """Of a run that was not written."""

    def __init__(self, table: pa.Table) -> None:
        self._table, self._size = table, len(table)

    def __len__(self) -> int:
        return len(self._table)

    @property
    def schema(self) -> pa.Schema:
        return self._table.schema

    def parts(self, size: int) -> int:
        self._size = size
        return max(-(-len(self._table) // size), 1)

    def read(self, part: int, columns: Sequence[str] | None = None) -> pa.Table:
        rows = self._table.slice(part * self._size, self._size)
        return rows if columns is None else rows.select(list(columns))


class FileRows:
    """Of a Parquet file: a part is one row group or several."""

    def __init__(self, name: str, file: pq.ParquetFile) -> None:
        self._name, self._file = name, file
        self._groups: list[list[int]] = []

    def __len__(self) -> int:
        return int(self._file.metadata.num_rows)

    @property
    def schema(self) -> pa.Schema:
        return self._file.schema_arrow

    def parts(self, size: int) -> int:
        self._groups, rows = [[]], 0
        for group in range(self._file.num_row_groups):
            if rows >= size:
                self._groups.append([])
                rows = 0
            self._groups[-1].append(group)
            rows += self._file.metadata.row_group(group).num_rows
        return len(self._groups)

    def read(self, part: int, columns: Sequence[str] | None = None) -> pa.Table:
        try:
            return self._file.read_row_groups(self._groups[part], columns=columns, use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise UnreadableError(self._name, error) from error


@dataclass(frozen=True)
class Files:
    """A run: what run.json says, and its tables."""

    config: dict[str, Any]
    jobs: Rows
    timeline: Rows
    rare: dict[str, pa.Table]  # by name, those of RARE that there are


def read_files(run: Run | str | Path, offences: Offences, opened: ExitStack) -> Files | None:
    """None if one cannot be read, which is then among the offences. Files stay open as long as `opened` does."""
    if isinstance(run, Run) and run.path is None:
        there = {name: run.tables.arrow(name) for name in (Path(file).stem for file in NEEDED + RARE)}
        tables = {name: table for name, table in there.items() if table is not None}
        return Files(run.config, MemoryRows(tables.pop("jobs")), MemoryRows(tables.pop("timeline")), tables)
    folder = (
        run.path if isinstance(run, Run) and run.path is not None else as_path(run, "a run", "a Run, or its folder")
    )
    config = _read_config(folder)
    described = config["files"]
    rare = [name for name in RARE if name in described or (folder / name).exists()]
    rows: dict[str, Rows] = {}
    tables = {}
    for name in dict.fromkeys((*NEEDED, *rare, *described)):
        path = folder / name
        if not path.is_file():
            offences.add("file", f"{name} is missing")
            continue
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != described.get(name):
            offences.add("file", f"{name} is not the file that run.json describes: its sha256 is {found}")
        try:
            if name in NEEDED:
                rows[path.stem] = FileRows(path.stem, opened.enter_context(pq.ParquetFile(path, pre_buffer=False)))
            elif name in RARE:
                with pq.ParquetFile(path) as parquet:  # read_table would import pandas first, where it is there
                    tables[path.stem] = parquet.read()
        except (pa.ArrowException, OSError) as error:
            offences.add("file", f"{name} cannot be read: {error}")
    if len(rows) < len(NEEDED) or len(tables) < len(rare):
        return None
    return Files(config, rows["jobs"], rows["timeline"], tables)


def _read_config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        if not isinstance(config, dict) or not {"cluster", "requests", "options", "policy", "files"} <= config.keys():
            raise ValueError("it does not describe a run")
        if config.get("format", 1) not in READABLE:
            raise ValueError(f"it is of format {config['format']}, which is not known here")
        return config
    except FileNotFoundError as error:
        raise InputError("there is no run here", where=str(folder), hint="a run is a folder with a run.json") from error
    except OSError as error:
        raise disk_error("cannot read the run", folder / "run.json", error) from error
    except ValueError as error:
        raise InputError(f"cannot read the run: {error}", where=str(folder / "run.json")) from error
