"""Run folders: what is in them, and that they appear whole or not at all."""

from __future__ import annotations

import errno
import gc
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal
from tests.batches import FIVE_JOBS, FIVE_TIMES, TWO_NODES, config, job_batch, time_batch

import schedlab as sl
from schedlab.analysis.common_jobs import missing_jobs
from schedlab.analysis.compare import summary_of
from schedlab.engine import parquet, simulate
from schedlab.engine.store import MemoryWriter, RunWriter, read_run
from schedlab.model.cluster import Cluster
from schedlab.model.errors import DiskError, InputError
from schedlab.model.request import Request
from schedlab.model.run import Run
from schedlab.model.version import VERSION


def write(path: Path, policy: str = "easy", *, force: bool = False) -> Run:
    with RunWriter(path, TWO_NODES, force=force) as writer:
        writer.write("jobs", job_batch())
        writer.write("timeline", time_batch())
        return writer.finish(config(policy))


def in_memory() -> Run:
    with MemoryWriter(TWO_NODES) as writer:
        writer.write("jobs", job_batch())
        writer.write("timeline", time_batch())
        return writer.finish(config())


def everything_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


RUN_FILES = ["run", "run/jobs.parquet", "run/run.json", "run/timeline.parquet"]


def test_a_run_folder(tmp_path: Path) -> None:
    run = write(tmp_path / "run")
    assert everything_in(tmp_path) == RUN_FILES
    assert run.path == tmp_path / "run"
    description = json.loads((tmp_path / "run" / "run.json").read_text())
    assert list(description)[:8] == [
        *("schedlab", "format", "policy", "options", "cluster", "workload", "requests", "summary")
    ]
    assert description["files"] == {
        name: hashlib.sha256((tmp_path / "run" / name).read_bytes()).hexdigest()
        for name in ("jobs.parquet", "timeline.parquet")
    }


def test_the_jobs_of_a_run(tmp_path: Path) -> None:
    write(tmp_path / "run")
    jobs = read_run(tmp_path / "run").jobs
    assert jobs["job"].to_list() == [1, 2, 3, 4, 5]  # in the order of the workload
    assert jobs["start"].to_list() == [0, 10, 110, 100, None]
    assert jobs["state"].to_list() == ["completed", "killed", "completed", "completed", "rejected"]
    assert jobs["reason"].to_list() == [None, None, None, None, "larger than the cluster"]
    assert jobs["nodes"].to_list() == ["n1*2", "n2*2", "n[1-2]*2", "n1*2", None]
    assert jobs["group"].to_list() == [None] * 5
    assert jobs["priority"].to_list() == [0, 10, 20, 30, None]
    assert jobs["backfilled"].to_list() == [False, False, False, True, False]
    assert "after" not in jobs.columns
    assert "name" not in jobs.columns
    # the file itself keeps the order in which jobs left
    assert pl.read_parquet(tmp_path / "run" / "jobs.parquet")["job"].to_list() == [5, 1, 4, 2, 3]


def test_columns_that_only_some_runs_have(tmp_path: Path) -> None:
    after = {"after": np.full(5, -1), "think": np.zeros(5)}
    with RunWriter(tmp_path / "run", Cluster.of_cores(4)) as writer:
        writer.write("jobs", job_batch() | {"name": list("edcba")} | after)
        run = writer.finish(config())
    assert run.jobs["name"].to_list() == ["d", "b", "a", "c", "e"]
    assert run.jobs["after"].to_list() == [None] * 5
    assert run.jobs["think"].to_list() == [0] * 5
    assert run.jobs["nodes"].to_list() == [None] * 5  # a pool has no nodes to name


def test_memory_and_folder_hold_the_same(tmp_path: Path) -> None:
    kept, written = in_memory(), write(tmp_path / "run")
    assert_frame_equal(kept.jobs, written.jobs)
    assert_frame_equal(kept.timeline, written.timeline)
    assert kept.summary == written.summary
    assert kept.path is None
    assert [request.chunk for request in kept.requests] == [{"cores": 1}]
    assert kept.cluster == TWO_NODES
    for name in ("sequence", "user", "group", "start", "end", "state", "reason", "cores", "backfilled"):
        np.testing.assert_array_equal(kept.tables.column(name), written.tables.column(name))


def test_saving_gives_the_same_bytes(tmp_path: Path) -> None:
    write(tmp_path / "run")
    in_memory().save(tmp_path / "saved")
    read_run(tmp_path / "run").save(tmp_path / "copied")
    for name in ("jobs.parquet", "timeline.parquet", "run.json"):
        expected = (tmp_path / "run" / name).read_bytes()
        assert (tmp_path / "saved" / name).read_bytes() == expected
        assert (tmp_path / "copied" / name).read_bytes() == expected


