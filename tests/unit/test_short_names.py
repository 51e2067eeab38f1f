"""Files in the results of a study: their names, without the folders of the machine it ran on."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.test_study_report import made, words

from schedlab.experiment.short_names import files_in, short_names
from schedlab.report.study import study_page

POLICY = "from schedlab import Policy\n\n\nclass First(Policy):\n    def decide(self, view, events):\n        pass\n"
STUDY = """
repetitions = 2
baseline = { policy = "fcfs" }
metrics = ["wait.mean"]
[workload]
model = "lublin(processors=64)"
jobs = 60
[run]
cluster = "machine.toml"
policy = ["fcfs", "one.py:First", "a/mine.py:First", "b/mine.py:First"]
"""


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("policy", "/home/me/my lab/mine.py:Cap(watts=9)", ["/home/me/my lab/mine.py"]),
        ("policy", "lab/mine.py:Cap", ["lab/mine.py"]),
        ("policy", "easy:order=/lab/mine.py:area,place=best-fit", ["/lab/mine.py"]),
        ("policy", "slurm-real(conf='/site/slurm.conf')", ["/site/slurm.conf"]),
        ("policy", "easy:order=(wait)/cores/2", []),
        ("policy", "easy:order=wait/cores", []),
        ("policy", "mine.py:Cap", []),
        ("observe", "/lab/a.py:One(x=1) + /lab/b.py:Two", ["/lab/a.py", "/lab/b.py"]),
        ("estimate", "/lab/guess.py:Guess", ["/lab/guess.py"]),
        ("log", "logs/KTH (1).swf", ["logs/KTH (1).swf"]),
        ("model", "weeks(log='/logs/KTH.swf')", ["/logs/KTH.swf"]),
        ("cluster", "pool:64", []),
        ("load", "0.9", []),
    ],
)
def test_files_in_texts(name: str, text: str, found: list[str]) -> None:
    assert files_in(name, text) == found


def test_folders_stay_where_they_tell_files_apart() -> None:
    assert short_names(["/home/me/x.py", "/home/me/a/y.py", "/home/me/b/y.py", "/home/me/b/c/y.py"]) == {
        "/home/me/x.py": "x.py",
        "/home/me/a/y.py": "a/y.py",
        "/home/me/b/y.py": "b/y.py",
        "/home/me/b/c/y.py": "c/y.py",
    }
    assert short_names(["/y.py", "/b/y.py", "y.py"]) == {"/y.py": "/y.py", "/b/y.py": "b/y.py", "y.py": "y.py"}


def test_reports_do_not_show_the_folders_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "machine.toml").write_text('[[nodes]]\nname = "n"\ncount = 16\ncores = 4\n')
    for file in ("one.py", "a/mine.py", "b/mine.py"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(f"{POLICY}# {file}\n")  # the same content would be the same runs
    results = made(tmp_path, STUDY, lambda run: 10.0 + len(str(run.point)) + run.repetition)
    groups = results.table["group"].unique(maintain_order=True).to_list()
    assert groups == ["fcfs", "one.py:First", "a/mine.py:First", "b/mine.py:First"]
    assert results.table["policy"].unique(maintain_order=True).to_list() == groups
    page = study_page(results)
    assert "a/mine.py:First" in words(page)
    assert str(tmp_path) not in page
