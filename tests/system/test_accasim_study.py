"""The case study of the AccaSim paper: nothing is killed, memory counts, and by plain slowdown EASY is ahead of SJF."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import schedlab as sl
from schedlab.experiment.results import Results

ROOT = Path(__file__).parents[2]
LOG = "HPC2N-2002-2.2-cln.swf.gz"


@pytest.mark.slow
def test_the_study_gives_the_ranking_of_the_paper_and_the_numbers_of_its_page(tmp_path: Path, traces: Path) -> None:
    shutil.copy(ROOT / "examples" / "seth.json", tmp_path)
    text = (ROOT / "examples" / "accasim_study.toml").read_text()
    # Without tables: the judge of every run that a test leaves behind would need longer than the study.
    (tmp_path / "accasim_study.toml").write_text(f'keep = "summary"\n{text}')
    (tmp_path / LOG).symlink_to(traces / LOG)
    command = [Path(sys.executable).with_name("schedlab"), "experiment", "run", "accasim_study.toml", "--quiet"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=600)
    results = Results(tmp_path / "accasim_study")
    found = {result["point"]["policy"]: result["summary"] for result in results.results}
    assert len(found) == 8
    for summary in found.values():
        assert (summary["states"]["killed"], summary["states"]["rejected"]) == (0, 19)
        assert round(100 * summary["utilisation"], 1) == 59.6
    assert results.metrics[0] == "slowdown.mean"  # which decides what is best

    rows = re.findall(r"^\| .*?\(`(.*?)`\) \| (.*?) \| (.*?) \| (.*?) h \| (.*?) \|$", page(), re.MULTILINE)
    assert len(rows) == 4
    for policy, *numbers in rows:
        first, best = (found[f"{policy},place={place}-fit"] for place in ("first", "best"))
        slowdown, bounded = first["slowdown"]["mean"], first["bounded_slowdown"]["mean"]
        wait, queue = first["wait"]["mean"] / 3600, first["queue_length"]["mean"]
        assert numbers == [f"{slowdown:,.1f}", f"{bounded:,.1f}", f"{wait:.2f}", f"{queue:.1f}"]
        assert best["slowdown"]["mean"] == pytest.approx(slowdown, rel=0.004)

    easy, sjf = (found[f"{words},place=first-fit"] for words in ("easy:order=fcfs", "none:order=sjf"))
    assert easy["slowdown"]["mean"] < sjf["slowdown"]["mean"]
    assert easy["bounded_slowdown"]["mean"] > sjf["bounded_slowdown"]["mean"]


def test_with_kills_and_without_memory_easy_is_ahead_too(traces: Path) -> None:
    jobs = sl.read_workload(traces / LOG)
    runs = [sl.simulate(jobs, sl.Cluster.uniform(120, cores=2), policy) for policy in ("easy", "none:order=sjf")]
    assert {run.summary["states"]["killed"] for run in runs} == {14_817}
    numbers = [f"{run.summary['slowdown']['mean']:.1f}" for run in runs]
    assert numbers == ["184.8", "209.5"]
    assert "14,817" in page()
    assert all(number in page() for number in numbers)


def page() -> str:
    return (ROOT / "docs" / "experiments.md").read_text()
