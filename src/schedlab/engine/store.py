"""Runs on disk and in memory: what takes the engine's results, and what reads them again.

A run folder holds jobs.parquet, timeline.parquet, where there is something to tell pieces.parquet, rates.parquet,
nodes.parquet and observed.parquet, if it was asked for performance.parquet, what a decider elsewhere leaves as
evidence, and, written last, run.json. Results stream out while the simulation goes on: memory does not grow with the
number of jobs.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schedlab.analysis.machine import Machine
from schedlab.analysis.metrics import TAU, summarise
from schedlab.engine.folder import OutputFolder, explained, holds_run
from schedlab.engine.parquet import FolderTables, TableFile, as_frame, in_workload_order
from schedlab.engine.tables import (
    NODES_SCHEMA,
    PERFORMANCE_SCHEMA,
    PIECES_SCHEMA,
    RATES_SCHEMA,
    Batch,
    JobTables,
    performance_table,
    rates_table,
    timeline_schema,
    timeline_table,
)
from schedlab.model.cluster import Cluster
from schedlab.model.errors import InputError
from schedlab.model.request import Request
from schedlab.model.run import Run, Tables
from schedlab.model.version import VERSION

if TYPE_CHECKING:
    import polars as pl

FORMAT = 1  # of run folders; grows when older versions of schedlab could not read them


class RunWriter:
    """Streams a run into a folder. Left before `finish()`, for whatever reason, it leaves nothing behind.

    The arrays of a batch belong to the writer from then on. A batch of jobs whose ids are not numbers has a `name`
    column; then all batches have one.
    """

    def __init__(self, path: str | Path, cluster: Cluster, *, force: bool = False, dependencies: bool = False) -> None:
        self.path = Path(path)
        self._folder = OutputFolder(path, force)
        self._cluster, self._dependencies = cluster, dependencies
        self._job_tables: JobTables | None = None
        self._files: dict[str, TableFile] = {}
        self._evidence: list[str] = []

    def __enter__(self) -> Self:
        self._folder.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for file in self._files.values():
                with suppress(OSError):  # the disk is full, which has been said already
                    file.close()
        finally:
            self._folder.__exit__(kind, error, trace)

    def write_jobs(self, batch: Batch) -> None:
        if self._job_tables is None:
            self._job_tables = JobTables(self._cluster, names="name" in batch, dependencies=self._dependencies)
        self._write("jobs.parquet", self._job_tables.table(batch))

    def write_timeline(self, batch: Batch) -> None:
        self._write("timeline.parquet", timeline_table(batch, timeline_schema(self._cluster)))

    def write_pieces(self, batch: Batch) -> None:
        self._write("pieces.parquet", JobTables(self._cluster).pieces_table(batch))

    def write_rates(self, batch: Batch) -> None:
        self._write("rates.parquet", rates_table(batch))

    def write_nodes(self, batch: Batch) -> None:
        self._write("nodes.parquet", JobTables(self._cluster).nodes_table(batch))

    def write_performance(self, batch: Batch) -> None:
        self._write("performance.parquet", performance_table(batch))

    def write_observed(self, table: pa.Table) -> None:
        """What observers say of each job: `sequence`, and a column for each of their values."""
        self._write("observed.parquet", table)

    def write_evidence(self, name: str, content: bytes) -> None:
        """A file that a decider leaves behind, as it is; `name` may name a folder: slurm/slurmctld.log."""
        with explained(self.path):
            target = self._folder.partial / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        self._evidence.append(name)

    def finish(self, config: dict[str, Any]) -> Run:
        """Complete the run. `config` has policy, options, workload, requests, and what else run.json should say."""
        if "jobs.parquet" not in self._files:
            self._write("jobs.parquet", JobTables(self._cluster, dependencies=self._dependencies).schema.empty_table())
        if "timeline.parquet" not in self._files:
            self._write("timeline.parquet", timeline_schema(self._cluster).empty_table())
        with explained(self.path):
            names = [*sorted(self._files), *sorted(self._evidence)]
            while self._files:
                self._files.popitem()[1].close()
            partial = self._folder.partial
            full = run_json(config, self._cluster, FolderTables(partial))
            full["files"] = {name: _sha256(partial / name) for name in names}
            text = json.dumps(full, indent=2, ensure_ascii=False, allow_nan=False)
            (partial / "run.json").write_text(text + "\n", encoding="utf-8")
            self._folder.commit()
        return Run(lambda: full, FolderTables(self.path), self.path)

    def _write(self, name: str, table: pa.Table) -> None:
        with explained(self.path):
            if name not in self._files:
                self._files[name] = TableFile(self._folder.partial / name, table.schema)
            self._files[name].write(table)


class MemoryWriter:
    """Takes results as RunWriter does and keeps them as they come; tables are made of them when somebody looks."""

    def __init__(self, cluster: Cluster, *, dependencies: bool = False) -> None:
        self._tables = MemoryTables(cluster, dependencies)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def write_jobs(self, batch: Batch) -> None:
        self._tables.job_batches.append(batch)

    def write_timeline(self, batch: Batch) -> None:
        self._tables.time_batches.append(batch)

    def write_pieces(self, batch: Batch) -> None:
        self._tables.piece_batches.append(batch)

    def write_rates(self, batch: Batch) -> None:
        self._tables.rate_batches.append(batch)

    def write_nodes(self, batch: Batch) -> None:
        self._tables.node_batches.append(batch)

    def write_performance(self, batch: Batch) -> None:
        self._tables.pass_batches.append(batch)

    def write_observed(self, table: pa.Table) -> None:
        self._tables.observed = table

    def write_evidence(self, name: str, content: bytes) -> None:
        self._tables.evidence_files[name] = content

    def finish(self, config: dict[str, Any]) -> Run:
        return Run(lambda: run_json(config, self._tables.cluster, self._tables), self._tables)


class MemoryTables:
    """The tables of a run that was not written."""

    def __init__(self, cluster: Cluster, dependencies: bool) -> None:
        self.cluster, self.dependencies = cluster, dependencies
        self.job_batches: list[Batch] = []
        self.time_batches: list[Batch] = []
        self.piece_batches: list[Batch] = []
        self.rate_batches: list[Batch] = []
        self.node_batches: list[Batch] = []
        self.pass_batches: list[Batch] = []
        self.observed: pa.Table | None = None
        self.evidence_files: dict[str, bytes] = {}

    def column(self, name: str) -> NDArray[Any]:
        key = "id" if name == "job" else name
        return np.concatenate([batch[key] for batch in self.job_batches]) if self.job_batches else np.empty(0)

    def pieces_column(self, name: str) -> NDArray[Any]:
        return np.concatenate([batch[name] for batch in self.piece_batches]) if self.piece_batches else np.empty(0)

    def performance_column(self, name: str) -> NDArray[Any]:
        return np.concatenate([batch[name] for batch in self.pass_batches]) if self.pass_batches else np.empty(0)

    def timeline_batches(self, names: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        for batch in self.time_batches:
            yield {name: batch[name] for name in names}

    def jobs(self) -> pl.DataFrame:
        named = bool(self.job_batches) and "name" in self.job_batches[0]
        tables = JobTables(self.cluster, names=named, dependencies=self.dependencies)
        whole = pa.concat_tables([tables.schema.empty_table(), *map(tables.table, self.job_batches)])
        return in_workload_order(whole, self.observed)

    def pieces(self) -> pl.DataFrame:
        made = map(JobTables(self.cluster).pieces_table, self.piece_batches)
        return as_frame(pa.concat_tables([PIECES_SCHEMA.empty_table(), *made]))

    def rates(self) -> pl.DataFrame:
        made = map(rates_table, self.rate_batches)
        return as_frame(pa.concat_tables([RATES_SCHEMA.empty_table(), *made]))

    def nodes(self) -> pl.DataFrame:
        made = map(JobTables(self.cluster).nodes_table, self.node_batches)
        return as_frame(pa.concat_tables([NODES_SCHEMA.empty_table(), *made]))

    def performance(self) -> pl.DataFrame:
        made = map(performance_table, self.pass_batches)
        return as_frame(pa.concat_tables([PERFORMANCE_SCHEMA.empty_table(), *made]))

    def evidence(self, name: str) -> bytes:
        return self.evidence_files[name]

    def timeline(self) -> pl.DataFrame:
        import polars as pl

        schema = timeline_schema(self.cluster)
        made = (timeline_table(batch, schema) for batch in self.time_batches)
        return pl.DataFrame(pa.concat_tables([schema.empty_table(), *made]))

    def save(self, config: dict[str, Any], path: Path, force: bool) -> None:
        with RunWriter(path, self.cluster, force=force, dependencies=self.dependencies) as writer:
            for batch in self.job_batches:
                writer.write_jobs(batch)
            for batch in self.time_batches:
                writer.write_timeline(batch)
            for batch in self.piece_batches:
                writer.write_pieces(batch)
            for batch in self.rate_batches:
                writer.write_rates(batch)
            for batch in self.node_batches:
                writer.write_nodes(batch)
            for batch in self.pass_batches:
                writer.write_performance(batch)
            if self.observed is not None:
                writer.write_observed(self.observed)
            for name, content in self.evidence_files.items():
                writer.write_evidence(name, content)
            writer.finish(config)


def read_run(path: str | Path, *, verify: bool = False) -> Run:
    """Open a run folder. `verify` compares the tables with the hashes in run.json."""
    folder = Path(path)
    if folder.name == "run.json":
        folder = folder.parent
    if not holds_run(folder):
        raise _not_a_run(folder)
    config = _read_json(folder / "run.json")
    for name, expected in config["files"].items():
        if not (folder / name).is_file():
            raise InputError("the run is incomplete: the file is missing", where=str(folder / name))
        if verify and _sha256(folder / name) != expected:
            raise InputError("the file was changed after the run was written", where=str(folder / name))
    return Run(lambda: config, FolderTables(folder), folder)


def run_json(config: dict[str, Any], cluster: Cluster, tables: Tables) -> dict[str, Any]:
    """The content of run.json, always in the same order, and with the summary."""
    given = dict(config)
    requests = [r if isinstance(r, Request) else Request.from_dict(r) for r in given.pop("requests")]
    machine = Machine.of(cluster, requests, given)
    options = given.pop("options")
    ordered = {
        "schedlab": VERSION,
        "format": FORMAT,
        "policy": given.pop("policy"),
        "options": options,
        "cluster": cluster.to_dict(),
        "workload": given.pop("workload"),
        "requests": [request.to_dict() for request in requests],
        "summary": summarise(tables, cluster.cores, tau=options.get("tau", TAU), machine=machine) | _observed(given),
        "environment": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "pyarrow": pa.__version__,
            "machine": f"{platform.system()} {platform.machine()}",
        },
    }
    ordered.update((key, value) for key, value in given.items() if key not in ordered and key != "files")
    if costs := _costs(tables):
        ordered["timing"] = ordered.get("timing", {}) | costs
    return ordered


def _costs(tables: Tables) -> dict[str, Any]:
    """What decisions cost, if it was recorded."""
    costs: dict[str, Any] = {}
    for name in ("decide_seconds", "pass_seconds"):
        seconds = tables.performance_column(name)
        if len(seconds):
            figures = {"mean": seconds.mean(dtype=np.float64), "p95": np.percentile(seconds, 95), "max": seconds.max()}
            costs |= {"passes": len(seconds), name: {key: float(value) for key, value in figures.items()}}
    memory = tables.performance_column("memory_mb")
    known = memory[~np.isnan(memory)]
    return costs | ({"peak_memory_mb": float(known.max())} if len(known) else {})


def _observed(config: dict[str, Any]) -> dict[str, Any]:
    """What observers measured, if there were any."""
    values = config.pop("observed", None)
    return {"observed": values} if values else {}


def _not_a_run(folder: Path) -> InputError:
    if not folder.exists():
        return InputError("no such folder", where=str(folder))
    inside = sorted(str(entry) for entry in folder.iterdir() if holds_run(entry)) if folder.is_dir() else []
    hint = f"it holds runs: {', '.join(inside[:3])}{', …' if len(inside) > 3 else ''}" if inside else ""
    return InputError("not a run: a run is a folder with a run.json", where=str(folder), hint=hint)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        found, needed = config["format"], ("policy", "options", "cluster", "workload", "requests", "summary", "files")
        missing = [key for key in needed if key not in config]
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"not the description of a run ({error})", where=str(path)) from error
    if found != FORMAT:
        hint = "read it with the version of schedlab that wrote it"
        raise InputError(f"format {found} of run folders; this schedlab knows {FORMAT}", where=str(path), hint=hint)
    if missing:
        raise InputError(f"not the description of a run ({', '.join(missing)} missing)", where=str(path))
    return dict(config)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
