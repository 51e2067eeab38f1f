"""Tables of a run follow from their declarations: files, memory, frames, and the page about them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal
from tests import pages
from tests.batches import TWO_NODES, config, job_batch, time_batch

import schedlab as sl
from schedlab.engine.store import MemoryWriter, RunWriter, read_run
from schedlab.model.table import Column, Table
from schedlab.model.tables import TABLES

WHY = ("", "too few cores", "a reservation")
DECLARED = Table(
    "why",
    "a job that waited",
    (
        Column("job", "int64", "as in jobs.parquet", encoding="delta", source="id"),
        Column("from", "double", "seconds", encoding="split"),
        Column("who", "int64", "the job in its way", nullable=True),
        Column("why", "words", "a reason", nullable=True, encoding="dictionary", words=WHY),
        Column("note", "string", "what the policy says", optional=True),
        Column("node", "node", "where"),
        Column("{}", "int64", "how much", encoding="delta"),
        Column("short_{}", "int64", "how much was missing", encoding="delta"),
    ),
)
BATCH = {
    "id": np.array([7, 8, 9]),
    "from": np.array([0.0, 1.5, 2.0]),
    "who": np.array([3, -1, 4]),
    "why": np.array([1, 0, 2], np.uint8),
    "note": ["a", "b", "c"],
    "node": np.array([0, 1, 1], np.int32),
    "cores": np.array([1, 2, 3]),
    "short_cores": np.array([4, 5, 6]),
    "memory": np.array([7, 8, 9]),
    "short_memory": np.array([10, 11, 12]),
}
CLUSTER = sl.Cluster(name="two", groups=(sl.NodeGroup(name="n", count=2, resources={"cores": 2, "memory": 64}),))


def test_a_new_table_is_one_declaration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TABLES, "why", DECLARED)
    rows = {
        "job": [7, 8, 9],
        "from": [0.0, 1.5, 2.0],
        "who": [3, None, 4],
        "why": ["too few cores", None, "a reservation"],
        "note": ["a", "b", "c"],
        "node": ["n1", "n2", "n2"],
        "cores": [1, 2, 3],
        "short_cores": [4, 5, 6],
        "memory": [7, 8, 9],
        "short_memory": [10, 11, 12],
    }
    with MemoryWriter(CLUSTER) as memory, RunWriter(tmp_path / "run", CLUSTER) as folder:
        for writer in (memory, folder):
            assert isinstance(writer, MemoryWriter | RunWriter)
            writer.write("jobs", job_batch())
            writer.write("why", BATCH)
        runs = [memory.finish(config()), folder.finish(config())]
    runs[0].save(tmp_path / "saved")
    runs += [read_run(tmp_path / "saved")]
    for run in runs:
        assert run.table("why").to_dict(as_series=False) == rows
        assert run.tables.column("job", "why").tolist() == [7, 8, 9]
        assert run.tables.column("who", "why").tolist() == [3, -1, 4]
        assert run.tables.column("why", "why").tolist() == [1, 0, 2]
        assert [batch["short_memory"].tolist() for batch in run.tables.batches(("short_memory",), "why")] == [
            [10, 11, 12]
        ]
    assert (tmp_path / "run" / "why.parquet").read_bytes() == (tmp_path / "saved" / "why.parquet").read_bytes()
    metadata = pq.read_metadata(tmp_path / "run" / "why.parquet").row_group(0)
    assert "DELTA_BINARY_PACKED" in metadata.column(0).encodings
    assert "BYTE_STREAM_SPLIT" in metadata.column(1).encodings


def test_a_table_that_a_run_does_not_have_is_empty(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", CLUSTER) as writer:
        run = writer.finish(config())
    kept = MemoryWriter(CLUSTER).finish(config())
    for name in TABLES:
        assert len(run.table(name)) == 0
        assert_frame_equal(run.table(name), kept.table(name))
        assert len(run.tables.column(TABLES[name].columns[0].name, name)) == 0
        assert not list(run.tables.batches((TABLES[name].columns[0].name,), name))
    assert sorted(run.config["files"]) == ["jobs.parquet", "timeline.parquet"]


def test_what_observers_say_of_some_jobs_only() -> None:
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch())
        writer.write("timeline", time_batch())
        writer.write("observed", {"sequence": np.array([1, 3]), "heat": np.array([2.5, np.nan])})
        run = writer.finish(config())
    assert run.jobs["heat"].to_list() == [None, 2.5, None, None, None]
    assert run.table("observed").rows() == [(1, 2.5), (3, None)]


def test_names_of_tables() -> None:
    run = MemoryWriter(TWO_NODES).finish(config())
    assert run.table("jobs") is run.jobs
    with pytest.raises(sl.InputError, match=r"no table 'peices'.*\n.*'pieces'"):
        run.table("peices")


def test_types_in_the_frames() -> None:
    run = MemoryWriter(TWO_NODES).finish(config())
    assert run.jobs.schema["state"] == pl.Enum(TABLES["jobs"].column("state").words)
    assert run.pieces.schema["how"] == pl.String


@pytest.mark.parametrize("page", pages.PAGES)
def test_pages_show_what_is_declared(page: str) -> None:
    text = (pages.DOCS / page).read_text()
    assert text == pages.written(page), "write it again: python -m tests.pages"


def test_every_table_is_shown() -> None:
    text = (pages.DOCS / "runs.md").read_text()
    for name, table in TABLES.items():
        assert f"## {table.file}" in text and f"<!-- columns of {name} -->\n|" in text
