"""What a run says happened, as plain columns."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from schedlab.engine.check.offences import Offences
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.run import Run
from schedlab.model.states import STATES

NUMBERS = ("job", "sequence", "cores", "count", "request")
TIMES = ("submit", "eligible", "start", "end", "runtime", "limit")


@dataclass(frozen=True)
class Record:
    cluster: Cluster
    requests: list[Request]
    options: dict[str, Any]
    exclusive: bool  # every job is alone on its nodes
    jobs: int | None  # how many there should be, if the run says so
    job: NDArray[np.int64]
    sequence: NDArray[np.int64]
    cores: NDArray[np.int64]
    count: NDArray[np.int64]
    request: NDArray[np.int64]
    submit: NDArray[np.float64]
    eligible: NDArray[np.float64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    runtime: NDArray[np.float64]
    limit: NDArray[np.float64]
    state: NDArray[np.int8]  # position in STATES
    after: NDArray[np.int64]
    think: NDArray[np.float64]
    nodes: pa.DictionaryArray  # node-set strings
    timeline: dict[str, NDArray[Any]]

    def in_state(self, *names: str) -> NDArray[np.bool_]:
        return np.isin(self.state, [STATES.index(name) for name in names])

    @property
    def started(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.start)


def read_record(run: Run | str | Path, offences: Offences) -> Record | None:
    """The record of a run; None if its files cannot be read, which is then among the offences."""
    if isinstance(run, Run) and run.path is None:
        return _record(run.config, run.jobs.to_arrow(), run.timeline.to_arrow())
    folder = Path(run.path if isinstance(run, Run) and run.path is not None else str(run))
    config = _read_config(folder)
    tables = []
    for name in ("jobs.parquet", "timeline.parquet"):
        path = folder / name
        if not path.is_file():
            offences.add("file", f"{name} is missing")
            continue
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != config["files"].get(name):
            offences.add("file", f"{name} is not the file that run.json describes: its sha256 is {found}")
        try:
            tables.append(pq.read_table(path))
        except (pa.ArrowException, OSError) as error:
            offences.add("file", f"{name} cannot be read: {error}")
    if len(tables) < 2:
        return None
    try:
        return _record(config, *tables)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"cannot make sense of the run ({error!r})", where=str(folder)) from error


def _read_config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        if not isinstance(config, dict) or not {"cluster", "requests", "options", "policy", "files"} <= config.keys():
            raise ValueError("it does not describe a run")
        return config
    except FileNotFoundError as error:
        raise InputError("there is no run here", where=str(folder), hint="a run is a folder with a run.json") from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read the run: {error}", where=str(folder / "run.json")) from error


def _record(config: dict[str, Any], jobs: pa.Table, timeline: pa.Table) -> Record:
    length = len(jobs)
    missing = [name for name in (*NUMBERS, *TIMES, "state", "nodes") if name not in jobs.column_names]
    if missing:
        raise InputError(f"jobs.parquet lacks the columns {', '.join(missing)}")
    columns: dict[str, Any] = {name: _numbers(jobs[name], -1, np.int64) for name in NUMBERS}
    columns |= {name: _numbers(jobs[name], np.nan, np.float64) for name in TIMES}
    followed = "after" in jobs.column_names
    columns["after"] = _numbers(jobs["after"], -1, np.int64) if followed else np.full(length, -1, np.int64)
    columns["think"] = _numbers(jobs["think"], 0.0, np.float64) if followed else np.zeros(length)
    states = pc.index_in(jobs["state"].cast(pa.string()), value_set=pa.array(STATES))
    nodes = jobs["nodes"].cast(pa.string()).combine_chunks()
    return Record(
        cluster=Cluster.from_dict(config["cluster"]),
        requests=[Request.from_dict(request) for request in config["requests"]],
        options=config["options"],
        exclusive=re.search(r"[:,]nodes=exclusive(,|$)", config["policy"]) is not None,
        jobs=config.get("workload", {}).get("report", {}).get("kept"),
        state=_numbers(states, -1, np.int8),
        nodes=nodes.dictionary_encode(),
        timeline={name: timeline[name].to_numpy() for name in timeline.column_names},
        **columns,
    )


def _numbers(column: pa.ChunkedArray, unknown: float, dtype: Any) -> NDArray[Any]:
    typed = column.cast(pa.from_numpy_dtype(dtype))
    return np.asarray(pc.fill_null(typed, unknown).to_numpy())
