"""Start-up delays: by hand, and as they were measured on a real cluster."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import schedlab as sl
from schedlab.bridge.kubernetes.delays import StartUp
from schedlab.bridge.kubernetes.measured import measured, sleeping_times
from schedlab.model.errors import InputError, InputErrors
from schedlab.workload.read import read_workload


def test_a_job_holds_its_node_for_its_delays_too() -> None:
    """Two nodes, three jobs of 10 s: the image is fetched once on each, then only looked for."""
    jobs = sl.Workload.of(submit=[0, 0, 0], runtime=[10, 10, 10])
    startup = StartUp(sync=1, pull=20, again=2, create=0.5, end=3)
    run = sl.simulate(jobs, "2x1", "fcfs", observers=[startup], overrun="run")
    assert run.jobs["start"].to_list() == [0, 0, 34.5]
    assert run.jobs["end"].to_list() == [34.5, 34.5, 34.5 + 1 + 2 + 0.5 + 10 + 3]
    assert run.jobs["startup"].to_list() == [21.5, 21.5, 3.5]
    assert run.summary["observed"]["mean_startup"] == pytest.approx(46.5 / 3)
    assert run.summary["observed"]["mean_wait_until_running"] == pytest.approx((21.5 + 21.5 + 38) / 3)


def test_images_may_be_there_before() -> None:
    jobs = sl.Workload.of(submit=[0], runtime=[10])
    run = sl.simulate(jobs, "1x1", "fcfs", observers=[StartUp(pull=20, again=2, cached=True)], overrun="run")
    assert run.jobs["end"].to_list() == [12]


def test_a_gang_waits_for_its_slowest_node() -> None:
    """The first job has brought the image to one of the two nodes of the second."""
    jobs = sl.Workload.of(submit=[0, 20], runtime=[1, 1], count=[1, 2])
    run = sl.simulate(jobs, "2x1", "fcfs", observers=[StartUp(pull=5, again=1)], overrun="run")
    assert run.jobs["startup"].to_list() == [5, 5]


def test_quantiles_are_drawn_between_and_alike_in_every_run() -> None:
    jobs = sl.Workload.of(submit=[0] * 400, runtime=[1] * 400)
    startups = [
        sl.simulate(jobs, "400x1", "fcfs", observers=[StartUp(sync=[1, 2, 10], seed=seed)], overrun="run").jobs[
            "startup"
        ]
        for seed in (1, 1, 2)
    ]
    first, again, other = startups
    assert first.to_list() == again.to_list() != other.to_list()
    assert first.min() >= 1 and first.max() <= 10  # type: ignore[operator]
    assert (first < 2).sum() == pytest.approx(200, abs=40)
    assert first.mean() == pytest.approx((1.5 + 6) / 2, abs=0.4)


@pytest.mark.parametrize("wrong", [-1, [], [2, 1], "1", float("inf"), [1, "2"], True])
def test_what_is_no_delay(wrong: object) -> None:
    with pytest.raises(InputErrors, match="startup: pull cannot be"):
        StartUp(pull=wrong)  # type: ignore[arg-type]


def test_delays_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "pods.csv"
    path.write_text(
        "profile,scheduled,pulling,pulled,created,starting_time,execution_time\n"
        "a,0,1,3,3.5,4,10.5\na,,5,6,6.5,7,11\nb,10,12,13,13,13,20\n"
    )
    found = measured([path], {"a": 10.0, "b": 20.0})
    assert (found["sync"][0], found["sync"][-1]) == (1, 2)  # the second row does not tell
    assert (found["again"][0], found["again"][10], found["again"][-1]) == (1, 1, 2)
    assert (found["end"][0], found["end"][-1]) == (0, 1)
    with pytest.raises(InputError, match="has no column scheduled"):
        path.write_text("a\n1\n")
        measured([path])


@pytest.fixture(scope="module")
def batkube() -> Path:
    folder = Path(os.environ.get("SCHEDLAB_CASES") or Path(__file__).parents[4] / "shared" / "cases") / "batkube"
    if not folder.is_dir():
        pytest.skip(f"needs Batkube's workloads and runs; there is no {folder} (set SCHEDLAB_CASES)")
    return folder


# Makespan and mean wait until running of Batkube's runs on a real cluster of 15 workers, in seconds.
@pytest.mark.parametrize(
    ("name", "makespan", "wait"), [("200_delay170", 2467, 1077), ("spaced_200_delay170", 2468, 146)]
)
def test_real_runs_of_batkube_with_their_delays(batkube: Path, name: str, makespan: float, wait: float) -> None:
    """Which pod comes first does not matter to either number: any scheduler that lets no node idle will do."""
    workload = batkube / f"{name}.json"
    found = measured(sorted((batkube / "real").glob(f"{name}_*.csv.gz")), sleeping_times(workload))
    jobs = read_workload(workload, reader="batkube")  # type: ignore[arg-type]
    without = sl.simulate(jobs, "15x1", "fcfs")
    closed = {"200_delay170": (2380, 1049.75), "spaced_200_delay170": (2420, 123.5)}[name]
    assert (without.summary["makespan"], without.summary["wait"]["mean"]) == pytest.approx(closed)
    run = sl.simulate(jobs, "15x1", "fcfs", observers=[StartUp(**found, cached=True)], overrun="run")
    assert run.summary["makespan"] == pytest.approx(makespan, rel=0.02)
    assert run.summary["observed"]["mean_wait_until_running"] == pytest.approx(wait, rel=0.02)


def test_sleeping_times(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"profiles": {"a": {"type": "delay", "delay": 3}, "b": {"type": "smpi"}}}))
    assert sleeping_times(path) == {"a": 3.0}
    path.write_text("[]")
    with pytest.raises(InputError, match="has no profiles"):
        sleeping_times(path)
