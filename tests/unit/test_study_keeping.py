"""What is kept, discarded and taken over, while others may be at work in the same folder."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.studies import STUDY, results, run

from schedlab.experiment import keeping
from schedlab.experiment.coordinator import opened
from schedlab.experiment.folder import BusyError
from schedlab.experiment.keeping import import_study, verify
from schedlab.experiment.ledger import Ledger
from schedlab.model.errors import InputError

SMALL = 'keep = "summary"\n' + STUDY.replace("repetitions = 3", "repetitions = 1")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    run(SMALL, tmp_path / "study")
    return tmp_path / "study"


def test_a_plain_archive_of_the_folder_is_taken(study: Path) -> None:
    """`tar -cf study.tar -C study .`, with the folder itself and its ledger in it."""
    with tarfile.open(study.parent / "study.tar", "w") as archive:
        archive.add(study, ".")
    assert import_study(study.parent / "study.tar", study.parent / "copy") == (2, 0)
    assert results(study.parent / "copy") == results(study)


@pytest.mark.parametrize("names", [["/"], [".."], ["./../x"], ["notes.txt"], ["results", "results/a.json"]])
def test_strange_members_of_an_archive(tmp_path: Path, names: list[str]) -> None:
    with tarfile.open(tmp_path / "strange.tar", "w") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    with pytest.raises(InputError, match=r"strange\.tar: (holds .*, which no study has|is not the archive of a study)"):
        import_study(tmp_path / "strange.tar", tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_nothing_is_discarded_of_a_study_that_another_process_has(study: Path) -> None:
    damaged = sorted((study / "results").iterdir())[0]
    damaged.write_text("{}")
    with opened(study), pytest.raises(BusyError):
        verify(study, discard=True)
    assert damaged.is_file()
    assert len(verify(study, discard=True)) == 1
    assert not damaged.exists()


def test_a_study_that_another_process_began_meanwhile_stays(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It begins after the import has looked whether the folder is there, and before it has the lock."""
    (study.parent / "junk").mkdir()
    begun = study.parent / "begun"

    @contextmanager
    def late(folder: Path) -> Iterator[Ledger]:
        with opened(folder), opened(folder) as ledger:
            yield ledger

    with monkeypatch.context() as patch, pytest.raises(BusyError):
        patch.setattr(keeping, "opened", late)
        import_study(study.parent / "junk", begun)
    assert begun.is_dir()

    @contextmanager
    def later(folder: Path) -> Iterator[Ledger]:
        run(SMALL, folder)
        with opened(folder) as ledger:
            yield ledger

    begun = study.parent / "begun and ended"
    with monkeypatch.context() as patch, pytest.raises(InputError, match="is not a study"):
        patch.setattr(keeping, "opened", later)
        import_study(study.parent / "junk", begun)
    assert len(results(begun)) == 2
