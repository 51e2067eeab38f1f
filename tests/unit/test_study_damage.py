"""Studies that are damaged, lie where one may not write, or have files of others: what is told, and how it goes on."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests import commands
from tests.studies import STUDY, found, results, run
from tests.unit.test_study_parts import mounted

from schedlab.experiment.coordinator import opened
from schedlab.experiment.keeping import verify
from schedlab.experiment.ledger import Ledger
from schedlab.experiment.results import Results
from schedlab.model.errors import DiskError, InputError

PAGE = 4096


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study that was run twice: it has a backup of its whole ledger."""
    folder = tmp_path_factory.mktemp("finished") / "study"
    for _ in range(2):
        status, _ = run(STUDY, folder)
        assert status.done == 6
    return folder


@pytest.fixture
def study(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "study")
    return tmp_path / "study"


def garble(ledger: Path, page: int = 1) -> None:
    content = bytearray(ledger.read_bytes())
    content[page * PAGE : page * PAGE + 200] = b"garbage!" * 25
    ledger.write_bytes(content)


def same(study: Path, finished: Path) -> None:
    assert found(study) == found(finished)
    assert verify(study) == []
    assert Results(study).table.write_csv() == Results(finished).table.write_csv()


# The ledger


@pytest.mark.parametrize("page", [0, 1, 2, 3])
def test_a_garbled_page_of_the_ledger(study: Path, finished: Path, page: int) -> None:
    garble(study / "ledger.sqlite", page)
    (study / "backups" / "ledger-000002 (copy).sqlite").touch()
    read = Results(study)
    assert len(read.warnings) == 1
    assert read.warnings[0].startswith(f"{study / 'ledger.sqlite'}: the ledger cannot be read: ")
    assert read.warnings[0].endswith("; ledger-000002.sqlite is read instead")
    assert read.table.write_csv() == Results(finished).table.write_csv()
    status, told = run(STUDY, study)
    assert status.done == 6
    assert len(told) == 1 and "ledger-000002.sqlite takes its place" in told[0], told
    assert (study / "backups" / "damaged.sqlite").is_file()
    assert run(STUDY, study)[1] == []
    same(study, finished)


def test_a_value_of_the_ledger_that_has_changed(study: Path, finished: Path) -> None:
    ledger = study / "ledger.sqlite"
    ledger.write_bytes(ledger.read_bytes().replace(b'{"identity":', b'["identity":', 1))
    assert "what is in it has changed; ledger-000002.sqlite is read" in Results(study).warnings[0]
    assert "takes its place" in run(STUDY, study)[1][0]
    same(study, finished)


def test_a_lost_ledger_is_read_from_backups_or_from_the_plan(study: Path, finished: Path) -> None:
    (study / "ledger.sqlite").unlink()
    assert Results(study).warnings[0].endswith("the ledger is not there; ledger-000002.sqlite is read instead")
    shutil.rmtree(study / "backups")
    read = Results(study)
    assert "plan.json is read instead, which does not know of runs that failed" in read.warnings[0]
    assert read.status.done == 6
    assert read.table.write_csv() == Results(finished).table.write_csv()


def test_runs_that_failed_are_known_from_a_backup(tmp_path: Path) -> None:
    broken = STUDY.replace('["fcfs", "easy"]', '["fcfs", "mine.py:Broken"]')
    (tmp_path / "mine.py").write_text("class Broken:\n    def decide(self, view, events):\n        1 / 0\n")
    for _ in range(2):
        assert run(broken, tmp_path / "study")[0].failed == 3
    garble(tmp_path / "study" / "ledger.sqlite")
    status = Results(tmp_path / "study").status
    assert (status.done, status.failed) == (3, 3)
    assert "ZeroDivisionError" in status.failures[0][1]


def test_backups_that_are_not_ours(study: Path) -> None:
    backups = study / "backups"
    for name in ("ledger-000001 (copy).sqlite", "ledger-old.sqlite", "notes.txt"):
        (backups / name).write_text("mine")
    for _ in range(8):
        with opened(study):
            pass
    assert len(list(backups.glob("ledger-??????.sqlite"))) == 5
    assert (backups / "ledger-000010.sqlite").is_file()
    assert {path.name for path in backups.iterdir() if path.read_bytes() == b"mine"} == {
        *("ledger-000001 (copy).sqlite", "ledger-old.sqlite", "notes.txt")
    }


