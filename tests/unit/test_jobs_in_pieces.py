"""What is read piece by piece is what is read as a whole: columns, orders, pairs of jobs, bars, stories, logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.batches import FIVE_JOBS, TWO_NODES, config, job_batch

import schedlab as sl
from schedlab.analysis import job_by_job as paired
from schedlab.analysis.common_jobs import common_jobs, missing_jobs, same_submissions
from schedlab.analysis.core_rows import Machine, job_bars
from schedlab.analysis.distribution import PiecewiseDistribution
from schedlab.analysis.interval import student_interval
from schedlab.analysis.job_values import job_values
from schedlab.analysis.trim import Among, InPhase, Trim, keeps
from schedlab.engine import parquet
from schedlab.engine.store import MemoryWriter, RunWriter
from schedlab.model import jobs as in_pieces_of
from schedlab.model.errors import InputError
from schedlab.model.jobs import (
    JobSet,
    in_order,
    in_pieces,
    interrupted,
    jobs_at,
    jobs_of_rows,
    names_of,
    rows_of_jobs,
    without_gaps,
)
from schedlab.model.run import Run, Tables
from schedlab.plot.gantt_colours import colouring
from schedlab.workload.swf.write import write_swf

HUGE = 2**63 - 1


class Pieces:
    """A table in pieces of one size, of which those are left out that may be."""

    def __init__(self, columns: dict[str, NDArray[Any]], size: int) -> None:
        self._columns, self._size = columns, size
        self.read = 0

    def batches(
        self, names: Sequence[str], table: str, where: Mapping[str, tuple[float, float]] | None = None
    ) -> Iterator[dict[str, NDArray[Any]]]:
        rows = len(next(iter(self._columns.values())))
        for first in range(0, rows, self._size):
            piece = {name: column[first : first + self._size] for name, column in self._columns.items()}
            if all(
                piece[name].max() >= low and piece[name].min() <= high for name, (low, high) in (where or {}).items()
            ):
                self.read += 1
                yield {name: piece[name] for name in names}

    def column(self, name: str, table: str = "jobs") -> NDArray[Any]:
        return self._columns[name].copy()


def table(size: int = 3, **columns: Any) -> Tables:
    return cast(Tables, Pieces({name: np.array(values) for name, values in columns.items()}, size))


NUMBERS = st.integers(-(2**63), HUGE) | st.integers(-5, 5) | st.integers(10**9, 10**9 + 1000)


@given(st.lists(st.lists(NUMBERS, max_size=60), min_size=1, max_size=2), st.integers(1, 20), st.integers(1, 7))
@settings(max_examples=150, deadline=None)
def test_in_the_order_of_any_numbers(runs: list[list[int]], at_once: int, size: int) -> None:
    numbers = [np.array(values, np.int64) for values in runs]
    tables = [table(size, sequence=own, row=np.arange(len(own))) for own in numbers]
    found = list(in_order(tables, ("row",), at_once=at_once))
    for at, own in enumerate(numbers):
        rows = np.concatenate([np.empty(0), *(parts[at]["row"] for parts in found)])
        assert rows.tolist() == np.argsort(own, kind="stable").tolist()
    before = -(2**63) - 1
    for parts in found:
        there = np.concatenate([part["sequence"].astype(object) for part in parts])
        assert len(there) <= at_once or len(set(there)) == 1 or len(found) == 1
        assert before < min(there)
        before = max(there)


def test_what_is_nearly_in_order_is_read_nearly_once() -> None:
    random = np.random.default_rng(3)
    sequence = np.argsort(np.arange(10_000) + random.uniform(0, 300, 10_000))
    there = Pieces({"sequence": sequence}, 500)
    assert sum(len(jobs["sequence"]) for (jobs,) in in_order([cast(Tables, there)], (), at_once=2000)) == 10_000
    assert there.read <= 20 + 20 + 40  # looked at, counted, and read: each piece in two ranges at most


def test_some_jobs() -> None:
    jobs = table(2, sequence=[4, 0, 3, 1, 2], cores=[14, 10, 13, 11, 12])
    assert jobs_at(jobs, ("cores",), np.array([3, 0, 3]))["cores"].tolist() == [13, 10, 13]
    assert jobs_at(jobs, ("cores",), np.empty(0, np.int64))["cores"].tolist() == []
    assert without_gaps(jobs) and rows_of_jobs(jobs, np.array([4, 0])).tolist() == [4, 0]
    gaps = table(2, sequence=[7, 0, 3])
    assert not without_gaps(gaps)
    assert rows_of_jobs(gaps, np.array([7, 3])).tolist() == [2, 1]
    assert jobs_of_rows(gaps, np.array([2, 1])).tolist() == [7, 3]
    assert without_gaps(table(sequence=np.empty(0, np.int64)))
    assert not without_gaps(table(sequence=[1]))


def test_jobs_that_have_pieces() -> None:
    pieces = table(2, sequence=[3, 9, 3, 5, 0], job=[1, 2, 1, 4, 4])
    assert in_pieces(pieces, np.array([9, 1, 0, 4])).tolist() == [True, False, True, False]
    assert in_pieces(pieces, np.empty(0, np.int64)).tolist() == []
    assert interrupted(pieces) == 2
    assert interrupted(table(job=np.empty(0, np.int64))) == 0


def test_names_of_jobs() -> None:
    named = table(2, job=[1, 2, 3], name=np.array(["a", "b", "c"], object))
    assert names_of(named, np.array([3, 1])) == {1: "a", 3: "c"}


def test_sets_of_jobs() -> None:
    one, other = JobSet.of([np.array([5, 1]), np.array([0])]), JobSet.of([np.array([1, 2])])
    assert (len(one), len(one & other), len(JobSet.of([]))) == (3, 1, 0)
    assert one.has(np.array([0, 1, 2, 100])).tolist() == [True, True, False, False]
    assert [places.tolist() for places in one.places()] == [[0, 1, 5]]


# Runs of many jobs, some of which do not start, in row groups and parts of a few.


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP", 37)
    monkeypatch.setattr(in_pieces_of, "AT_ONCE", 50)
    monkeypatch.setattr(paired, "FEW", 100)


def simulated(policy: str, jobs: int = 400, *, names: bool = False, nodes: int = 5) -> Run:
    random = np.random.default_rng(jobs)
    runtime = random.integers(1, 400, jobs)
    columns: dict[str, Any] = {"submit": np.sort(random.integers(0, 6000, jobs)), "runtime": runtime}
    columns |= {"limit": 2 * runtime, "count": random.integers(1, 12, jobs), "user": random.integers(0, 9, jobs)}
    columns |= {"names": [f"j{at}" for at in range(jobs)]} if names else {"id": 3 * random.permutation(jobs)}
    return sl.simulate(sl.Workload.of(**columns), sl.Cluster.uniform(nodes, cores=2), policy, reasons=True)


def saved(run: Run, folder: Path) -> Run:
    run.save(folder)
    return sl.read_run(folder)


@pytest.mark.usefixtures("small")
def test_pieces_of_a_file_that_can_be_left_out(tmp_path: Path) -> None:
    run = saved(simulated("easy"), tmp_path / "run")
    start = run.tables.column("start")
    pieces = list(run.tables.batches(("start", "end"), "jobs", {"start": (1000.0, 1200.0)}))
    assert len(pieces) < 11 and len(list(run.tables.batches(("start",), "jobs"))) == 11
    found = np.concatenate([piece["start"] for piece in pieces])
    inside = (start >= 1000) & (start <= 1200)
    assert found[(found >= 1000) & (found <= 1200)].tolist() == start[inside].tolist()
    texts = run.tables.arrow("jobs", ["nodes"], {"start": (1000.0, 1200.0)})
    assert texts is not None and len(texts) == len(found)
    assert list(run.tables.batches(("start",), "jobs", {"start": (1e9, 2e9)})) == []
    nobody = run.tables.arrow("jobs", ["nodes"], {"start": (1e9, 2e9)})
    assert nobody is not None and len(nobody) == 0


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("names", [False, True])
def test_stories_bars_and_logs_are_those_of_a_run_in_memory(tmp_path: Path, names: bool) -> None:
    whole = simulated("easy:depth=5", names=names)
    run = saved(whole, tmp_path / "run")
    for job in ("j7", "j200", "j399") if names else map(str, whole.jobs["job"][7:400:130]):
        assert str(run.why(job)) == str(whole.why(job))
    machine = Machine(run.cluster)
    for span in ((500.0, 900.0), (-np.inf, np.inf), (1e8, 2e8)):
        one, other = job_bars(run, machine, span), job_bars(whole, machine, span)
        for column in ("job", "begin", "end", "low", "high"):
            assert getattr(one, column).tolist() == getattr(other, column).tolist()
    for by in ("job", "user", "size", "bounded_slowdown"):
        every, some = colouring(whole, by), colouring(run, by, np.array([17, 4]))
        assert every.names == some.names
        assert every.colours[[17, 4]].tolist() == some.colours.tolist()
    write_swf(tmp_path / "one.swf", run)
    write_swf(tmp_path / "other.swf", whole.jobs, requests=whole.requests)
    assert (tmp_path / "one.swf").read_bytes() == (tmp_path / "other.swf").read_bytes()


@pytest.mark.usefixtures("small")
def test_predecessors_in_a_log(tmp_path: Path) -> None:
    jobs = 300
    after = [-1] * 3 + [at // 2 for at in range(jobs - 3)]
    columns: dict[str, Any] = {"submit": range(jobs), "runtime": [50] * jobs, "after": after}
    run = saved(sl.simulate(sl.Workload.of(**columns), "pool:9", "fcfs", dependencies="follow"), tmp_path / "run")
    write_swf(tmp_path / "run.swf", run)
    rows = [line.split() for line in (tmp_path / "run.swf").read_text().splitlines() if not line.startswith(";")]
    told = dict(zip(run.predecessors["job"], run.predecessors["predecessor"], strict=True))
    assert [int(row[16]) for row in rows] == [told.get(int(row[0]), -1) for row in rows]
    assert len(told) == jobs - 3


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("trim", [None, Trim(0.1, 0.2), Trim(0.1, 0.2, "time"), InPhase("some", 2000, 4000)])
def test_pairs_to_the_last_digit(tmp_path: Path, trim: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InPhase, "of", lambda self, run: self)
    one, other = (saved(simulated(policy), tmp_path / policy) for policy in ("easy", "fcfs"))
    found = paired.job_by_job(one, other, trim=trim)
    values = {}
    for metric in ("wait", "start", "turnaround"):
        sides = []
        for run in (one, other):
            order = np.argsort(run.tables.column("job"))
            kept = np.ones(len(order), bool) if trim is None else keeps(trim, run.tables)
            sides.append((job_values(run.tables, metric)[order], kept[order]))
        both = sides[0][1] & sides[1][1] & ~np.isnan(sides[0][0] + sides[1][0])
        values[metric] = sides[0][0][both], sides[1][0][both]
    wait, start = (np.subtract(*values[metric]) for metric in ("wait", "start"))
    turnaround, wanted = values["turnaround"]
    expected = student_interval(wait)
    assert found.mean is not None and expected is not None
    assert (found.mean.estimate, found.mean.low, found.mean.high) == (expected.estimate, expected.low, expected.high)
    assert [found.median, found.p95] == np.quantile(wait, [0.5, 0.95]).tolist()
    assert (found.jobs, found.shorter, found.same) == (len(wait), np.mean(wait < 0), np.mean(wait == 0))
    assert (found.start_mean, found.start_deviation) == (start.mean(), start.std())
    assert found.turnaround_error == np.mean(np.abs(turnaround - wanted) / wanted)


@pytest.mark.usefixtures("small")
def test_a_moved_job_is_found_in_any_piece(tmp_path: Path) -> None:
    one = saved(simulated("easy"), tmp_path / "one")
    rows = simulated("easy").tables
    with RunWriter(tmp_path / "two", one.cluster) as writer:
        for batch in cast(Any, rows).given["jobs"]:
            writer.write("jobs", dict(batch.items()) | {"submit": batch["submit"] - (batch["id"] == 1197)})
        writer.finish(one.config | {"requests": one.requests})
    with pytest.raises(InputError, match=r"job 1197 was submitted at \d+ s in one run and at \d+ s in the other"):
        paired.job_by_job(one, sl.read_run(tmp_path / "two"))


def test_one_job_and_none() -> None:
    def run_of(rows: list[Any]) -> Run:
        with MemoryWriter(TWO_NODES) as writer:
            if rows:
                writer.write("jobs", job_batch(rows))
            return writer.finish(config())

    alone, nobody = run_of(FIVE_JOBS[1:2]), run_of([])
    found = paired.job_by_job(alone, alone)
    assert (found.jobs, found.mean, found.median, found.start_deviation) == (1, None, 0.0, 0.0)
    assert paired.job_by_job(alone, nobody).jobs == paired.job_by_job(nobody, nobody).jobs == 0
    assert not len(job_bars(nobody, Machine(TWO_NODES), (0.0, 1.0)))
    with pytest.raises(InputError, match="there is no job '1'"):
        nobody.why(1)


@pytest.mark.usefixtures("small")
def test_jobs_that_both_started(tmp_path: Path) -> None:
    one, other = (saved(simulated("easy", nodes=nodes), tmp_path / f"{nodes}") for nodes in (5, 4))
    jobs = common_jobs([one, other])
    assert jobs is not None
    started = [set(run.jobs.filter(run.jobs["start"].is_not_null())["sequence"]) for run in (one, other)]
    assert np.concatenate(list(jobs.places())).tolist() == sorted(started[0] & started[1])
    assert same_submissions([one, other], jobs) and common_jobs([one, one]) is None
    assert len({"", missing_jobs(one), missing_jobs(other)}) == 3
    kept = keeps(Among(JobSet.of([np.array([3, 5])]), Trim(0.01, 0)), one.tables)
    assert one.tables.column("sequence")[kept].tolist() == [5]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=80), st.integers(1, 9))
def test_quantiles_to_the_last_digit(values: list[float], size: int) -> None:
    found, numbers = PiecewiseDistribution(), np.array(values)
    pieces = [numbers[first : first + size] for first in range(0, len(numbers), size)]
    for piece in pieces:
        found.look(piece)
    found.begin()
    again = True
    while again:
        for piece in pieces:
            found.add(piece)
        again = found.again()
    assert found.mean == numbers.mean()
    for name, share in (("median", 0.5), ("p95", 0.95), ("p5", 0.05)):
        assert found.quantile(name) == np.quantile(numbers, share)
