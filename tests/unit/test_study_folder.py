"""The folder of a study holds nothing else; studies may share one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.studies import STUDY, run

from schedlab.cli.experiment_output import print_status
from schedlab.engine.simulate import simulate
from schedlab.experiment.keeping import import_study
from schedlab.experiment.results import Results
from schedlab.model.errors import InputError
from schedlab.model.workload import Workload

JOBS = Workload.of(submit=[0.0], runtime=[1.0], count=[1])


def contents(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


@pytest.mark.parametrize(
    ("place", "said"),
    [("", "already holds a run"), ("easy", r"already holds runs \(easy\)"), ("runs/a", r"holds runs \(runs/a\)")],
)
def test_not_among_runs(tmp_path: Path, place: str, said: str) -> None:
    """Those in a folder `runs` would be taken for half a run of the study, and removed."""
    simulate(JOBS, "pool:1", "fcfs", out=tmp_path / "out" / place)
    before = contents(tmp_path / "out")
    with pytest.raises(InputError, match=said) as error:
        run(STUDY, tmp_path / "out")
    assert "a study gets a folder of its own" in error.value.hint
    assert contents(tmp_path / "out") == before


def test_not_among_other_files(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=r"already holds other files \(a\.txt, b\.txt, c\.txt, …\)"):
        run(STUDY, tmp_path)
    run(STUDY, tmp_path / "study")
    with pytest.raises(InputError, match="already holds other files"):
        run(STUDY, tmp_path / "study", mirror=_with_a_file(tmp_path / "mirror"))
    with pytest.raises(InputError, match="already holds other files"):
        import_study(tmp_path / "study", _with_a_file(tmp_path / "imported"))


def test_in_a_folder_that_is_made_already_or_has_its_study_file(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    assert run(STUDY, tmp_path)[0].done == 6
    (tmp_path / "report.html").touch()
    (tmp_path / "ledger.sqlite").unlink()  # it is made again
    assert run(STUDY, tmp_path)[0].done == 6


def test_another_study_in_the_same_folder_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(STUDY, tmp_path / "study")
    print_status(Results(tmp_path / "study"))
    assert "also here" not in capsys.readouterr().out
    run(STUDY.replace('["fcfs", "easy"]', '["fcfs", "sjf"]'), tmp_path / "study")
    print_status(Results(tmp_path / "study"))
    said = "3 runs of another study (or of this one before a change) are also here"
    assert said in " ".join(capsys.readouterr().out.split())


def _with_a_file(folder: Path) -> Path:
    folder.mkdir()
    (folder / "notes.txt").touch()
    return folder
