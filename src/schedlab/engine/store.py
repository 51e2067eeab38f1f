"""Runs on disk and in memory: what takes the engine's results, and what reads them again.

A run folder holds the tables that `model.tables` declares, what a decider elsewhere leaves as evidence, and, written
last, run.json. Results stream out while the simulation goes on: memory does not grow with the number of jobs.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from schedlab.analysis.machine import Machine
from schedlab.analysis.metrics import TAU, summarise
from schedlab.engine.folder import OutputFolder, explained, holds_run
from schedlab.engine.frames import as_frame, frame_of_jobs
from schedlab.engine.parquet import FolderTables, TableFiles, give_back
from schedlab.engine.tables import Batch, TableMaker
from schedlab.model.arguments import as_path
from schedlab.model.cluster import Cluster
from schedlab.model.confined import OutsideError
from schedlab.model.disk import disk_error, told
from schedlab.model.errors import DiskError, InputError
from schedlab.model.request import Request
from schedlab.model.run import EVERYWHERE, Run, Tables, Where
from schedlab.model.table import Table
from schedlab.model.tables import FORMAT, JOBS, OBSERVED, READABLE, TABLES
from schedlab.model.version import VERSION

if TYPE_CHECKING:
    import polars as pl


class RunWriter:
    """Streams a run into a folder. Left before `finish()`, for whatever reason, it leaves nothing behind."""

    def __init__(self, path: str | Path, cluster: Cluster, *, force: bool = False) -> None:
        self.path = Path(path)
        self._folder = OutputFolder(path, force)
        self._cluster = cluster
        self._files = TableFiles(cluster)
        self._evidence: list[str] = []

    def __enter__(self) -> Self:
        self._folder.__enter__()
        give_back()  # what reading the log needed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._files.abandon()
        finally:
            self._folder.__exit__(kind, error, trace)

    def write(self, table: str, batch: Batch) -> None:
        """Rows of one of `model.tables.TABLES`."""
        with explained(self.path):
            self._files.write(self._folder.partial, table, batch)

    def write_evidence(self, name: str, content: bytes) -> None:
        """A file that a decider leaves behind, as it is; `name` may name a folder: slurm/slurmctld.log."""
        with explained(self.path):
            target = self._folder.partial / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        self._evidence.append(name)

    def finish(self, config: dict[str, Any]) -> Run:
        """Complete the run. `config` has policy, options, workload, requests, and what else run.json should say."""
        with explained(self.path):
            partial = self._folder.partial
            names = [*sorted(self._files.close(partial)), *sorted(self._evidence)]
            full = run_json(config, self._cluster, FolderTables(partial, lambda: self._cluster))
            full["files"] = {name: _sha256(partial / name) for name in names}
            text = json.dumps(full, indent=2, ensure_ascii=False, allow_nan=False)
            (partial / "run.json").write_text(text + "\n", encoding="utf-8")
            self._folder.commit()
        return Run(lambda: full, FolderTables(self.path, lambda: self._cluster), self.path)


class BriefWriter:
    """For who looks at no more than the summary: what it is made of, in temporary files that go with the run."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._files = TableFiles(cluster, brief=True)

    def __enter__(self) -> Self:
        with self._told():
            self._folder = Path(tempfile.mkdtemp(prefix="schedlab-"))
        tables = FolderTables(self._folder, lambda: self._cluster)
        self._tables: FolderTables | None = tables
        self._remove = weakref.finalize(tables, shutil.rmtree, self._folder, ignore_errors=True)
        give_back()  # what reading the log needed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._files.abandon()
            self._remove()

    def write(self, table: str, batch: Batch) -> None:
        with self._told():
            self._files.write(self._folder, table, batch)

    def write_evidence(self, name: str, content: bytes) -> None:
        pass

    def finish(self, config: dict[str, Any]) -> Run:
        tables, self._tables = self._tables, None  # the run alone has them from now on
        assert tables is not None, "it is finished once"
        with self._told():
            self._files.close(self._folder)
            full = run_json(config, self._cluster, tables)
        return Run(lambda: full, tables)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OutsideError:
            raise
        except (OSError, DiskError) as error:
            hint = "choose another place for temporary files (TMPDIR), or one for the results: --out DIR"
            where = tempfile.gettempdir()
            raise disk_error("cannot keep what the summary is made of", where, error, hint=hint) from error


