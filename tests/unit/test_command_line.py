"""The table of commands: each is there, and none waits for the others."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from schedlab.cli.main import COMMANDS, PANELS, app, command

LOADED = """
import sys
from schedlab.cli.main import main
sys.argv = ["schedlab", *sys.argv[1:]]
try:
    main()
except SystemExit:
    print(*(name.removeprefix("schedlab.cli.") for name in sys.modules if name.startswith("schedlab.cli.")))
"""


@pytest.mark.parametrize("name", PANELS)
def test_each_command_is_there(name: str) -> None:
    built = command(name)
    assert (built.name, built.rich_help_panel) == (name, PANELS[name])
    assert built.help


def test_help_has_all_of_them_in_their_panels() -> None:
    lines = CliRunner().invoke(app, ["--help"]).stdout.splitlines()
    words = [line.strip("│╭╮─ ").split("  ")[0].rstrip("─ ") for line in lines]
    told = [word for word in words if word in PANELS or word in COMMANDS]
    assert told == [word for panel, names in COMMANDS.items() for word in (panel, *names)]


def test_a_slip_of_the_pen() -> None:
    result = CliRunner().invoke(app, ["comapre"])
    assert result.exit_code == 2
    assert "compare" in result.output


def test_a_command_is_imported_alone() -> None:
    told = subprocess.run([sys.executable, "-c", LOADED, "policies", "--help"], capture_output=True, text=True)
    loaded = told.stdout.splitlines()[-1].split()
    modules = {name.replace("-", "_") for name in PANELS}
    assert modules & set(loaded) == {"policies"}, told.stderr
