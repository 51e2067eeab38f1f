"""What the doctor finds, on a machine with Slurm and on ones where something is missing."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.slurm_programs import slurm_programs

from schedlab.model.errors import InputError
from schedlab.slurm import workplace
from schedlab.slurm.install import Finding, Programs, doctor, examine, programs


@pytest.fixture(scope="module")
def real() -> Programs:
    return slurm_programs()


@pytest.fixture(autouse=True)
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="places-"))
    monkeypatch.setattr(workplace, "bases", lambda: [folder])
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def no_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCHEDLAB_SLURM", raising=False)
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "empty"))
    monkeypatch.setattr(programs, "installed_prefixes", list)


def use_clock(monkeypatch: pytest.MonkeyPatch, shim: Path) -> None:
    clock = ModuleType("schedlab.slurm.clock")
    clock.shim_path = lambda: shim  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "schedlab.slurm.clock", clock)


@pytest.fixture(autouse=True)
def _no_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most tests have no clock that a job could run on."""
    monkeypatch.setattr(doctor, "_trial", lambda: Finding(True, "a job runs", "completed"))


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.what: finding for finding in findings}


def test_all_is_well(real: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    use_clock(monkeypatch, real.plugin_folder / "libslurmfull.so")  # a library that slurmctld does load
    found = by_name(examine(fetch=False))
    assert [finding for finding in found.values() if not finding.ok] == []
    assert f"Slurm {real.version}" in found["Slurm's programs"].detail
    assert real.version in found["slurmctld starts"].detail
    assert "virtual clock in slurmctld" in found


def test_a_clock_that_is_no_library(real: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = tmp_path / "clock.so"
    use_clock(monkeypatch, shim)
    assert not by_name(examine(fetch=False))["virtual clock"].ok
    shim.write_text("no library")
    found = by_name(examine(fetch=False))["virtual clock in slurmctld"]
    assert not found.ok
    assert "cannot be preloaded" in found.detail
    assert found.cure


def test_missing_plugins_are_named(real: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "PLUGINS", ("auth/none", "select/magic"))
    found = by_name(examine(fetch=False))["plug-ins"]
    assert not found.ok
    assert "does not have select/magic" in found.detail


def test_missing_libraries_are_named(real: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Programs, "needs", lambda _, plugin: ["libodd.so.1"] if plugin == "auth/none" else [])
    found = by_name(examine(fetch=False))["plug-ins"]
    assert (found.ok, found.detail) == (False, "auth/none lacks libodd.so.1")


def test_no_slurm_and_what_cures_it(no_slurm: None) -> None:
    found = by_name(examine(fetch=False))["Slurm's programs"]
    assert not found.ok
    assert "apt-get install slurmctld" in found.cure
    assert "SCHEDLAB_SLURM" in found.cure


def test_a_fetch_that_fails(no_slurm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> Programs:
        raise InputError("cannot reach it", where="http://nowhere", hint="plug in")

    monkeypatch.setattr(doctor, "fetch_programs", fail)
    found = by_name(examine(fetch=True))["Slurm's programs"]
    assert found == Finding(False, "Slurm's programs", "http://nowhere: cannot reach it", "plug in")


def test_a_wrong_variable_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDLAB_SLURM", str(tmp_path))
    found = by_name(examine(fetch=False))["Slurm's programs"]
    assert not found.ok
    assert f"SCHEDLAB_SLURM={tmp_path}" in found.detail


def test_leftovers_are_removed_and_told(no_slurm: None, base: Path) -> None:
    left = base / workplace._name("left")
    left.mkdir()
    with workplace.Workplace() as place:  # removes the first, quietly
        left.mkdir()
        found = by_name(examine(fetch=False))
        assert found["leftovers of earlier runs"].detail == f"removed {left}"
        assert found["runs at this moment"].detail == str(place.folder)
    assert not left.exists()
    assert by_name(examine(fetch=False))["leftovers of earlier runs"].detail == "none"


def test_too_little_room(no_slurm: None, base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workplace, "ROOM", 1 << 60)
    found = by_name(examine(fetch=False))["room for a run"]
    assert not found.ok
    assert str(base) in found.detail
    assert "$TMPDIR" in found.cure
