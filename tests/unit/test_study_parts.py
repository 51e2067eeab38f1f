"""A study on machines that share nothing, and one that is copied to another disk while it goes on."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.studies import STUDY, found, results, run

from schedlab.experiment import folder as study_folder
from schedlab.experiment import plan as study_plan
from schedlab.experiment.coordinator import opened
from schedlab.experiment.folder import locked
from schedlab.experiment.keeping import export_study, import_study, verify
from schedlab.experiment.plan import Part, plan
from schedlab.experiment.results import Results
from schedlab.experiment.study import parse_study
from schedlab.model.errors import InputError
from schedlab.report.study import study_page

SUMMARY = 'keep = "summary"\n' + STUDY


def part(text: str) -> Part:
    return Part.parse(text)


# Parts


def test_parts_are_disjoint_and_make_the_plan() -> None:
    runs = plan(parse_study(STUDY, "study.toml"))
    for number in range(1, len(runs) + 1):
        pieces = [part(f"{n}/{number}").of_plan(runs) for n in range(1, number + 1)]
        assert [run for piece in pieces for run in piece] == runs
        whole = 2 if number <= 3 else 1  # runs on the same jobs, of which there are 3
        assert max(map(len, pieces)) - min(map(len, pieces)) <= whole
        assert all(pieces)


def test_runs_that_are_compared_are_in_one_part() -> None:
    """3 repetitions of 2 loads under 2 policies: 6 workloads."""
    runs = plan(parse_study(STUDY.replace("jobs = 60", "jobs = 60\npressure = [0.7, 0.8]"), "study.toml"))
    for number, lengths in {2: [6, 6], 4: [2, 4, 2, 4], 5: [2, 2, 2, 2, 4], 6: [2] * 6}.items():
        pieces = [part(f"{n}/{number}").of_plan(runs) for n in range(1, number + 1)]
        assert list(map(len, pieces)) == lengths
        for piece in pieces:
            assert [run.point["policy"] for run in piece] == ["fcfs", "easy"] * (len(piece) // 2)
    assert len(part("1/7").of_plan(runs)) == 1  # more parts than workloads


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3/2", r"--part: there is no part 3/2\n  hint: parts of 2 are 1/2 to 2/2"),
        ("0/2", "there is no part 0/2"),
        ("1/0", "there is no part 1/0"),
        ("half", "'half' is not a part\n  hint: write 1/2"),
        ("-1/2", "'-1/2' is not a part"),
        ("1/7", "7 parts are too many for 6 runs"),
    ],
)
def test_parts_that_are_none(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        part(text).of_plan(plan(parse_study(STUDY, "study.toml")))


def test_parts_are_merged_to_the_whole(tmp_path: Path) -> None:
    run(STUDY, tmp_path / "whole")
    for number, runs in ((1, 2), (2, 4)):
        status, _ = run(STUDY, tmp_path / f"part{number}", part=part(f"{number}/2"))
        assert (status.planned, status.done, status.open) == (6, runs, 6 - runs)
    one = Results(tmp_path / "part1")
    assert one.part == "part 1/2: 2 of the study's 6 runs"
    page = study_page(one)
    assert "2 of 6 runs are finished, 4 are open" in page
    assert "This is part 1/2: 2 of the study" in page
    assert [import_study(tmp_path / f"part{n}", tmp_path / "merged") for n in (1, 2, 1)] == [(2, 0), (4, 0), (0, 2)]
    merged, whole = Results(tmp_path / "merged"), Results(tmp_path / "whole")
    assert found(merged.folder) == found(whole.folder)
    assert merged.table.equals(whole.table)
    assert merged.verdicts() == whole.verdicts()
    assert merged.status.done == 6 and not merged.part and "This is part" not in study_page(merged)
    assert verify(merged.folder) == []
    assert import_study(tmp_path / "part2", tmp_path / "part1") == (4, 0)
    assert not Results(tmp_path / "part1").part
    assert run(STUDY, tmp_path / "merged")[0].done == 6  # and nothing is executed again
    assert results(tmp_path / "merged") == results(tmp_path / "part1")


def test_parts_run_from_other_places_are_the_same_runs(tmp_path: Path) -> None:
    """Files are known by what is in them: the machines need not have the same folders."""
    text = SUMMARY.replace('"fcfs", "easy"', '"fcfs", "mine.py:First"')
    for n, place in enumerate(("a", "b/c"), 1):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "mine.py").write_text(
            "import schedlab as sl\n\n\nclass First(sl.Policy):\n    def decide(self, view, events):\n"
            "        for job in view.queue:\n            if not view.start(job):\n                break\n"
        )
        run(text, tmp_path / place / "study", part=part(f"{n}/2"))
    assert import_study(tmp_path / "b/c/study", tmp_path / "a/study") == (4, 0)
    groups = Results(tmp_path / "a/study").table["group"].unique().to_list()
    assert sorted(groups) == ["fcfs", "mine.py:First"]


# What is refused


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "machine.toml").write_text('[[nodes]]\nname = "n"\ncount = 16\ncores = 4\n')
    run(_on_file(), tmp_path / "study", part=part("1/2"))
    return tmp_path / "study"


def _on_file() -> str:
    return SUMMARY.replace('"pool:64"', '"machine.toml"')


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace("repetitions", "seed = 4\nrepetitions"), r"it has seed 4 instead of 0"),
        (lambda text: text.replace("jobs = 60", "jobs = 61"), r"the study does not have .*jobs = 61"),
        (lambda text: text.replace("repetitions = 3", "repetitions = 9"), r"the study has no repetition 5"),
        (lambda text: 'trim = "10%"\n' + text, r"it has trim 10% instead of None"),
        (lambda text: text.replace('"summary"', '"tables"'), r"it has keep tables instead of summary"),
    ],
)
def test_runs_of_another_study_are_refused(study: Path, change: object, reason: str) -> None:
    assert callable(change)
    run(change(_on_file()), study.parent / "other", part=part("2/2"))
    before = results(study)
    with pytest.raises(InputError, match=rf"other: \d+ of its \d+ runs are not runs of .*study: .*{reason}"):
        import_study(study.parent / "other", study)
    assert results(study) == before


def test_other_files_and_versions_are_refused(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (study.parent / "machine.toml").write_text('[[nodes]]\nname = "n"\ncount = 8\ncores = 8\n')
    run(_on_file(), study.parent / "other", part=part("2/2"))
    with pytest.raises(InputError, match=r"machine\.toml had another content"):
        import_study(study.parent / "other", study)
    (study.parent / "machine.toml").write_text('[[nodes]]\nname = "n"\ncount = 16\ncores = 4\n')
    monkeypatch.setattr(study_plan, "VERSION", "9.9")
    monkeypatch.setattr("schedlab.experiment.coordinator.VERSION", "9.9")
    run(_on_file(), study.parent / "newer", part=part("2/2"))
    with pytest.raises(InputError, match=r"it has schedlab 9\.9 instead of"):
        import_study(study.parent / "newer", study)


def test_another_result_of_the_same_run_is_refused(study: Path) -> None:
    run(_on_file(), study.parent / "other")
    identity = next(iter(results(study)))
    path = study.parent / "other" / "results" / f"{identity}.json"
    changed = json.loads(path.read_text())
    changed["summary"]["wait"]["mean"] += 1
    path.write_text(json.dumps(changed))
    with pytest.raises(InputError, match=rf"other: its run {identity} has another result than .*: summary differ"):
        import_study(study.parent / "other", study)
    assert len(results(study)) == 2


def test_damage_and_junk_are_refused(tmp_path: Path) -> None:
    run(STUDY, tmp_path / "study", part=part("1/2"))
    run(STUDY, tmp_path / "other", part=part("2/2"))
    damaged = sorted((tmp_path / "other" / "runs").iterdir())[0]
    (damaged / "jobs.parquet").write_bytes(b"junk")
    with pytest.raises(InputError, match=rf"is damaged: {damaged.name}: jobs\.parquet has changed"):
        import_study(tmp_path / "other", tmp_path / "study")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty: is not a study: it has no plan\.json"):
        import_study(tmp_path / "empty", tmp_path / "study")
    with pytest.raises(InputError, match=r"is the folder to import into"):
        import_study(tmp_path / "study", tmp_path / "study")
    with pytest.raises(InputError, match=r"empty: is not a study"):
        import_study(tmp_path / "empty", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_an_archive_of_a_part(tmp_path: Path) -> None:
    for number in (1, 2):
        run(SUMMARY, tmp_path / f"part{number}", part=part(f"{number}/2"))
    export_study(tmp_path / "part2", tmp_path / "part2.tar.gz")
    assert import_study(tmp_path / "part2.tar.gz", tmp_path / "part1") == (4, 0)
    assert not list((tmp_path / "part1").glob(".import*"))
    assert Results(tmp_path / "part1").status.done == 6


# Mirrors


def test_a_mirror_is_a_study(tmp_path: Path) -> None:
    status, told = run(STUDY, tmp_path / "study", mirror=tmp_path / "mirror")
    assert status.done == 6
    assert [sentence for sentence in told if "same disk" not in sentence] == []
    assert results(tmp_path / "mirror") == results(tmp_path / "study")
    assert verify(tmp_path / "mirror") == []
    one, two = Results(tmp_path / "study"), Results(tmp_path / "mirror")
    assert two.table.equals(one.table) and two.status.done == 6
    assert two.status.seconds == pytest.approx(one.status.seconds)
    shutil.rmtree(tmp_path / "study")  # the disk is gone
    more = STUDY.replace("repetitions = 3", "repetitions = 4")
    assert run(more, tmp_path / "mirror")[0].done == 8
    assert len(results(tmp_path / "mirror")) == 8


def test_what_is_missing_is_copied_by_the_next_start(tmp_path: Path) -> None:
    run(STUDY, tmp_path / "study")
    run(STUDY, tmp_path / "study", mirror=tmp_path / "mirror")
    assert found(tmp_path / "mirror") == found(tmp_path / "study")
    first, second, *_ = sorted((tmp_path / "mirror" / "results").iterdir())
    first.unlink()
    shutil.rmtree(tmp_path / "mirror" / "runs" / second.stem)
    second.write_text("{}")
    run(STUDY, tmp_path / "study", mirror=tmp_path / "mirror")
    assert results(tmp_path / "mirror") == results(tmp_path / "study")
    assert verify(tmp_path / "mirror") == []


def test_mirrors_that_would_be_lost_with_the_study(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for mirror, message in {
        "study": "is the folder of the study itself",
        "study/mirror": "one is inside the other",
        "": "one is inside the other",
        "file": "is a file",
    }.items():
        with pytest.raises(InputError, match=f"--mirror: .*{message}"):
            run(STUDY, tmp_path / "study", mirror=tmp_path / mirror)
    assert not (tmp_path / "study").exists()


def test_a_mirror_that_another_study_uses(tmp_path: Path) -> None:
    with opened(tmp_path / "mirror"), pytest.raises(InputError, match="mirror: is being worked on by process"):
        run(STUDY, tmp_path / "study", mirror=tmp_path / "mirror")


def test_a_mirror_that_is_another_study(tmp_path: Path) -> None:
    run(SUMMARY, tmp_path / "study", part=part("1/3"), mirror=tmp_path / "mirror")
    other = SUMMARY.replace('"small"', '"large"').replace("jobs = 60", "jobs = 61")
    before = {path: path.read_bytes() for path in (tmp_path / "mirror").glob("*.*")}
    with pytest.raises(InputError, match=r"--mirror: .*mirror is the folder of another study, small: they have no run"):
        run(other, tmp_path / "other", mirror=tmp_path / "mirror")
    assert not (tmp_path / "other").exists()
    assert {path: path.read_bytes() for path in (tmp_path / "mirror").glob("*.*")} == before
    run(other, tmp_path / "study", part=part("1/3"), mirror=tmp_path / "mirror")  # the same study, changed
    assert results(tmp_path / "mirror") == results(tmp_path / "study")


@contextmanager
def mounted(place: Path, options: str) -> Iterator[None]:
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("size=400k", "remount,size=16m", "No space left on device"),
        ("size=16m,ro", "remount,rw", "Read-only file system"),
    ],
)
def test_a_mirror_that_fails_does_not_lose_the_study(tmp_path: Path, before: str, after: str, said: str) -> None:
    disk = tmp_path / "disk"
    with mounted(disk, before):
        text = STUDY.replace("jobs = 60", "jobs = 3000")
        status, told = run(text, tmp_path / "study", mirror=disk / "mirror")
        assert status.done == 6
        warning, left = told
        assert warning == f"--mirror {disk / 'mirror'}: {said}; the study goes on without"
        assert left.endswith(f"not in the mirror {disk / 'mirror'}; the same command copies what is missing")
        there = len(results(disk / "mirror"))
        assert left.startswith(f"{6 - there} result")
        assert there < 6
        subprocess.run(["mount", "-o", after, str(disk)], check=True)
        status, told = run(text, tmp_path / "study", mirror=disk / "mirror")
        assert told == []
        assert results(disk / "mirror") == results(tmp_path / "study")
        assert verify(disk / "mirror") == []


# One at a time


def test_who_has_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with locked(tmp_path / "study"):
        who = f"is being worked on by process {os.getpid()} on {socket.gethostname()}"
        with pytest.raises(InputError, match=who), locked(tmp_path / "study"):
            pass
    with locked(tmp_path / "study"):  # nobody has it any more
        pass

    def cannot(*_: object) -> None:
        raise OSError("no locks here")

    monkeypatch.setattr(study_folder.fcntl, "flock", cannot)
    with locked(tmp_path / "study"):
        assert fcntl.LOCK_EX


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    said = r"study: cannot be written: Read-only file system\n  hint: choose"
    with mounted(tmp_path / "disk", "size=1m,ro"), pytest.raises(InputError, match=said):
        run(STUDY, tmp_path / "disk" / "study")