def test_bytes_do_not_depend_on_how_rows_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP", 4)
    jobs = [(number, number, *FIVE_JOBS[number % 5][2:]) for number in range(23)]
    for size in (1, 3, 8, 23):
        with RunWriter(tmp_path / str(size), TWO_NODES) as writer:
            for begin in range(0, len(jobs), size):
                writer.write("jobs", job_batch(jobs[begin : begin + size]))
            writer.finish(config())
        written = (tmp_path / str(size) / "jobs.parquet").read_bytes()
        assert written == (tmp_path / "1" / "jobs.parquet").read_bytes()
    metadata = pq.read_metadata(tmp_path / "8" / "jobs.parquet")
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [4, 4, 4, 4, 4, 3]


def test_repr_says_what_it_is(tmp_path: Path) -> None:
    assert repr(in_memory()) == "<Run easy on 2x2: 5 jobs, mean wait 40 s, utilisation 95.3%>"
    assert repr(write(tmp_path / "run")).endswith(f", in {tmp_path / 'run'}>")


# What is in the way


def test_a_run_is_not_overwritten(tmp_path: Path) -> None:
    write(tmp_path / "run", "easy")
    with pytest.raises(InputError, match=r"run: already holds a run\n  hint: .*--force"):
        write(tmp_path / "run", "fcfs")
    assert read_run(tmp_path / "run").policy == "easy"
    assert everything_in(tmp_path) == RUN_FILES


def test_force_replaces_a_run(tmp_path: Path) -> None:
    write(tmp_path / "run", "easy")
    with RunWriter(tmp_path / "run", TWO_NODES, force=True) as writer:
        writer.write("jobs", job_batch())
        assert read_run(tmp_path / "run", verify=True).policy == "easy"  # until the new one is complete
        writer.finish(config("fcfs"))
    assert read_run(tmp_path / "run", verify=True).policy == "fcfs"
    assert everything_in(tmp_path) == RUN_FILES


def test_a_failed_replacement_keeps_the_old_run(tmp_path: Path) -> None:
    write(tmp_path / "run", "easy")
    with pytest.raises(RuntimeError), RunWriter(tmp_path / "run", TWO_NODES, force=True) as writer:
        writer.write("jobs", job_batch())
        raise RuntimeError
    assert read_run(tmp_path / "run", verify=True).policy == "easy"
    assert everything_in(tmp_path) == RUN_FILES


def test_other_files_are_never_deleted(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").write_text("years of work")
    for force in (False, True):
        with pytest.raises(InputError, match=r"already holds other files \(thesis.tex\)"):
            write(tmp_path / "run", force=force)
    assert everything_in(tmp_path) == ["run", "run/thesis.tex"]


def test_an_empty_folder_is_fine(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    write(tmp_path / "run")
    assert everything_in(tmp_path) == RUN_FILES


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "disk")
    write(tmp_path / "run")
    assert (tmp_path / "run").is_symlink()
    assert read_run(tmp_path / "disk").policy == "easy"


def test_places_where_no_run_can_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="it is a file"):
        write(tmp_path / "file", force=True)
    with pytest.raises(InputError, match="is a file"):
        write(tmp_path / "file" / "run")
    monkeypatch.chdir(tmp_path)
    for place in (".", "..", "/"):
        with pytest.raises(InputError, match="a folder of its own"):
            write(Path(place), force=True)


def test_somebody_else_was_faster(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="already holds a run"), RunWriter(tmp_path / "run", TWO_NODES) as writer:
        writer.write("jobs", job_batch())
        other = tmp_path / "other"
        write(other, "fcfs")
        other.rename(tmp_path / "run")
        writer.finish(config("easy"))
    assert read_run(tmp_path / "run", verify=True).policy == "fcfs"
    assert everything_in(tmp_path) == RUN_FILES


def test_two_writers_of_one_run(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", TWO_NODES) as first:
        with pytest.raises(InputError, match="another simulation"), RunWriter(tmp_path / "run", TWO_NODES):
            pass
        first.write("jobs", job_batch())
        first.finish(config())
    assert everything_in(tmp_path) == RUN_FILES


# What goes wrong while writing


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, SystemExit])
def test_interruption_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), RunWriter(tmp_path / "new" / "folders" / "run", TWO_NODES) as writer:
        writer.write("jobs", job_batch())
        writer.write("timeline", time_batch())
        raise error
    assert everything_in(tmp_path) == []


