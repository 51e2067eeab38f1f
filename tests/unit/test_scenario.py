"""What a scenario takes and refuses; what a checkpoint and a stepper make of it."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest

import schedlab as sl
from schedlab.engine.checkpoint import Checkpoint
from schedlab.engine.scenario import split_observers
from schedlab.engine.simulate import Simulation

DEMO = Path(__file__).parents[2] / "examples" / "demo.swf"
JOBS = {"submit": [0, 1], "runtime": [10, 10], "count": [1, 1]}


def test_texts_and_objects_are_the_same() -> None:
    texts = sl.simulate(str(DEMO), "64x4", "easy")
    objects = sl.simulate(sl.Scenario(sl.read_workload(DEMO), sl.Cluster.uniform(64, 4)), policy="easy")
    assert texts.jobs.equals(objects.jobs)
    assert sl.simulate(DEMO).config["cluster"]["name"] == "pool:256"  # as large as its header says


@pytest.mark.parametrize(
    ("options", "message", "hint"),
    [
        ({"overun": "run"}, "there is no option 'overun'", "overrun"),
        ({"requests": "all"}, "requests cannot be 'all'", "auto, cores, full"),
        ({"overrun": "stop"}, "overrun cannot be 'stop'", "kill, run"),
        ({"reading": {"clean": "none"}}, "jobs has been read already", "the path of the log"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(sl.InputError) as error:
        sl.simulate(sl.Workload.of(**JOBS), "2x1", "easy", **options)
    assert message in str(error.value) and hint in str(error.value)


def test_reading_options_go_to_the_reader(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    rows = ["1 0 -1 10 2 -1 -1 2 -1 -1 1 1 1 -1 -1 -1 -1 -1", "2 5 -1 10 64 -1 -1 64 100 -1 1 1 1 -1 -1 -1 -1 -1"]
    log.write_text("; MaxProcs: 8\n" + "\n".join(rows) + "\n3 6 -1 10 2 -1 -1 2 100 -1 1 1 1 -1 -1 -1 -1 -1\n")
    assert sl.simulate(log, reading={"clean": "strict"}).jobs["job"].to_list() == [3]  # the second is too large
    assert sl.simulate(log, reading={"clean": "strict", "max_procs": 100}).jobs["job"].to_list() == [2, 3]


def test_a_plus_sign_in_a_path() -> None:
    assert split_observers("/home/c++/mine.py:X + b.py:Y(a='1 + 2')") == ["/home/c++/mine.py:X", "b.py:Y(a='1 + 2')"]


def test_a_checkpoint_belongs_to_one_scenario(tmp_path: Path) -> None:
    first = sl.Scenario(DEMO, "64x4", "easy", observers=["power(idle=1)"]).loaded()

    def taken_up(**changed: Any) -> None:
        checkpoint = Checkpoint(tmp_path / "saved", every=1e9)
        Simulation(sl.Scenario.of(first, checkpoint=checkpoint, **changed))

    Checkpoint(tmp_path / "saved").begin(Simulation(first)._identity(first.choice()))
    taken_up()
    for changed in ({"requests": "cores"}, {"repetition": 1}, {"observers": ["power(idle=2)"]}):
        with pytest.raises(sl.InputError, match="belongs to another run"):
            taken_up(**changed)


def test_a_stepper_keeps_the_name_and_takes_no_checkpoint(tmp_path: Path) -> None:
    scenario = sl.Scenario(sl.Workload.of(**JOBS), sl.Cluster.uniform(2, 1), "easy", name="mine")
    stepper = sl.Stepper(scenario)
    while stepper.advance():
        stepper.decide()
    assert stepper.finish().policy == "mine"
    with pytest.raises(sl.InputError, match="step by step cannot be taken up"):
        sl.Stepper(scenario, checkpoint=Checkpoint(tmp_path / "saved"))


def test_a_stepper_that_is_left_leaves_nothing(tmp_path: Path) -> None:
    stepper = sl.Stepper(sl.Workload.of(**JOBS), "2x1", out=tmp_path / "run")
    assert stepper.advance()
    stepper.leave()
    assert not list(tmp_path.iterdir())


def test_a_stepper_without_a_policy_decides_nothing() -> None:
    stepper = sl.Stepper(sl.Workload.of(**JOBS), "2x1")
    assert stepper.advance()
    with pytest.raises(sl.InputError, match="there is no policy to decide"):
        stepper.decide()
    stepper.leave()


def test_an_end_in_infinity_is_no_estimate() -> None:
    class Never:
        def __init__(self, seconds: float) -> None:
            self.seconds = seconds

        def estimate(self, job: Any) -> float:
            return self.seconds

    for seconds in (float("inf"), 1e300, 1e13):
        with pytest.raises(sl.DecisionError, match="expected seconds, from 0 to 1e12"):
            sl.simulate(sl.Workload.of(**JOBS), "2x1", "easy", estimate=Never(seconds))
    with pytest.raises(sl.InputError, match="up to 1e"):
        sl.simulate(sl.Workload.of(**JOBS), "2x1", "easy", estimate="limit*1e15")


def test_a_bad_argument_of_a_built_in_observer_blames_nobodys_code() -> None:
    with pytest.raises(sl.InputError) as error:
        sl.simulate(sl.Workload.of(**JOBS), "2x1", "easy", observers=["power(idle='x')"])
    assert "idle cannot be 'x'" in str(error.value) and "line" not in str(error.value)


def test_a_simulation_is_freed_whether_it_ran_or_not(tmp_path: Path) -> None:
    scenario = sl.Scenario(sl.Workload.of(**JOBS), sl.Cluster.uniform(2, 1), "easy", out=tmp_path / "run")
    never_run = Simulation(sl.Scenario.of(scenario, checkpoint=Checkpoint(tmp_path / "saved")))
    ran, in_the_way = Simulation(scenario), Simulation(scenario)
    cores = [weakref.ref(simulation.core) for simulation in (never_run, ran, in_the_way)]
    ran.run()
    with pytest.raises(sl.InputError, match="already holds a run"):
        in_the_way.run()
    del never_run, ran, in_the_way
    gc.collect()
    assert [core() for core in cores] == [None] * 3
