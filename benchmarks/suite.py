"""The tests of an earlier commit: how long they took there, and how long they take here, beside all tests of today."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import Spent, process
from benchmarks.report import Line
from benchmarks.settings import ROOT, Settings

BEFORE = "7020f7e"  # the last commit before tests were made quicker
THEN = ("-n", "auto")  # as its Makefile ran them
NOW = ("-n", str((os.cpu_count() or 1) + 1), "--dist", "worksteal")  # as the Makefile runs them


@dataclass(frozen=True)
class Tests:
    spent: Spent
    said: str  # "4,855 passed, 3 skipped"


def lines(settings: Settings) -> Iterator[Line]:
    names = settings.folder / "tests_before.txt"
    settings.folder.mkdir(parents=True, exist_ok=True)
    found = set(re.findall(r"def (test_\w+)", _git("grep", "-h", "-E", r"def test_\w+", BEFORE, "--", "tests")))
    names.write_text("\n".join(sorted(found)))
    earlier = _earlier(settings.folder / "suite")
    then = _tests(earlier, THEN)
    same = _tests(ROOT, [*NOW, "-p", "benchmarks.suite_names"], SCHEDLAB_TESTS=str(names))
    whole = _tests(ROOT, NOW)
    yield Line(
        "suite",
        f"the tests of {BEFORE}, there and here",
        then.spent.wall / same.spent.wall,
        at_least=2,
        note=f"{then.spent.wall:.0f} : {same.spent.wall:.0f} s; {then.said} : {same.said}",
    )
    yield Line(
        "suite", "all tests of today", whole.spent.wall / then.spent.wall, note=f"{_minutes(whole)}; {whole.said}"
    )


def _earlier(folder: Path) -> Path:
    """A clone of the commit with an environment of its own; the reference data lies beside it as it does here."""
    clone = folder / "main"
    if not (clone / ".git").is_dir():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "shared").symlink_to(ROOT.parent / "shared")
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        subprocess.run(["git", "-C", clone, "checkout", "--quiet", BEFORE], check=True)
    process(["make", "-C", clone, ".venv/.built"])
    return clone


def _tests(root: Path, options: Sequence[str], **environment: str) -> Tests:
    python = root / ".venv" / "bin" / "python"
    environment |= {"PYTHONDONTWRITEBYTECODE": ""}  # as in the Makefile
    command = ["env", "-C", root, python, "-m", "pytest", "--color=no", *options]
    # Tests that fail are told, and are no reason to throw away what was measured.
    spent, printed = process(["sh", "-c", '"$@" || [ $? = 1 ]', "sh", *command], **environment)
    return Tests(spent, re.findall(r"((?:\d+ failed, )?\d+ passed.*?) in [\d.]+s", printed)[-1])


def _git(*words: str) -> str:
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout


def _minutes(tests: Tests) -> str:
    return f"{tests.spent.wall // 60:.0f} min {tests.spent.wall % 60:.0f} s"