class MemoryWriter:
    """Takes results as RunWriter does and keeps them as they come; tables are made of them when somebody looks."""

    def __init__(self, cluster: Cluster) -> None:
        self._tables = MemoryTables(cluster)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def write(self, table: str, batch: Batch) -> None:
        self._tables.given[table].append(batch)

    def write_evidence(self, name: str, content: bytes) -> None:
        self._tables.evidence_files[name] = content

    def finish(self, config: dict[str, Any]) -> Run:
        return Run(lambda: run_json(config, self._tables.cluster, self._tables), self._tables)


class MemoryTables:
    """The tables of a run that was not written."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.given: dict[str, list[Batch]] = {name: [] for name in TABLES}
        self.evidence_files: dict[str, bytes] = {}

    def column(self, name: str, table: str = "jobs") -> NDArray[Any]:
        key = TABLES[table].column(name).key
        batches = self.given[table]
        return np.concatenate([batch[key] for batch in batches]) if batches else np.empty(0)

    def batches(self, names: Sequence[str], table: str, where: Where = EVERYWHERE) -> Iterator[dict[str, NDArray[Any]]]:
        keys = {name: TABLES[table].column(name).key for name in names}
        for batch in self.given[table]:
            yield {name: _array(batch[key]) for name, key in keys.items()}

    def frame(self, table: str) -> pl.DataFrame:
        whole = self._whole(TABLES[table])
        if table == JOBS.name:
            return frame_of_jobs(whole, self._whole(OBSERVED) if self.given[OBSERVED.name] else None)
        return as_frame(whole)

    def of_job(self, table: str, sequence: int) -> pl.DataFrame:
        import polars as pl

        return self.frame(table).filter(pl.col("sequence") == sequence)

    def arrow(self, table: str, columns: Sequence[str] | None = None, where: Where = EVERYWHERE) -> pa.Table | None:
        if not self.given[table] and not TABLES[table].always:
            return None
        if columns is None:
            return self._whole(TABLES[table])
        return self._whole(TABLES[table], columns.__contains__).select(list(columns))

    def _whole(self, table: Table, wanted: Callable[[str], bool] = lambda _name: True) -> pa.Table:
        batches = self.given[table.name]
        maker = TableMaker(table, self.cluster, batches[0] if batches else (), wanted)
        return pa.concat_tables([maker.schema.empty_table(), *map(maker.make, batches)])

    def evidence(self, name: str) -> bytes:
        return self.evidence_files[name]

    def save(self, config: dict[str, Any], path: Path, force: bool) -> None:
        with RunWriter(path, self.cluster, force=force) as writer:
            for table, batches in self.given.items():
                for batch in batches:
                    writer.write(table, batch)
            for name, content in self.evidence_files.items():
                writer.write_evidence(name, content)
            writer.finish(config)


def _array(values: Any) -> NDArray[Any]:
    """Names come as a list of texts."""
    return values if isinstance(values, np.ndarray) else np.array(values, object)


def read_run(path: str | Path, *, verify: bool = False) -> Run:
    """Open a run folder. `verify` compares the tables with the hashes in run.json."""
    folder = as_path(path, "the folder of a run", "what schedlab run --out has written")
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
    return Run(lambda: config, FolderTables(folder, lambda: Cluster.from_dict(config["cluster"])), folder)


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
        seconds = tables.column(name, "performance")
        if len(seconds):
            figures = {"mean": seconds.mean(dtype=np.float64), "p95": np.percentile(seconds, 95), "max": seconds.max()}
            costs |= {"passes": len(seconds), name: {key: float(value) for key, value in figures.items()}}
    memory = tables.column("memory_mb", "performance")
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
        with told("cannot be read", path):
            text = path.read_text(encoding="utf-8")
        config = json.loads(text)
        found, needed = config["format"], ("policy", "options", "cluster", "workload", "requests", "summary", "files")
        missing = [key for key in needed if key not in config]
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"not the description of a run ({error})", where=str(path)) from error
    if found not in READABLE:
        hint = "read it with the version of schedlab that wrote it"
        known = " and ".join(map(str, READABLE))
        raise InputError(f"format {found} of run folders; this schedlab knows {known}", where=str(path), hint=hint)
    if missing:
        raise InputError(f"not the description of a run ({', '.join(missing)} missing)", where=str(path))
    return dict(config)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
