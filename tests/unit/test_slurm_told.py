"""What is said of a replay through the real Slurm: of its settings, its files, its jobs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.commands import schedlab

from schedlab.cli.slurm import _print_settings
from schedlab.cluster.slurm.read import read_settings
from schedlab.slurm.setup import Setup

MICRO = Path(__file__).parents[2] / "examples" / "micro_cluster"
CONF = """
ClusterName=small
SlurmctldHost=head
AuthType=auth/munge
SlurmctldTimeout=60
JobSubmitPlugins=lua
Prolog=/etc/prolog
SelectType=select/cons_tres
PriorityType=priority/multifactor
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=db
NodeName=n[1-4] CPUs=8
PartitionName=work Nodes=n[1-4] Default=YES
"""


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    (tmp_path / "slurm.conf").write_text(CONF)
    programs = SimpleNamespace(plugin_folder=Path("/usr/lib/slurm"), has_plugin=lambda *_: True)
    return Setup(programs, read_settings(tmp_path / "slurm.conf"), None)  # type: ignore[arg-type]


def test_what_can_change_the_result_is_told_and_the_plumbing_counted(
    setup: Setup, capsys: pytest.CaptureFixture[str]
) -> None:
    prolog, submit, accounts = setup.differences()
    assert submit.startswith("JobSubmitPlugins: lua -> left out (") and "can decide what starts when" in submit
    assert prolog.startswith("Prolog:") and "is missing" in prolog
    assert accounts.startswith("no accounts given: equal shares")
    setup.remarks.append("user eve is added")
    assert setup.differences()[-1] == "user eve is added"
    _print_settings(setup, "changed", ["PriorityWeightAge=5", "KillWait=1"])
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == "changed: PriorityWeightAge=5, KillWait=1"
    assert last.startswith(f"  and {setup.replaced()} settings of hosts, ports and files replaced: slurm/differences")
    notes = setup.notes["differences.txt"].decode()
    assert "AuthType" in notes and "AccountingStorageHost" in notes and notes.startswith("Prolog:")


def test_missing_files_are_named_all_at_once_before_anything_else(tmp_path: Path) -> None:
    said = schedlab(
        *("slurm", "replay", "--conf", MICRO / "slurm.conf", "--jobs", tmp_path / "none.sacct"),
        *("--accounts", tmp_path / "none.cfg", "--phases", 2, "--out", tmp_path / "out"),
    )
    assert said.returncode != 0 and not said.stdout
    assert said.stderr.count("no such file") == 2
    assert "none.sacct" in said.stderr and "none.cfg" in said.stderr
