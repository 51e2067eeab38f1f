"""Observers in studies: a list is a grid, a list in the list belongs together."""

from __future__ import annotations

from pathlib import Path

import pytest

import schedlab as sl
from schedlab.engine.scenario import load_observers, split_observers
from schedlab.experiment.coordinator import run_study
from schedlab.experiment.execute import scenario_of
from schedlab.experiment.plan import plan
from schedlab.experiment.results import Results
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


def test_files_of_observers_are_found_beside_the_study(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("class A:\n    def after(self, view): ...\nclass B(A): ...\n")
    head = f'[workload]\nlog = "{EXAMPLES}/demo.swf"\n[run]\ncluster = "64x4"\npolicy = ["easy", "fcfs"]\n'
    both = f"{tmp_path}/b.py:A + {tmp_path}/b.py:B"
    for written in ('"b.py:A + b.py:B"', '[["b.py:A", "b.py:B"]]'):
        rule = '[[exclude]]\npolicy = "fcfs"\nobserve = "b.py:A + b.py:B"\n'
        study = parse_study(f"{head}observe = {written}\n{rule}", str(tmp_path / "study.toml"))
        assert [(run.point["policy"], run.point["observe"]) for run in plan(study)] == [("easy", both)]


def test_what_did_not_count_is_said(tmp_path: Path) -> None:
    log = tmp_path / "m.swf"
    log.write_text("1 0 -1 10 1 -1 -1 1 10 2048 1 1 1 -1 -1 -1 -1 -1\n")
    text = '[workload]\nlog = "m.swf"\n[run]\ncluster = "1x4"\npolicy = ["easy", "fcfs"]\n'
    study = parse_study(text, str(tmp_path / "study.toml"))
    run_study(study, tmp_path / "out")
    assert Results(tmp_path / "out").notes() == ["not counted: memory (1x4 has none), which 1 job asks for"]
