"""The files of a run, as they are: hashed, and read into tables."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from schedlab.engine.check.offences import Offences
from schedlab.model.errors import InputError
from schedlab.model.run import Run
from schedlab.model.tables import READABLE

Tables = dict[str, pa.Table]  # by name: jobs, timeline, and those of RARE that there are

NEEDED = ("jobs.parquet", "timeline.parquet")
RARE = tuple(
    f"{name}.parquet"
    for name in (
        *("pieces", "rates", "nodes", "places", "predecessors", "submitted", "holds", "reasons"),
        *("workflows", "tasks"),
    )
)


def read_files(run: Run | str | Path, offences: Offences) -> tuple[dict[str, Any], Tables] | None:
    """What run.json says, and the tables; None if one cannot be read, which is then among the offences."""
    if isinstance(run, Run) and run.path is None:
        there = {name: run.tables.arrow(name) for name in (Path(file).stem for file in NEEDED + RARE)}
        return run.config, {name: table for name, table in there.items() if table is not None}
    folder = Path(run.path if isinstance(run, Run) and run.path is not None else str(run))
    config = _read_config(folder)
    described = config["files"]
    rare = [name for name in RARE if name in described or (folder / name).exists()]
    tables: Tables = {}
    for name in dict.fromkeys((*NEEDED, *rare, *described)):
        path = folder / name
        if not path.is_file():
            offences.add("file", f"{name} is missing")
            continue
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != described.get(name):
            offences.add("file", f"{name} is not the file that run.json describes: its sha256 is {found}")
        if name not in NEEDED + RARE:
            continue
        try:
            with pq.ParquetFile(path) as parquet:  # read_table would import pandas first, where it is there
                tables[path.stem] = parquet.read()
        except (pa.ArrowException, OSError) as error:
            offences.add("file", f"{name} cannot be read: {error}")
    return (config, tables) if len(tables) == len(NEEDED) + len(rare) else None


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
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the run: {error}", where=str(folder / "run.json")) from error
