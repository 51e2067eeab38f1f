"""Observers in studies: a list is a grid, a list in the list belongs together."""

from __future__ import annotations

from pathlib import Path

import pytest

import schedlab as sl
from schedlab.engine.scenario import load_observers, split_observers
from schedlab.experiment.execute import scenario_of
from schedlab.experiment.plan import plan
from schedlab.experiment.study import parse_study
from schedlab.slurm.study import ensemble_text

EXAMPLES = Path(__file__).parents[2] / "examples"
POWER, FAILURES = "power(idle=60, per_core=15)", "failures(mtbf=1e6, seed={seed})"


def test_a_text_of_several() -> None:
    assert split_observers(f"{POWER} + mine.py:A('a + b', [1, 2]) + none") == [POWER, "mine.py:A('a + b', [1, 2])"]
    assert split_observers("none") == split_observers("") == []
    assert [plugin.text.partition("(")[0] for plugin in load_observers([f"{POWER} + sleep()"])] == ["power", "sleep"]


@pytest.mark.parametrize(
    ("written", "runs"),
    [
        (f'"{POWER}"', [[POWER]]),
        (f'["none", "{POWER}"]', [[], [POWER]]),
        (f'["{POWER}", "{FAILURES}"]', [[POWER], [FAILURES]]),
        (f'[["{POWER}", "{FAILURES}"]]', [[POWER, FAILURES]]),
        (f'[[], ["{POWER}", "{FAILURES}"]]', [[], [POWER, FAILURES]]),
    ],
)
def test_what_a_study_runs(tmp_path: Path, written: str, runs: list[list[str]]) -> None:
    text = f'[workload]\nlog = "{EXAMPLES}/demo.swf"\n[run]\ncluster = "64x4"\nobserve = {written}\n'
    planned = plan(parse_study(text, str(tmp_path / "study.toml")))
    jobs, cluster = sl.Workload.of(submit=[0], runtime=[1]), sl.Cluster.uniform(64, 4)
    found = [split_observers(scenario_of(run, jobs, cluster).observers[0]) for run in planned]
    assert found == [[text.replace("{seed}", str(planned[0].seed)) for text in run] for run in runs]


def test_an_ensemble_of_the_real_slurm_has_all_its_observers_in_every_run(tmp_path: Path) -> None:
    micro = EXAMPLES / "micro_cluster"
    options = {"set": ["PriorityWeightAge=5"], "accounts": None, "qos": None}
    text = ensemble_text(micro / "slurm.conf", micro / "jobs.events", options, [POWER, "sleep()"], 3, {})
    planned = plan(parse_study(text, str(tmp_path / "study.toml")))
    assert len(planned) == 6  # three phases of the conf as it is, three of the changed one
    assert {run.point["observe"] for run in planned} == {f"{POWER} + sleep()"}