def test_leaving_without_finish_leaves_nothing(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", TWO_NODES) as writer:
        writer.write("jobs", job_batch())
    assert everything_in(tmp_path) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, the device that is always full")
@pytest.mark.parametrize("table", ["jobs.parquet", "timeline.parquet", "run.json"])
def test_full_disk(tmp_path: Path, table: str) -> None:
    with (
        pytest.raises(
            InputError, match=r"run: cannot write the run: No space left on device; nothing was written"
        ) as e,
        RunWriter(tmp_path / "run", TWO_NODES) as writer,
    ):
        (tmp_path / f".run.partial-{os.getpid()}" / table).symlink_to("/dev/full")
        writer.write("jobs", job_batch())
        writer.write("timeline", time_batch())
        writer.finish(config())
    assert e.value.exit_code == 2
    assert "free some space" in e.value.hint
    assert everything_in(tmp_path) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, the device that is always full")
def test_full_disk_while_rows_are_kept_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP", 4)
    jobs = [(number, number, *FIVE_JOBS[number % 5][2:]) for number in range(400)]
    with pytest.raises(DiskError) as caught, RunWriter(tmp_path / "run", TWO_NODES) as writer:
        (tmp_path / f".run.partial-{os.getpid()}" / "jobs.parquet").symlink_to("/dev/full")
        for begin in range(0, 400, 9):  # each leaves some rows for the next group
            writer.write("jobs", job_batch(jobs[begin : begin + 9]))
        writer.finish(config())
    assert caught.value.message == "cannot write the run: No space left on device; nothing was written"
    assert caught.value.number == errno.ENOSPC
    assert everything_in(tmp_path) == []


@pytest.mark.parametrize("number", [errno.EIO, errno.EFBIG, errno.ENAMETOOLONG, errno.ESTALE])
def test_every_error_of_the_system_has_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def fail(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(DiskError, match=rf"run: cannot write the run: {os.strerror(number)}; nothing was written") as e:
        write(tmp_path / "run")
    assert e.value.hint
    assert everything_in(tmp_path) == []


def test_a_table_that_is_cut_off(tmp_path: Path) -> None:
    run = write(tmp_path / "run")
    table = tmp_path / "run" / "jobs.parquet"
    table.write_bytes(table.read_bytes()[:-20])
    for look in (
        lambda: run.jobs,
        lambda: run.tables.column("start"),
        lambda: list(run.tables.batches(["start"], "jobs")),
    ):
        with pytest.raises(DiskError, match=r"jobs.parquet: cannot be read: Parquet") as e:
            look()
        assert e.value.hint == "it is damaged: simulate it again"


def test_full_disk_when_the_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "mkdir", full)
    with pytest.raises(InputError, match="No space left"):
        write(tmp_path / "run")


def test_a_failing_rename_puts_the_old_run_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "run", "easy")
    rename = Path.rename

    def no_rename(self: Path, target: Path) -> Path:
        if ".partial-" in self.name:
            raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", no_rename)
    with pytest.raises(InputError, match="quota"):
        write(tmp_path / "run", "fcfs", force=True)
    assert read_run(tmp_path / "run", verify=True).policy == "easy"
    assert everything_in(tmp_path) == RUN_FILES


