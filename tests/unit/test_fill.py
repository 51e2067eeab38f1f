"""Fill phases: their sizes by hand, their phases through a header, and the wait that they induce."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import schedlab as sl
from schedlab.analysis.compare import summary_of
from schedlab.analysis.trim import InPhase
from schedlab.generate.fill import FILL, fill, fill_job_cores
from schedlab.generate.load import hold_pressure
from schedlab.model.errors import InputError
from schedlab.model.request import SINGLE_CORE, Request
from schedlab.model.workload import Phase, Workload
from schedlab.plot.baseline import plot_baseline
from schedlab.workload.phases import phase_of, phases_from_header, phases_to_header, with_phases
from schedlab.workload.swf.header import parse_header

PHASES = (Phase("fill", 0, 600), Phase("stabilisation", 600, 1600), Phase("experiment", 2000, 3000.5))


def steady(hours: int) -> Workload:
    """Jobs of one core that run 600 s, one a minute: 10 cores are just enough."""
    number = 60 * hours
    return Workload.of(
        submit=5000.0 + 60 * np.arange(number), runtime=np.full(number, 600.0), limit=np.full(number, 900.0)
    )


def column(workload: Workload, name: str) -> Any:
    return np.concatenate([getattr(batch, name) for batch in workload.batches()])


def test_phase_of_each_submit_time() -> None:
    submit = np.array([-1.0, 0.0, 599.9, 600.0, 1600.0, 2000.0, 3000.4, 3000.5])
    assert phase_of(PHASES, submit).tolist() == [-1, 0, 0, 1, -1, 2, 2, -1]
    assert phase_of((), submit[:2]).tolist() == [-1, -1]


def test_phases_survive_a_header() -> None:
    header = phases_to_header(PHASES)
    assert header == {"Phase": "fill 0 600\nstabilisation 600 1600\nexperiment 2000 3000.5"}
    written = [f"; Phase: {line}" for line in header["Phase"].splitlines()]
    assert phases_from_header(parse_header(written)) == PHASES
    assert phases_from_header({}) == () and phases_to_header(()) == {}


@pytest.mark.parametrize("line", ["fill", "fill 0", "fill zero 600"])
def test_a_header_line_that_is_no_phase(line: str) -> None:
    with pytest.raises(InputError, match=f"log.swf: 'Phase: {line}' is not a phase"):
        phases_from_header({"Phase": line}, "log.swf")


def test_phases_must_not_overlap() -> None:
    jobs = with_phases(steady(1), PHASES[::-1])
    assert jobs.phases == PHASES
    with pytest.raises(InputError, match="phase b begins at 5, before a ends at 10"):
        with_phases(steady(1), [Phase("a", 0, 10), Phase("b", 5, 20)])
    with pytest.raises(InputError, match="phase a goes from 3 to 2"):
        with_phases(steady(1), [Phase("a", 3, 2)])


def test_sizes_by_hand() -> None:
    filled = fill(steady(20), 10, wait=3600, experiment=7200, job_cores=3, length=600)
    jobs = next(filled.batches())
    # Three jobs of 3 cores and one of 1 occupy 10 cores; behind them come (3600 + 600) s × 10 cores / (3 × 600 s).
    assert jobs.count.tolist() == [3, 3, 3, 1] + [3] * 23
    assert jobs.submit[:4].tolist() == [0, 0, 0, 0]
    np.testing.assert_allclose(jobs.submit[4:], np.arange(23) * 600 / 23)
    assert jobs.runtime[4:].tolist() == [600] * 23 and jobs.limit[4:].tolist() == [900] * 23
    # Those that occupy the machine have been running for a while already.
    assert ((jobs.runtime[:4] > 0) & (jobs.runtime[:4] <= 600)).all()
    np.testing.assert_allclose(jobs.limit[:4] - jobs.runtime[:4], 300)
    assert (jobs.id > FILL).all()


def test_the_size_of_fill_jobs_follows_from_wait_interval_and_machine() -> None:
    """As ScSF filled Edison for four hours: 1,440 jobs of 96 cores (4 nodes), one every 10 s."""
    size = fill_job_cores(133_824, 4 * 3600, interval=10, node_cores=24)
    assert (size, 4 * 3600 / 10) == (96, 1440)
    assert fill_job_cores(133_824, 4 * 3600) == 93  # without whole nodes
    assert fill_job_cores(133_824, 4 * 3600, interval=20, node_cores=24) == 192
    assert fill_job_cores(10, 3600) == 1 and fill_job_cores(10, 1) == 10
    sizes = next(fill(steady(20), 1000, wait=3600, experiment=7200, length=600, node_cores=2).batches()).count
    assert set(sizes.tolist()) == {4}


def test_a_given_backlog_takes_the_place_of_the_wait() -> None:
    filled = fill(steady(20), 10, wait=3600, experiment=7200, job_cores=1, length=600, backlog=1800)
    assert len(next(filled.batches())) == 10 + (1800 + 600) * 10 // 600


def test_fill_jobs_run_as_long_as_a_core_is_used() -> None:
    # Half of the jobs: 1 core for 100 s. The others: 3 cores for 500 s. A core sees 100 s once and 500 s three times.
    jobs = Workload.of(submit=60.0 * np.arange(1200), runtime=[100.0, 500.0] * 600, count=[1, 3] * 600)
    batch = next(fill(jobs, 4, wait=3600, experiment=7200, length=400).batches())
    # (3600 + 400) s × 4 cores / 400 s: 40 jobs, 30 of them long. Of the four that run, 16 to 1 are long.
    assert sorted(batch.runtime[4:].tolist()) == [100.0] * 10 + [500.0] * 30


def test_the_workload_follows_and_is_cut() -> None:
    jobs = steady(20)
    jobs.origin = datetime(2024, 1, 1, tzinfo=UTC)
    jobs.requests = [Request({"cores": 1, "gpus": 0})]
    filled = fill(jobs, 10, wait=3600, experiment=7200, length=600, stabilisation=3000, drain=1200)
    assert filled.phases == (
        Phase("fill", 0, 600),
        Phase("stabilisation", 600, 3600),
        Phase("experiment", 3600, 10_800),
        Phase("drain", 10_800, 12_000),
    )
    own = column(filled, "id") < FILL
    assert column(filled, "submit")[own].tolist() == (600.0 + 60 * np.arange(190)).tolist()
    assert filled.origin == datetime(2024, 1, 1, 1, 13, 20, tzinfo=UTC)  # 5000 - 600 s later
    assert filled.requests == [SINGLE_CORE, *jobs.requests]
    assert column(filled, "request")[own].tolist() == [1] * 190
    assert filled.report.kept == len(own)
    assert filled.report.filled == {"fill jobs before the workload": int((~own).sum())}


def test_a_workload_that_ends_too_early_is_refused() -> None:
    filled = fill(steady(2), 10, wait=3600, experiment=7200)
    with pytest.raises(InputError, match="the experiment ends at 32400 s"):
        list(filled.batches())


def test_all_mistakes_at_once() -> None:
    jobs = with_phases(steady(1), PHASES)
    with pytest.raises(InputError) as error:
        fill(jobs, 10, wait=-1, experiment=7200, job_cores=11, stabilisation=1, drain=1, backlog=float("inf"))
    text = str(error.value)
    for part in ("has phases already", "11 cores cannot fill a machine of 10", "wait is -1", "backlog is inf"):
        assert part in text


def test_there_must_be_jobs() -> None:
    with pytest.raises(InputError, match="there are no jobs"):
        fill(Workload("empty", lambda: iter(())), 10, wait=1, experiment=1)
    with pytest.raises(InputError, match="no job at its beginning fits"):
        fill(Workload.of(submit=[0.0], runtime=[5.0], count=[20]), 10, wait=1, experiment=1)


def mixed(span: float, seed: int) -> Workload:
    """For 64 nodes of 4 cores: mostly jobs of one node, some of up to 8, an hour on average."""
    random = np.random.default_rng(seed)
    nodes = random.choice([1, 2, 4, 8], 20_000, p=[0.75, 0.15, 0.07, 0.03])
    runtime = np.clip(random.lognormal(7.4, 1.0, 20_000), 60, 4 * 3600).round()
    submit = np.cumsum(random.exponential((nodes * runtime).mean() / 60, 20_000)).round()
    first = slice(int(np.searchsorted(submit, span)))
    limit = np.ceil(runtime * random.uniform(1, 8, 20_000))
    return Workload.of(submit=submit[first], runtime=runtime[first], limit=limit[first], count=4 * nodes[first])


# Without backfilling the machine cannot be kept busier than that: at pressure 1 the queue would grow.
@pytest.mark.parametrize(("policy", "pressure"), [("fcfs", 0.985), ("easy", 1.0)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_jobs_wait_as_long_as_was_asked(policy: str, pressure: float, seed: int, tmp_path: Path) -> None:
    hour = 3600.0
    jobs = hold_pressure(mixed(72 * hour, seed), 256, low=pressure, high=pressure, seed=seed)
    filled = fill(jobs, 256, wait=2 * hour, experiment=48 * hour, job_cores=4, stabilisation=12 * hour, seed=seed)
    run = sl.simulate(filled, sl.Cluster.uniform(64, cores=4), policy)
    found = summary_of(run, trim=InPhase("experiment"))
    assert found["utilisation"] > 0.95
    assert found["wait"]["median"] == pytest.approx(2 * hour, rel=0.2)
    figure = plot_baseline(run, filled.phases, tmp_path / "picture.png", asked=2 * hour, title="small")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    labels = [text.get_text() for text in figure.axes[0].texts]
    assert labels == ["fill", "stabilisation", "experiment", "drain"]


def test_figures_of_a_phase_by_hand() -> None:
    # Two cores. Job 1 uses both for 100 s; job 2 waits for 90 s, then uses one for 50 s.
    jobs = Workload.of(submit=[0.0, 10.0], runtime=[100.0, 50.0], count=[2, 1])
    jobs = with_phases(jobs, [Phase("one", 0, 5), Phase("two", 5, 125), Phase("three", 125, 225)])
    run = sl.simulate(jobs, sl.Cluster.of_cores(2), "fcfs")
    found = [summary_of(run, trim=InPhase(phase.name)) for phase in jobs.phases]
    assert [one["jobs"] for one in found] == [1, 1, 0]
    assert [one["wait"]["median"] for one in found] == [0, 90, None]
    np.testing.assert_allclose([one["utilisation"] for one in found[:2]], [1.0, (2 * 95 + 25) / 240])
