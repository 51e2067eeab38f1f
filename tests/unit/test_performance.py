"""What decisions cost: recorded when it is asked for, and only then."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import typer
from polars.testing import assert_frame_equal
from tests.unit.test_plot import LONG_NAMES, assert_readable, figure_drawn
from typer.testing import CliRunner

import schedlab as sl
from schedlab.cli.plot import plot
from schedlab.cli.run import run as run_command
from schedlab.engine.checkpoint import Checkpoint
from schedlab.model.errors import InputError, SchedlabError
from schedlab.plot.catalogue import draw

SCHEMA = {
    "time": pl.Float64,
    "queued": pl.Int32,
    "running": pl.Int32,
    "decide_seconds": pl.Float32,
    "pass_seconds": pl.Float32,
    "memory_mb": pl.Float32,
}
ROOT = Path(__file__).parents[2]
TWO_CORES = sl.Cluster.of_cores(2)


def busy(milliseconds: float) -> None:
    until = time.perf_counter() + milliseconds / 1000
    while time.perf_counter() < until:
        pass


class Counting(sl.Policy):
    """First come, first served; counts how often it is asked, and takes its time."""

    def __init__(self, milliseconds: float = 0) -> None:
        self.calls = 0
        self._milliseconds = milliseconds

    def decide(self, view: Any, events: Any) -> None:
        self.calls += 1
        busy(self._milliseconds)
        for job in view.queue:
            if not view.start(job):
                break


def three_jobs() -> sl.Workload:
    """On two cores, one after the other: 0 to 10, 10 to 20, 20 to 30."""
    return sl.Workload.of(submit=[0, 4, 5], runtime=[10, 10, 10], limit=[10, 10, 10], count=[2, 2, 2])


def many_jobs(jobs: int = 2000) -> sl.Workload:
    """Each is over before the next comes: two passes for each."""
    return sl.Workload.of(submit=np.arange(jobs) * 10.0, runtime=np.full(jobs, 5.0), limit=np.full(jobs, 5.0))


def test_a_row_for_each_decision() -> None:
    run = sl.simulate(three_jobs(), TWO_CORES, "fcfs", performance=True)
    assert dict(run.performance.schema) == SCHEMA
    assert run.performance.select("time", "queued", "running").rows() == [
        (0, 1, 0),
        (4, 1, 1),
        (5, 2, 1),
        (10, 2, 0),
        (20, 1, 0),
        (30, 0, 0),
    ]


@pytest.mark.parametrize("place", ["memory", "folder"])
@pytest.mark.parametrize("passes", ["instant", "event"])
def test_as_many_rows_as_calls(place: str, passes: Any, tmp_path: Path) -> None:
    policy = Counting()
    out = None if place == "memory" else tmp_path / "run"
    run = sl.simulate(many_jobs(), TWO_CORES, policy, passes=passes, out=out, performance=True)
    table = run.performance
    assert len(table) == policy.calls == 4000  # more than one batch of the core
    assert table["time"].to_list() == sorted([n * 10.0 for n in range(2000)] + [n * 10.0 + 5 for n in range(2000)])
    assert (table["decide_seconds"] >= 0).all()
    assert (table["pass_seconds"] >= table["decide_seconds"]).all()
    assert table["pass_seconds"].cast(pl.Float64).sum() <= run.config["timing"]["engine"]
    assert table["memory_mb"].null_count() in (0, len(table))  # a system tells, or it does not
    assert (table["memory_mb"].drop_nulls() > 1).all()


def test_a_slow_policy_can_be_seen() -> None:
    quick, slow = (
        sl.simulate(three_jobs(), TWO_CORES, Counting(milliseconds), performance=True).performance.sum()
        for milliseconds in (0, 5)
    )
    assert slow["decide_seconds"].item() > quick["decide_seconds"].item()
    assert slow["pass_seconds"].item() > quick["pass_seconds"].item()


def test_observers_are_in_the_pass_and_not_in_the_decision() -> None:
    class Slow(sl.Observer):
        def before(self, view: Any) -> None:
            busy(5)

    alone, observed = (
        sl.simulate(three_jobs(), TWO_CORES, "fcfs", observers=observers, performance=True).performance
        for observers in ([], [Slow()])
    )
    assert len(alone) == len(observed) == 6
    assert observed["pass_seconds"].sum() > alone["pass_seconds"].sum()
    assert observed["pass_seconds"].sum() > 2 * observed["decide_seconds"].sum()


def test_without_it_nothing_is_different(tmp_path: Path) -> None:
    jobs = sl.read_workload(ROOT / "examples" / "demo.swf")
    cluster = sl.Cluster.uniform(64, cores=4)
    run = sl.simulate(jobs, cluster, "easy", out=tmp_path / "off")
    sl.simulate(jobs, cluster, "easy", out=tmp_path / "on", performance=True)
    assert {path.name for path in (tmp_path / "off").iterdir()} == {"jobs.parquet", "run.json", "timeline.parquet"}
    for name in ("jobs.parquet", "timeline.parquet"):
        assert (tmp_path / "off" / name).read_bytes() == (tmp_path / "on" / name).read_bytes()
    off, on = (json.loads((tmp_path / name / "run.json").read_text()) for name in ("off", "on"))
    assert set(off["timing"]) == {"engine"}
    assert set(on["files"]) - set(off["files"]) == {"performance.parquet"}
    for key in ("timing", "files"):
        del off[key], on[key]
    assert off == on
    assert len(run.performance) == 0
    assert dict(run.performance.schema) == SCHEMA
    assert dict(sl.simulate(three_jobs(), TWO_CORES).performance.schema) == SCHEMA


def test_the_summary(tmp_path: Path) -> None:
    run = sl.simulate(many_jobs(), TWO_CORES, "easy", out=tmp_path / "run", performance=True)
    timing = json.loads((tmp_path / "run" / "run.json").read_text())["timing"]
    assert timing["passes"] == 4000
    for name in ("decide_seconds", "pass_seconds"):
        values = run.performance[name].cast(pl.Float64)
        assert timing[name]["mean"] == pytest.approx(values.mean())
        assert timing[name]["p95"] == pytest.approx(values.quantile(0.95, "linear"))
        assert timing[name]["max"] == values.max()
    assert timing.get("peak_memory_mb") == run.performance["memory_mb"].max()
    in_memory = sl.simulate(many_jobs(), TWO_CORES, "easy", performance=True).config["timing"]
    assert (in_memory["passes"], set(in_memory)) == (4000, set(timing))


def test_folders_with_it_are_saved_copied_replaced_and_checked(tmp_path: Path) -> None:
    run = sl.simulate(many_jobs(), TWO_CORES, "easy", performance=True)
    run.save(tmp_path / "saved")
    saved = sl.read_run(tmp_path / "saved", verify=True)
    assert saved.config["timing"] == run.config["timing"]
    assert_frame_equal(saved.performance, run.performance)
    saved.save(tmp_path / "copy")
    assert_frame_equal(sl.read_run(tmp_path / "copy", verify=True).performance, run.performance)
    assert sl.check(tmp_path / "copy") == []
    run.save(tmp_path / "copy", force=True)
    (tmp_path / "copy" / "performance.parquet").write_bytes(b"junk")
    assert [str(offence)[:34] for offence in sl.check(tmp_path / "copy")] == ["file: performance.parquet is not t"]


def test_a_policy_that_fails_leaves_what_was_recorded() -> None:
    class Failing(Counting):
        def decide(self, view: Any, events: Any) -> None:
            super().decide(view, events)
            if self.calls == 3:
                raise RuntimeError("enough")

    with pytest.raises(SchedlabError) as caught:
        sl.simulate(three_jobs(), TWO_CORES, Failing(), performance=True)
    assert caught.value.run is not None
    assert caught.value.run.performance["time"].to_list() == [0, 4]


def test_no_jobs() -> None:
    empty: list[float] = []
    run = sl.simulate(sl.Workload.of(submit=empty, runtime=empty, limit=empty), TWO_CORES, performance=True)
    assert len(run.performance) == 0
    assert set(run.config["timing"]) == {"engine"}


def test_not_with_checkpoints(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be recorded in a run with checkpoints"):
        sl.simulate(three_jobs(), TWO_CORES, performance=True, checkpoint=Checkpoint(tmp_path / "state"))
    assert not list(tmp_path.iterdir())


# on the command line


def call(command: Any, *arguments: object) -> None:
    """Run the command and let its errors through, as the program does to print them."""
    app = typer.Typer()
    app.command()(command)
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output


def test_recorded_and_drawn(tmp_path: Path) -> None:
    demo, out = ROOT / "examples" / "demo.swf", tmp_path / "runs"
    call(run_command, demo, "-c", "64x4", "-p", "easy", "-p", "fcfs", "--out", out, "--performance", "--quiet")
    for runs, options in (([out], ["--label", "A", "--label", "B"]), ([out / "easy"], ["--from", "1d", "--to", "2d"])):
        call(plot, *runs, "--kind", "performance", *options, "-o", tmp_path / "cost.svg", "--force")
        assert "</svg>" in (tmp_path / "cost.svg").read_text()
    with pytest.raises(InputError, match="two runs have the same label"):
        call(plot, out, "-k", "performance", "--label", "A", "--label", "A", "-o", tmp_path / "same.svg")
    sl.simulate(three_jobs(), TWO_CORES, out=tmp_path / "plain")
    with pytest.raises(InputError, match=r"plain: has no record of what decisions cost\n.*--performance"):
        call(plot, tmp_path / "plain", "-k", "performance", "-o", tmp_path / "none.svg")


@pytest.mark.parametrize("width", ["column", "page"])
def test_the_figure_is_readable_with_twelve_long_names(width: str) -> None:
    run = sl.simulate(many_jobs(), TWO_CORES, performance=True)
    figure = figure_drawn(draw("performance", [run] * len(LONG_NAMES), labels=LONG_NAMES, width=width))
    assert_readable(figure)
    assert_readable(figure_drawn(draw("performance", [run], width=width)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--performance: needs a folder"),
        (["--out", "run", "--checkpoint-every", "10m"], "--performance: does not go with --checkpoint-every"),
    ],
)
def test_mistakes(options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        call(run_command, "no-such-log.swf", "--performance", *options)
    assert not list(tmp_path.iterdir())