def test_a_ledger_that_is_locked(study: Path) -> None:
    with closing(sqlite3.connect(study / "ledger.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with closing(Ledger(study)) as ledger:
            ledger._base.execute("PRAGMA busy_timeout = 1")
            with pytest.raises(InputError, match=r"the ledger is locked: database is locked\n  hint: another"):
                ledger.set_plan([], {})


def test_what_a_full_disk_says_of_the_ledger(tmp_path: Path) -> None:
    said = r"ledger.sqlite: the ledger cannot be used: No space left on device\n  hint: free some space"
    with mounted(tmp_path / "disk", "size=200k"):
        (tmp_path / "disk" / "results").mkdir()
        ledger = Ledger(tmp_path / "disk")
        with closing(ledger), pytest.raises(DiskError, match=said):
            ledger.set_plan([], {"name": "x" * 300_000})


# Results


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[]", b'{"identity": "x"}'])
def test_a_damaged_result(study: Path, finished: Path, content: bytes) -> None:
    path = sorted((study / "results").iterdir())[2]
    path.write_bytes(content)
    read = Results(study)
    assert len(read.warnings) == 1
    assert read.warnings[0].startswith(f"{path}: the result cannot be read (")
    assert read.warnings[0].endswith(": left out; schedlab experiment run makes it again")
    assert (read.status.done, read.status.open, len(read.table)) == (5, 1, 5)
    assert read.warnings[0] in read.notes()  # of its report
    shown = commands.schedlab("experiment", "table", "study", "--out", "t.csv", folder=study.parent)
    assert shown.returncode == 0
    assert f"{path.name}: the result cannot be read" in shown.stderr
    assert len((study.parent / "t.csv").read_text().splitlines()) == 6
    assert [problem.partition(":")[0] for problem in verify(study)] == [path.stem]
    status, told = run(STUDY, study)
    assert status.done == 6
    assert len(told) == 1 and told[0].endswith(": the run is made again")
    same(study, finished)


def test_the_result_of_another_run(study: Path, finished: Path) -> None:
    one, two = sorted((study / "results").iterdir())[:2]
    one.write_bytes(two.read_bytes())
    assert f"{one}: the result is that of {two.stem}: left out" in Results(study).warnings[0]
    run(STUDY, study)
    same(study, finished)


def test_status_tells_of_tables_that_are_missing_or_cut_off(study: Path) -> None:
    one, two, *_ = sorted((study / "runs").iterdir())
    whole = (one / "jobs.parquet").stat().st_size
    with (one / "jobs.parquet").open("r+b") as file:
        file.truncate(whole - 10)
    (two / "timeline.parquet").unlink()
    shown = commands.schedlab("experiment", "status", "study", folder=study.parent)
    assert shown.returncode == 0, shown.stderr
    assert f"damaged: study/runs/{one.name}: jobs.parquet has {whole - 10:,} bytes of {whole:,}\n" in shown.stdout
    assert f"damaged: study/runs/{two.name}: timeline.parquet is missing\n" in shown.stdout
    assert "schedlab experiment verify study --discard forgets such runs" in shown.stdout
    listed = commands.schedlab("experiment", "status", "study", "--json", folder=study.parent)
    assert len(json.loads(listed.stdout)["damaged"]) == 2
    assert commands.schedlab("experiment", "verify", "study", "--discard", folder=study.parent).returncode == 0
    assert Results(study).losses() == []


# Where one may not write

READS = {
    "status": ("experiment", "status", "{study}"),
    "table": ("experiment", "table", "{study}", "--out", "t.csv"),
    "verify": ("experiment", "verify", "{study}"),
    "report": ("experiment", "report", "{study}", "--out", "r.html"),
    "export": ("experiment", "export", "{study}", "--out", "s.tar.gz"),
    "plot": ("plot", "{study}", "--kind", "sweep", "--out", "p.png", "--metric", "wait.mean"),
    "compare": ("compare", "{study}/runs/{run}"),
    "check": ("check", "{study}/runs/{run}"),
    "import": ("experiment", "import", "{study}", "copy"),
}


@pytest.mark.parametrize("broken_off", [False, True], ids=["finished", "broken off"])
def test_a_study_is_read_where_one_may_not_write(finished: Path, tmp_path: Path, broken_off: bool) -> None:
    with mounted(tmp_path / "disk", "size=16m"):
        study = tmp_path / "disk" / "study"
        shutil.copytree(finished, study)
        if broken_off:  # as a coordinator leaves it that was killed: with what it had not put into the ledger yet
            shutil.rmtree(study / "runs" / sorted(results(study))[0])
            (study / "results" / f"{sorted(results(study))[0]}.json").unlink()
            with closing(sqlite3.connect(finished / "ledger.sqlite")) as base:
                base.execute("PRAGMA wal_autocheckpoint = 0")
                base.execute("UPDATE runs SET seconds = seconds + 1")
                base.commit()
                for name in ("ledger.sqlite", "ledger.sqlite-wal"):
                    shutil.copyfile(finished / name, study / name)
            assert (study / "ledger.sqlite-wal").stat().st_size
        before = {path: path.read_bytes() for path in study.rglob("*") if path.is_file()}
        remounted(tmp_path / "disk")
        expected = Results(study).status
        assert (expected.done, expected.open) == ((5, 1) if broken_off else (6, 0))
        for name, words in READS.items():
            filled = [word.format(study=study, run=sorted(results(study))[1]) for word in words]
            done = commands.schedlab(*filled, folder=tmp_path)
            assert done.returncode == 0, f"{name}: {done.stderr}"
            assert "error" not in done.stderr
        assert {path: path.read_bytes() for path in study.rglob("*") if path.is_file()} == before
        refused = commands.schedlab("experiment", "verify", study, "--discard", folder=tmp_path)
        assert refused.returncode == 2
        assert "study: cannot be written: Read-only file system\n  hint: choose a folder" in refused.stderr
    assert found(tmp_path / "copy") == {
        name: one for name, one in found(finished).items() if not broken_off or name != sorted(results(finished))[0]
    }


def remounted(disk: Path) -> None:
    import subprocess

    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)


def test_reading_writes_nothing(study: Path) -> None:
    before = {path.relative_to(study): path.stat().st_mtime_ns for path in (study, *study.rglob("*"))}
    for words in (READS["status"], READS["table"], READS["verify"], READS["report"]):
        done = commands.schedlab(*(word.format(study="study") for word in words), folder=study.parent)
        assert done.returncode == 0, done.stderr
    assert {path.relative_to(study): path.stat().st_mtime_ns for path in (study, *study.rglob("*"))} == before
