"""Finding Slurm's programs: made-up folders for what is chosen, the real programs for what they need."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.slurm_programs import slurm_programs

from schedlab.model.errors import InputError
from schedlab.slurm.install import Programs, find_programs, programs
from schedlab.slurm.install.libraries import missing_libraries


def make_slurm(prefix: Path, version: str = "22.05.8", plugins: str = "lib/x86_64-linux-gnu/slurm-wlm") -> Path:
    """A folder that looks like an installed Slurm; its slurmctld is a script that prints its version."""
    slurmctld = prefix / "sbin" / "slurmctld"
    for folder in (slurmctld.parent, prefix / "bin", prefix / plugins):
        folder.mkdir(parents=True)
    slurmctld.write_text(f"#!/bin/sh\necho slurm {version}\n")
    slurmctld.chmod(0o755)
    (prefix / "bin" / "sbatch").touch()
    for plugin in ("auth_none", "select_cons_tres", "acct_gather_energy_none", "job_submit_lua", "libslurmfull"):
        (prefix / plugins / f"{plugin}.so").touch()
    return prefix


@pytest.fixture(autouse=True)
def empty_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCHEDLAB_SLURM", raising=False)
    monkeypatch.setenv("SCHEDLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(programs, "installed_prefixes", list)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")


@pytest.fixture(scope="module")
def real() -> Programs:
    return slurm_programs()


def test_there_is_none() -> None:
    assert find_programs() is None


def test_the_variable_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = make_slurm(tmp_path / "mine")
    installed = make_slurm(tmp_path / "opt")
    monkeypatch.setattr(programs, "installed_prefixes", lambda: [installed])
    monkeypatch.setenv("SCHEDLAB_SLURM", str(mine))
    found = find_programs()
    assert found is not None
    assert (found.origin, found.slurmctld, found.version) == ("SCHEDLAB_SLURM", mine / "sbin" / "slurmctld", "22.05.8")


def test_a_folder_made_by_dpkg_has_usr_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_slurm(tmp_path / "unpacked" / "usr")
    slurmctld = tmp_path / "unpacked/usr/sbin/slurmctld"
    slurmctld.rename(slurmctld.with_name("slurmctld-wlm"))
    monkeypatch.setenv("SCHEDLAB_SLURM", str(tmp_path / "unpacked"))
    found = find_programs()
    assert found is not None
    assert found.slurmctld.name == "slurmctld-wlm"
    plugins = tmp_path / "unpacked/usr/lib/x86_64-linux-gnu/slurm-wlm"
    assert found.libraries == (plugins, plugins.parent)


@pytest.mark.parametrize("plugins", ["lib64/slurm", "lib/slurm", "lib/aarch64-linux-gnu/slurm"])
def test_plugins_are_where_others_put_them(tmp_path: Path, plugins: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDLAB_SLURM", str(make_slurm(tmp_path / "slurm", plugins=plugins)))
    found = find_programs()
    assert found is not None
    assert found.plugin_folder == tmp_path / "slurm" / plugins


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda prefix: shutil.rmtree(prefix / "sbin"), "no sbin/slurmctld"),
        (lambda prefix: shutil.rmtree(prefix / "lib"), "no folder of plug-ins"),
        (lambda prefix: (prefix / "sbin/slurmctld").write_text("#!/bin/sh\necho gone >&2; exit 3\n"), "start: gone"),
        (
            lambda prefix: (prefix / "sbin/slurmctld").write_text("#!/bin/sh\necho slurm 24.11.1\n"),
            "Slurm 24.11.1",
        ),
        (lambda prefix: (prefix / "sbin/slurmctld").chmod(0o644), "may not be run"),
    ],
)
def test_a_wrong_variable_is_an_error(tmp_path: Path, spoil, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prefix = make_slurm(tmp_path / "slurm")
    spoil(prefix)
    monkeypatch.setenv("SCHEDLAB_SLURM", str(prefix))
    with pytest.raises(InputError, match=words) as caught:
        find_programs()
    assert f"SCHEDLAB_SLURM={prefix}" in str(caught.value)
    assert "dpkg -x" in str(caught.value)


def test_an_installed_slurm_of_another_release_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer, ours = make_slurm(tmp_path / "newer", "24.11.1"), make_slurm(tmp_path / "ours")
    monkeypatch.setattr(programs, "installed_prefixes", lambda: [newer, ours])
    found = programs.search()
    assert found.programs is not None
    assert found.programs.slurmctld == ours / "sbin" / "slurmctld"
    assert found.programs.origin == "installed"
    assert [error.where for error in found.passed_over] == [str(newer / "sbin/slurmctld")]


def test_the_newest_of_the_cache_that_runs(tmp_path: Path) -> None:
    for update in (9, 10):
        make_slurm(tmp_path / f"cache/slurm/22.05.8-4+deb12u{update}-amd64" / "usr")
    make_slurm(tmp_path / "cache/slurm/22.05.8-4+deb12u11-arm64" / "usr")
    broken = make_slurm(tmp_path / "cache/slurm/22.05.8-4+deb12u12-amd64" / "usr")
    (broken / "sbin/slurmctld").write_text("#!/bin/sh\nexit 1\n")
    found = find_programs()
    assert found is not None
    assert found.origin == "cache"
    assert "deb12u10-amd64" in str(found.slurmctld)


def test_plugins_by_the_names_of_slurm_conf(tmp_path: Path) -> None:
    found = programs.programs_in(make_slurm(tmp_path / "slurm"), "installed")
    assert found.plugins() == ["acct_gather_energy/none", "auth/none", "job_submit/lua", "select/cons_tres"]
    assert found.has_plugin("select", "cons_tres")
    assert not found.has_plugin("select", "linear")


def test_the_environment_comes_before_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/mine")
    monkeypatch.setenv("PATH", "/bin")
    prefix = make_slurm(tmp_path / "slurm")
    plugins = prefix / "lib/x86_64-linux-gnu/slurm-wlm"
    assert programs.programs_in(prefix, "installed").environment() == {
        "PATH": f"{prefix}/bin:{prefix}/sbin:/bin",
        "LD_LIBRARY_PATH": f"{plugins}:/mine",
    }


def test_real_clients_run(real: Programs, tmp_path: Path) -> None:
    conf = tmp_path / "slurm.conf"
    lines = ("ClusterName=a", "SlurmctldHost=localhost", "AuthType=auth/none", f"PluginDir={real.plugin_folder}")
    conf.write_text("\n".join(lines) + "\n")
    environment = os.environ | real.environment() | {"SLURM_CONF": str(conf)}
    answer = subprocess.run(["squeue", "--version"], env=environment, capture_output=True, text=True)
    assert answer.stdout.split()[-1] == real.version


def test_real_plugins_need_nothing_for_emulation(real: Programs) -> None:
    assert real.needs("select/cons_tres") == []
    assert real.needs("priority/multifactor") == []
    with pytest.raises(InputError, match="is not there"):
        real.needs("select/magic")


def test_a_missing_library_is_named(real: Programs) -> None:
    """Away from its libraries a Slurm that was not installed lacks its own."""
    if real.origin == "installed":
        pytest.skip("an installed slurmctld finds its library by itself")
    assert missing_libraries(real.slurmctld) == ["libslurmfull.so"]
    assert missing_libraries(real.slurmctld, str(real.plugin_folder)) == []


def test_what_is_no_library_is_an_error(tmp_path: Path) -> None:
    text = tmp_path / "text.so"
    text.write_text("hello")
    with pytest.raises(InputError, match="ldd cannot read it"):
        missing_libraries(text)