def killed_while_writing(folder: Path) -> int:
    """Start another process that writes a run, and kill it in the middle."""
    code = """
import sys, time
from schedlab.engine.store import RunWriter
from tests.batches import *
with RunWriter(sys.argv[1], TWO_NODES, force=True) as writer:
    writer.write("jobs", job_batch())
    print("writing", flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        process.send_signal(signal.SIGKILL)
    return process.pid


def test_the_next_run_removes_what_a_killed_process_left(tmp_path: Path) -> None:
    pid = killed_while_writing(tmp_path / "run")
    partial = f".run.partial-{pid}"
    assert everything_in(tmp_path) == [partial, f"{partial}/jobs.parquet"]
    write(tmp_path / "other")  # not its business
    assert (tmp_path / partial).exists()
    write(tmp_path / "run")
    assert not (tmp_path / partial).exists()


def test_what_a_living_process_writes_is_left_alone(tmp_path: Path) -> None:
    living = tmp_path / ".run.partial-1"  # there is always a process 1
    living.mkdir()
    write(tmp_path / "run")
    assert living.exists()


def test_a_run_that_a_killed_process_had_moved_aside_comes_back(tmp_path: Path) -> None:
    write(tmp_path / "run", "easy")
    (tmp_path / "run").rename(tmp_path / ".run.old-999999999")
    with pytest.raises(InputError, match="already holds a run"):
        write(tmp_path / "run", "fcfs")
    assert read_run(tmp_path / "run").policy == "easy"
    assert everything_in(tmp_path) == RUN_FILES


# What is not a run


def test_reading_what_is_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        read_run(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"not a run: a run is a folder with a run.json$"):
        read_run(tmp_path)
    write(tmp_path / "run")
    with pytest.raises(InputError, match=r"it holds runs: .*/run"):
        read_run(tmp_path)
    assert read_run(tmp_path / "run" / "run.json").policy == "easy"


def test_reading_a_damaged_run(tmp_path: Path) -> None:
    write(tmp_path / "run")
    description = tmp_path / "run" / "run.json"
    whole = description.read_text()
    for text in ("", "{", "[]", '{"format": 1}', whole.replace('"format": 2', '"format": 3')):
        description.write_text(text)
        with pytest.raises(InputError, match=r"run\.json: "):
            read_run(tmp_path / "run")
    description.write_text(whole)
    (tmp_path / "run" / "jobs.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="changed after the run was written"):
        read_run(tmp_path / "run", verify=True)
    (tmp_path / "run" / "jobs.parquet").unlink()
    with pytest.raises(InputError, match="the file is missing"):
        read_run(tmp_path / "run")


def test_reading_while_a_run_is_being_written(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", TWO_NODES) as writer:
        writer.write("jobs", job_batch())
        with pytest.raises(InputError, match="no such folder"):
            read_run(tmp_path / "run")
        writer.write("timeline", time_batch(FIVE_TIMES))
        writer.finish(config())
    assert len(read_run(tmp_path / "run").timeline) == len(FIVE_TIMES)


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION


def briefly(scenario: sl.Scenario, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Run:
    """What the command line keeps of a long run that has no folder."""
    monkeypatch.setattr(simulate, "FEW_JOBS", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return simulate.Simulation(scenario, brief=True).run()


def some_jobs(jobs: int = 300, **more: Any) -> sl.Workload:
    chance = np.random.default_rng(4)
    columns: dict[str, Any] = {
        "submit": np.cumsum(chance.integers(0, 30, jobs)),
        "runtime": chance.integers(0, 900, jobs),
        "limit": chance.integers(1, 900, jobs),
        "count": chance.integers(1, 12, jobs),
    }
    return sl.Workload.of(**(columns | more))


WITH_MEMORY = {"request": np.arange(300) % 2, "requests": [Request({"cores": 1, "memory": m}) for m in (1, 9)]}
BRIEF = {
    "a pool": sl.Scenario(some_jobs(), "pool:10", "easy"),
    "jobs that are rejected": sl.Scenario(some_jobs(), "5x2", "reject"),
    "nodes with memory": sl.Scenario(some_jobs(**WITH_MEMORY), sl.Cluster.uniform(5, cores=2, memory=6), "easy"),
    "the end of time": sl.Scenario(some_jobs(), "5x2", "fcfs", until=2000),
    "jobs that go back to the queue": sl.Scenario(
        some_jobs(), "5x2", "easy", observers=["failures(mtbf=2000, repair=300, seed=1)"]
    ),
}


@pytest.mark.parametrize("scenario", BRIEF.values(), ids=BRIEF)
def test_the_summary_needs_no_more_than_what_is_kept_of_a_long_run(
    scenario: sl.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sl.simulate(scenario)
    brief = briefly(scenario, monkeypatch, tmp_path)
    assert {**brief.config, "timing": None} == {**whole.config, "timing": None}
    assert missing_jobs(brief) == missing_jobs(whole)
    assert summary_of(brief, tau=60) == summary_of(whole, tau=60)


def test_what_is_kept_of_a_long_run_goes_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = briefly(BRIEF["a pool"], monkeypatch, tmp_path)
    assert sorted(path.name for path in tmp_path.rglob("*.parquet")) == ["jobs.parquet", "timeline.parquet"]
    del run
    assert list(tmp_path.iterdir()) == []


def test_a_long_run_that_fails_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(sl.Policy):
        def decide(self, view: Any, events: Any) -> None:
            if view.now > 100:
                raise RuntimeError("no")

    with pytest.raises(sl.SchedlabError):
        briefly(replace(BRIEF["a pool"], policy=Wrong()), monkeypatch, tmp_path)
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_for_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(parquet.TableFile, "write", full)
    with pytest.raises(DiskError, match="what the summary is made of: No space left") as raised:
        briefly(BRIEF["a pool"], monkeypatch, tmp_path)
    assert "TMPDIR" in raised.value.hint
    assert raised.value.where == str(tmp_path)
    assert list(tmp_path.iterdir()) == []
