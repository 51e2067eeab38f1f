"""The page about figures: what it shows works, and it names every kind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from schedlab.plot.catalogue import KINDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "figures.md").read_text()


def test_its_programs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, names)
    assert {path.name for path in tmp_path.glob("*.p*")} == {"slowdowns.pdf", "first-day.pdf", "heat.png", "bars.png"}


def test_every_kind_and_every_picture_is_there() -> None:
    headings = ", ".join(re.findall("^## (.*)$", PAGE, re.MULTILINE))
    assert set(KINDS) <= set(headings.split(", "))
    for picture in re.findall(r"\((images/[^)]*)\)", PAGE):
        assert (ROOT / "docs" / picture).stat().st_size < 150_000
