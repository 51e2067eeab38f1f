"""What a study claims follows the test that is corrected for all it says: in the terminal, in the report, for Slurm."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from tests.unit.test_study_report import STUDY, checked, made, words

from schedlab.cli.experiment_output import print_summary
from schedlab.experiment.plan import PlannedRun
from schedlab.experiment.results import Results
from schedlab.slurm.study import ensemble_text

MICRO = Path(__file__).parents[2] / "examples" / "micro_cluster"
TWO_METRICS = STUDY.replace("repetitions = 3", "repetitions = 8")
ONE_METRIC = TWO_METRICS.replace(', "utilisation"', "")
TWO_SETTINGS = ONE_METRIC.replace("jobs = 100", "jobs = 100\npressure = [0.7, 0.8]")
# logarithms of ratios: mean 0.174, deviation 0.1852, error 0.0655, t = 2.66, p = 0.033; with 7 degrees of freedom
# t(0.975) is 2.3646 and t(0.9875) is 2.8412: 0.174 ± 0.155 alone, 0.174 ± 0.186 where two are compared
LOGS = [0.174 + 0.189 * at for at in (-1.4, -1.0, -0.6, -0.2, 0.2, 0.6, 1.0, 1.4)]
CLAIM = "easy lengthens the mean wait by 19 % (95 % CI +1.9 to +39 %, 8 paired repetitions)"
NO_CLAIM = (
    "no difference in the mean wait can be told between easy and fcfs (+19 %, 95 % CI −1.2 to +43 % corrected for "
    "2 comparisons, 8 paired repetitions)"
)


def waits(run: PlannedRun) -> float:
    changed = run.point["policy"] == "easy" or "PriorityWeightAge" in run.point["policy"]
    return 1000.0 * (run.repetition + 1) * (math.exp(LOGS[run.repetition]) if changed else 1)


def terminal(results: Results, capsys: pytest.CaptureFixture[str]) -> str:
    print_summary(results, 1.0)
    return re.sub(r"\s+", " ", capsys.readouterr().out)


def test_alone_it_is_a_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = made(tmp_path, ONE_METRIC, waits)
    seen = words(checked(results))
    assert f"worse {CLAIM}" in seen
    assert "By chance maybe" not in seen
    assert CLAIM in terminal(results, capsys)


@pytest.mark.parametrize("text", [TWO_METRICS, TWO_SETTINGS])
def test_among_others_it_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    results = made(tmp_path, text, waits)
    for seen in (words(checked(results)), terminal(results, capsys)):
        assert NO_CLAIM in seen
        assert "lengthens" not in seen
        assert " worse " not in seen
    assert "By chance maybe: no difference can be told." in words(checked(results))
    assert [sentence.partition(": ")[2] or sentence for sentence in results.verdicts(["wait.mean"])] == [NO_CLAIM] * (
        2 if text is TWO_SETTINGS else 1
    )


def test_the_phases_of_the_real_slurm_are_a_study_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = {"set": ["PriorityWeightAge=5"], "accounts": None, "qos": None}
    text = ensemble_text(MICRO / "slurm.conf", MICRO / "jobs.events", options, [], 8, {})
    results = made(tmp_path, 'metrics = ["wait.mean", "utilisation"]\n' + text, waits)
    for seen in (words(checked(results)), terminal(results, capsys)):
        assert "no difference in the mean wait can be told between" in seen
        assert "(+19 %, 95 % CI −1.2 to +43 % corrected for 2 comparisons, 8 paired repetitions)" in seen
        assert "lengthens" not in seen
        assert " worse " not in seen
