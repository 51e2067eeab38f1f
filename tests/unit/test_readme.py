"""The README's first block: the command that runs and the one that tests are there, and every command exists."""

from __future__ import annotations

import re
from pathlib import Path

from schedlab.cli.main import PANELS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
BLOCK = README.split("```")[1].strip().splitlines()


def test_the_first_block_runs_and_tests() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    asked = [line.split()[1] for line in BLOCK if line.startswith("make ")]
    assert asked == ["demo", "test"]
    assert set(asked) <= targets


def test_what_a_bare_machine_needs_is_named() -> None:
    (line,) = (line for line in BLOCK if "apt install" in line)
    packages = line.partition("apt install")[2].partition("#")[0].split()
    assert packages == ["git", "make", "g++", "python3-venv", "python3-dev"]
    assert line.split("#")[0].strip().removeprefix("sudo ") in (ROOT / "CONTRIBUTING.md").read_text()


def test_every_command_of_the_page_exists() -> None:
    named = set(re.findall(r"(?:^|`|\| )(?:\.venv/bin/)?schedlab ([a-z][a-z-]*)", README, re.MULTILINE))
    assert {"run", "compare", "inspect", "experiment", "slurm", "new"} <= named
    assert named <= set(PANELS)
